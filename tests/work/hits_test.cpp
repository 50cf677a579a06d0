// Lists of hits: capacities, what is read from a list after a run, comparisons in any order, and files.
#include "core/files.hpp"
#include "core/npy.hpp"
#include "temporary_folder.hpp"
#include "work/resolve.hpp"
#include "work/run.hpp"

using namespace tidegate;
using namespace tidegate::engine;

namespace {

constexpr std::size_t header_words = 16;

// A list with this capacity.
ProgramBuffer list_of(HitsSpec spec, const std::string& folder = "") {
  ProgramBuffer list = resolve_hits("found", spec, folder, "/hits/found");
  REQUIRE(size_list(list, spec, {.items = 10}, {}));
  return list;
}

// The contents that a device leaves, with `count` hits claimed and `more` counted above the limit.
template <class T>
std::vector<std::byte> contents(const ProgramBuffer& list, std::uint32_t count, const std::vector<T>& hits,
                                std::uint64_t more = 0) {
  std::vector<std::byte> bytes(list.bytes, std::byte{0xa5}); // what no hit has written is undefined
  const auto first = list.first();
  std::memcpy(bytes.data(), first->data(), first->size());
  const std::array<std::uint32_t, 2> words{static_cast<std::uint32_t>(more),
                                           static_cast<std::uint32_t>(more >> 32U)};
  std::memcpy(bytes.data(), &count, sizeof count);
  std::memcpy(bytes.data() + 2 * sizeof(std::uint32_t), words.data(), sizeof words);
  std::memcpy(bytes.data() + header_words * sizeof(std::uint32_t), hits.data(), hits.size() * sizeof(T));
  return bytes;
}

// The sorted output of a list with these elements.
template <class T>
std::vector<T> sorted(ElementType type, const std::vector<T>& elements, std::uint32_t width = 1) {
  const test::TemporaryFolder folder;
  const auto hits = static_cast<std::uint32_t>(elements.size() / width);
  const ProgramBuffer list =
      list_of({.type = type, .width = width, .capacity = hits, .sorted = true, .output = "found.npy"},
              folder.path().string());
  REQUIRE(list.write(contents(list, hits, elements)));
  const auto file = read_all((folder.path() / "found.npy").string(), std::size_t{1} << 20U);
  REQUIRE(file);
  const auto array = parse_npy(*file);
  REQUIRE(array);
  CHECK(array->shape ==
        (width == 1 ? std::vector<std::uint64_t>{hits} : std::vector<std::uint64_t>{hits, width}));
  std::vector<T> result(array->bytes.size() / sizeof(T));
  std::memcpy(result.data(), array->bytes.data(), array->bytes.size());
  return result;
}

} // namespace

TEST_CASE("capacities") {
  CHECK(list_of({.capacity = 7}).hits->report.capacity == 7);
  CHECK_FALSE(list_of({.capacity = 7}).hits->report.derived);
  const HitsReport derived = list_of({.expected_hits_per_item = 100}).hits->report;
  CHECK(derived.capacity == 2000);
  CHECK(derived.derived);
  CHECK(list_of({}).hits->report.capacity == 1024);
  CHECK(list_of({.width = 3, .capacity = 7}).bytes == 72 + 8 * 12); // the header is a whole number of hits

  const HitsSpec spec;
  ProgramBuffer list = resolve_hits("found", spec, "", "/hits/found");
  const auto endless = size_list(list, spec, {.items = 10, .endless = true}, {});
  CHECK(endless.error().code == ErrorCode::invalid_program);
  CHECK(endless.error().pointer == "/hits/found");
  const auto overflow = size_list(list, spec, {.items = std::uint32_t{1} << 31U}, {});
  CHECK(overflow.error().code == ErrorCode::overflow);
  const auto above_limit = size_list(list, spec, {.items = std::uint32_t{1} << 30U}, {});
  CHECK(above_limit.error().message == "the policy derives a capacity of 2147483648");
  policy::LaunchPolicy policy;
  policy.min_hit_capacity = 1;
  REQUIRE(size_list(list, spec, {.items = 10, .memory_bytes = 85, .budget_bytes = 100}, policy));
  CHECK(list.hits->report.capacity == 10); // memory is short
  REQUIRE(size_list(list, spec, {.items = 10, .memory_bytes = 84, .budget_bytes = 100}, policy));
  CHECK(list.hits->report.capacity == 20);
}

