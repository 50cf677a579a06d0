// Checks the iteration of an argument, and gives all waves of an op the same changes.
#include "engine/progression.hpp"

#include "work/arguments.hpp"
#include "work/contents.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace tidegate::engine {

Result<Progression> progression_of(const IterationSpec& spec, ElementType type,
                                   std::span<const std::byte> first, const std::string& pointer) {
  using Form = Progression::Form;
  struct Said {
    std::string_view name;
    const std::optional<Number>& number;
  };
  const std::array<Said, 4> forms{Said{"add", spec.add}, Said{"multiply", spec.multiply},
                                  Said{"shift_left", spec.shift_left}, Said{"shift_right", spec.shift_right}};
  const auto said = std::ranges::count_if(forms, [](const Said& form) { return form.number.has_value(); });
  if (said != 1) {
    return tl::unexpected(invalid_program(
        fmt::format(
            "iteration needs exactly one of add, multiply, shift_left and shift_right, this one has {}",
            said),
        "give one of them", pointer));
  }
  const auto found = std::ranges::find_if(forms, [](const Said& form) { return form.number.has_value(); });
  Progression result{.type = type,
                     .form = static_cast<Form>(found - forms.begin()),
                     .first = constant_progression(type, first).first,
                     .every = spec.every,
                     .cycle = spec.cycle.value_or(0),
                     .modulo = spec.modulo.value_or(0)};
  const bool real = is_float(type);
  if (type == ElementType::f16 || (real && (result.form != Form::add || result.modulo != 0))) {
    return tl::unexpected(invalid_program(type == ElementType::f16
                                              ? "a half cannot change from iteration to iteration"
                                              : "floats can only be changed by add",
                                          "give a buffer that a wave changes", pointer));
  }
  const std::string place = fmt::format("{}/{}", pointer, found->name);
  const bool shifts = result.form == Form::shift_left || result.form == Form::shift_right;
  std::vector<std::byte> by(element_bytes(type));
  if (auto stored = store_number(*found->number, type, by.data()); !stored) {
    stored.error().pointer = place;
    return tl::unexpected(std::move(stored.error()));
  }
  result.by = constant_progression(type, by).first;
  if (shifts && result.by > 64) {
    return failure(ErrorCode::out_of_range, "a shift by more than 64 bits, or by less than 0",
                   "give a number from 0 to 64", place);
  }
  if (result.form == Form::shift_left &&
      result.modulo != 0) { // a product, so that no bit is lost before the modulo
    __extension__ typedef unsigned __int128 Wide;
    result.form = Form::multiply;
    result.by = static_cast<std::uint64_t>((Wide{1} << result.by) % result.modulo);
  }
  if (is_signed_integer(type) && result.modulo > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return failure(ErrorCode::out_of_range, "the modulo of a signed value is above 2^63 - 1",
                   "give a smaller one", pointer + "/modulo");
  }
  return result;
}

void spread_progressions(std::vector<ProgramWave>& waves) {
  std::map<std::pair<std::uint32_t, std::size_t>, std::map<std::uint64_t, ElementType>> changing;
  for (const ProgramWave& wave : waves) {
    for (std::size_t i = 0; i < wave.arguments.size(); ++i) {
      for (const Change& change : wave.arguments[i].changes) {
        changing[{wave.op, i}][change.offset] = change.progression.type;
      }
    }
  }
  for (ProgramWave& wave : waves) {
    for (std::size_t i = 0; i < wave.arguments.size(); ++i) {
      ProgramArgument& argument = wave.arguments[i];
      std::vector<Change> changes;
      for (const auto& [offset, type] : changing[{wave.op, i}]) {
        const auto own = std::ranges::find(argument.changes, offset, &Change::offset);
        changes.push_back(own != argument.changes.end()
                              ? *own
                              : Change{.offset = offset,
                                       .progression = constant_progression(
                                           type, std::span(argument.value).subspan(offset))});
      }
      argument.changes = std::move(changes);
    }
  }
}

} // namespace tidegate::engine
