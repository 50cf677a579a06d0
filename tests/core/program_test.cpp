// Other programs as filters, with programs that every system has.
#include "core/program.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <vector>

using namespace tidegate;

namespace {

Error failed_program(const std::vector<std::string>& command, std::string_view input = {}) {
  const auto output = filter(command, input);
  REQUIRE_FALSE(output);
  return output.error();
}

} // namespace

TEST_CASE("input of any size is passed completely") {
  std::string input;
  while (input.size() < 5'000'000) {
    input += "line " + std::to_string(input.size()) + '\0' + "\xff\n";
  }
  const auto output = filter({"cat"}, input);
  REQUIRE(output);
  CHECK((*output == input)); // in parentheses, so that a failure does not print it
  CHECK(filter({"cat"}, "") == "");
}

TEST_CASE("a program may ignore its input and write more than it reads") {
  CHECK(filter({"true"}, std::string(5'000'000, 'x')) == "");
  const auto output = filter({"head", "-c", "5000000", "/dev/zero"}, "");
  REQUIRE(output);
  CHECK((*output == std::string(5'000'000, '\0')));
}

TEST_CASE("arguments arrive unchanged") {
  CHECK(filter({"printf", "%s|%s|%s", "a b", "\"$HOME'", ""}, "") == "a b|\"$HOME'|");
}

TEST_CASE("a missing program") {
  const Error error = failed_program({"tidegate-no-such-program", "-x"}, "input");
  CHECK(error.code == ErrorCode::missing_program);
  CHECK(error.message == "there is no program tidegate-no-such-program on PATH");
  CHECK(error.fix == "install it");
  CHECK(exit_code(error.code) == ExitCode::environment);
}

TEST_CASE("a program that fails") {
  const Error error = failed_program({"false"}, "input");
  CHECK(error.code == ErrorCode::program_failed);
  CHECK(error.message == "false ended with exit code 1");
  CHECK(error.fix == "see what it says on standard error");
  CHECK(exit_code(error.code) == ExitCode::environment);
  CHECK(failed_program({"sh", "-c", "echo partial; exit 7"}).message == "sh ended with exit code 7");
  CHECK(failed_program({"sh", "-c", "kill -9 $$"}).message == "sh was ended by signal 9");
}

TEST_CASE("a program that cannot be started") {
  const Error error = failed_program({"/dev/null"});
  CHECK(error.code == ErrorCode::program_failed);
  CHECK(error.message == "/dev/null cannot be started: Permission denied");
}

TEST_CASE("a closed pipe ends the other program although it does not end this one") {
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  CHECK(failed_program({"sh", "-c", "kill -PIPE $$; echo still alive"}).message ==
        "sh was ended by signal " + std::to_string(SIGPIPE));
  std::signal(SIGPIPE, before);
}
