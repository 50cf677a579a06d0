#include <tidegate/planning/arena.hpp>

#include <fmt/format.h>

namespace tidegate::planning {

std::string describe(const ArenaError& error) {
  switch (error.code) {
  case ArenaErrorCode::empty_lifetime:
    return fmt::format("buffer {} is never alive: its upper end is not above its lower end", error.buffer);
  case ArenaErrorCode::bad_alignment:
    return fmt::format("the alignment of buffer {} is not a power of two", error.buffer);
  case ArenaErrorCode::byte_count_overflow:
    return error.field == "offset"
               ? fmt::format("buffer {} and those alive around it were not laid out within 64-bit offsets",
                             error.buffer)
               : fmt::format("the sum of the sizes alive when buffer {} starts leaves 64 bits", error.buffer);
  case ArenaErrorCode::arena_over_capacity:
    return error.proof == ArenaProof::meets_bound
               ? fmt::format("{} bytes are alive at one moment and the capacity is {} bytes",
                             error.required_bytes, error.capacity_bytes)
               : fmt::format("the arena needs at least {} bytes and the capacity is {} bytes; an exhaustive "
                             "search of {} nodes proves it",
                             error.required_bytes, error.capacity_bytes, error.search_nodes);
  case ArenaErrorCode::arena_search_exhausted: break;
  }
  const std::string best = error.best_height_bytes == 0
                               ? std::string("no plan within 64-bit offsets was found")
                               : fmt::format("the best plan found needs {} bytes", error.best_height_bytes);
  return fmt::format("no plan within the capacity of {} bytes was found and none was proved impossible: the "
                     "search gave up after {} nodes; {}, and at least {} are needed",
                     error.capacity_bytes, error.search_nodes, best, error.required_bytes);
}

} // namespace tidegate::planning
