// Text helpers: nearest names, pieces of input in messages.
#include <tidegate/core/describe.hpp>

#include <doctest/doctest.h>

using namespace tidegate;

TEST_CASE(
    "the nearest name is one slip away, or the only one that begins so; the first of equally near ones wins") {
  struct Case {
    std::string word;
    std::string_view nearest; // "": none
  };
  constexpr std::array<std::string_view, 10> names{
      "queue_len",    "requeue_count", "max_priority_age", "n",   "op_handle",
      "input_handle", "global_size",   "global_offset",    "cat", "bat"};
  for (const auto& [word, nearest] : {
           Case{"queue_lem", "queue_len"},  // substitution
           Case{"queue_le", "queue_len"},   // deletion
           Case{"queuee_len", "queue_len"}, // insertion
           Case{"qeueu_len", "queue_len"},  // swapped neighbours, twice
           Case{"requeue_cuont", "requeue_count"},
           Case{"m", "n"},
           Case{"QUEUE_LEN", "queue_len"},
           Case{"colour", ""},
           Case{"op", "op_handle"},
           Case{"input", "input_handle"},
           Case{"global", ""}, // two begin with it
           Case{"inp", ""},
           Case{"zz", ""},
           Case{std::string(100000, 'q'), ""},
           Case{"rat", "cat"},
       }) {
    CHECK(nearest_name(word, names).value_or("") == nearest);
  }
  CHECK_FALSE(nearest_name("anything", {}));
}

TEST_CASE("input in messages is shortened, but not changed") {
  CHECK(in_quotes("plain") == "\"plain\"");
  CHECK(in_quotes("tab\tand\x1b[31m") == "\"tab\tand\x1b[31m\"");
  CHECK(in_quotes("größe") == "\"größe\"");
  CHECK(in_quotes("\xff\xc3") == "\"\xff\xc3\"");
  CHECK(shortened(std::string(41, 'x')) == std::string(40, 'x') + "…");
  CHECK(shortened(std::string(40, 'x')) == std::string(40, 'x'));
  CHECK(shortened("\xff\xffö", 2) == "\xff\xff…");
  CHECK(shortened("").empty());
}

TEST_CASE("characters unsafe for terminals are escaped") {
  CHECK(printable("plain, größe → 😀") == "plain, größe → 😀");
  CHECK(printable(std::string_view("a\0b\n\r\t", 6)) == "a\\x00b\\x0a\\x0d\\x09");
  CHECK(printable("\x1b[31mred\x1b]0;title\x07") == "\\x1b[31mred\\x1b]0;title\\x07");
  CHECK(printable("\x7f") == "\\x7f");
  CHECK(printable("\u009b31m\u0085\u00a0") == "\\u009b31m\\u0085\u00a0"); // C1 controls; U+00A0 stays
  CHECK(printable("\u202aa\u202eb\u2066c\u2069d\u200f\u061c") ==
        "\\u202aa\\u202eb\\u2066c\\u2069d\\u200f\\u061c");
  CHECK(printable("\u2028\u2029") == "\\u2028\\u2029");
  CHECK(printable("\u200d\u2027\u202f\u2065\u206a") == "\u200d\u2027\u202f\u2065\u206a"); // their neighbours
  CHECK(printable("\xff\xc3|\xe2\x80") == "\\xff\\xc3|\\xe2\\x80");                       // invalid UTF-8
}

TEST_CASE("long names are cut in the middle, between characters") {
  struct Case {
    std::string_view text;
    std::size_t most;
    std::string_view cut;
  };
  for (const auto& [text, most, cut] :
       {Case{"abcdefghij", 10, "abcdefghij"}, Case{"abcdefghijk", 10, "abcde…hijk"},
        Case{"abcdefghijk", 9, "abcd…hijk"}, Case{"abc", 1, "…"}, Case{"abc", 2, "a…"}, Case{"", 5, ""},
        Case{"größegröße", 10, "größegröße"}, Case{"größegröße", 6, "grö…ße"}, Case{"→→→→😀", 4, "→→…😀"},
        Case{"a\nb", 6, "a\nb"}, Case{"\xff\xfe\xfd", 2, "\xff…"}}) {
    CHECK(shortened_middle(text, most) == cut);
  }
}

TEST_CASE("nouns take an s unless there is one, characters are counted, pointers escape as RFC 6901 says") {
  CHECK(plural(0, "wave") == "0 waves");
  CHECK(plural(1, "wave") == "1 wave");
  CHECK(plural(18446744073709551615U, "byte") == "18446744073709551615 bytes");
  CHECK(character_count("größe") == 5);
  CHECK(character_count("→…") == 2);
  CHECK(character_count("") == 0);
  CHECK(pointer_token("a/b~c") == "a~1b~0c");
  CHECK(pointer_token("").empty());
}

namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

