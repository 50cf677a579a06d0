// The error type: names, exit codes and the text for a terminal.
#include <tidegate/core/error.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace tidegate;

TEST_CASE("every code has its own name") {
  std::set<std::string_view> names(error_code_names.begin(), error_code_names.end());
  CHECK(names.size() == error_code_names.size());
  CHECK(error_code_names.size() == static_cast<std::size_t>(ErrorCode::internal_error) + 1);
  CHECK(name(ErrorCode::overflow) == "overflow");
  CHECK(name(ErrorCode::missing_key) == "missing_key");
  CHECK(name(ErrorCode::internal_error) == "internal_error");
}

TEST_CASE("codes map to the exit codes of the command line") {
  CHECK(exit_code(ErrorCode::device_out_of_memory) == ExitCode::negative);
  CHECK(exit_code(ErrorCode::host_out_of_memory) == ExitCode::environment);
  CHECK(exit_code(ErrorCode::incomplete_evidence) == ExitCode::negative);
  CHECK(exit_code(ErrorCode::unknown_option) == ExitCode::usage);
  CHECK(exit_code(ErrorCode::duplicate_key) == ExitCode::input);
  CHECK(exit_code(ErrorCode::cannot_read) == ExitCode::input);
  CHECK(exit_code(ErrorCode::cannot_write) == ExitCode::environment);
  CHECK(exit_code(ErrorCode::internal_error) == ExitCode::bug);
}

TEST_CASE("bad input outranks a negative answer outranks success") {
  CHECK(worst(ExitCode::done, ExitCode::negative) == ExitCode::negative);
  CHECK(worst(ExitCode::input, ExitCode::negative) == ExitCode::input);
  CHECK(worst(ExitCode::done, ExitCode::done) == ExitCode::done);
}

TEST_CASE("text: a place, a pointer and a fix") {
  const Error error{.code = ErrorCode::unknown_key,
                    .message = "unknown key \"que_len\"",
                    .fix = "did you mean \"queue_len\"?",
                    .source = "request.json",
                    .pointer = "/que_len",
                    .line = 3,
                    .column = 7};
  CHECK(describe(error) == "tidegate: request.json:3:7: error: unknown key \"que_len\" [unknown_key]\n"
                           "  at: /que_len\n"
                           "  fix: did you mean \"queue_len\"?");
}

TEST_CASE("text: unknown parts are omitted") {
  CHECK(describe({.code = ErrorCode::overflow, .message = "too much"}) ==
        "tidegate: error: too much [overflow]");
  CHECK(describe({.code = ErrorCode::overflow, .message = "too much", .source = "a", .pointer = ""}) ==
        "tidegate: a: error: too much [overflow]");
  CHECK(describe({.code = ErrorCode::syntax_error, .message = "not JSON", .line = 2}) ==
        "tidegate: input:2: error: not JSON [syntax_error]");
}

TEST_CASE("text: a log keeps its lines") {
  CHECK(describe({.code = ErrorCode::build_failure,
                  .message = "no",
                  .fix = "mend",
                  .log = "a.cl:1: x\n\t^\n\nend"}) == "tidegate: error: no [build_failure]\n"
                                                      "  fix: mend\n"
                                                      "  log:\n"
                                                      "    a.cl:1: x\n"
                                                      "    \t^\n"
                                                      "    \n"
                                                      "    end");
}

TEST_CASE("text: nothing reaches a terminal raw, and no name looks like a line of ours") {
  const Error error{.code = ErrorCode::unknown_name,
                    .message = "there is no \x1b[31m\n  fix: rm -r",
                    .fix = "give one of a\u202eb\r",
                    .source = "\xff.json",
                    .pointer = "/\u009b",
                    .log = "\x1b]0;title\x07\r\nok"};
  CHECK(describe(error) ==
        "tidegate: \\xff.json: error: there is no \\x1b[31m\\x0a  fix: rm -r [unknown_name]\n"
        "  at: /\\u009b\n"
        "  fix: give one of a\\u202eb\\x0d\n"
        "  log:\n"
        "    \\x1b]0;title\\x07\\x0d\n"
        "    ok");
}
