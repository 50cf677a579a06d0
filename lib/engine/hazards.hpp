// What a program most likely does not mean, found by reading it.
#pragma once
#include "work/program.hpp"
#include "work/resolved_program.hpp"

#include <vector>

namespace tidegate::engine {

// Warns of waves that touch the same buffer while the listed dependencies leave their order open, of
// transient buffers that are read before any wave can have written them, and of programs that keep no result.
// What the kernels' signatures say counts; two arguments that both state their "access" are taken at their
// word. The dependencies must be free of cycles.
std::vector<Warning> find_hazards(const ResolvedProgram& program);

} // namespace tidegate::engine
