// Warnings about likely mistakes in a program.
#pragma once
#include "engine/job.hpp"

#include <vector>

namespace tidegate::engine {

// Warns of waves that access the same buffer in an order that the listed dependencies leave open, of
// transient buffers that are read before any wave can write them, and of programs without a result. Accesses
// follow from the kernels' signatures; a stated "access" overrides them. The dependencies must be acyclic.
std::vector<Warning> find_hazards(const Job& program);

} // namespace tidegate::engine
