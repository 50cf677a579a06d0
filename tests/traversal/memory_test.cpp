// Device memory of a traversal: what every part takes, and which layout a budget gets.
#include "engine/traversal/memory.hpp"

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using policy::Topology;

const TraversalShape bfs{.vertices = 1000, .edges = 6400, .parents = true};
constexpr std::uint64_t plenty = std::uint64_t{1} << 40U;

FrontierMemory planned(const TraversalShape& shape, std::uint64_t budget,
                       std::optional<Topology> forced = {}) {
  auto memory = plan_memory(shape, {}, budget, plenty, forced);
  REQUIRE(memory);
  return *memory;
}

} // namespace

TEST_CASE("the parts of a breadth-first search") {
  const FrontierMemory memory = planned(bfs, 0);
  CHECK(memory.budget_bytes == plenty);
  CHECK_FALSE(memory.constrained);
  CHECK(part_bytes(memory, Memory::graph) == 1001 * 4 + 6400 * 4);
  CHECK(part_bytes(memory, Memory::transpose) == part_bytes(memory, Memory::graph));
  CHECK(part_bytes(memory, Memory::values) == 4000);
  CHECK(part_bytes(memory, Memory::parents) == 4000);
  CHECK(part_bytes(memory, Memory::bitmaps) == 3 * 32 * 4);
  CHECK(memory.queue_room == 1100);
  CHECK(part_bytes(memory, Memory::queues) == 2 * 1100 * 16);
  CHECK(part_bytes(memory, Memory::far_queues) == 0);
  std::uint64_t sum = 0;
  for (const MemoryPart& part : memory.parts) {
    sum += part.bytes;
  }
  CHECK(sum == memory.bytes);
  CHECK(memory.bytes == memory.full_bytes);
}

TEST_CASE("more than 2^32 edges take places of 64 bits, weights a word for each edge") {
  TraversalShape large{.vertices = 4, .edges = std::uint64_t{1} << 32U, .symmetric = true};
  CHECK(part_bytes(planned(large, 0), Memory::graph) == 5 * 8 + (std::uint64_t{1} << 34U));
  large.edges -= 1;
  CHECK(part_bytes(planned(large, 0), Memory::graph) == 5 * 4 + 4 * large.edges);
  large.weights = true;
  CHECK(part_bytes(planned(large, 0), Memory::graph) == 5 * 4 + 8 * large.edges);
  CHECK(part_bytes(planned(large, 0), Memory::transpose) == 0); // symmetric
}

TEST_CASE("memory_constrained needs neither queues nor the transpose") {
  const FrontierMemory memory = planned(bfs, 0, Topology::memory_constrained);
  CHECK(memory.constrained);
  CHECK(memory.bytes == memory.constrained_bytes);
  for (const Memory part : {Memory::transpose, Memory::stamps, Memory::queues}) {
    CHECK(part_bytes(memory, part) == 0);
  }
  CHECK(memory.full_bytes - memory.constrained_bytes == (1001 + 6400) * 4 + 4000 + 2 * 1100 * 16);
}

TEST_CASE("the layout follows from the pressure on the budget") {
  const std::uint64_t full = planned(bfs, 0).full_bytes;
  CHECK_FALSE(planned(bfs, full * 10'000 / 8490).constrained);
  const FrontierMemory short_of = planned(bfs, full * 10'000 / 8510);
  CHECK(short_of.constrained);
  CHECK(short_of.pressure_bps >= 8500);
  CHECK_FALSE(planned(bfs, full, Topology::dense_frontier).constrained); // as it was told to
}

TEST_CASE("a budget that no layout fits is refused with the bytes of each part") {
  const auto refused = plan_memory(bfs, {}, 1000, plenty, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::device_out_of_memory);
  CHECK(refused.error().available == 1000);
  CHECK(refused.error().pointer == "/device_memory_budget_bytes");
  CHECK(refused.error().message.find(
            "the budget is 1000 bytes: graph 28.9 KiB, values 3.9 KiB, parents 3.9 KiB, "
            "bitmaps 384 bytes, state and log 1.2 MiB") != std::string::npos);
  CHECK(refused.error().fix ==
        "give device_memory_budget_bytes more, or a smaller graph: this is the smallest layout");
  const auto forced =
      plan_memory(bfs, {}, planned(bfs, 0).constrained_bytes, plenty, Topology::sparse_frontier);
  REQUIRE_FALSE(forced);
  CHECK(forced.error().fix == "give device_memory_budget_bytes more; memory_constrained takes 1.2 MiB");
}

} // namespace tidegate::traversal
