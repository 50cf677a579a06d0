// Checks the waits of a persistent launch independently: simulates its stages, iteration by iteration, for
// the given number of work-groups. The tiles of a group and its waits follow the kernels' source; conflicts
// follow from the bytes that tiles access and from the dependencies that the program states.
#pragma once
#include "engine/job.hpp"
#include "engine/launch_tables.hpp"
#include "engine/memory_layout.hpp"
#include "engine/schedule.hpp"
#include "engine/synchronization.hpp"

#include <cstdint>
#include <string>

namespace tidegate::engine {

// Tracks what each group knows of the others. Returns the first violation as a sentence, or an empty string:
// - a wait for a later step, or for one that no group announces: it would never end;
// - an arrival at the barrier too many or too few;
// - a tile that conflicts with an earlier tile of a group that it has not waited for;
// - waves of one stage that conflict.
std::string wait_violation(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
                           const LaunchTables& tables, TileMapping mapping, std::uint32_t groups);

} // namespace tidegate::engine
