// An independent look at the waits of a persistent launch: every two waves that touch the same memory, one of
// them writing, are played through, iteration by iteration, with the work-groups that there would be.
#pragma once

#include <tidegate/compiler/launch_tables.hpp>
#include <tidegate/compiler/memory_layout.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/compiler/schedule.hpp>
#include <tidegate/compiler/synchronization.hpp>

#include <cstdint>
#include <string>

namespace tidegate::compiler {

// What each of so many groups knows of the others is followed from wait to wait. The first that is wrong as a
// sentence, or an empty string:
// - a wait for something that comes later, or that nobody tells of: it would never end;
// - an arrival at the barrier too many or too few;
// - a tile that touches what a tile of another group, which it has not waited for, touches too.
std::string wait_violation(const ResolvedProgram& program, const Schedule& schedule,
                           const MemoryLayout& memory, const LaunchTables& tables, TileOrder order,
                           std::uint32_t groups);

} // namespace tidegate::compiler
