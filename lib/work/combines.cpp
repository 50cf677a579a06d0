// Derives which buffers ranks may combine after a wave, where the kernel's source proves it.
#include "opencl_c/accesses.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::engine {
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
        return failure(ErrorCode::invalid_program,
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
