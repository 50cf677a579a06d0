// How far the bound between near and far moves on in a search for shortest ways: wide enough that a wave has
// work for the whole device, narrow enough that little of it is done twice.
#pragma once

#include <tidegate/graphs/graph.hpp>

#include <cstdint>

namespace tidegate::traversal {

// In the unit of the weights; greater than 0. Source: Davidson, Baxter, Garland and Owens, "Work-Efficient
// Parallel GPU Methods for Single-Source Shortest Paths" (2014): a warp's width times the mean weight over
// the mean degree. `wide`: for a device whose waves cost less the more there is in them. The width then
// follows the degree: what branches little needs a wide one to have work at all, and what branches much does
// most of it twice (measured on an H200 for widths of 8 to 128; scripts/bench/RESULTS.md).
double near_width(const graphs::Rows& rows, bool wide);

// The same as the kernels take it: the bits of a float where weights are, else a whole number of at least 1.
std::uint32_t near_width_bits(const graphs::Rows& rows, bool wide);

} // namespace tidegate::traversal
