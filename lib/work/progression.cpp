// Checks the iteration of an argument, and evaluates the formula of the header.
#include "work/progression.hpp"

#include "work/buffers.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace tidegate::engine {
namespace {

bool is_signed(ElementType type) {
  return type == ElementType::i8 || type == ElementType::i16 || type == ElementType::i32 ||
         type == ElementType::i64;
}

std::uint64_t widened(ElementType type, const std::vector<std::byte>& bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  const auto unused = static_cast<unsigned>(64 - 8 * bytes.size());
  return is_signed(type) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused)
                         : bits;
}

std::uint64_t integer(const Progression& progression, std::uint64_t steps) {
  const std::uint64_t shift = progression.by * steps;
  std::uint64_t value = progression.first;
  switch (progression.form) {
  case Progression::Form::add: value += progression.by * steps; break;
  case Progression::Form::multiply:
    for (std::uint64_t power = progression.by; steps != 0; steps >>= 1U, power *= power) {
      value *= (steps & 1U) != 0 ? power : 1;
    }
    break;
  case Progression::Form::shift_left: value = shift > 63 ? 0 : value << shift; break;
  case Progression::Form::shift_right:
    value = is_signed(progression.type) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >>
                                                                     std::min<std::uint64_t>(shift, 63))
            : shift > 63                ? 0
                                        : value >> shift;
    break;
  }
  if (progression.modulo == 0) {
    return value;
  }
  if (!is_signed(progression.type)) {
    return value % progression.modulo;
  }
  const auto modulo = static_cast<std::int64_t>(progression.modulo);
  const std::int64_t rest = static_cast<std::int64_t>(value) % modulo;
  return static_cast<std::uint64_t>(rest < 0 ? rest + modulo : rest);
}

} // namespace

Result<Progression> progression_of(const IterationSpec& spec, ElementType type,
                                   const std::vector<std::byte>& first, const std::string& pointer) {
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
                     .first = widened(type, first),
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
  result.by = widened(type, by);
  if (shifts && result.by > 64) {
    return tl::unexpected(Error{.code = ErrorCode::out_of_range,
                                .message = "a shift by more than 64 bits, or by less than 0",
                                .fix = "give a number from 0 to 64",
                                .pointer = place});
  }
  if (is_signed(type) && result.modulo > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return tl::unexpected(Error{.code = ErrorCode::out_of_range,
                                .message = "the modulo of a signed value is above 2^63 - 1",
                                .fix = "give a smaller one",
                                .pointer = pointer + "/modulo"});
  }
  return result;
}

Progression constant_progression(ElementType type, const std::vector<std::byte>& first) {
  return {.type = type, .first = widened(type, first)};
}

std::vector<std::byte> value_in(const Progression& progression, std::uint32_t iteration) {
  const std::uint64_t turns = iteration / progression.every;
  const std::uint64_t steps = progression.cycle == 0 ? turns : turns % progression.cycle;
  std::uint64_t bits = 0;
  if (progression.type == ElementType::f32) {
    const auto of = [](std::uint64_t from) { return std::bit_cast<float>(static_cast<std::uint32_t>(from)); };
    bits = std::bit_cast<std::uint32_t>(
        std::fma(of(progression.by), static_cast<float>(steps), of(progression.first)));
  } else if (progression.type == ElementType::f64) {
    bits = std::bit_cast<std::uint64_t>(std::fma(std::bit_cast<double>(progression.by),
                                                 static_cast<double>(steps),
                                                 std::bit_cast<double>(progression.first)));
  } else {
    bits = integer(progression, steps);
  }
  std::vector<std::byte> value(element_bytes(progression.type));
  std::memcpy(value.data(), &bits, value.size());
  return value;
}

std::array<std::uint64_t, progression_words> descriptor_words(const Progression& progression) {
  return {progression.first, progression.by,    static_cast<std::uint64_t>(progression.form),
          progression.every, progression.cycle, progression.modulo};
}

} // namespace tidegate::engine
