// When the waves of a traced traversal ran: the device's clock stamps the rows of the log.
#pragma once
#include "engine/launch_times.hpp"
#include "engine/timeline.hpp"
#include "engine/traversal/replay.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::traversal {

// `ends`: the ends of all waves, `first` the begin of the first one, in ticks. A wave lasts from the end of the previous
// one, so it includes what converts its frontier, and the gap between launches. Returns an entry for each wave;
// `iteration` is the wave.
std::vector<engine::TaskSpan> wave_spans(engine::DeviceClock clock,
                                         std::span<const engine::SliceTimes> launches, std::uint64_t first,
                                         std::span<const std::uint64_t> ends);

// A lane of launches and one of waves, and the sizes of frontiers as curves.
engine::Timeline timeline_of(std::span<const WaveRecord> waves, const engine::Trace& trace,
                             engine::DeviceClock clock, bool persistent);

} // namespace tidegate::traversal
