// From what runs took to how far the cost model is off: for each part of its figures the factor by which the
// sums meet the times best.
#pragma once

#include <tidegate/device/device_costs.hpp>

#include <vector>

namespace tidegate::tuning {

struct Sample {
  device::CostParts estimated; // nanoseconds
  double measured_ns = 0;
};

// The least squares of relative errors with factors from 1/1000 to 1000, by coordinate descent. What the
// samples do not tell apart, or do not have, stays near 1.
device::CostParts fit_scales(const std::vector<Sample>& samples);

// Part by part.
device::CostParts product(const device::CostParts& a, const device::CostParts& b);

} // namespace tidegate::tuning
