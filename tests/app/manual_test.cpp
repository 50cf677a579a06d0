// What the manual page says of a command line, and that no text in it is taken for roff.
#include "app/manual.hpp"

#include <doctest/doctest.h>

#include <string>

namespace tidegate::commands {
namespace {

// tool [--format json|table]
//   .odd [--name NAME] [-o|--output FILE] [FILE]
//   group
//     inner KIND
CommandModel tool() {
  const OptionModel format{
      .names = {"--format"}, .value = "json|table", .choices = {"json", "table"}, .meaning = "How to say it"};
  return {.name = "tool",
          .summary = "Does things.",
          .options = {format},
          .subcommands = {
              {.name = ".odd",
               .summary = "Is this odd?",
               .options = {{.names = {"--name"},
                            .value = "a|b|c|d|e-1",
                            .choices = {"a", "b", "c", "d", "e-1"},
                            .meaning = ".a name, 'as' \"is\""},
                           {.names = {"-o", "--output"}, .value = "FILE", .meaning = "C:\\x, see `tool -h`"},
                           format},
               .positionals = {{.value = "[FILE]", .takes_file = true, .meaning = "`unpaired"}}},
              {.name = "group",
               .summary = "More",
               .subcommands = {
                   {.name = "inner",
                    .summary = "caf\xc3\xa9 \xe2\x80\xa6 \xf0\x9f\x90\x9a \xff^~",
                    .positionals = {{.value = "KIND", .choices = {"x", "y"}, .meaning = "Which"}}}}}}};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("title, name and synopsis") {
  CHECK(manual_page(tool(), "1.2-rc").starts_with(R"(.\" Generated from the command line of tool.
.TH TOOL 1 "" "tool 1.2\-rc" "User Commands"
.nh
.ad l
.SH NAME
tool \- does things
.SH SYNOPSIS
\fBtool .odd\fR [\fIOPTIONS\fR] [\fIFILE\fR]
.br
\fBtool group inner\fR [\fIOPTIONS\fR] \fIKIND\fR
.SH DESCRIPTION
)"));
}

TEST_CASE("a name in capitals keeps them") {
  CHECK(has(manual_page({.name = "t", .summary = "GPU things"}, "1"), "\nt \\- GPU things\n"));
}

TEST_CASE("a command: escapes, many names, and the options of the root told once") {
  const std::string page = manual_page(tool(), "1");
  CHECK(has(page, R"(.SS .odd
\fBtool .odd\fR [\fIOPTIONS\fR] [\fIFILE\fR]
.PP
Is this odd?
.TP
\fIFILE\fR
\(gaunpaired
.TP
\fB\-\-name\fR \fINAME\fR
\&.a name, \(aqas\(aq \(dqis\(dq
(one of a, b, c, d, e\-1)
.TP
\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR
C:\ex, see \fBtool \-h\fR
.SS group
\fBtool group\fR [\fIOPTIONS\fR] \fICOMMAND\fR
.PP
More.
.SS group inner
)"));
  CHECK(has(page, R"(.SH OPTIONS
These may stand before a command and behind it.
.TP
\fB\-\-format\fR \fBjson\fR|\fBtable\fR
How to say it
.SH COMMANDS
)"));
}

TEST_CASE("characters beyond ASCII, and bytes that are none") {
  const std::string page = manual_page(tool(), "1");
  CHECK(has(page,
            "\ncaf\\[u00E9] \\[u2026] \\[u1F41A] ?\\(ha\\(ti.\n.TP\n\\fIKIND\\fR\nWhich\n(one of x, y)\n"));
  for (const char c : page) {
    REQUIRE(static_cast<unsigned char>(c) < 0x80);
  }
}

TEST_CASE("what the tool promises as a whole") {
  const std::string page = manual_page(tool(), "1");
  CHECK(
      has(page,
          "\n.SH EXIT STATUS\n.TP\n\\fB0\\fR\nDone.\n.TP\n\\fB1\\fR\nA sound input with a negative answer"));
  CHECK(
      has(page, "\n.TP\n\\fB70\\fR\nA bug in tidegate; please report it.\n.TP\n\\fB130\\fR\nInterrupted.\n"));
  CHECK(has(page, "\n.SH ENVIRONMENT\n"));
  CHECK(has(page, "\n.TP\n\\fBNO_COLOR\\fR\n"));
  CHECK(has(page, "\n.nf\n\\fBtidegate recommend \\-\\-stream < requests.ndjson\\fR\n.fi\n"));
  CHECK(has(page, "\n.SH SEE ALSO\n.BR jq (1)\n"));
}

} // namespace
} // namespace tidegate::commands
