// Pointers into constant memory: a kernel's arguments lie in global memory once it is outlined.
#pragma once
#include "opencl_c/token_writer.hpp"
#include "opencl_c/translation_unit.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::opencl_c {

inline bool is_constant_pointer(const Parameter& parameter) {
  return parameter.is_pointer && parameter.space == AddressSpace::constant;
}

// Parameters that point into constant memory point into global memory instead, and so do the variables, casts
// and results that get their value from them. `edits` has the new names already.
// unsupported_kernel for what would have to point to both.
Result<void> constants_to_global(const TranslationUnit& unit, const Function& function, Edits& edits);

// Behind every typedef of the range that has the constant address space, one that has the global instead:
// constants_to_global() uses them. `edits` has the new names already.
void add_global_typedefs(const TranslationUnit& unit, TokenRange range, Edits& edits);

} // namespace tidegate::opencl_c
