// What the tests of programs share: resolved programs built by hand.
#pragma once

#include "engine/job.hpp"
#include "random.hpp"
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::engine::test {

using tidegate::test::seed;
using Numbers = tidegate::test::Random;

inline ProgramArgument reads(std::uint32_t buffer) {
  return {.kind = ProgramArgument::Kind::buffer, .buffer = buffer, .access = Access::read, .value = {}};
}
inline ProgramArgument writes(std::uint32_t buffer) {
  return {.kind = ProgramArgument::Kind::buffer, .buffer = buffer, .access = Access::write, .value = {}};
}
inline ProgramArgument overwrites(std::uint32_t buffer) {
  ProgramArgument argument = writes(buffer);
  argument.overwrites = true;
  return argument;
}
inline ProgramArgument updates(std::uint32_t buffer) {
  return {.kind = ProgramArgument::Kind::buffer, .buffer = buffer, .access = Access::read_write, .value = {}};
}
inline ProgramArgument local(std::uint64_t bytes) {
  return {.kind = ProgramArgument::Kind::local, .local_bytes = bytes, .value = {}};
}
inline ProgramArgument value(std::vector<std::uint8_t> bytes) {
  ProgramArgument argument{.kind = ProgramArgument::Kind::value, .value = {}};
  for (const std::uint8_t byte : bytes) {
    argument.value.push_back(std::byte{byte});
  }
  return argument;
}

inline NdRange range_of(std::uint32_t global, std::uint32_t local_size) {
  return {.global = {global, 1, 1},
          .local = {local_size, 1, 1},
          .groups = {(global + local_size - 1) / local_size, 1, 1}};
}

inline ProgramWave wave_of(std::uint32_t op, std::vector<ProgramArgument> arguments,
                           NdRange range = range_of(64, 64)) {
  return {.name = "", .op = op, .range = range, .arguments = std::move(arguments)};
}

// A program of `ops` ops from one source, with transient buffers of these sizes.
inline Job program_of(std::uint32_t ops, const std::vector<std::uint64_t>& buffer_bytes) {
  Job program;
  program.units.push_back({.path = "k.cl", .options = "", .parsed_options = {}, .unit = {}});
  for (std::uint32_t op = 0; op < ops; ++op) {
    program.ops.push_back({.name = "op" + std::to_string(op)});
  }
  for (const std::uint64_t bytes : buffer_bytes) {
    program.buffers.push_back({.name = "b" + std::to_string(program.buffers.size()),
                               .type = ElementType::u8,
                               .count = bytes,
                               .bytes = bytes});
  }
  return program;
}

// True if both access a buffer and one of them writes it.
inline bool conflict(const ProgramWave& a, const ProgramWave& b) {
  return std::ranges::any_of(a.arguments, [&b](const ProgramArgument& first) {
    return first.is_memory() && std::ranges::any_of(b.arguments, [&first](const ProgramArgument& second) {
             return second.is_of(first.buffer) && (first.writes() || second.writes());
           });
  });
}

// Which waves a path of such edges joins.
inline std::vector<std::vector<bool>>
paths(std::size_t waves, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges) {
  std::vector<std::vector<bool>> path(waves, std::vector<bool>(waves));
  for (const auto& [before, after] : edges) {
    path[before][after] = true;
  }
  for (std::size_t via = 0; via < waves; ++via) {
    for (std::size_t a = 0; a < waves; ++a) {
      for (std::size_t b = 0; b < waves && path[a][via]; ++b) {
        path[a][b] = path[a][b] || path[via][b];
      }
    }
  }
  return path;
}

inline void derive(Job& program) {
  program.derived = true;
  program.dependencies = derive_dependencies(program.waves, program.buffers.size());
}

inline planning::BarrierGroups groups_of(const std::vector<std::vector<std::uint32_t>>& groups) {
  planning::BarrierGroups result;
  for (const auto& group : groups) {
    result.order.insert(result.order.end(), group.begin(), group.end());
    result.group_begin.push_back(static_cast<std::uint32_t>(result.order.size()));
  }
  return result;
}

// Each wave as soon as what it waits for has run.
inline planning::BarrierGroups layers_of(const Job& program) {
  const planning::WaveDag dag = wave_dag(program, 0);
  std::vector<std::size_t> layer(program.waves.size(), 0);
  std::size_t count = 0;
  for (std::size_t round = 0; round < program.waves.size(); ++round) {
    for (const planning::Dependency& dependency : dag.dependencies) {
      layer[dependency.after] = std::max(layer[dependency.after], layer[dependency.before] + 1);
    }
  }
  for (const std::size_t found : layer) {
    count = std::max(count, found + 1);
  }
  std::vector<std::vector<std::uint32_t>> groups(count);
  for (std::uint32_t wave = 0; wave < layer.size(); ++wave) {
    groups[layer[wave]].push_back(wave);
  }
  return groups_of(groups);
}

} // namespace tidegate::engine::test
