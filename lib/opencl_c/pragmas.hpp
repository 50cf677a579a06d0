// Pragmas whose effect goes on behind the text that they stand in: where sources are compiled together, it
// would reach the others.
#pragma once

#include <tidegate/opencl_c/translation_unit.hpp>

#include <string>

namespace tidegate::opencl_c {

struct PragmaScope {
  std::string
      before; // what to write in front of the source's text, and behind it, so that the effects end there
  std::string after;
  bool packs = false;        // structures of the source are laid out as a #pragma pack says
  bool enables_fp64 = false; // old compilers then take 1.0 for a double
  std::string obstacle;      // why nothing can end them; or empty
};

PragmaScope pragma_scope(const TranslationUnit& unit);

} // namespace tidegate::opencl_c
