// Halos count tiles: distances in elements are rounded up to whole work-groups.
#include "core/npy.hpp"
#include "opencl_c/accesses.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

// Vectors of 3 take the space of 4.
bool has_gaps(const opencl_c::Parameter& parameter) {
  const auto type = opencl_c::arithmetic_type(parameter.type);
  return !type || type->width == 3;
}

// The numbers of integer parameters that do not change with the iteration.
std::map<std::size_t, std::int64_t> values_of(const ProgramWave& wave, const opencl_c::TranslationUnit& unit,
                                              const opencl_c::Function& kernel) {
  std::map<std::size_t, std::int64_t> values;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ProgramArgument& argument = wave.arguments[i];
    if (argument.kind != ProgramArgument::Kind::value || !argument.changes.empty()) {
      continue;
    }
    const auto layout = opencl_c::layout_of(unit, kernel.parameters[i].tokens);
    const auto type = layout && layout->kind == opencl_c::TypeLayout::Kind::arithmetic
                          ? opencl_c::arithmetic_type(layout->name)
                          : std::nullopt;
    const auto element = type && type->width == 1 ? element_type_of(type->scalar) : std::nullopt;
    if (!element || element_bytes(*element) != argument.value.size()) {
      continue;
    }
    with_type(*element, [&]<class T>(T value) {
      if constexpr (std::is_integral_v<T>) {
        std::memcpy(&value, argument.value.data(), sizeof value);
        values[i] = static_cast<std::int64_t>(value);
      }
    });
  }
  return values;
}

RowReach reach_of(const opencl_c::RowElements& rows) {
  const auto per_id = static_cast<std::uint64_t>(rows.per_id);
  const auto excess =
      static_cast<std::uint64_t>(std::max({-rows.low, rows.high - (rows.per_id - 1), std::int64_t{0}}));
  RowReach reach{.row_bytes = per_id * rows.element_bytes,
                 .reach = excess / per_id,
                 .beyond = excess % per_id * rows.element_bytes,
                 .wraps = static_cast<std::uint64_t>(rows.wraps)};
  if (reach.wraps != 0 && reach.beyond != 0) {
    reach.beyond = 0;
    ++reach.reach;
  }
  return reach;
}

} // namespace

