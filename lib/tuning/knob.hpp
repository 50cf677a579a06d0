// The names of what can be turned; knobs.hpp and traversal_knobs.hpp have what each may be turned to.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tidegate::tuning {

enum class Knob : std::uint8_t {
  workgroup_size,
  strategy,
  route,
  side_by_side,
  workers,
  order,
  slice,
  alone_up_to,
  switch_rule,
  sparse_threshold,
  dense_threshold,
  fusion
};
inline constexpr std::array<std::string_view, 12> knob_names{
    "workgroup_size", "strategy",    "route",       "side_by_side",     "workers",         "order",
    "slice",          "alone_up_to", "switch_rule", "sparse_threshold", "dense_threshold", "fusion"};

// In the order in which they are turned: what changes most comes first.
inline constexpr std::array wave_program_knobs{Knob::workgroup_size, Knob::strategy, Knob::route,
                                               Knob::side_by_side,   Knob::workers,  Knob::order,
                                               Knob::slice};
// Of a first run, whose budget is short. `Knob::strategy` alone has what the cost model is most often wrong
// about; it comes first.
inline constexpr std::array first_run_knobs{Knob::strategy, Knob::side_by_side, Knob::workers, Knob::route,
                                            Knob::order};
inline constexpr std::array frontier_program_knobs{
    Knob::strategy,         Knob::workers,         Knob::alone_up_to, Knob::switch_rule,
    Knob::sparse_threshold, Knob::dense_threshold, Knob::fusion};

} // namespace tidegate::tuning
