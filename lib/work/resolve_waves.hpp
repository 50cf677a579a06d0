// The waves of a program, each with its op, its range and its arguments.
#pragma once
#include "work/names.hpp"
#include "work/resolve.hpp"
#include "work/resolve_memory.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <vector>

namespace tidegate::engine {

// How dependencies find their waves.
struct WaveNames {
  NameIndex index;
  std::vector<bool> sound; // by wave
  bool some_is_unread = false;
};

// Waves with a queue or a transfer bring kernels of their own, and those with a queue buffers.
struct ResolvedWaves {
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramUnit> units;
  std::vector<ProgramOp> ops;
  std::vector<ProgramWave> waves;
  WaveNames names;
};

ResolvedWaves resolve_waves(const ResolveInput& input, ProgramMemory memory, ProgramOps ops,
                            ErrorList& errors);

// One wave's value changes: the other waves of its op say that theirs stay.
void spread_progressions(std::vector<ProgramWave>& waves);

} // namespace tidegate::engine
