// What is offered for a command line; that the shells show it is for tests/e2e/test_completion.py.
#include "app/command_line.hpp"
#include "engine/arena_run.hpp"

namespace tidegate::app {
namespace {

using Words = std::vector<std::string>;

// The words of a line, separated by single blanks; the last one is the one to be completed.
Words words_of(const std::string& line) {
  Words words{""};
  for (const char c : line) {
    c == ' ' ? static_cast<void>(words.emplace_back()) : words.back().push_back(c);
  }
  return words;
}

// What is offered, without meanings, separated by blanks.
std::string offered(const CommandModel& root, const Words& words) {
  std::string text;
  bool meaning = false;
  for (const char c : complete(root, words)) {
    meaning = c != '\n' && (meaning || c == '\t');
    if (!meaning) {
      text += c == '\n' ? ' ' : c;
    }
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// tool [-v|--verbose]
//   run [--mode MODE] [-o|--output FILE] [--page FILE] [--device SEL] [--set KEY=VALUE]... [FILE]
//   group
//     inner [--long] [KIND] FILE...
CommandModel tool() {
  const OptionModel verbose{.names = {"-v", "--verbose"}, .meaning = "Say much"};
  const OptionModel order{
      .names = {"order"}, .value = "NAME", .choices = {"strided", "blocked"}, .meaning = "Which"};
  return {
      .name = "tool",
      .options = {verbose},
      .subcommands = {
          {.name = "run",
           .summary = "Run it",
           .options =
               {{.names = {"--mode"}, .value = "MODE", .choices = {"fast", "it's"}, .meaning = "How"},
                {.names = {"-o", "--output"}, .value = "FILE", .takes_file = true, .meaning = "Where to"},
                {.names = {"--page"}, .value = "FILE", .takes_file = true},
                {.names = {"--device"}, .value = "SEL", .choices = {"cpu", "gpu"}},
                {.names = {"--set"}, .value = "KEY=VALUE", .repeats = true}},
           .settings = {order, {.names = {"slice"}, .value = "TIME"}},
           .positionals = {{.value = "[FILE]", .takes_file = true, .meaning = "Input"}}},
          {.name = "group",
           .subcommands = {
               {.name = "inner",
                .options = {{.names = {"--long"}}},
                .positionals = {{.value = "[KIND] FILE...", .choices = {"plan"}, .takes_file = true}}}}}}};
}

TEST_CASE("a line of a small tool") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "run group"},
      {"r", "run"},
      {"-", "-v --verbose"},
      {"-v -", ""},
      {"wrong ", ""},
      {"run ", ":files"},
      {"run input ", "-v --verbose --mode -o --output --page --device --set"},
      {"run input --m", "--mode"},
      {"run --mode ", "fast it's"},
      {"run --mode x --m", ""},
      {"run --mode=x --m", ""},
      {"run -o x --o", ""},
      {"run -ox --o", ""},
      {"run -o ", ":files"},
      {"run --page ", ":files"},
      {"run --device ", "cpu gpu"},
      {"run --device g", "gpu"},
      {"run --set ", "order= slice="},
      {"run --set o", "order="},
      {"run --set order=blocked --s", "--set"}, // once more
      {"run -v --v", ""},
      {"-v run --v", ""}, // an option of the parent
      {"run -- --", ":files"},
      {"run -- input --", ""},
      {"group ", "inner"},
      {"group inner ", "plan :files"},
      {"group inner p", "plan :files"},
      {"group inner plan ", ":files"},
      {"group inner a b ", ":files"},
      {"group inner -", "-v --verbose --long"},
  };
  const CommandModel root = tool();
  for (const auto& [given, expected] : cases) {
    const auto& line = given;
    INFO(line);
    CHECK(offered(root, words_of(line)) == expected);
  }
  CHECK(offered(root, {}) == "run group");
}

TEST_CASE("meanings stand after a tab") {
  const CommandModel root = tool();
  CHECK(complete(root, Words{"run", "--o"}) == "--output\tWhere to\n");
  CHECK(complete(root, Words{"r"}) == "run\tRun it\n");
}

TEST_CASE("the help says how long a run and a slice take at most by default") {
  const CommandModel run = run_command();
  const engine::RunOptions defaults;
  std::string text;
  for (const auto* const options : {&run.options, &run.settings}) {
    for (const OptionModel& option : *options) {
      text += option.meaning;
    }
  }
  CHECK(text.find(fmt::format("(default {}s)", defaults.max_wall_time_ns / 1'000'000'000)) !=
        std::string::npos);
  CHECK(text.find(fmt::format("{}ms without one", defaults.slice_ns / 1'000'000)) != std::string::npos);
  CHECK(defaults.verify_first);
}

} // namespace
} // namespace tidegate::app