Result<std::array<std::uint32_t, 3>> stated_halo(const std::vector<Number>& halo, const NdRange& range,
                                                 const std::string& pointer) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20U;
  if (halo.size() != 1 && halo.size() != range.dimensions) {
    return invalid_program(fmt::format("a halo of {} for waves of {}", plural(halo.size(), "number"),
                                       plural(range.dimensions, "dimension")),
                           "give one number, or one for each dimension of global_size", pointer);
  }
  std::array<std::uint32_t, 3> tiles{};
  for (std::uint32_t dimension = 0; dimension < range.dimensions; ++dimension) {
    const Number& number = halo[halo.size() == 1 ? 0 : dimension];
    const auto* const whole = std::get_if<std::uint64_t>(&number);
    if (whole == nullptr || *whole > most) {
      return invalid_program("a halo is a number of tiles, from 0 to 1048576",
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

// A stated halo makes no rows: it counts tiles, wherever their elements lie.
void derive_rows(Job& program) {
  constexpr std::uint64_t most = std::uint64_t{1} << 31U; // as above
  // The dimensions belong to it: [8] and [8, 1] have the same sizes, and rows along another id.
  using Setting = std::tuple<std::uint32_t, std::uint32_t, std::array<std::uint64_t, 3>,
                             std::array<std::uint32_t, 3>, std::map<std::size_t, std::int64_t>>;
  std::map<Setting, std::vector<std::optional<opencl_c::RowElements>>> known;
  for (ProgramWave& wave : program.waves) {
    const NdRange& range = wave.range;
    const auto fits = [&](std::size_t d) { return range.offset[d] + range.global[d] <= most; };
    if (!wave.users_kernel || !fits(0) || !fits(1) || !fits(2)) {
      continue;
    }
    const opencl_c::TranslationUnit& unit = program.units[program.ops[wave.op].unit].unit;
    const opencl_c::Function& kernel = program.function(wave.op);
    opencl_c::KernelSetting setting{.dimensions = range.dimensions, .values = values_of(wave, unit, kernel)};
    for (std::size_t d = 0; d < 3; ++d) {
      setting.begin[d] = static_cast<std::int64_t>(range.offset[d]);
      setting.size[d] = range.global[d];
    }
    const auto [rows, is_new] =
        known.try_emplace({wave.op, range.dimensions, range.offset, range.global, setting.values});
    if (is_new) {
      rows->second = opencl_c::row_elements(unit, kernel, setting);
    }
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      ProgramArgument& argument = wave.arguments[i];
      if (argument.kind != ProgramArgument::Kind::buffer || argument.rows) {
        continue;
      }
      const ProgramBuffer& buffer = program.buffers[argument.buffer];
      const auto& derived = rows->second[i];
      if (derived && buffer.bytes / derived->element_bytes <= most) {
        argument.rows = reach_of(*derived);
      }
    }
  }
}

// Derives which buffers ranks may combine after a wave, where the kernel's source proves it.

namespace {

std::optional<Combine> combine_of(std::optional<opencl_c::Reduction> reduction) {
  return reduction ? std::optional(static_cast<Combine>(*reduction)) : std::nullopt; // in the same order
}

// Integers of 32 or 64 bits; atomic_int is an int.
std::optional<ElementType> integer_pointee(const opencl_c::TranslationUnit& unit,
                                           const opencl_c::Parameter& parameter) {
  constexpr std::string_view atomic = "atomic_";
  std::string scalar = parameter.type.starts_with(atomic) ? parameter.type.substr(atomic.size()) : "";
  if (const auto layout = opencl_c::layout_of_pointee(unit, parameter.tokens);
      layout && layout->kind == opencl_c::TypeLayout::Kind::arithmetic) {
    scalar = layout->name;
  }
  const auto type = opencl_c::arithmetic_type(scalar);
  const auto element = type && type->width == 1 ? element_type_of(type->scalar) : std::nullopt;
  return element && !is_float(*element) && element_bytes(*element) >= 4 ? element : std::nullopt;
}

// A sum is the same for signed and unsigned integers.
bool combines_as(ElementType pointee, ElementType buffer, Combine how) {
  return pointee == buffer ||
         (how == Combine::sum && !is_float(buffer) && element_bytes(pointee) == element_bytes(buffer));
}

} // namespace

Result<void> derive_combines(Job& program) {
  constexpr std::array<std::string_view, 3> does{"adds to", "takes minima in", "takes maxima in"};
  std::map<std::uint32_t, std::vector<std::optional<opencl_c::Reduction>>> by_op;
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    ProgramWave& spec = program.waves[wave];
    if (!spec.users_kernel) {
      continue;
    }
    const opencl_c::Function& kernel = program.function(spec.op);
    const opencl_c::TranslationUnit& unit = program.units[program.ops[spec.op].unit].unit;
    const auto [found, is_new] = by_op.try_emplace(spec.op);
    if (is_new) {
      found->second = opencl_c::reductions(unit, kernel);
    }
    for (std::size_t i = 0; i < found->second.size() && i < spec.arguments.size(); ++i) {
      ProgramArgument& argument = spec.arguments[i];
      const auto derived = combine_of(found->second[i]);
      if (!derived || argument.kind != ProgramArgument::Kind::buffer) {
        continue;
      }
      const ProgramBuffer& buffer = program.buffers[argument.buffer];
      if (argument.combine && argument.combine != derived) {
        const std::string_view name = combine_names[static_cast<std::size_t>(*derived)];
        return invalid_program(
            fmt::format("combine is {}, and the kernel {} {} with atomics",
                        in_quotes(combine_names[static_cast<std::size_t>(*argument.combine)]),
                        does[static_cast<std::size_t>(*derived)], in_quotes(buffer.name)),
            fmt::format(R"(state "combine": "{}", or leave it out)", name),
            fmt::format("{}/args/{}/combine", program.wave_pointer(wave), i));
      }
      const auto pointee = integer_pointee(unit, kernel.parameters[i]);
      if (pointee && combines_as(*pointee, buffer.type, *derived) && argument.access == Access::read_write &&
          !buffer.hits) {
        argument.combine = derived;
      }
    }
  }
  return {};
}

} // namespace tidegate::engine
