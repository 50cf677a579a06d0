// Windows: consecutive waves that continue with the same tiles become one wave, in which one work-group runs
// a tile from the first of them to the last.
//
//   a: t[i] = f(x[i])     b: u[i] = g(t[i])     c: y[i] = h(u[i], x[i])
//   the window: y[i] = h(g(f(x[i])), x[i])      t and u stay in registers without memory
//
// The result is again a program, so planning, schedules, waits and checks do not know about windows. Between
// waves that pass values from work-item to work-item there is a barrier in the tile.
#pragma once
#include "engine/job.hpp"
#include "engine/schedule.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::engine {

struct Window {
  std::vector<std::uint32_t> waves;     // of the program as written, in the order in which a tile runs them
  std::vector<bool> meets;              // by wave: a barrier precedes it
  std::vector<std::uint32_t> registers; // buffers that exist only in registers

  friend bool operator==(const Window&, const Window&) = default;
};

// Most waves of a window; compilers take long for more.
inline constexpr std::size_t most_waves_per_window = 32;

// Finds waves of the same range and section where a dependency passes tile t only to tile t, and where all
// memory that two of them access, one writing, is accessed tile by tile. No path of dependencies leaves a
// window and returns. Waves with images, and those that cannot share a launch, are excluded. A buffer stays
// in registers if no other wave uses its contents: it is transient, every subscript is the global id, and
// each iteration writes it before reading it.
std::vector<Window> find_windows(const Job& program, const OutlinedOps& ops, const SharedLaunch& shared,
                                 const KernelLimits& limits);

struct FusedProgram {
  Job program; // waves in the order of their first parts; an op for each kind of window
  OutlinedOps ops;
  std::vector<std::vector<std::uint32_t>> parts; // by wave: the waves of the program as written
};

// Makes one wave of each window. Fails only with errors that outlining the ops would report, too.
Result<FusedProgram> fuse(const Job& program, const OutlinedOps& ops, const std::vector<Window>& windows);

// Checks windows independently, by their definition. Returns the first violation as a sentence, or an empty
// string:
// - every wave of the program is in exactly one wave of the fused program, which has these `parts`;
// - a wave follows those that it depends on, in its window or in an earlier wave;
// - waves of a window have the same range and section, and share memory tile by tile;
// - a buffer in registers is used in one window only and is neither output nor input.
std::string window_violation(const Job& program, const Job& fused,
                             const std::vector<std::vector<std::uint32_t>>& parts);

} // namespace tidegate::engine
