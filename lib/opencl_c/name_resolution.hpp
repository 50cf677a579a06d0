// Which declaration each identifier of a file names (C99 6.2.1 to 6.2.3), by the scopes of C and without its
// types.
#pragma once
#include "opencl_c/translation_unit.hpp"

namespace tidegate::opencl_c {

// Fills in names, meanings and file_scope_names of a unit whose brackets match.
void resolve_names(TranslationUnit& unit);

} // namespace tidegate::opencl_c
