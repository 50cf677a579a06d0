// Why a wave DAG cannot be planned. Plain data with typed fields. The checks come in the order of the codes:
// dependencies as they are listed, cycles, the budget of the graph, then wave by wave.
#pragma once

#include <tl/expected.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::planning {

enum class PlanErrorCode : std::uint8_t {
  invalid_wave,        // wave_count, before, after
  self_dependency,     // wave
  cycle,               // unscheduled_waves, cycle, before, after
  group_over_budget,   // required_bytes, budget_bytes, field; wave when a single one is too large
  byte_count_overflow, // field, wave: the one whose bytes are too many
};
inline constexpr std::array<std::string_view, 5> plan_error_code_names{
    "invalid_wave", "self_dependency", "cycle", "group_over_budget", "byte_count_overflow"};

inline std::string_view name(PlanErrorCode code) {
  return plan_error_code_names[static_cast<std::size_t>(code)];
}

// The enumeration above says which fields a code carries; the others stay at their defaults.
struct PlanError {
  PlanErrorCode code = PlanErrorCode::invalid_wave;
  std::string_view field; // what overflowed or does not fit, in the words of the specification
  std::uint64_t wave = 0;
  std::uint64_t wave_count = 0;
  std::uint64_t before = 0; // the dependency at fault; for a cycle the one to remove, from cycle.back() to
  std::uint64_t after = 0;  // cycle.front(). Wider than a wave index: a document may name wave 2^64 - 1.
  std::uint64_t unscheduled_waves = 0; // waves on a cycle or behind one
  std::uint64_t required_bytes = 0;
  std::uint64_t budget_bytes = 0;
  std::vector<std::uint32_t> cycle; // each wave is a dependency of the next, the last one of the first

  friend bool operator==(const PlanError&, const PlanError&) = default;
};

template <class T>
using PlanResult = tl::expected<T, PlanError>;

// The field of group_over_budget when one wave alone is too large.
inline constexpr std::string_view single_wave_bytes = "single fused frontier wave bytes";

// What a wave is called in a sentence, by its index.
using WaveText = std::function<std::string(std::uint64_t)>;

// What is wrong, in one sentence; a long cycle is cut in the middle. Without `wave_text`, which a cycle's
// waves and all others are passed through, they are called "wave 3".
std::string describe(const PlanError& error, const WaveText& wave_text = {});

} // namespace tidegate::planning
