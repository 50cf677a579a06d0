// Text tables.
#include "core/table.hpp"

using namespace tidegate;

TEST_CASE("columns line up by characters") {
  CHECK(render_table({{"a", "größer", "x"}, {"longer", "b", "y"}}) == "a       größer  x\n"
                                                                      "longer  b       y\n");
}

TEST_CASE("the last column wraps between words") {
  CHECK(render_table({{"key", "one two three four five six seven eight nine ten eleven"}}, 36) ==
        "key  one two three four five six\n"
        "     seven eight nine ten eleven\n");
}

TEST_CASE("other columns wrap where the last is not enough, the widest first") {
  CHECK(render_table({{"  first and second", "one", "3 %", "x"}, {"  a", "two", "100 %", "y z"}}, 28) ==
        "  first and  one  3 %    x\n"
        "  second\n"
        "  a          two  100 %  y z\n");
  CHECK(render_table({{"first second", "3 % x", "12.5 us"}}, 5) == "first   3 %  12.5 us\nsecond  x\n");
  CHECK(render_table({{"a b", "c", "d"}, {"a row of two cells", "that says more"}}, 12) ==
        "a b     c  d\n"
        "a row   that says more\n"
        "of two\n"
        "cells\n");
}

TEST_CASE("a word longer than the column stays whole") {
  const std::string word(60, 'w');
  CHECK(render_table({{"k", word + " tail"}}, 30) == "k  " + word + "\n   tail\n");
}

TEST_CASE("no trailing spaces, no rows") {
  CHECK(render_table({{"a", "b", ""}}) == "a  b\n");
  CHECK(render_table({}).empty());
}

TEST_CASE("columns of numbers are right-aligned by characters") {
  std::vector<std::vector<std::string>> rows{
      {"n", "größe", "text"}, {"10", "1", "x"}, {"7"}, {"…", "123456", "y"}};
  align_right(rows, {0, 1, 5});
  CHECK(rows == std::vector<std::vector<std::string>>{
                    {" n", " größe", "text"}, {"10", "     1", "x"}, {" 7"}, {" …", "123456", "y"}});
  CHECK(render_table(rows) == " n   größe  text\n"
                              "10       1  x\n"
                              " 7\n"
                              " …  123456  y\n");
  std::vector<std::vector<std::string>> none;
  align_right(none, {0});
  CHECK(none.empty());
}

TEST_CASE("nothing reaches a terminal raw") {
  CHECK(render_table({{"\x1b[31m", "a\nb"}, {"c", "\u202e"}}) == "\\x1b[31m  a\\x0ab\nc         \\u202e\n");
  CHECK(bold("\x1b[31m", false) == "\\x1b[31m");
  CHECK(bold("\x1b[31m", true) == "\x1b[1m\\x1b[31m\x1b[0m");
}
