// A compiled program as people look at it: what its waves are and wait for, when its buffers live and where,
// and why the launch policy says what it says. Waves are those that were written, as in the report's plan;
// windows say which of them ran as one.
#pragma once

#include <tidegate/compiler/memory_layout.hpp>
#include <tidegate/compiler/program.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/policy/explain.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::compiler {
struct CompiledProgram;
}

namespace tidegate::run {

struct WaveSummary {
  std::string name; // that the program gives it, or its op and index
  std::string text; // what spans and arrows of a timeline call it
  std::string op;
  compiler::WavePhase phase = compiler::WavePhase::each;
  std::uint32_t tiles = 0;
};

// Waves that ran as one wave.
struct WindowSummary {
  std::string text; // what spans and arrows of a timeline call it
  std::vector<std::uint32_t> waves;
};

enum class BufferPlace : std::uint8_t { arena, image, registers };
inline constexpr std::array<std::string_view, 3> buffer_place_names{"arena", "image", "registers"};

struct BufferSummary {
  std::string name;
  std::uint64_t bytes = 0;
  BufferPlace place = BufferPlace::arena;
  std::uint64_t offset = 0;        // bytes, in the arena
  compiler::GroupRange alive = {}; // groups
};

struct ProgramSummary {
  std::vector<WaveSummary> waves;
  std::vector<WindowSummary> windows;
  std::vector<compiler::ResolvedDependency> dependencies;
  bool derived = false; // the dependencies
  std::vector<BufferSummary> buffers;
  std::uint32_t most_iterations = 1;
  std::uint64_t budget_bytes = 0; // 0: neither program nor device has one
  bool budget_given = false;      // by the program; otherwise it is what the device has
  std::vector<policy::TraceStep> reasons;
};

ProgramSummary summary_of(const compiler::CompiledProgram& compiled);

} // namespace tidegate::run
