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

TEST_CASE("input in messages is safe to print and short") {
  CHECK(quoted("plain") == "\"plain\"");
  CHECK(quoted("tab\tand\x1b[31m") == "\"tab\\x09and\\x1b[31m\"");
  CHECK(quoted("größe") == "\"größe\"");
  CHECK(quoted("\xff\xc3") == "\"\\xff\\xc3\"");
  CHECK(shortened(std::string(41, 'x')) == std::string(40, 'x') + "…");
  CHECK(shortened(std::string(40, 'x')) == std::string(40, 'x'));
  CHECK(shortened("").empty());
}

TEST_CASE("characters are counted, not bytes") {
  CHECK(character_count("größe") == 5);
  CHECK(character_count("→…") == 2);
  CHECK(character_count("") == 0);
}
