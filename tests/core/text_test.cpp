// Text helpers: nearest names, lists of names, pieces of input in messages.
#include <tidegate/core/text.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace tidegate;

namespace {
constexpr std::array<std::string_view, 4> names{"queue_len", "requeue_count", "max_priority_age", "n"};
}

TEST_CASE("the nearest name is one slip away") {
  CHECK(nearest_name("queue_lem", names) == "queue_len");  // substitution
  CHECK(nearest_name("queue_le", names) == "queue_len");   // deletion
  CHECK(nearest_name("queuee_len", names) == "queue_len"); // insertion
  CHECK(nearest_name("qeueu_len", names) == "queue_len");  // swapped neighbours, twice
  CHECK(nearest_name("requeue_cuont", names) == "requeue_count");
  CHECK(nearest_name("m", names) == "n");
}

TEST_CASE("a word that resembles nothing has no nearest name") {
  CHECK_FALSE(nearest_name("colour", names));
  constexpr std::array<std::string_view, 4> handles{"op_handle", "input_handle", "global_size",
                                                    "global_offset"};
  CHECK(nearest_name("op", handles) == "op_handle");
  CHECK(nearest_name("input", handles) == "input_handle");
  CHECK_FALSE(nearest_name("global", handles)); // two candidates begin with it
  CHECK_FALSE(nearest_name("inp", handles));
  CHECK_FALSE(nearest_name("zz", names));
  CHECK_FALSE(nearest_name(std::string(100000, 'q'), names));
  CHECK_FALSE(nearest_name("anything", {}));
}

TEST_CASE("the first of equally near names wins") {
  constexpr std::array<std::string_view, 2> twins{"cat", "bat"};
  CHECK(nearest_name("rat", twins) == "cat");
}

TEST_CASE("lists of names read as English") {
  constexpr std::array<std::string_view, 3> three{"a", "b", "c"};
  CHECK(one_of(three) == "a, b or c");
  CHECK(one_of(std::span(three).first(2)) == "a or b");
  CHECK(one_of(std::span(three).first(1)) == "a");
  CHECK(one_of({}).empty());
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

TEST_CASE("printable text does not change") {
  const std::string once = printable("a\x1b\u202e\xff\\b");
  CHECK(printable(once) == once);
}

TEST_CASE("long names are cut in the middle") {
  CHECK(shortened_middle("abcdefghij", 10) == "abcdefghij");
  CHECK(shortened_middle("abcdefghijk", 10) == "abcde…hijk");
  CHECK(shortened_middle("abcdefghijk", 9) == "abcd…hijk");
  CHECK(shortened_middle("abc", 1) == "…");
  CHECK(shortened_middle("abc", 2) == "a…");
  CHECK(shortened_middle("", 5).empty());
}

TEST_CASE("long names are cut between characters") {
  CHECK(shortened_middle("größegröße", 10) == "größegröße");
  CHECK(shortened_middle("größegröße", 6) == "grö…ße");
  CHECK(shortened_middle("→→→→😀", 4) == "→→…😀");
  CHECK(shortened_middle("a\nb", 6) == "a\nb");
  CHECK(shortened_middle("\xff\xfe\xfd", 2) == "\xff…");
}

TEST_CASE("nouns take an s unless there is one") {
  CHECK(plural(0, "wave") == "0 waves");
  CHECK(plural(1, "wave") == "1 wave");
  CHECK(plural(2, "wave") == "2 waves");
  CHECK(plural(18446744073709551615U, "byte") == "18446744073709551615 bytes");
}

TEST_CASE("characters are counted, not bytes") {
  CHECK(character_count("größe") == 5);
  CHECK(character_count("→…") == 2);
  CHECK(character_count("") == 0);
}
TEST_CASE("pointer tokens escape as RFC 6901 says") {
  CHECK(pointer_token("a/b~c") == "a~1b~0c");
  CHECK(pointer_token("").empty());
}
