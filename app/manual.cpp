// roff reads a line that begins with a dot as a request and a backslash as an escape, prints "-" as a hyphen
// that nobody can paste into a shell, and takes input to be Latin-1: so all text that is not roff goes
// through escaped().
#include "app/manual.hpp"

#include "app/completion.hpp"
#include <tidegate/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace tidegate::commands {
namespace {

// A character of UTF-8 text as \[uXXXX]; `at` moves behind it. Broken sequences become a question mark.
std::string unicode_escape(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  std::uint32_t code = lead & (0x3fu >> more);
  for (int i = 0; i < more; ++i, ++at) {
    if (lead < 0xc0 || at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80) {
      return "?";
    }
    code = code << 6 | (static_cast<unsigned char>(text[at]) & 0x3fu);
  }
  return fmt::format("\\[u{:04X}]", code);
}

// Plain text within a line or an argument of a macro.
std::string escaped(std::string_view text) {
  std::string roff;
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) >= 0x80) {
      roff += unicode_escape(text, at);
      continue;
    }
    switch (const char c = text[at++]) {
    case '\\': roff += "\\e"; break;
    case '-': roff += "\\-"; break;
    case '"': roff += "\\(dq"; break;
    case '\'': roff += "\\(aq"; break;
    case '`': roff += "\\(ga"; break;
    case '^': roff += "\\(ha"; break;
    case '~': roff += "\\(ti"; break;
    case '\n': roff += ' '; break;
    default: roff += c;
    }
  }
  return roff;
}

std::string roff_bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}
std::string italic(std::string_view text) {
  return "\\fI" + escaped(text) + "\\fR";
}

// A line of text, with `code` in bold.
std::string line(std::string_view text) {
  std::string roff;
  const bool paired = std::ranges::count(text, '`') % 2 == 0;
  for (bool code = false;; code = !code) {
    const std::size_t end = paired ? text.find('`') : std::string_view::npos;
    roff += code ? roff_bold(text.substr(0, end)) : escaped(text.substr(0, end));
    if (end == std::string_view::npos) {
      return (roff.starts_with('.') ? "\\&" : "") + roff + '\n';
    }
    text.remove_prefix(end + 1);
  }
}

// "[KIND] FILE..." with the words, which stand for others, in italics.
std::string placeholders(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  std::string roff;
  while (!text.empty()) {
    const std::size_t word = std::min(text.find_first_not_of(letters), text.size());
    if (word > 0) {
      roff += italic(text.substr(0, word));
      text.remove_prefix(word);
    }
    const std::size_t rest = std::min(text.find_first_of(letters), text.size());
    roff += escaped(text.substr(0, rest));
    text.remove_prefix(rest);
  }
  return roff;
}

std::string sentence(const std::string& text) {
  const bool ends = text.ends_with('.') || text.ends_with('?') || text.ends_with('!');
  return ends ? text : text + '.';
}

// Many names would not fit into the tag of an entry: roff does not break it.
bool are_many(const std::vector<std::string>& choices) {
  return choices.size() > 4;
}

