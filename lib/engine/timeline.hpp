// A traced run as people look at it: lanes of spans, and arrows between them. Beside what was measured stands
// what the schedule plans: the same tasks, every tile of a wave taking its mean time, and no wait longer than
// the tasks before it.
#pragma once
#include "engine/generate.hpp"
#include "engine/launch_times.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {
struct CompiledProgram;
}

namespace tidegate::engine {

enum class SpanKind : std::uint8_t {
  launch,    // one launch on the device
  slice,     // a persistent one
  iteration, // from the first of its tasks to the first of the next iteration's
  work,      // tiles
  wait,      // for other work-groups
  until,     // the look at what ends the repetition
};
inline constexpr std::array<std::string_view, 6> span_kind_names{"launch", "slice", "iteration",
                                                                 "work",   "wait",  "until"};

// Packs of tiles of a stage: first, first + step, … Where there is one tile to a pack they are its tiles.
struct TileRun {
  std::uint32_t first = 0;
  std::int32_t step = 0;
  std::uint32_t count = 0;
};

struct TimelineSpan {
  SpanKind kind = SpanKind::work;
  std::uint64_t begin_ns = 0; // since the dispatch began
  std::uint64_t end_ns = 0;
  std::uint32_t name = 0; // in the names
  std::uint32_t iteration = 0;
  std::optional<std::uint32_t> stage = {}; // of the schedule
  std::optional<TileRun> tiles = {};
};

struct Lane {
  std::string name;
  std::vector<TimelineSpan> spans; // one after the other
};

// Of lanes, by index.
struct Arrow {
  std::uint32_t from_lane = 0;
  std::uint32_t to_lane = 0;
  std::uint64_t from_ns = 0; // within the span that it leaves
  std::uint64_t to_ns = 0;   // the begin of the one that it leads to
  std::uint32_t name = 0;    // "wave 1 to wave 2"
};

struct Timeline {
  engine::DeviceClock clock = engine::DeviceClock::none; // none: only launches are known
  std::vector<std::string> names;
  std::vector<Lane> measured;
  std::vector<Lane> planned;
  std::vector<Arrow> arrows;                 // between measured lanes
  std::optional<std::uint64_t> until_met_ns; // the value was there
  std::uint64_t left_out = 0;                // spans that there was no room for

  [[nodiscard]] std::uint64_t span_count() const; // that were measured
};

// `until_met` as the run ended.
Timeline timeline_of(const engine::CompiledProgram& compiled, const Trace& trace, std::uint32_t workers,
                     bool until_met);

} // namespace tidegate::engine
