// Parsing and formatting of byte counts.
#include <tidegate/core/text.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

using namespace tidegate;

namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

std::string refusal(std::string_view text) {
  const auto parsed = parse_bytes(text);
  if (parsed) {
    return "accepted";
  }
  CHECK(parsed.error().code == ErrorCode::invalid_usage);
  CHECK(parsed.error().fix == "give a number of bytes such as 131072, 64MiB or 1.5GB");
  return parsed.error().message;
}

} // namespace

TEST_CASE("counts are shown in the largest unit, cut to a tenth") {
  constexpr std::pair<std::uint64_t, std::string_view> cases[]{{0, "0 bytes"},
                                                               {1, "1 byte"},
                                                               {2, "2 bytes"},
                                                               {1023, "1023 bytes"},
                                                               {1024, "1 KiB"},
                                                               {1025, "1 KiB"},
                                                               {1127, "1.1 KiB"},
                                                               {1126, "1 KiB"},
                                                               {1536, "1.5 KiB"},
                                                               {2047, "1.9 KiB"},
                                                               {(1U << 20U) - 1, "1023.9 KiB"},
                                                               {1U << 20U, "1 MiB"},
                                                               {139209728, "132.7 MiB"},
                                                               {std::uint64_t{1} << 30U, "1 GiB"},
                                                               {std::uint64_t{5} << 40U, "5 TiB"},
                                                               {std::uint64_t{7} << 50U, "7 PiB"},
                                                               {std::uint64_t{1} << 60U, "1 EiB"},
                                                               {largest, "15.9 EiB"}};
  for (const auto& [count, text] : cases) {
    CHECK(bytes_text(count) == text);
  }
}

TEST_CASE("units are powers of 1000 or of 1024, in any case, with or without B and a space") {
  constexpr std::pair<std::string_view, std::uint64_t> cases[]{{"0", 0},
                                                               {"131072", 131072},
                                                               {"131072B", 131072},
                                                               {"7 b", 7},
                                                               {"007", 7},
                                                               {"2k", 2000},
                                                               {"2kB", 2000},
                                                               {"2KB", 2000},
                                                               {"2Ki", 2048},
                                                               {"2kib", 2048},
                                                               {"64MiB", 64U << 20U},
                                                               {"64 MiB", 64U << 20U},
                                                               {"64M", 64'000'000},
                                                               {"3Gi", std::uint64_t{3} << 30U},
                                                               {"3G", 3'000'000'000},
                                                               {"3TiB", std::uint64_t{3} << 40U},
                                                               {"3T", 3'000'000'000'000},
                                                               {"3pib", std::uint64_t{3} << 50U},
                                                               {"3P", 3'000'000'000'000'000},
                                                               {"15EiB", std::uint64_t{15} << 60U},
                                                               {"18E", 18'000'000'000'000'000'000U}};
  for (const auto& [text, count] : cases) {
    CAPTURE(text);
    CHECK(parse_bytes(text) == count);
  }
}

TEST_CASE("fractions must come out as whole bytes") {
  CHECK(parse_bytes("1.5GB") == 1'500'000'000);
  CHECK(parse_bytes("1.50GB") == 1'500'000'000);
  CHECK(parse_bytes("0.5KiB") == 512);
  CHECK(parse_bytes("0.0009765625KiB") == 1);
  CHECK(parse_bytes("3.000") == 3);
  CHECK(parse_bytes("1." + std::string(1000, '0')) == 1);
  CHECK(parse_bytes("1.000000000000000001EB") == 1'000'000'000'000'000'001U);
  CHECK(refusal("1.5") == "\"1.5\" is not a whole number of bytes");
  CHECK(refusal("0.0005kB") == "\"0.0005kB\" is not a whole number of bytes");
  CHECK(refusal("0.1KiB") == "\"0.1KiB\" is not a whole number of bytes");
  CHECK(refusal("1.0000000000000000001EB") == "\"1.0000000000000000001EB\" is not a whole number of bytes");
}

TEST_CASE("counts beyond 64 bits are refused, not wrapped") {
  CHECK(parse_bytes("18446744073709551615") == largest);
  CHECK(parse_bytes("18.446744073709551615EB") == largest);
  CHECK(parse_bytes("15.5EiB") == std::uint64_t{31} << 59U);
  for (const std::string text : {"18446744073709551616", "18.446744073709551616EB", "16EiB", "19E",
                                 "99999999999G", "184467440737095516150", "18446744073709551615k"}) {
    CHECK(refusal(text) == '"' + text + "\" does not fit 64 bits");
  }
  CHECK(refusal(std::string(1000, '9')).ends_with(" does not fit 64 bits"));
}

TEST_CASE("everything else is not a number of bytes") {
  for (const std::string text : {"",     " ",     "x",      "-1",  "+1",     " 1",    "1  B", "1,5GB", ".5GB",
                                 "1.GB", "1.",    "1..5k",  "1e3", "0x10",   "1KiBB", "1iB",  "1Kii",  "1bb",
                                 "1Xi",  "1 M B", "64MiBs", "k",   "1.5.5M", "1_000", "1B2"}) {
    CHECK(refusal(text) == '"' + text + "\" is not a number of bytes");
  }
  CHECK(refusal(std::string_view("1\0k", 3)) == std::string("\"1\0k\"", 5) + " is not a number of bytes");
}
