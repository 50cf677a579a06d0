// Arguments whose value changes with each iteration: the first value after a number of steps.
//
//   steps = i / every, modulo cycle unless that is 0
//   value = first + by * steps | first * by^steps | first << by * steps | first >> by * steps
//
// Integers are computed in 64 bits, reduced modulo `modulo`, and truncated to the type. With a modulo, sums
// and products do not wrap before; shifts do. Floats are only added, with one rounding (fma).
// kernels/wave/progression.cl computes it, on the device and here for launches of the user's kernels.
#pragma once
#include "core/npy.hpp"

namespace tidegate::engine {

struct Progression {
  enum class Form : std::uint8_t { add, multiply, shift_left, shift_right };
  ElementType type = ElementType::u32;
  Form form = Form::add;
  std::uint64_t first = 0; // integers sign-extended, floats as bits
  std::uint64_t by = 0;    // likewise
  std::uint64_t every = 1;
  std::uint64_t cycle = 0;  // 0: none
  std::uint64_t modulo = 0; // 0: none

  friend bool operator==(const Progression&, const Progression&) = default;
};

// A changing number in a value, at this offset in bytes: the value itself, or a member of a structure.
struct Change {
  std::uint64_t offset = 0;
  Progression progression;
  bool by_round = false; // counts rounds of a loop instead, until loops are unrolled

  friend bool operator==(const Change&, const Change&) = default;
};

// Reads the number at the start of these bytes, as one that never changes.
Progression constant_progression(ElementType type, std::span<const std::byte> bytes);

// Returns the number in an iteration, as clSetKernelArg takes it.
std::vector<std::byte> value_in(const Progression& progression, std::uint32_t iteration);

// Returns the value with the numbers of that iteration.
std::vector<std::byte> value_in(std::vector<std::byte> value, std::span<const Change> changes,
                                std::uint32_t iteration);

// Layout that kernels/wave/progression.cl reads.
inline constexpr std::size_t progression_words = 6;
std::array<std::uint64_t, progression_words> descriptor_words(const Progression& progression);

} // namespace tidegate::engine