std::string value(const OptionModel& option) {
  if (option.choices.empty()) {
    return placeholders(option.value);
  }
  if (are_many(option.choices)) {
    return italic("NAME");
  }
  std::vector<std::string> names;
  for (const std::string& choice : option.choices) {
    names.push_back(roff_bold(choice));
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

std::string entry(const std::string& tag, std::string_view meaning) {
  return ".TP\n" + tag + '\n' + line(meaning);
}

std::string one_of(const std::vector<std::string>& choices) {
  return line(fmt::format("(one of {})", fmt::join(choices, ", ")));
}

std::string option_entry(const OptionModel& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    names.push_back(roff_bold(name));
  }
  const std::string tag =
      fmt::format("{}{}{}", fmt::join(names, ", "), option.value.empty() ? "" : " ", value(option));
  return entry(tag, option.meaning) + (are_many(option.choices) ? one_of(option.choices) : "");
}

std::string positional_entry(const OptionModel& positional) {
  const bool lists = !positional.choices.empty() && !positional.takes_file;
  return entry(placeholders(without_brackets(positional.value)), positional.meaning) +
         (lists ? one_of(positional.choices) : "");
}

std::string usage(const Place& place) {
  std::string roff = roff_bold(place.path);
  if (!place.options.empty()) {
    roff += " [" + italic("OPTIONS") + ']';
  }
  for (const OptionModel& positional : place.command->positionals) {
    roff += ' ' + placeholders(positional.value);
  }
  return roff + (place.command->subcommands.empty() ? "" : ' ' + italic("COMMAND")) + '\n';
}

std::string name_and_synopsis(const CommandModel& root, const std::vector<Place>& all) {
  std::string purpose = root.summary.substr(0, root.summary.find_last_not_of('.') + 1);
  if (purpose.size() > 1 && purpose[0] >= 'A' && purpose[0] <= 'Z' && purpose[1] >= 'a') {
    purpose[0] = static_cast<char>(purpose[0] - 'A' + 'a');
  }
  std::string roff = fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", escaped(root.name), escaped(purpose));
  for (const Place& place : all) {
    if (place.command->subcommands.empty()) {
      roff += (roff.ends_with("SYNOPSIS\n") ? "" : ".br\n") + usage(place);
    }
  }
  return roff;
}

constexpr std::string_view description = R"(.SH DESCRIPTION
.B tidegate
reads JSON documents and answers with JSON documents, so that commands compose in a pipe.
An input that is not named, or named
.BR \- ,
is standard input.
.PP
Standard output carries exactly one document: one line per line of input with
.BR \-\-stream ,
a table for people with
.BR "\-\-format table" .
Everything else goes to standard error.
A file named with
.B \-\-output
appears complete or not at all.
.PP
Inputs are held to their JSON Schema: unknown and duplicate keys, wrong types and numbers out of range are refused
with the place and with what to change.
.B tidegate schema
prints the schemas.
.PP
In a stream, a line that has no answer becomes a line with
.I error
and
.IR line ,
and the stream goes on; the exit status is that of the worst line.
)";

std::string options(const CommandModel& root) {
  std::string roff = ".SH OPTIONS\nThese may stand before a command and behind it.\n";
  for (const OptionModel& option : root.options) {
    roff += option_entry(option);
  }
  return roff;
}

std::string example_entry(std::string_view purpose, std::string_view command_line) {
  return ".PP\n" + line(purpose) + ".PP\n.RS 4\n.nf\n" + roff_bold(command_line) + "\n.fi\n.RE\n";
}

std::string command(const CommandModel& root, const Place& place) {
  std::string roff = ".SS " + escaped(place.path.substr(root.name.size() + 1)) + '\n' + usage(place) +
                     ".PP\n" + line(sentence(place.command->summary));
  for (const OptionModel& positional : place.command->positionals) {
    roff += positional_entry(positional);
  }
  for (const OptionModel& option : place.command->options) {
    const bool told = std::ranges::any_of(
        root.options, [&option](const OptionModel& known) { return known.names == option.names; });
    if (!told) {
      roff += option_entry(option);
    }
  }
  for (const CommandExample& example : place.command->examples) {
    roff += example_entry(example.purpose, example.line);
  }
  return roff;
}

std::string exit_status() {
  constexpr std::array<std::pair<ExitCode, std::string_view>, 7> meanings{{
      {ExitCode::done, "Done."},
      {ExitCode::negative,
       "A sound input with a negative answer: over budget, incomplete evidence, a number that "
       "overflows."},
      {ExitCode::usage, "Wrong usage; the nearest command or option is suggested."},
      {ExitCode::input,
       "Input that cannot be read: no such file, not JSON, a wrong type, an unknown or duplicate key, "
       "a number out of range, a kernel that does not compile."},
      {ExitCode::environment, "No such device, a build or OpenCL failure, or output that cannot be written."},
      {ExitCode::bug, "A bug in tidegate; please report it."},
      {ExitCode::interrupted, "Interrupted."},
  }};
  std::string roff = ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : meanings) {
    roff += entry(roff_bold(fmt::format("{}", static_cast<int>(code))), meaning);
  }
  return roff;
}

