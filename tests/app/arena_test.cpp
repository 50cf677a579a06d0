// The arena command from document to document and table; ids of buffers.
#include "app/arena.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace tidegate;
using namespace tidegate::commands;

namespace {

constexpr std::string_view three_buffers =
    R"({"buffers":[{"id":"scan","lower":0,"upper":2,"size":3},{"id":7,"lower":1,"upper":3,"size":4000},)"
    R"({"id":"größe","lower":2,"upper":4,"size":3,"alignment":4}]})";

// Two bytes, and 9 because of the alignment: only a search proves it.
constexpr std::string_view aligned = R"({"buffers":[{"id":0,"lower":0,"upper":1,"size":1,"alignment":8},)"
                                     R"({"id":1,"lower":0,"upper":1,"size":1,"alignment":8}]})";

std::string arena_json(std::string_view json, const ArenaOptions& options = {}) {
  std::string answer;
  REQUIRE(arena(json, options, documents::Style::compact, answer));
  return answer;
}

std::string table(std::string_view json, const ArenaOptions& options = {}) {
  const auto planned = arena_document(json, options);
  REQUIRE(planned);
  return arena_table(*planned, false);
}

std::string refusal(std::string_view json, const ArenaOptions& options = {}) {
  const auto planned = arena_document(json, options);
  return planned ? "accepted" : describe(planned.error());
}

std::string buffers(std::string_view list) {
  return R"({"buffers":[)" + std::string(list) + "]}";
}

documents::BufferLifetimes with_ids(std::initializer_list<Identifier> ids) {
  documents::BufferLifetimes lifetimes;
  for (const Identifier& id : ids) {
    lifetimes.buffers.push_back({.id = id, .lifetime = {}});
  }
  return lifetimes;
}

} // namespace

TEST_CASE("lifetimes become offsets, in order and under their ids") {
  CHECK(
      arena_json(three_buffers) ==
      R"({"kind":"arena_plan","schema_version":1,"height_bytes":4003,"lower_bound_bytes":4003,"optimal":true,)"
      R"("proof":"meets_bound","gave_up":false,"search_nodes":0,"buffers":[{"id":"scan","offset":4000},)"
      R"({"id":7,"offset":0},{"id":"größe","offset":4000}]})");
  CHECK(arena_json(R"({"buffers":[]})") ==
        R"({"kind":"arena_plan","schema_version":1,"height_bytes":0,"lower_bound_bytes":0,"optimal":true,)"
        R"("proof":"meets_bound","gave_up":false,"search_nodes":0,"buffers":[]})");
  CHECK(arena_json(aligned).find(
            R"("height_bytes":9,"lower_bound_bytes":2,"optimal":true,"proof":"exhausted_search")") !=
        std::string::npos);
  CHECK(arena_json(aligned, {.effort = 0})
            .find(R"("optimal":false,"proof":"none","gave_up":true,"search_nodes":0)") != std::string::npos);
}

TEST_CASE("the table runs from the bottom of the arena to its top") {
  CHECK(table(three_buffers, {.capacity_bytes = 1'000'000}) ==
        "arena of 3.9 KiB (4003 bytes) for 3 buffers, which is the least possible\n"
        "\n"
        "buffer  offset  size  alive\n"
        "7            0  4000  [1, 3)\n"
        "scan      4000     3  [0, 2)\n"
        "größe     4000     3  [2, 4)\n"
        "\n"
        "lower bound  3.9 KiB (4003 bytes) alive at one moment\n"
        "capacity     976.5 KiB (1000000 bytes)\n"
        "search       not needed\n");
  CHECK(table(aligned).starts_with(
      "arena of 9 bytes for 2 buffers, which an exhaustive search proves to be the least\n"));
  CHECK(table(aligned, {.effort = 0})
            .starts_with("arena of 9 bytes for 2 buffers, not proved to be the least\n"));
  const auto planned = arena_document(three_buffers, {});
  REQUIRE(planned);
  CHECK(arena_table(*planned, true).starts_with("\x1b[1marena of 3.9 KiB"));
}

TEST_CASE("the capacity of the options replaces the document's") {
  const std::string tight = R"({"capacity_bytes":4002,)" + std::string(three_buffers.substr(1));
  const std::string over =
      "tidegate: error: 4003 bytes are alive at one moment and the capacity is 4002 bytes "
      "[arena_over_capacity]\n"
      "  at: /capacity_bytes\n"
      "  fix: raise the capacity to at least 4003 bytes, or keep fewer buffers alive together";
  CHECK(refusal(tight) == over);
  CHECK(refusal(three_buffers, {.capacity_bytes = 4002}) == over);
  CHECK(refusal(tight, {.capacity_bytes = 4003}) == "accepted");
}

TEST_CASE("refusals name the buffer, its place and a fix") {
  CHECK(refusal(buffers(R"({"id":"x","lower":2,"upper":2,"size":1})")) ==
        "tidegate: error: buffer 0 is never alive: its upper end is not above its lower end (id \"x\") "
        "[empty_lifetime]\n"
        "  at: /buffers/0/upper\n"
        "  fix: give an upper end above the lower one, or leave the buffer out");
  CHECK(refusal(buffers(R"({"id":7,"lower":1,"upper":2,"size":1,"alignment":6})")) ==
        "tidegate: error: the alignment of buffer 0 is not a power of two (id 7) [bad_alignment]\n"
        "  at: /buffers/0/alignment\n"
        "  fix: give 1, 2, 4, 8 or another power of two");
  CHECK(refusal(buffers(R"({"id":1,"lower":0,"upper":2,"size":1},)"
                        R"({"id":2,"lower":1,"upper":2,"size":18446744073709551615})")) ==
        "tidegate: error: the sum of the sizes alive when buffer 1 starts exceeds 64 bits (id 2) "
        "[byte_count_overflow]\n"
        "  at: /buffers/1\n"
        "  fix: check the sizes of the buffers");
  CHECK(refusal(aligned, {.capacity_bytes = 8}).find("the arena needs at least 9 bytes") !=
        std::string::npos);
  CHECK(refusal(aligned, {.effort = 0, .capacity_bytes = 8})
            .ends_with("[arena_search_exhausted]\n"
                       "  at: /capacity_bytes\n"
                       "  fix: raise --effort, or the capacity to 9 bytes"));
}

TEST_CASE("a number and the name of its digits are two ids") {
  CHECK(buffer_key(Identifier(std::uint64_t{7})) != buffer_key(Identifier("7")));
  CHECK(buffer_key(Identifier("#7")) != buffer_key(Identifier(std::uint64_t{7})));
  CHECK(buffer_key(Identifier("=7")) != buffer_key(Identifier("7")));
  const auto index = index_buffers(with_ids({Identifier(std::uint64_t{7}), Identifier("7"), Identifier("")}));
  REQUIRE(index);
  CHECK(index->size() == 3);
  CHECK(index->at(buffer_key(Identifier("7"))) == 1);
  const auto twice = index_buffers(with_ids({Identifier("a"), Identifier("b"), Identifier("a")}));
  REQUIRE_FALSE(twice);
  CHECK(describe(twice.error()) ==
        "tidegate: error: buffers 0 and 2 have the same id, \"a\" [duplicate_name]\n"
        "  at: /buffers/2/id\n"
        "  fix: give each its own");
}
