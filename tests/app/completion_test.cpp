// What the completion scripts are made of; that the shells understand them is for
// tests/e2e/test_completion.py.
#include "app/completion.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace tidegate::commands {
namespace {

// tool [-v|--verbose]
//   run [--mode MODE] [-o|--output FILE] [FILE]
//   group
//     inner [--verbose] [KIND] FILE...
CommandModel tool() {
  const OptionModel verbose{.names = {"-v", "--verbose"}, .meaning = "Say [much]: don't \"guess\""};
  return {
      .name = "my-tool",
      .summary = "A tool",
      .options = {verbose},
      .subcommands = {
          {.name = "run",
           .summary = "Run: it isn't \\ over",
           .options =
               {{.names = {"--mode"},
                 .value = "MODE",
                 .choices = {"fast", "it's", "a:b c"},
                 .meaning = "How"},
                {.names = {"-o", "--output"}, .value = "FILE", .takes_file = true, .meaning = "Where to"}},
           .positionals = {{.value = "[FILE]", .takes_file = true, .meaning = "Input"}}},
          {.name = "group",
           .summary = "More commands",
           .subcommands = {
               {.name = "inner",
                .summary = "Deep",
                .options = {{.names = {"--verbose"}, .meaning = "Its own"}},
                .positionals = {{.value = "[KIND] FILE...", .choices = {"plan"}, .takes_file = true}}}}}}};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> option_names(const Place& place) {
  std::vector<std::string> names;
  for (const OptionModel* option : place.options) {
    names.push_back(option->names.front());
  }
  return names;
}

TEST_CASE("places: parents first, with the options of the parents that are not redefined") {
  const CommandModel root = tool();
  const std::vector<Place> all = places(root);
  REQUIRE(all.size() == 4);
  CHECK(all[0].path == "my-tool");
  CHECK(all[1].path == "my-tool run");
  CHECK(all[2].path == "my-tool group");
  CHECK(all[3].path == "my-tool group inner");
  CHECK(option_names(all[1]) == std::vector<std::string>{"--mode", "-o", "-v"});
  CHECK(option_names(all[2]) == std::vector<std::string>{"-v"});
  CHECK(option_names(all[3]) == std::vector<std::string>{"--verbose"}); // and no -v, which is the same option
}

TEST_CASE("positionals") {
  CHECK(repeats({.value = "FILE..."}));
  CHECK_FALSE(repeats({.value = "[FILE]"}));
  CHECK(names_then_files({.value = "[KIND] FILE...", .choices = {"plan"}, .takes_file = true}));
  CHECK_FALSE(names_then_files({.value = "FILE...", .takes_file = true}));
  CHECK(without_brackets("[FILE]") == "FILE");
  CHECK(without_brackets("FILE") == "FILE");
  CHECK(without_brackets("[KIND] FILE...") == "[KIND] FILE...");
  CHECK(without_brackets("[KIND] [FILE]") == "[KIND] [FILE]");
  CHECK(without_brackets("") == "");
}

TEST_CASE("quoting") {
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("it's $HOME") == R"('it'\''s $HOME')");
  CHECK(backslashed(R"(a:b\c])", R"(\:)") == R"(a\:b\\c])");
  CHECK(identifier("my-tool group 2") == "my_tool_group_2");
  CHECK(replaced("aXbXX", "X", "YX") == "aYXbYXYX");
  CHECK(replaced("", "X", "Y") == "");
}

TEST_CASE("bash: the tables") {
  const std::string script = bash_completion(tool());
  CHECK(has(script, "  'my-tool')\n"
                    "    commands=('run' 'group')\n"
                    "    options=('-v,--verbose')\n"
                    "    ;;\n"));
  CHECK(has(script, "  'my-tool run')\n"
                    "    commands=()\n"
                    "    options=('--mode=' '-o,--output=' '-v,--verbose')\n"
                    "    ;;\n"));
  CHECK(has(script, R"(  'my-tool run --mode')
    choices=('fast' 'it'\''s' 'a:b c')
    files=''
    ;;
  'my-tool run -o' | \
    'my-tool run --output' | \
    'my-tool run 1' | \
    'my-tool group inner *')
    choices=()
    files=yes
    ;;
  'my-tool group inner 1')
    choices=('plan')
    files=yes
    ;;
)"));
  CHECK(script.ends_with("\ncomplete -F _my_tool my-tool\n"));
  CHECK(has(script, "\n_my_tool() {\n"));
  CHECK_FALSE(has(script, "FUNCTION"));
  CHECK_FALSE(has(script, "PROGRAM"));
}

TEST_CASE("zsh: the specs") {
  const std::string script = zsh_completion(tool());
  CHECK(script.starts_with("#compdef my-tool\n"));
  CHECK(has(script, R"(
_my_tool_run() {
  _arguments -S \
    '--mode=[How]:mode:(fast it\'\''s a\:b\ c)' \
    '(-o --output)-o+[Where to]:FILE:_files' \
    '(-o --output)--output=[Where to]:FILE:_files' \
    '(-v --verbose)-v[Say \[much\]\: don'\''t "guess"]' \
    '(-v --verbose)--verbose[Say \[much\]\: don'\''t "guess"]' \
    '1:FILE:_files'
}
)"));
  CHECK(has(script, R"(
    commands=(
      'run:Run\: it isn'\''t \\ over'
      'group:More commands'
    )
    _describe -t commands 'my-tool command' commands && result=0
)"));
  CHECK(has(script, R"(
_my_tool_group_inner() {
  _arguments -S \
    '--verbose[Its own]' \
    '1:[KIND] FILE...: _alternative '\''names\:name\:(plan)'\'' '\''files\:file\:_files'\''' \
    '*:[KIND] FILE...:_files'
}
)"));
  CHECK(has(script, "    'inner') _my_tool_group_inner && result=0 ;;\n"));
  CHECK(script.ends_with("  compdef _my_tool my-tool\nfi\n"));
}

TEST_CASE("zsh: a command without options and words") {
  const std::string script = zsh_completion({.name = "bare"});
  CHECK(has(script, "\n_bare() {\n  _message 'no more arguments'\n}\n"));
}

TEST_CASE("fish: the lines") {
  const std::string script = fish_completion(tool());
  CHECK(has(script, "\ncomplete -c my-tool -f\n"));
  CHECK(has(script, R"(
# my-tool
complete -c my-tool -n '__my_tool_word "my-tool" 1' -a run -d 'Run: it isn\'t \\ over'
complete -c my-tool -n '__my_tool_word "my-tool" 1' -a group -d 'More commands'
complete -c my-tool -n '__my_tool_lacks "my-tool" -v --verbose' -s v -l verbose -d 'Say [much]: don\'t "guess"'

# my-tool run
complete -c my-tool -n '__my_tool_word "my-tool run" 1' -F
complete -c my-tool -n '__my_tool_lacks "my-tool run" --mode' -l mode -x -a 'fast \'it\\\'s\' \'a:b c\'' -d 'How'
complete -c my-tool -n '__my_tool_lacks "my-tool run" -o --output' -s o -l output -r -F -d 'Where to'
)"));
  CHECK(has(script, R"(
complete -c my-tool -n '__my_tool_word "my-tool group inner" 1' -a plan
complete -c my-tool -n '__my_tool_word "my-tool group inner" 1 +' -F
)"));
  CHECK_FALSE(has(script, "FUNCTION"));
  CHECK_FALSE(has(script, "PROGRAM"));
}

TEST_CASE("the script for a shell") {
  const CommandModel root = tool();
  CHECK(completion_script("bash", root) == bash_completion(root));
  CHECK(completion_script("zsh", root) == zsh_completion(root));
  CHECK(completion_script("fish", root) == fish_completion(root));
  const auto unknown = completion_script("tcsh", root);
  REQUIRE_FALSE(unknown.has_value());
  CHECK(describe(unknown.error()) == "tidegate: error: there is no completion for \"tcsh\" [unknown_name]\n"
                                     "  fix: give bash, zsh or fish");
}

} // namespace
} // namespace tidegate::commands
