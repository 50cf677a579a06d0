// What the choices of a run rest on beside the self-test: constants of the estimates, and choices that were
// measured. `tidegate tune measure` replaces those that one program gains by. Plain data.
#pragma once

#include <tidegate/device/device_costs.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace tidegate::device {

// In the order of compiler::Strategy and compiler::TileOrder, behind what leaves it to the estimates.
enum class PreferredStrategy : std::uint8_t { automatic, launch, barrier, counters, plain };
inline constexpr std::array<std::string_view, 5> preferred_strategy_names{"auto", "launch", "barrier",
                                                                          "counters", "plain"};
enum class PreferredOrder : std::uint8_t { automatic, strided, blocked, serpentine };
inline constexpr std::array<std::string_view, 4> preferred_order_names{"auto", "strided", "blocked",
                                                                       "serpentine"};

struct Tuning {
  // Choices; 0 leaves them to the estimates.
  PreferredStrategy strategy = PreferredStrategy::automatic;
  PreferredOrder order = PreferredOrder::automatic; // of the tiles of a persistent launch
  std::uint32_t side_by_side = 0;                   // tiles in a work-group of a persistent launch
  std::uint32_t workers = 0;                        // work-groups of a persistent launch
  // Work-items of a work-group, at most, where the program leaves local_size open.
  std::uint32_t open_workgroup_size = 256;
  std::uint64_t slice_ns = 150'000'000; // that a persistent launch should take at most

  std::uint64_t most_pinned_bytes = 67'108'864; // of host memory, for first contents and for outputs each

  // How the items of a queue are dealt out: tiles of queue_lanes work-items with one item each, or several
  // where there are many, whose loads are under way together; below, more work-groups are worth more.
  std::uint32_t queue_lanes = 256;
  std::uint32_t queue_items_per_lane = 4;
  std::uint64_t queue_many_items = 262'144; // from here on

  // Constants of the estimates.
  CostParts scales{1, 1, 1, 1, 1};             // how many times the estimate each part took
  double persistent_margin = 1.25;             // so many times starting and meeting count against launches
  std::uint32_t side_by_side_work_items = 512; // at most, of a work-group that runs tiles side by side

  friend bool operator==(const Tuning&, const Tuning&) = default;
};

} // namespace tidegate::device
