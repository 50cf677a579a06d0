// What a kernel does with its parameters, and over what it goes, as far as its tokens tell for certain. For
// whoever has to guess a program for a kernel: everything is a fact, or it is left open.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::opencl_c {

// What is done to what a pointer points to. Whatever is not seen through (an address taken, a pointer handed
// on to more than a function of the file) is both.
struct ParameterUse {
  bool read = false;
  bool written = false;
  bool atomic = false; // by atomic functions
  bool factor = false; // of a scalar: something is multiplied by it, as rows are by the width
  bool bound = false;  // of a scalar: something is compared with it, as an index is with the count
};

// The elements of a local array of the body, the outermost first.
using LocalArray = std::vector<std::uint64_t>;

struct KernelUses {
  std::vector<ParameterUse> parameters;
  std::uint32_t dimensions = 1;     // of the NDRange that it asks about
  std::uint64_t largest_factor = 1; // of the numbers that something is multiplied by
  bool meets = false;               // its work-items meet at barriers, or share local memory
  std::vector<LocalArray> arrays;   // whose sizes are certain
};

// The functions that the kernel calls, directly or not, count with it.
KernelUses uses_of(const TranslationUnit& unit, const Function& kernel);

} // namespace tidegate::opencl_c
