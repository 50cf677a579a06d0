#include <tidegate/compiler/argument_values.hpp>
#include <tidegate/compiler/halos.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/opencl_c/accesses.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

namespace tidegate::compiler {
namespace {

// Vectors of 3 take the room of 4.
bool has_gaps(const opencl_c::Parameter& parameter) {
  const auto type = opencl_c::arithmetic_type(parameter.type);
  return !type || type->width == 3;
}

} // namespace

Result<std::array<std::uint32_t, 3>> stated_halo(const std::vector<Number>& halo, const NdRange& range,
                                                 const std::string& pointer) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20U;
  if (halo.size() != 1 && halo.size() != range.dimensions) {
    return tl::unexpected(
        Error{.code = ErrorCode::invalid_program,
              .message = fmt::format("a halo of {} for waves of {}", plural(halo.size(), "number"),
                                     plural(range.dimensions, "dimension")),
              .fix = "give one number, or one for each dimension of global_size",
              .pointer = pointer});
  }
  std::array<std::uint32_t, 3> tiles{};
  for (std::uint32_t dimension = 0; dimension < range.dimensions; ++dimension) {
    const Number& number = halo[halo.size() == 1 ? 0 : dimension];
    const auto* const whole = std::get_if<std::uint64_t>(&number);
    if (whole == nullptr || *whole > most) {
      return tl::unexpected(Error{.code = ErrorCode::invalid_program,
                                  .message = "a halo is a number of tiles, from 0 to 1048576",
                                  .fix = "leave it out where a tile may touch anything",
                                  .pointer = pointer});
    }
    tiles[dimension] = static_cast<std::uint32_t>(*whole);
  }
  return tiles;
}

void derive_halos(ResolvedProgram& program) {
  constexpr std::uint64_t most = std::uint64_t{1} << 31U; // ids, and elements
  std::map<std::uint32_t, std::vector<std::optional<opencl_c::OwnElements>>> by_op;
  for (ProgramWave& wave : program.waves) {
    if (wave.range.dimensions != 1 || wave.transfer || wave.queue || wave.range.offset[0] >= most ||
        wave.range.offset[0] + wave.range.global[0] > most) {
      continue;
    }
    const auto [found, is_new] = by_op.try_emplace(wave.op);
    const opencl_c::Function& kernel = program.function(wave.op);
    const opencl_c::TranslationUnit& unit = program.units[program.ops[wave.op].unit].unit;
    if (is_new) {
      found->second = opencl_c::own_elements(unit, kernel);
    }
    for (std::size_t i = 0; i < wave.arguments.size(); ++i) {
      ProgramArgument& argument = wave.arguments[i];
      const auto& own = found->second[i];
      if (argument.kind != ProgramArgument::Kind::buffer || argument.halo || !own ||
          program.buffers[argument.buffer].bytes / own->element_bytes > most) {
        continue;
      }
      const auto reach = static_cast<std::uint64_t>(std::max(std::abs(own->low), std::abs(own->high)));
      const std::uint64_t local = wave.range.local[0];
      argument.halo = {static_cast<std::uint32_t>((reach + local - 1) / local), 0, 0};
      argument.element_bytes = own->element_bytes;
      const bool every_element =
          reach == 0 && wave.range.offset[0] == 0 &&
          std::uint64_t{wave.range.global[0]} * own->element_bytes == program.buffers[argument.buffer].bytes;
      argument.overwrites = every_element && own->assigned_first && !has_gaps(kernel.parameters[i]);
    }
  }
}

std::vector<StatedHalo> stated_halos(const ResolvedProgram& program) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<std::uint32_t, 3>> by_dependency;
  for (const ResolvedDependency& dependency : program.dependencies) {
    if (dependency.halo) {
      by_dependency[{dependency.before, dependency.after}] = *dependency.halo;
    }
  }
  std::vector<StatedHalo> stated;
  const std::vector<std::uint32_t> order = program_order(program);
  for (auto after = order.begin(); after != order.end(); ++after) {
    for (auto before = order.begin(); before != after; ++before) {
      const ProgramWave& a = program.waves[*before];
      const ProgramWave& c = program.waves[*after];
      const auto dependency = by_dependency.find({*before, *after});
      std::map<std::uint32_t, std::array<std::uint32_t, 3>> found; // by buffer: the widest
      for (const ProgramArgument& x : a.arguments) {
        for (const ProgramArgument& y : c.arguments) {
          if (x.kind != ProgramArgument::Kind::buffer || y.kind != ProgramArgument::Kind::buffer ||
              x.buffer != y.buffer || a.phase != c.phase ||
              (x.access == Access::read && y.access == Access::read)) {
            continue;
          }
          if (dependency != by_dependency.end()) {
            found[x.buffer] = dependency->second;
          } else if (x.halo && y.halo && a.range == c.range &&
                     (x.element_bytes == 0 || y.element_bytes == 0)) {
            auto& widest = found[x.buffer];
            for (std::size_t i = 0; i < widest.size(); ++i) {
              widest[i] = std::max(widest[i], (*x.halo)[i] + (*y.halo)[i]);
            }
          }
        }
      }
      for (const auto& [buffer, halo] : found) {
        stated.push_back({.before = *before, .after = *after, .buffer = buffer, .halo = halo});
      }
    }
  }
  return stated;
}

} // namespace tidegate::compiler
