// Windows: waves that go on with the same tiles, one behind the other, become one wave, which has a tile in
// one work-group from the first of them to the last.
//
//   a: t[i] = f(x[i])     b: u[i] = g(t[i])     c: y[i] = h(u[i], x[i])
//   the window: y[i] = h(g(f(x[i])), x[i])      t and u stay in registers, and no memory holds them
//
// A program goes in and a program comes out: what plans, schedules, waits and checks has nothing to know of
// windows. Between waves that hand values from work-item to work-item the work-items of a tile meet.
#pragma once
#include "engine/schedule.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::engine {

struct Window {
  std::vector<std::uint32_t>
      waves;               // of the program as it was written, in the order in which a tile runs them
  std::vector<bool> meets; // by wave: the work-items of a tile meet before it
  std::vector<std::uint32_t> registers; // buffers that are nowhere else

  friend bool operator==(const Window&, const Window&) = default;
};

// Waves of a window are at most so many: compilers take long over more.
inline constexpr std::size_t most_waves_per_window = 32;

// Waves of the same range and phase where a dependency hands tile t on to tile t alone, and every memory that
// two of them touch, one writing, is touched tile by tile; no path of dependencies leaves a window and comes
// back. Waves with images, and those that cannot share a launch, are in none. A buffer stays in registers
// where its contents are nobody's else: transient, every subscript of every use the global id, and written
// before it is read, in each iteration.
std::vector<Window> find_windows(const ResolvedProgram& program, const OutlinedOps& ops,
                                 const SharedLaunch& shared, const KernelLimits& limits);

// How often waves of a run go on with the tiles of the wave before them: pairs, in all iterations.
std::uint64_t count_pairs(const ResolvedProgram& program, const std::vector<Window>& windows);

// Dependencies between nodes, each some waves of the program, that keep all of the program's own.
std::vector<ResolvedDependency> dependencies_between(const ResolvedProgram& program,
                                                     const std::vector<std::vector<std::uint32_t>>& nodes);

struct FusedProgram {
  ResolvedProgram program; // waves in the order of their first ones; an op for each kind of window
  OutlinedOps ops;
  std::vector<std::vector<std::uint32_t>> parts; // by wave, those of the program as it was written
};

// Errors: none that outlining the ops has not had before.
Result<FusedProgram> fuse(const ResolvedProgram& program, const OutlinedOps& ops,
                          const std::vector<Window>& windows);

// An independent look at windows, from their definition. The first violation as a sentence, or an empty
// string:
// - every wave of the program is in one wave of the fused one, and in one alone;
// - a wave comes behind those that it depends on, in its window or in an earlier wave;
// - waves of a window have the same range and phase, and share memory tile by tile;
// - what is in registers is touched in one window alone, is no output and no input.
std::string window_violation(const ResolvedProgram& program, const ResolvedProgram& fused);

} // namespace tidegate::engine
