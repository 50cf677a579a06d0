// Decides how much of a cut wave each rank works: equal parts, or parts by speed.
#pragma once
#include "device/monitor.hpp"
#include "device/session.hpp"
#include "engine/device_memory.hpp"
#include "engine/job.hpp"
#include "engine/run_options.hpp"
#include "ranks/ranks.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::engine {

struct RankWeights {
  WeightSource source = WeightSource::equal;
  std::vector<std::uint32_t> parts; // by rank, of 10000
};

// Returns parts of 10000 in inverse proportion to the time that each rank took for the same work. Times within 10 % of
// each other are taken as equal.
std::vector<std::uint32_t> parts_by_time(std::span<const std::uint64_t> work_ns);

// Returns the weight of each rank, and where the weights come from. If the options state none, ranks have
// equal parts if their devices are alike; otherwise the first iterations of a program that iterates long
// enough run in equal parts, and each rank is weighed by the time that it worked, without waiting. All ranks
// call it. Errors: of the options, whose number of weights must be that of ranks (wrong_length); of the run.
Result<RankWeights> weigh_ranks(const device::Session& session, const device::DeviceInfo& device,
                                const Job& program, const std::vector<std::vector<std::uint32_t>>& storage,
                                const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
