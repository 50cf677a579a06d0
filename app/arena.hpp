// Buffer lifetimes and their ids, for `tidegate arena` and `tidegate check`.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/planning/documents.hpp>

#include <cstddef>
#include <string>
#include <unordered_map>

namespace tidegate::app {

// Buffers by their ids, so far as those were read. duplicate_name for all that have one given already.
using BufferIndex = std::unordered_map<std::string, std::size_t>;
Result<BufferIndex> index_buffers(const documents::BufferLifetimes& lifetimes,
                                  const UnreadLocations& unread = {});

// Orders ids in a BufferIndex: the number 7 and the name "7" are different ids.
std::string buffer_key(const Identifier& id);

// Lifetimes, alignments and sizes: empty_lifetime, bad_alignment and byte_count_overflow of all buffers that
// were read.
Result<void> check_lifetimes(const documents::BufferLifetimes& lifetimes, const UnreadLocations& unread = {});

// Converts lifetimes to the planner's input.
planning::ArenaProblem arena_problem(const documents::BufferLifetimes& lifetimes);

} // namespace tidegate::app
