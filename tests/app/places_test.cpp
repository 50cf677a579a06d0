// Lines and columns of what errors point to.
#include "core/json_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace tidegate;
using namespace tidegate::documents;

namespace {

Error at(std::string pointer) {
  return {.code = ErrorCode::invalid_program, .message = "m", .fix = "f", .pointer = std::move(pointer)};
}

// "2:3" for the place of the pointer.
std::string place(std::string_view json, std::string pointer) {
  const Error error = located(at(std::move(pointer)), json);
  return error.line ? std::to_string(*error.line) + ":" + std::to_string(*error.column) : "none";
}

constexpr std::string_view text = "{\"a\": 1,\n"
                                  " \"ü/~\": [10, [20, {\"x\": true}],\n"
                                  "  \"last\"],\n"
                                  " \"o\": {\"a\": {}, \"b\" : null}}";

} // namespace

TEST_CASE("every value has its place") {
  CHECK(place(text, "/a") == "1:7");
  CHECK(place(text, "/ü~1~0") == "2:9");
  CHECK(place(text, "/ü~1~0/0") == "2:10");
  CHECK(place(text, "/ü~1~0/1/1") == "2:19");
  CHECK(place(text, "/ü~1~0/1/1/x") == "2:25");
  CHECK(place(text, "/ü~1~0/2") == "3:3");
  CHECK(place(text, "/o/a") == "4:13");
  CHECK(place(text, "/o/b") == "4:23");
}

TEST_CASE("what is left out is where it would be, unless that is everywhere") {
  CHECK(place(text, "/o/a/none/deeper") == "4:13");
  CHECK(place(text, "/ü~1~0/7") == "2:9");
  CHECK(place(text, "/none") == "none");
  CHECK(place(text, "") == "none");
}

TEST_CASE("errors come in the order of the document, and those of other files last") {
  Error error = at("/o/b");
  error.others = {at("/none"), at("/ü~1~0/1"), at("/a"), at("/o/a")};
  error.others[0].source = "kernel.cl";
  error.others[0].line = 1;
  locate(error, text);
  REQUIRE(error.others.size() == 4);
  CHECK(error.pointer == "/a");
  CHECK(error.others[0].pointer == "/ü~1~0/1");
  CHECK(error.others[1].pointer == "/o/a");
  CHECK(error.others[2].pointer == "/o/b");
  CHECK(error.others[3].source == "kernel.cl");
  CHECK(error.others[3].line == 1);
}

TEST_CASE("a place that is known already stays") {
  Error error = at("/a");
  error.line = 7;
  error.column = 8;
  locate(error, text);
  CHECK(error.line == 7);
  CHECK(error.column == 8);
}
