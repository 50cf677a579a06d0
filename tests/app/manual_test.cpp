// What the manual page says of commands, and that no text in it is taken for roff.
#include "app/command_line.hpp"
#include "engine/run_options.hpp"

#include <doctest/doctest.h>

namespace tidegate::app {
namespace {

TEST_CASE("commands: escapes, many names, settings and examples") {
  const CommandModel tool{
      .name = "tool",
      .summary = "Does things",
      .subcommands = {
          {.name = ".odd",
           .summary = "Is this odd",
           .options = {{.names = {"-o", "--output"}, .value = "FILE", .meaning = ".C:\\x, see `tool -h`"},
                       {.names = {"--name"}, .value = "a|b|c|d|e-1", .choices = {"a", "b", "c", "d", "e-1"}},
                       {.names = {"--set"},
                        .value = "KEY=VALUE",
                        .meaning = "More",
                        .settings = {{.names = {"slice"}, .value = "TIME", .meaning = "'How' \"long\""}}}},
           .positionals = {{.value = "[FILE]", .meaning = "Input"}},
           .examples = {{"Try:", "tool .odd ~/x^2"}}}}};
  CHECK(manual_commands(tool) == R"(.SH COMMANDS
.SS \&tool
\&Does things
.PP
.B \&tool [OPTIONS]
.SS \&tool .odd
\&Is this odd
.PP
.B \&tool .odd [OPTIONS]
.B \&[FILE]
.TP
.B \&[FILE]
\&Input
.TP
.B \&\-o, \-\-output FILE
\&.C:\ex, see \(gatool \-h\(ga
.TP
.B \&\-\-name NAME
\&
\&(one of a, b, c, d, e\-1)
.TP
.B \&\-\-set KEY=VALUE
\&More
.RS
.TP
.B \&slice=TIME
\&\(aqHow\(aq \(dqlong\(dq
.RE
.PP
\&Try:
.nf
.B \&tool .odd \(ti/x\(ha2
.fi
)");
}

TEST_CASE("the command line of tidegate is ASCII, which every roff reads") {
  CHECK(std::ranges::all_of(manual_commands(app::command_line()),
                            [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

TEST_CASE("the help says how long a run and a slice take at most by default") {
  const std::string text = manual_commands(app::command_line());
  const engine::RunOptions options;
  CHECK(text.find("(default " + std::to_string(options.max_wall_time_ns / 1'000'000'000) + "s)") !=
        std::string::npos);
  CHECK(text.find(std::to_string(options.slice_ns / 1'000'000) + "ms without one") != std::string::npos);
  CHECK(options.verify_first);
}

} // namespace
} // namespace tidegate::app
