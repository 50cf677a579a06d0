// Resolves each identifier of a file to its declaration (C99 6.2.1 to 6.2.3), by the scopes of C and without
// types.
#pragma once
#include "opencl_c/translation_unit.hpp"

namespace tidegate::opencl_c {

// Fills in names, meanings and file_scope_names. The brackets of the unit must match.
void resolve_names(TranslationUnit& unit);

} // namespace tidegate::opencl_c
