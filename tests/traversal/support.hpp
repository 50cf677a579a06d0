// Helpers of the traversal tests.
#pragma once
#include "../in_process_ranks.hpp"
#include "traversal/run.hpp"
#include <tidegate/device/device_list.hpp>

#include <doctest/doctest.h>

namespace tidegate::traversal::test {

// This machine's first CPU device; with an ordering, as if its self-test had proved it.
inline device::DeviceInfo cpu(std::optional<device::MemoryOrdering> ordering = {}) {
  const auto list = device::list_devices();
  REQUIRE(list);
  const auto found = device::select_device(*list, "cpu");
  REQUIRE(found);
  device::DeviceInfo device = **found;
  if (ordering) {
    device.profile = device::DeviceProfile{.ordering = ordering, .trials = {}};
  }
  return device;
}

// Calls run(rank) in a thread for each rank; one that fails ends all. Returns what rank 0 reports.
template <class Run>
Result<FrontierReport> together(int size, const Run& run) {
  std::optional<Result<FrontierReport>> report;
  ranks::on_ranks(size, [&](ranks::Ranks& rank) {
    auto own = run(&rank);
    const bool failed = !own;
    if (rank.rank() == 0) {
      report = std::move(own);
    }
    if (failed) {
      rank.abort(1);
    }
  });
  REQUIRE(report);
  return *std::move(report);
}

// Computes topology, rule, threshold and density from the other numbers of a wave.
inline WaveRecord choose(const tg_policy& policy, const WaveRecord& numbers) {
  const policy::tg_choice choice = policy::tg_choose(policy,
                                                     {.edges = numbers.frontier_edges,
                                                      .previous_edges = numbers.previous_edges,
                                                      .unexplored_edges = numbers.unexplored_edges,
                                                      .vertices = numbers.vertices,
                                                      .dense_waves = numbers.dense_waves},
                                                     static_cast<tg_u32>(numbers.previous_topology));
  WaveRecord chosen = numbers;
  chosen.topology = static_cast<policy::Topology>(choice.topology);
  chosen.rule = static_cast<policy::TopologyRule>(choice.rule);
  chosen.threshold = choice.threshold;
  chosen.density_bps = policy::tg_density_bps(numbers.vertices, policy.vertices);
  return chosen;
}

} // namespace tidegate::traversal::test