TEST_CASE("counts of hits") {
  const auto counted = [](HitOverflow overflow, std::uint32_t count, std::uint64_t more = 0) {
    const ProgramBuffer list = list_of({.capacity = 3, .on_overflow = overflow});
    const HitsReport found =
        list.hits->count(contents(list, count, std::vector<std::uint32_t>{1, 2, 3}, more));
    return fmt::format("{} hits, {} dropped, {} needed{}", *found.hits, *found.dropped,
                       *found.needed_capacity, overflows(found) ? ": overflow" : "");
  };
  CHECK(counted(HitOverflow::error, 0) == "0 hits, 0 dropped, 1 needed");
  CHECK(counted(HitOverflow::error, 3) == "3 hits, 0 dropped, 3 needed");
  CHECK(counted(HitOverflow::error, 5) == "5 hits, 2 dropped, 5 needed: overflow");
  CHECK(counted(HitOverflow::truncate, 5) == "5 hits, 2 dropped, 5 needed");
  CHECK(counted(HitOverflow::grow, std::uint32_t{1} << 31U, (std::uint64_t{5} << 32U) + 9) ==
        "23622320137 hits, 23622320134 dropped, 23622320137 needed: overflow");
}

TEST_CASE("hits are compared in any order") {
  const ProgramBuffer list = list_of({.capacity = 4});
  const auto told = [&](std::uint32_t expected, const std::vector<std::uint32_t>& these, std::uint32_t found,
                        const std::vector<std::uint32_t>& those) {
    const UnorderedDifference other =
        list.compare(contents(list, expected, these), contents(list, found, those));
    return other.elements == 0 ? "none"
                               : fmt::format("{} from {} on: {}, {}", other.elements, other.first,
                                             other.expected, other.found);
  };
  CHECK(told(3, {3, 1, 2}, 3, {2, 3, 1}) == "none");
  CHECK(told(3, {3, 1, 2}, 3, {2, 4, 1}) == "1 from 2 on: 3, 4");
  CHECK(told(3, {1, 1, 2}, 3, {2, 2, 1}) == "1 from 1 on: 1, 2"); // equal hits count
  CHECK(told(3, {3, 1, 2}, 2, {3, 1}) == "2 from 1 on: 2, 3");
  CHECK(told(1, {1}, 2, {1, 9}) == "1 from 1 on: no hit, 9");
  // Without room for all, any of them may be there.
  CHECK(told(9, {1, 2, 3, 4}, 9, {5, 6, 7, 8}) == "none");
  CHECK(told(9, {1, 2, 3, 4}, 7, {5, 6, 7, 8}) == "2 from 7 on: 9 hits, 7 hits");
}

TEST_CASE("the fourth word of vectors of 3 is 0, whatever the device left there") {
  const ProgramBuffer list = list_of({.width = 4, .capacity = 1});
  const auto differing = [&] {
    return list
        .compare(contents(list, 1, std::vector<std::uint32_t>{1, 2, 3, 7}),
                 contents(list, 1, std::vector<std::uint32_t>{1, 2, 3, 8}))
        .elements;
  };
  *list.hits->written = 3;
  CHECK(differing() == 0);
  *list.hits->written = 4; // another kernel writes vectors of 4
  CHECK(differing() == 1);
}

TEST_CASE("hits are sorted as numbers of their type") {
  CHECK(sorted<std::uint32_t>(ElementType::u32, {3, 0xffffffff, 0}) ==
        std::vector<std::uint32_t>{0, 3, 0xffffffff});
  CHECK(sorted<std::int64_t>(ElementType::i64, {3, -5, 0, -1}) == std::vector<std::int64_t>{-5, -1, 0, 3});
  CHECK(sorted<std::int8_t>(ElementType::i8, {3, -5, 0, 127, -128}) ==
        std::vector<std::int8_t>{-128, -5, 0, 3, 127});
  CHECK(sorted<double>(ElementType::f64, {3, -5e300, 0.5, -1}) == std::vector<double>{-5e300, -1, 0.5, 3});
  const std::vector<float> floats = sorted<float>(ElementType::f32, {0.0F, -0.0F, -1.0F});
  CHECK(std::bit_cast<std::uint32_t>(floats[1]) == 0x80000000);
  CHECK(sorted<std::uint16_t>(ElementType::u16, {2, 1, 1, 9, 1, 3}, 2) ==
        std::vector<std::uint16_t>{1, 3, 1, 9, 2, 1});
  CHECK(sorted<std::uint32_t>(ElementType::u32, {}).empty());
}

TEST_CASE("a list that overflowed grows if the program says so") {
  WaveProgram program;
  program.hits = {{"a", {.on_overflow = HitOverflow::grow}}, {"b", {.capacity = 5}}};
  const HitsReport enough{.list = "b", .capacity = 5, .hits = 2, .dropped = 0, .needed_capacity = 2};
  HitsReport more{.list = "a",
                  .capacity = 5,
                  .on_overflow = HitOverflow::grow,
                  .hits = 9,
                  .dropped = 4,
                  .needed_capacity = 9};
  const auto larger = grown(program, std::array{more, enough});
  REQUIRE(larger);
  CHECK(larger->hits[0].second.capacity == 9);
  CHECK(larger->hits[1].second.capacity == 5);
  more.needed_capacity = most_hits + 1;
  CHECK_FALSE(grown(program, std::array{more, enough}));
  CHECK_FALSE(grown(program, std::array{enough}));
}
