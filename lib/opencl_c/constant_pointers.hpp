// Pointers into constant memory: a kernel's arguments lie in global memory once it is carried.
#pragma once

#include <tidegate/opencl_c/token_writer.hpp>
#include <tidegate/opencl_c/translation_unit.hpp>

namespace tidegate::opencl_c {

inline bool is_constant_pointer(const Parameter& parameter) {
  return parameter.is_pointer && parameter.space == AddressSpace::constant;
}

// Parameters that point into constant memory point into global memory instead, and so do the variables and
// casts of the statements that mention them.
void constants_to_global(const TranslationUnit& unit, const Function& function, Edits& edits);

} // namespace tidegate::opencl_c
