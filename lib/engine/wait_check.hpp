// An independent look at the waits of a persistent launch: its stages are played through, iteration by
// iteration, by as many work-groups as there would be. Which tiles are a group's, and whom it asks, is read
// in the source of the kernels; which tiles conflict follows from the bytes that they touch, and from what
// the program states.
#pragma once
#include "engine/launch_tables.hpp"
#include "engine/memory_layout.hpp"
#include "engine/schedule.hpp"
#include "engine/synchronization.hpp"
#include "work/resolved_program.hpp"

#include <cstdint>
#include <string>

namespace tidegate::engine {

// What each of the groups knows of the others is followed from wait to wait. The first violation as a
// sentence, or an empty string:
// - a wait for something that comes later, or that no group announces: it would never end;
// - an arrival at the barrier too many or too few;
// - a tile that conflicts with a tile of another group, which it has not waited for;
// - waves of one stage that conflict.
std::string wait_violation(const ResolvedProgram& program, const Schedule& schedule,
                           const MemoryLayout& memory, const LaunchTables& tables, TileOrder order,
                           std::uint32_t groups);

} // namespace tidegate::engine
