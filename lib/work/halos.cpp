// Halos count tiles: distances in elements are rounded up to whole work-groups.
#include "opencl_c/accesses.hpp"
#include "opencl_c/words.hpp"
#include "work/arguments.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

namespace tidegate::engine {
namespace {

// Vectors of 3 take the space of 4.
bool has_gaps(const opencl_c::Parameter& parameter) {
  const auto type = opencl_c::arithmetic_type(parameter.type);
  return !type || type->width == 3;
}

} // namespace

Result<std::array<std::uint32_t, 3>> stated_halo(const std::vector<Number>& halo, const NdRange& range,
                                                 const std::string& pointer) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20U;
  if (halo.size() != 1 && halo.size() != range.dimensions) {
    return failure(ErrorCode::invalid_program,
                   fmt::format("a halo of {} for waves of {}", plural(halo.size(), "number"),
                               plural(range.dimensions, "dimension")),
                   "give one number, or one for each dimension of global_size", pointer);
  }
  std::array<std::uint32_t, 3> tiles{};
  for (std::uint32_t dimension = 0; dimension < range.dimensions; ++dimension) {
    const Number& number = halo[halo.size() == 1 ? 0 : dimension];
    const auto* const whole = std::get_if<std::uint64_t>(&number);
    if (whole == nullptr || *whole > most) {
      return failure(ErrorCode::invalid_program, "a halo is a number of tiles, from 0 to 1048576",
                     "leave it out where a tile may touch anything", pointer);
    }
    tiles[dimension] = static_cast<std::uint32_t>(*whole);
  }
  return tiles;
}

void derive_halos(Job& program) {
  constexpr std::uint64_t most = std::uint64_t{1} << 31U; // limit for ids and elements, see own_elements()
  std::map<std::uint32_t, std::vector<std::optional<opencl_c::OwnElements>>> by_op;
  for (ProgramWave& wave : program.waves) {
    if (wave.range.dimensions != 1 || !wave.users_kernel || wave.range.offset[0] >= most ||
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
      if (argument.kind != ProgramArgument::Kind::buffer || !own ||
          program.buffers[argument.buffer].bytes / own->element_bytes > most) {
        continue;
      }
      const auto reach = static_cast<std::uint64_t>(std::max(std::abs(own->low), std::abs(own->high)));
      argument.rows = {.row_bytes = own->element_bytes, .reach = reach};
      if (argument.halo) {
        continue;
      }
      const std::uint64_t local = wave.range.local[0];
      argument.halo = {static_cast<std::uint32_t>((reach + local - 1) / local), 0, 0};
      argument.element_bytes = own->element_bytes;
      argument.assigned_first = own->assigned_first;
      const bool every_element =
          reach == 0 && wave.range.offset[0] == 0 &&
          std::uint64_t{wave.range.global[0]} * own->element_bytes == program.buffers[argument.buffer].bytes;
      argument.overwrites = every_element && own->assigned_first && !has_gaps(kernel.parameters[i]);
    }
  }
}

} // namespace tidegate::engine
