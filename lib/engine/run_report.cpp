#include "engine/run_report.hpp"

#include "engine/compile.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <cstddef>

namespace tidegate::engine {
namespace {

WaveSummary wave_summary(const engine::Job& program, std::size_t index) {
  const engine::ProgramWave& wave = program.waves[index];
  const std::string& op = program.ops[wave.op].name;
  return {.name = wave.name.empty() ? fmt::format("{} {}", op, index) : wave.name,
          .text = program.wave_text(static_cast<std::uint32_t>(index)),
          .op = op,
          .section = wave.section,
          .tiles = wave.range.tiles()};
}

BufferSummary buffer_summary(const engine::ProgramBuffer& buffer, const engine::MemoryLayout& memory,
                             std::size_t index) {
  return {.name = buffer.name,
          .bytes = buffer.bytes,
          .memory = buffer.image          ? MemoryKind::image
                    : buffer.in_registers ? MemoryKind::registers
                                          : MemoryKind::arena,
          .offset = memory.offsets[index],
          .alive = memory.lifetimes[index]};
}

} // namespace

std::string place_text(const BoundsViolation& violation) {
  const bool after = violation.side == Side::after;
  return fmt::format("{} {} {}", plural(violation.distance_bytes + (after ? 1 : 0), "byte"),
                     after ? "past the end of" : "before the start of", in_quotes(violation.buffer));
}

ProgramSummary summary_of(const engine::CompiledProgram& compiled) {
  const engine::Job& program = compiled.written;
  ProgramSummary summary{.dependencies = program.dependencies,
                         .derived = program.derived,
                         .most_iterations = program.iterations,
                         .budget_bytes = compiled.budget_bytes,
                         .budget_given = program.budget_bytes != 0,
                         .reasons = compiled.recommendation.reasons};
  for (std::size_t i = 0; i < program.waves.size(); ++i) {
    summary.waves.push_back(wave_summary(program, i));
  }
  for (std::uint32_t i = 0; i < compiled.program.waves.size(); ++i) {
    if (const auto& window = compiled.program.waves[i].window; !window.empty()) {
      summary.windows.push_back({.text = compiled.program.wave_text(i), .waves = window});
    }
  }
  for (std::size_t i = 0; i < compiled.program.buffers.size(); ++i) {
    summary.buffers.push_back(buffer_summary(compiled.program.buffers[i], compiled.memory, i));
  }
  return summary;
}

} // namespace tidegate::engine