std::string environment() {
  return ".SH ENVIRONMENT\nTables and errors are coloured on a terminal that is not dumb, unless these say "
         "otherwise; JSON never is.\n" +
         entry(roff_bold("NO_COLOR"), "If set and not empty: no colour, whatever the other two say.") +
         entry(roff_bold("CLICOLOR_FORCE"),
               "If set and neither empty nor 0: colour also where there is no terminal.") +
         entry(roff_bold("TERM"), "If dumb or empty: no colour.") +
         entry(roff_bold("TIDEGATE_DEVICE"), "The device of `tidegate run` where `--device` names none.") +
         entry(roff_bold("XDG_CACHE_HOME"), "The folder that is used in place of `~/.cache`.") +
         entry(roff_bold("OCL_ICD_VENDORS"),
               "Read by the OpenCL loader: a folder with the drivers to use instead of all, or one driver.") +
         entry(roff_bold("PATH"), "Where Graphviz's `dot`, which draws plans, is looked for.");
}

std::string files() {
  return ".SH FILES\n" +
         entry(italic("~/.cache/tidegate"),
               "Self-tests of devices, what `tune measure` found, built kernels and what compilers "
               "predefine, by device and driver. It may be "
               "deleted at any time; `--no-cache` does without.") +
         entry(italic("/etc/OpenCL/vendors/*.icd"), "The OpenCL drivers that the loader knows.") +
         entry(italic("PREFIX/share/doc/tidegate/examples"), "Documents and programs to try.") +
         entry(italic("PREFIX/share/tidegate/schemas"), "The JSON Schema of every document type.");
}

std::string examples() {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> purposes{{
      {"How should this launch run, and why?", "tidegate recommend request.json --format table --explain"},
      {"One recommendation per line:", "tidegate recommend --stream < requests.ndjson"},
      {"Keep the evidence of a choice and check that it is complete:",
       "tidegate recommend request.json --evidence all | tidegate check -"},
      {"Only the topology, for a script:",
       "tidegate recommend request.json | jq -r .recommendation.topology"},
      {"What may stand in a request?", "tidegate schema launch_request --format table"},
      {"Complete commands and options in this shell:", "source <(tidegate completion bash)"},
  }};
  std::string roff;
  for (const auto& [purpose, command_line] : purposes) {
    roff += (roff.empty() ? ".SH EXAMPLES\n" : "") + example_entry(purpose, command_line);
  }
  return roff;
}

} // namespace

std::string manual_page(const CommandModel& root, std::string_view version) {
  const std::vector<Place> all = places(root);
  std::string title = root.name;
  std::ranges::transform(title, title.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  std::string roff =
      fmt::format(".\\\" Generated from the command line of {}.\n.TH {} 1 \"\" \"{} {}\" \"User Commands\"\n",
                  root.name, escaped(title), escaped(root.name), escaped(version));
  roff += ".nh\n.ad l\n"; // names and commands must not be broken with hyphens or pulled apart
  roff += name_and_synopsis(root, all);
  roff += description;
  roff += options(root);
  roff += ".SH COMMANDS\n";
  for (const Place& place : all) {
    if (place.command != &root) {
      roff += command(root, place);
    }
  }
  roff += exit_status() + environment() + files() + examples();
  roff += ".SH SEE ALSO\n.BR jq (1)\n.PP\n" + line("`tidegate schema` lists the document types; "
                                                   "`tidegate completion` prints completion scripts.");
  return roff;
}

} // namespace tidegate::commands
