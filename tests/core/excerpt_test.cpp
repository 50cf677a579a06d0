// The source line of an error, with a caret.
#include <tidegate/core/text.hpp>

#include <doctest/doctest.h>

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

TEST_CASE("an error finds its line, without the end of the line") {
  const auto excerpt = [](std::uint64_t line) {
    return with_excerpt({.source = "a.cl", .line = line}, "one\r\ntwo\n\nfour").excerpt;
  };
  CHECK(excerpt(1) == "one");
  CHECK(excerpt(2) == "two");
  CHECK(excerpt(3) == "");
  CHECK(excerpt(4) == "four");
  CHECK(excerpt(5) == std::nullopt);
  CHECK(with_excerpt({}, "one").excerpt == std::nullopt);
}

TEST_CASE("columns of bytes become columns of characters") {
  const auto column = [](std::string_view text, std::uint64_t byte) {
    return with_excerpt({.source = "a.cl", .line = 1, .column = byte}, text, ColumnCounts::bytes).column;
  };
  CHECK(column("größe = 1", 1) == 1);
  CHECK(column("größe = 1", 9) == 7);
  CHECK(column("ab", 9) == 3);
  CHECK(column("", 0) == 1);
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

TEST_CASE("an error shows the excerpt below its message") {
  CHECK(describe({.code = ErrorCode::kernel_source,
                  .message = "no",
                  .fix = "mend",
                  .source = "a.cl",
                  .line = 2,
                  .column = 3,
                  .excerpt = "x y"}) == "tidegate: a.cl:2:3: error: no [kernel_source]\n"
                                        "  2 | x y\n"
                                        "    |   ^\n"
                                        "  fix: mend");
}

} // namespace
} // namespace tidegate