std::string refused_count(std::string_view text) {
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
  std::string texts;
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1023}, std::uint64_t{1024},
        std::uint64_t{1025}, std::uint64_t{1126}, std::uint64_t{1127}, std::uint64_t{2047},
        (std::uint64_t{1} << 20U) - 1, std::uint64_t{1} << 20U, std::uint64_t{139209728},
        std::uint64_t{1} << 30U, std::uint64_t{5} << 40U, std::uint64_t{7} << 50U, std::uint64_t{1} << 60U,
        largest}) {
    texts += bytes_text(count) + ", ";
  }
  CHECK(texts ==
        "0 bytes, 1 byte, 2 bytes, 1023 bytes, 1 KiB, 1 KiB, 1 KiB, 1.1 KiB, 1.9 KiB, 1023.9 KiB, 1 MiB, "
        "132.7 MiB, 1 GiB, 5 TiB, 7 PiB, 1 EiB, 15.9 EiB, ");
}

TEST_CASE("units are powers of 1000 or of 1024, in any case, with or without B and a space") {
  std::string counts;
  for (const char* const text :
       {"0",      "131072", "131072B", "7 b", "007",  "2k", "2kB",  "2KB", "2Ki",   "2kib",
        "64 MiB", "64M",    "3Gi",     "3G",  "3TiB", "3T", "3pib", "3P",  "15EiB", "18E"}) {
    counts += std::to_string(parse_bytes(text).value()) + " ";
  }
  CHECK(counts == "0 131072 131072 7 7 2000 2000 2000 2048 2048 67108864 64000000 3221225472 3000000000 "
                  "3298534883328 3000000000000 3377699720527872 3000000000000000 17293822569102704640 "
                  "18000000000000000000 ");
}

TEST_CASE("fractions must come out as whole bytes, and counts beyond 64 bits are refused, not wrapped") {
  for (const auto& [text, count] : {std::pair<std::string, std::uint64_t>("1.5GB", 1'500'000'000),
                                    {"1.50GB", 1'500'000'000},
                                    {"0.5KiB", 512},
                                    {"0.0009765625KiB", 1},
                                    {"3.000", 3},
                                    {"1." + std::string(1000, '0'), 1},
                                    {"1.000000000000000001EB", 1'000'000'000'000'000'001U},
                                    {"18446744073709551615", largest},
                                    {"18.446744073709551615EB", largest},
                                    {"15.5EiB", std::uint64_t{31} << 59U}}) {
    CHECK(parse_bytes(text) == count);
  }
  for (const std::string text : {"1.5", "0.0005kB", "0.1KiB", "1.0000000000000000001EB"}) {
    CHECK(refused_count(text) == '"' + text + "\" is not a whole number of bytes");
  }
  for (const std::string text : {"18446744073709551616", "18.446744073709551616EB", "16EiB", "19E",
                                 "99999999999G", "184467440737095516150", "18446744073709551615k"}) {
    CHECK(refused_count(text) == '"' + text + "\" does not fit 64 bits");
  }
  CHECK(refused_count(std::string(1000, '9')).ends_with(" does not fit 64 bits"));
}

TEST_CASE("everything else is not a number of bytes") {
  for (const std::string text : {"",     " ",     "x",      "-1",  "+1",     " 1",    "1  B", "1,5GB", ".5GB",
                                 "1.GB", "1.",    "1..5k",  "1e3", "0x10",   "1KiBB", "1iB",  "1Kii",  "1bb",
                                 "1Xi",  "1 M B", "64MiBs", "k",   "1.5.5M", "1_000", "1B2"}) {
    CHECK(refused_count(text) == '"' + text + "\" is not a number of bytes");
  }
  CHECK(refused_count(std::string_view("1\0k", 3)) ==
        std::string("\"1\0k\"", 5) + " is not a number of bytes");
}

TEST_CASE("names of OpenCL C and of numpy mean ours, where ours may stand") {
  constexpr std::array<std::string_view, 4> known{"i32", "u8", "f32", "f64"};
  std::string meant;
  for (const char* const word : {"int", "uchar", "uint8", "float", "double", "half", "", "float4", "uchar16",
                                 "f32x8", "int64x2"}) { // a vector is several elements
    meant += std::string(meant_name(word, known).value_or("-")) + " ";
  }
  CHECK(meant == "i32 u8 u8 f32 f64 - - f32 u8 f32 - ");
  constexpr std::array<std::string_view, 2> words{"printer", "float3"};
  CHECK(meant_name("int", words) == std::nullopt);
  CHECK(meant_name("float", words) == "float3"); // a slip, then
}

namespace tidegate {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

std::string refused_duration(std::string_view text) {
  const auto parsed = parse_duration(text, second);
  REQUIRE_FALSE(parsed);
  return parsed.error().message + "; " + parsed.error().fix;
}

TEST_CASE("a number with a unit, or in the default unit") {
  std::string times;
  for (const char* const text : {"10", "10s", "2m", "2 min", "1.5h", "150ms", "7us", "60000000000ns", "0"}) {
    times += std::to_string(parse_duration(text, second).value()) + " ";
  }
  CHECK(times ==
        "10000000000 10000000000 120000000000 120000000000 5400000000000 150000000 7000 60000000000 0 ");
  CHECK(parse_duration("150", 1'000'000) == 150'000'000);
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
  std::string times;
  for (const double ns : {0.0, 51'400.0, 999'400.0, 999'600.0, 2.26e6, 999.7e6, 1234e9}) {
    times += short_time_text(ns) + ", ";
  }
  CHECK(times == "0 us, 51.4 us, 999 us, 1 ms, 2.26 ms, 1 s, 1234 s, ");
}

} // namespace
} // namespace tidegate
