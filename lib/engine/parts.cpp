// Finds the buffers that ranks have in parts, and the arguments by which kernels find these parts.
#include "engine/compile.hpp"
#include "engine/split.hpp"
#include "opencl_c/pointers.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

// Returns why a wave needs all of a split buffer on every rank.
JobSplit::Obstacle obstacle(const Job& program, const JobSplit& split, std::uint32_t wave,
                            std::size_t argument) {
  const ProgramWave& spec = program.waves[wave];
  const ProgramArgument& given = spec.arguments[argument];
  const std::string name = in_quotes(program.buffers[given.buffer].name);
  const std::string text = program.wave_text(wave);
  if (split.waves[wave].local) {
    return {};
  }
  if (!split.waves[wave].cut()) {
    return {fmt::format("rank 0 runs all of {}, which uses {}", text, name), split.waves[wave].fix};
  }
  if (!given.rows || given.rows->row_bytes == 0) {
    return {fmt::format("which rows of {} {} reads is not known{}{}", name, text,
                        given.any_element.empty() ? "" : ": ", given.any_element),
            fmt::format(R"(give {} a shape, and state "rows" where it is read)", name)};
  }
  if (given.rows->wraps != 0) {
    return {fmt::format("{} reads {} around a torus", text, name), ""};
  }
  return {opencl_c::obstacle_to_moving(program.unit(spec.op).unit, program.function(spec.op), argument), ""};
}

ByteRange hull(const ByteRange& a, const ByteRange& b) {
  return a.size() == 0   ? b
         : b.size() == 0 ? a
                         : ByteRange{std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

// The bytes that a rank owns, and those that its tiles touch; buffers that exchange their memory have the same.
std::vector<std::vector<ByteRange>> hulls(const Job& program, const JobSplit& split) {
  std::vector<std::vector<ByteRange>> of_set = split.owned;
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    const ProgramWave& spec = program.waves[wave];
    for (const ProgramArgument& argument : spec.arguments) {
      const bool parts = argument.is_memory() && split.split(argument.buffer) && split.waves[wave].cut();
      for (std::uint32_t rank = 0; parts && rank < split.ranks; ++rank) {
        ByteRange& all = of_set[split.swap_set[argument.buffer]][rank];
        const TileRows rows = own_rows(split.waves[wave], rank);
        all = rows.empty() ? all
                           : hull(all, touched(spec, argument, rows, program.buffers[argument.buffer].bytes));
      }
    }
  }
  std::vector<std::vector<ByteRange>> of_buffer;
  for (std::size_t buffer = 0; buffer < of_set.size(); ++buffer) {
    of_buffer.push_back(of_set[split.swap_set[buffer]]);
  }
  return of_buffer;
}

// Returns, by unit, the source whose kernels take these arguments.
std::map<std::uint32_t, std::string> moving_sources(const Job& program,
                                                    const std::vector<std::vector<std::uint32_t>>& moved) {
  std::map<std::uint32_t, opencl_c::MovedPointers> pointers;
  for (std::size_t wave = 0; wave < moved.size(); ++wave) {
    const std::uint32_t op = program.waves[wave].op;
    if (!moved[wave].empty()) {
      pointers[program.ops[op].unit][program.function(op).name] = {moved[wave].begin(), moved[wave].end()};
    }
  }
  std::map<std::uint32_t, std::string> sources;
  for (const auto& [unit, kernels] : pointers) {
    sources[unit] = opencl_c::move_pointers(program.units[unit].unit, kernels);
  }
  return sources;
}

} // namespace

void store_in_parts(const Job& program, JobSplit& split) {
  // All types are aligned to 128 bytes or fewer, and so is memory: what the buffer has aligned, its part has aligned.
  constexpr std::uint64_t granule = 128;
  std::vector<JobSplit::Obstacle> of_set(program.buffers.size());
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    const auto& arguments = program.waves[wave].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].is_memory() && split.split(arguments[i].buffer)) {
        JobSplit::Obstacle& first = of_set[split.swap_set[arguments[i].buffer]];
        first = first.reason.empty() ? obstacle(program, split, wave, i) : first;
      }
    }
  }
  split.parts = hulls(program, split);
  split.whole.resize(program.buffers.size());
  for (std::uint32_t buffer = 0; buffer < program.buffers.size(); ++buffer) {
    split.whole[buffer] = of_set[split.swap_set[buffer]];
    if (!split.whole[buffer].reason.empty()) {
      split.parts[buffer].clear();
    }
    for (ByteRange& part : split.parts[buffer]) {
      if (part.size() != 0) {
        part = {part.begin / granule * granule,
                std::min((part.end + granule - 1) / granule * granule, program.buffers[buffer].bytes)};
      }
    }
  }
}

CompiledProgram part_of(const CompiledProgram& compiled, const JobSplit& split, std::uint32_t rank) {
  CompiledProgram part = compiled;
  part.program = compiled.written;
  Job& job = part.program;
  for (std::uint32_t i = 0; i < job.buffers.size(); ++i) {
    ProgramBuffer& buffer = job.buffers[i];
    buffer.output.reset(); // all ranks together have it
    if (split.in_parts(i)) {
      const ByteRange bytes = split.parts[i][rank];
      buffer.bytes = bytes.size();
      buffer.count = buffer.bytes / element_bytes(buffer.type);
      if (buffer.first) {
        buffer.first = [read = buffer.first_part, bytes] {
          return bytes.size() == 0 ? Result<std::vector<std::byte>>() : read(bytes.begin, bytes.size());
        };
      }
    }
  }
  const auto moved = moved_parameters(compiled.written, split);
  for (std::uint32_t i = 0; i < job.waves.size(); ++i) {
    ProgramWave& wave = job.waves[i];
    if (split.waves[i].cut()) {
      wave.range = part_of(wave.range, own_rows(split.waves[i], rank));
    }
    if (split.waves[i].local) {
      wave.command = local_part(compiled.written, split, i, rank);
    }
    for (const std::uint32_t parameter : moved[i]) {
      const ProgramArgument& argument = wave.arguments[parameter];
      const std::uint64_t begin =
          argument.is_memory() ? room_of(compiled.written, split, argument.buffer, rank).begin : 0;
      const auto bytes = std::as_bytes(std::span(&begin, 1));
      wave.arguments.push_back({.value = {bytes.begin(), bytes.end()}});
    }
  }
  for (auto& [unit, source] : moving_sources(compiled.written, moved)) {
    job.units[unit].built_in.clear();
    job.units[unit].rewritten = std::move(source);
  }
  return part;
}

std::vector<std::vector<std::uint32_t>> moved_parameters(const Job& program, const JobSplit& split) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> by_kernel; // unit and function
  const auto kernel_of = [&program](const ProgramWave& wave) {
    const ProgramOp& op = program.ops[wave.op];
    return std::pair(op.unit, op.function);
  };
  for (const ProgramWave& wave : program.waves) {
    for (std::uint32_t i = 0; i < wave.arguments.size(); ++i) {
      if (!wave.command && wave.arguments[i].is_memory() && split.in_parts(wave.arguments[i].buffer)) {
        by_kernel[kernel_of(wave)].insert(i);
      }
    }
  }
  std::vector<std::vector<std::uint32_t>> moved;
  for (const ProgramWave& wave : program.waves) {
    const auto found = by_kernel.find(kernel_of(wave));
    moved.push_back(found == by_kernel.end()
                        ? std::vector<std::uint32_t>()
                        : std::vector<std::uint32_t>(found->second.begin(), found->second.end()));
  }
  return moved;
}

} // namespace tidegate::engine
