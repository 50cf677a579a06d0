// The error type: names, exit codes and the text for a terminal.
#include <tidegate/core/text.hpp>

using namespace tidegate;

TEST_CASE("codes map to the exit codes of the command line") {
  CHECK(std::set<std::string_view>(error_code_names.begin(), error_code_names.end()).size() ==
        error_code_names.size());
  CHECK(name(ErrorCode::internal_error) == "internal_error");
  constexpr std::pair<ErrorCode, ExitCode> cases[]{{ErrorCode::device_out_of_memory, ExitCode::negative},
                                                   {ErrorCode::cannot_write, ExitCode::environment},
                                                   {ErrorCode::unknown_option, ExitCode::usage},
                                                   {ErrorCode::duplicate_key, ExitCode::input},
                                                   {ErrorCode::cannot_read, ExitCode::input},
                                                   {ErrorCode::internal_error, ExitCode::bug}};
  for (const auto& [code, exit] : cases) {
    CHECK(exit_code(code) == exit);
  }
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

namespace {

Error error(std::string message, ErrorCode code = ErrorCode::invalid_program) {
  return {.code = code, .message = std::move(message), .fix = "mend it"};
}

} // namespace

TEST_CASE(
    "the first error carries the others, including those of others; the most severe gives the exit code") {
  ErrorList inner;
  inner.add(error("b"));
  inner.add(error("c", ErrorCode::cannot_write));
  ErrorList errors;
  CHECK(errors.check(Result<int>(3)));
  CHECK(errors.result()); // an empty list
  errors.add(error("a", ErrorCode::cycle));
  CHECK_FALSE(errors.check(inner.result()));
  errors.add(error("d"));
  const auto result = errors.result();
  REQUIRE_FALSE(result);
  CHECK(result.error().message == "a");
  std::string others;
  for (const Error& other : result.error().others) {
    others += other.message + std::to_string(other.others.size());
  }
  CHECK(others == "b0c0d0");
  CHECK(exit_code(result.error()) == ExitCode::environment);
}

TEST_CASE("a consequence of an error reported elsewhere is neither reported nor a success") {
  ErrorList follower;
  follower.add(already_reported());
  REQUIRE_FALSE(follower.result());
  ErrorList errors;
  errors.check(follower.result());
  errors.add(error("a"));
  REQUIRE_FALSE(errors.result());
  CHECK(errors.result().error().message == "a");
  CHECK(errors.result().error().others.empty());
}

TEST_CASE("the number of reported errors is limited") {
  ErrorList errors;
  for (std::size_t i = 0; i < 2 * ErrorList::most; ++i) {
    errors.add(error(std::to_string(i)));
  }
  CHECK(errors.full());
  CHECK(errors.result().error().others.size() == ErrorList::most - 1);
  CHECK(errors.result().error().others.back().message == "99");
}

namespace tidegate {
namespace {

TEST_CASE("the caret is under the column") {
  CHECK(describe_excerpt("  out[i] = foo;", 12, 12) == "  12 |   out[i] = foo;\n"
                                                       "     |            ^");
  CHECK(describe_excerpt("int x", 3, {}) == "  3 | int x");
  CHECK(describe_excerpt("int x", 3, 6) == "  3 | int x\n"
                                           "    |      ^");
  CHECK(describe_excerpt("", 1, 1) == "  1 |\n"
                                      "    | ^");
}

TEST_CASE("columns count characters; a tab takes one, and nothing reaches a terminal raw") {
  CHECK(describe_excerpt("\tgröße = 1;", 2, 10) == "  2 |  größe = 1;\n"
                                                   "    |          ^");
  CHECK(describe_excerpt("a\x1b[31m = b;", 2, 8) == "  2 | a\\x1b[31m = b;\n"
                                                    "    |           ^");
}

TEST_CASE("a long line is cut to the surroundings of the column") {
  const std::string line = std::string(200, 'a') + "!" + std::string(200, 'b');
  CHECK(describe_excerpt(line, 1, 201) == "  1 | …" + std::string(79, 'a') + "!" + std::string(59, 'b') +
                                              "…\n    | " + std::string(80, ' ') + "^");
}

TEST_CASE("an error finds its line, without the end of the line, and columns of bytes become characters") {
  std::string lines;
  for (const std::uint64_t line : {1U, 2U, 3U, 4U, 5U}) {
    lines += with_excerpt({.source = "a.cl", .line = line}, "one\r\ntwo\n\nfour").excerpt.value_or("-") + ",";
  }
  CHECK(lines == "one,two,,four,-,");
  CHECK(with_excerpt({}, "one").excerpt == std::nullopt);
  for (const auto& [text, byte, column] :
       {std::tuple("größe = 1", 1U, 1U), {"größe = 1", 9U, 7U}, {"ab", 9U, 3U}, {"", 0U, 1U}}) {
    CHECK(with_excerpt({.source = "a.cl", .line = 1, .column = byte}, text, ColumnCounts::bytes).column ==
          column);
  }
}

TEST_CASE("binary and very long lines are not quoted") {
  const auto excerpt = [](std::size_t length) {
    return with_excerpt({.source = "a.json", .line = 1, .column = 3}, std::string(length, 'x') + "\n")
        .excerpt;
  };
  CHECK(excerpt(4096)->size() == 4096);
  CHECK_FALSE(excerpt(4097));
  CHECK_FALSE(with_excerpt({.line = 1}, std::string_view("{\0", 2)).excerpt);
}

} // namespace
} // namespace tidegate
