#include <tidegate/compiler/compile.hpp>
#include <tidegate/run/program_summary.hpp>

#include <fmt/format.h>

#include <cstddef>

namespace tidegate::run {
namespace {

WaveSummary wave_summary(const compiler::ResolvedProgram& program, std::size_t index) {
  const compiler::ProgramWave& wave = program.waves[index];
  const std::string& op = program.ops[wave.op].name;
  return {.name = wave.name.empty() ? fmt::format("{} {}", op, index) : wave.name,
          .text = program.wave_text(static_cast<std::uint32_t>(index)),
          .op = op,
          .phase = wave.phase,
          .tiles = wave.range.tiles()};
}

BufferSummary buffer_summary(const compiler::ProgramBuffer& buffer, const compiler::MemoryLayout& memory,
                             std::size_t index, std::uint64_t groups) {
  BufferSummary summary{.name = buffer.name, .bytes = buffer.bytes, .image = buffer.image.has_value()};
  if (summary.image) {
    summary.alive = {.lower = 0, .upper = groups};
  } else {
    summary.offset = memory.offsets[index];
    summary.alive = memory.lifetimes[index];
  }
  return summary;
}

} // namespace

ProgramSummary summary_of(const compiler::CompiledProgram& compiled) {
  const compiler::ResolvedProgram& program = compiled.program;
  ProgramSummary summary{.dependencies = program.dependencies,
                         .derived = program.derived,
                         .most_iterations = program.iterations,
                         .budget_bytes = compiled.budget_bytes,
                         .budget_given = program.budget_bytes != 0,
                         .reasons = compiled.recommendation.reasons};
  for (std::size_t i = 0; i < program.waves.size(); ++i) {
    summary.waves.push_back(wave_summary(program, i));
  }
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    summary.buffers.push_back(
        buffer_summary(program.buffers[i], compiled.memory, i, compiled.plan.group_count()));
  }
  return summary;
}

} // namespace tidegate::run
