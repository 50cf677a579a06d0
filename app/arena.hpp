// `tidegate arena`: buffer lifetimes become offsets in one arena.
#pragma once
#include <tidegate/core/encode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/planning/documents.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tidegate::app {

struct ArenaOptions {
  std::uint64_t effort = planning::ArenaOptions{}.effort;
  std::optional<std::uint64_t> capacity_bytes; // instead of the document's
  unsigned threads = 1;
};

// Buffers by their ids, so far as those were read. duplicate_name for all that have one given already.
using BufferIndex = std::unordered_map<std::string, std::size_t>;
Result<BufferIndex> index_buffers(const documents::BufferLifetimes& lifetimes,
                                  const UnreadPlaces& unread = {});

// Lifetimes, alignments and sizes: empty_lifetime, bad_alignment and byte_count_overflow of all buffers that
// were read.
Result<void> check_lifetimes(const documents::BufferLifetimes& lifetimes, const UnreadPlaces& unread = {});

// Orders ids in a BufferIndex: the number 7 and the name "7" are different ids.
std::string buffer_key(const Identifier& id);

// Converts lifetimes to the planner's input.
planning::ArenaProblem arena_problem(const documents::BufferLifetimes& lifetimes);

// Appends the arena_plan for buffer_lifetimes. Errors of decoding, and of the planner with ids, a pointer and
// a fix.
Result<void> arena(std::string_view json, const ArenaOptions& options, documents::Style style,
                   std::string& answer);

struct PlannedArena {
  documents::BufferLifetimes lifetimes;
  planning::ArenaPlan plan;
};

Result<PlannedArena> arena_document(std::string_view json, const ArenaOptions& options);

// For people: height, bound and proof, then the buffers from the top of the arena down.
std::string arena_table(const PlannedArena& planned, bool colour);

// The same as an SVG: time across, offsets up.
std::string arena_picture(const PlannedArena& planned);

// "arena of 3.9 KiB (4003 bytes) for 8 buffers, which is the least possible".
std::string arena_headline(const planning::ArenaPlan& plan);

// The number, or the name, which has quotes when it could be taken for a number.
std::string arena_label(const Identifier& id);

} // namespace tidegate::app
