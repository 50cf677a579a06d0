// Parsing and formatting of durations.
#include "core/duration.hpp"

#include <doctest/doctest.h>

namespace tidegate {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

std::string refused_duration(std::string_view text) {
  const auto parsed = parse_duration(text, second);
  REQUIRE_FALSE(parsed);
  return parsed.error().message + "; " + parsed.error().fix;
}

TEST_CASE("a number with a unit, or in the default unit") {
  CHECK(parse_duration("10", second) == 10 * second);
  CHECK(parse_duration("10s", second) == 10 * second);
  CHECK(parse_duration("2m", second) == 120 * second);
  CHECK(parse_duration("2 min", second) == 120 * second);
  CHECK(parse_duration("1.5h", second) == 5400 * second);
  CHECK(parse_duration("150ms", second) == 150'000'000);
  CHECK(parse_duration("150", 1'000'000) == 150'000'000);
  CHECK(parse_duration("7us", second) == 7'000);
  CHECK(parse_duration("60000000000ns", second) == 60 * second);
  CHECK(parse_duration("0", second) == 0);
}

TEST_CASE("other texts are refused with an example of a duration") {
  const std::string fix = "write a duration such as 10s, 2m, 1.5h or 150ms";
  for (const char* const text : {"", "s", "-1s", "1x", "1 ", "1s ", "1e3s", "nan", "inf", "1,5s"}) {
    CHECK(refused_duration(text) == '"' + std::string(text) + "\" is not a duration; " + fix);
  }
  CHECK(refused_duration("9000h") == "\"9000h\" is more than a year; " + fix);
  CHECK(refused_duration("99999999999999999999999") ==
        "\"99999999999999999999999\" is more than a year; " + fix);
}

TEST_CASE("durations are formatted with three digits") {
  CHECK(short_time_text(0) == "0 us");
  CHECK(short_time_text(51'400) == "51.4 us");
  CHECK(short_time_text(999'400) == "999 us");
  CHECK(short_time_text(999'600) == "1 ms");
  CHECK(short_time_text(2.26e6) == "2.26 ms");
  CHECK(short_time_text(999.7e6) == "1 s");
  CHECK(short_time_text(1234e9) == "1234 s");
}

} // namespace
} // namespace tidegate
