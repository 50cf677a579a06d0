// Facts about a kernel's parameters and NDRange that its tokens prove, for `draft`, which guesses a program
// from a kernel. Anything unproven is left open.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::opencl_c {

// Uses of a parameter. A pointer that the analysis cannot follow (its address is taken, or an unknown
// function receives it) counts as read and written.
struct ParameterUse {
  bool read = false;
  bool written = false;
  bool atomic = false; // through atomic functions
  bool factor = false; // a scalar: a factor, such as the width of rows
  bool bound = false;  // a scalar: compared with something, such as an index with a count
};

// Extents of a local array, outermost first.
using LocalArray = std::vector<std::uint64_t>;

struct KernelUses {
  std::vector<ParameterUse> parameters;
  std::uint32_t dimensions = 1;     // of the NDRange, as far as the kernel queries ids
  std::uint64_t largest_factor = 1; // largest literal that something is multiplied by
  bool meets = false;               // work-items meet at barriers or share local memory
  std::vector<LocalArray> arrays;   // local arrays of known size
};

// Includes functions that the kernel calls, directly or indirectly.
KernelUses uses_of(const TranslationUnit& unit, const Function& kernel);

} // namespace tidegate::opencl_c
