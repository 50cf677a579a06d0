#include <tidegate/run/resolved_program.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <utility>

namespace tidegate::run {

std::vector<ResolvedDependency> derive_dependencies(const std::vector<ProgramWave>& waves,
                                                    std::size_t buffer_count) {
  struct History {
    std::optional<std::uint32_t> writer;
    std::vector<std::uint32_t> readers; // since then
  };
  std::vector<History> histories(buffer_count);
  std::vector<ResolvedDependency> dependencies;
  for (std::uint32_t wave = 0; wave < waves.size(); ++wave) {
    std::set<std::uint32_t> before;
    std::set<std::uint32_t> read;
    std::set<std::uint32_t> written;
    for (const ProgramArgument& argument : waves[wave].arguments) {
      if (argument.kind == ProgramArgument::Kind::buffer) {
        if (argument.access != Access::write) {
          read.insert(argument.buffer);
        }
        if (argument.access != Access::read) {
          written.insert(argument.buffer);
        }
      }
    }
    for (const std::uint32_t buffer : read) {
      if (histories[buffer].writer) {
        before.insert(*histories[buffer].writer);
      }
      histories[buffer].readers.push_back(wave);
    }
    for (const std::uint32_t buffer : written) {
      History& history = histories[buffer];
      if (history.writer) {
        before.insert(*history.writer);
      }
      before.insert(history.readers.begin(), history.readers.end());
      history = {.writer = wave, .readers = {}};
    }
    before.erase(wave);
    for (const std::uint32_t earlier : before) {
      dependencies.push_back({.before = earlier, .after = wave});
    }
  }
  return dependencies;
}

std::vector<std::uint32_t> program_order(const ResolvedProgram& program) {
  std::vector<std::vector<std::uint32_t>> after(program.waves.size());
  std::vector<std::uint32_t> waits(program.waves.size());
  for (const ResolvedDependency& dependency : program.dependencies) {
    after[dependency.before].push_back(dependency.after);
    ++waits[dependency.after];
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t wave = 0; wave < waits.size(); ++wave) {
    if (waits[wave] == 0) {
      ready.push(wave);
    }
  }
  std::vector<std::uint32_t> order;
  while (!ready.empty()) {
    const std::uint32_t wave = ready.top();
    ready.pop();
    order.push_back(wave);
    for (const std::uint32_t next : after[wave]) {
      if (--waits[next] == 0) {
        ready.push(next);
      }
    }
  }
  return order;
}

planning::WaveDag wave_dag(const ResolvedProgram& program, std::uint64_t budget_bytes) {
  planning::WaveDag dag;
  std::uint64_t all_buffers = 0;
  bool overflow = false;
  for (const ProgramBuffer& buffer : program.buffers) {
    overflow |= __builtin_add_overflow(all_buffers, buffer.bytes, &all_buffers);
  }
  const bool binds = budget_bytes != 0 && (overflow || all_buffers > budget_bytes);
  dag.budget_bytes = binds ? budget_bytes : std::numeric_limits<std::uint64_t>::max();
  for (const ProgramWave& wave : program.waves) {
    dag.waves.push_back(wave.bytes);
  }
  for (const ResolvedDependency& dependency : program.dependencies) {
    dag.dependencies.push_back({.before = dependency.before, .after = dependency.after});
  }
  return dag;
}

} // namespace tidegate::run
