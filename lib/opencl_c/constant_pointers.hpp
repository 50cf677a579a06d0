// Moves pointers from constant to global memory: the arguments of an outlined kernel are in global memory.
#pragma once
#include "opencl_c/token_writer.hpp"
#include "opencl_c/translation_unit.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::opencl_c {

inline bool is_constant_pointer(const Parameter& parameter) {
  return parameter.is_pointer && parameter.space == AddressSpace::constant;
}

// Changes parameters that point into constant memory to global memory, and with them the variables, casts and
// results that receive their values. `edits` already has the new names. Error: unsupported_kernel for a
// pointer that would need both address spaces.
Result<void> constants_to_global(const TranslationUnit& unit, const Function& function, Edits& edits);

// Adds a global version after each typedef of the range that is in the constant address space, for
// constants_to_global(). `edits` already has the new names.
void add_global_typedefs(const TranslationUnit& unit, TokenRange range, Edits& edits);

} // namespace tidegate::opencl_c
