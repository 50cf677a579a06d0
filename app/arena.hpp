// Buffer lifetimes and their ids, for `tidegate arena` and `tidegate check`.
#pragma once
#include "core/prelude.hpp"
#include <tidegate/planning/documents.hpp>

namespace tidegate::app {

// Returns the buffers by id, as far as ids were read. Error: duplicate_name for every id that is given again.
using BufferIndex = std::unordered_map<std::string, std::size_t>;
Result<BufferIndex> index_buffers(const documents::BufferLifetimes& lifetimes);

// Returns the key of an id in a BufferIndex: the number 7 and the name "7" are different ids.
std::string buffer_key(const Identifier& id);

// Checks lifetimes, alignments and sizes of all buffers that were read. Errors: empty_lifetime,
// bad_alignment, byte_count_overflow.
Result<void> check_lifetimes(const documents::BufferLifetimes& lifetimes);

struct PlannedArena {
  documents::BufferLifetimes lifetimes;
  planning::ArenaPlan plan;
};

// Draws an arena: time from left to right, offsets from bottom to top, a box for each buffer.
std::string arena_svg(const PlannedArena& planned, const std::string& headline);

// Converts lifetimes to the planner's input.
planning::ArenaProblem arena_problem(const documents::BufferLifetimes& lifetimes);

} // namespace tidegate::app
