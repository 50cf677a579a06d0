// Resolves the waves of a program: op, range and arguments of each.
#pragma once
#include "work/names.hpp"
#include "work/resolve.hpp"
#include "work/resolve_memory.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <vector>

namespace tidegate::engine {

// Wave names, for resolving dependencies.
struct WaveNames {
  NameIndex index;
  std::vector<bool> sound; // by wave
  bool some_is_unread = false;
};

// Waves with queues or transfers add kernels; those with queues also add buffers.
struct ResolvedWaves {
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramUnit> units;
  std::vector<ProgramOp> ops;
  std::vector<ProgramWave> waves;
  WaveNames names;
};

ResolvedWaves resolve_waves(const ResolveInput& input, ProgramMemory memory, ProgramOps ops,
                            ErrorList& errors);

// If an argument changes in one wave of an op, gives all other waves of the op a constant progression.
void spread_progressions(std::vector<ProgramWave>& waves);

} // namespace tidegate::engine
