// Timings of a run and of plain launches in turns.
#pragma once
#include "engine/run_report.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace tidegate::engine {

// Times both ways in pairs of alternating order. Each returns its nanoseconds, or nothing once time is up: then the rounds
// before count. Returns nothing without a round. `same_launches`: both ways are the same, so what differs is chance.
std::optional<Comparison> compare_ways(std::uint64_t rounds, bool same_launches,
                                       const std::function<std::optional<std::uint64_t>()>& plain,
                                       const std::function<std::optional<std::uint64_t>()>& run);

} // namespace tidegate::engine
