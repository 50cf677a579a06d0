// What a picture of a plan shows: a box for the waves of a group that are alike, and what depends on what.
//
// Waves are alike when their names differ in a number at the end (mProject_ID0000001, mProject_ID0000002), or
// when they have no names and need the same bytes. A dependency that others imply is left out: between groups
// that stand in order the direct ones say it all, and long ones across the whole page say nothing.
#pragma once
#include "app/plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::commands {

struct PlanBox {
  std::uint32_t group = 0;
  std::vector<std::uint32_t> waves; // at least one
  std::string name;                 // "mProject ×28"
  std::string bytes;                // "9.1 MiB", or "9 MiB to 9.3 MiB" from the smallest to the largest
};

struct BoxedPlan {
  std::vector<PlanBox> boxes;                      // by group, within one in the order of their first waves
  std::vector<std::uint32_t> box_of;               // by wave
  std::vector<std::array<std::uint32_t, 2>> edges; // between boxes, each once, sorted
  std::size_t implied = 0;                         // dependencies between boxes that are not among the edges
};

// With `each_wave` every wave has a box of its own. The edges of `kept`, by waves, are never left out.
BoxedPlan box_plan(const PlannedDag& planned, bool each_wave, const std::vector<std::uint32_t>& kept_path);

// What names of waves that are alike have in common: "mProject_ID0000001" -> "mProject".
std::string common_name(const std::string& name);

} // namespace tidegate::commands
