// The names of what can be turned; knobs.hpp has what each may be turned to.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tidegate::tuning {

// In the order in which they are turned: what changes most comes first.
enum class Knob : std::uint8_t { workgroup_size, strategy, route, side_by_side, workers, order, slice };
inline constexpr std::array<std::string_view, 7> knob_names{
    "workgroup_size", "strategy", "route", "side_by_side", "workers", "order", "slice"};
inline constexpr std::array all_knobs{Knob::workgroup_size, Knob::strategy, Knob::route, Knob::side_by_side,
                                      Knob::workers,        Knob::order,    Knob::slice};

} // namespace tidegate::tuning
