// Work-items that return before a barrier of their kernel.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::opencl_c {

// if (get_global_id(dimension) >= bound) return;
struct EarlyReturn {
  std::size_t token = 0; // of the return
  std::uint32_t dimension = 0;
  std::optional<std::size_t> parameter; // the bound; otherwise `number` is
  std::int64_t number = 0;
};

// Returns those that a barrier of the kernel's body follows. The condition, or a part of it between ||, compares an id, or
// a constant that is one, with a parameter that nothing changes or with a number; other returns are not looked at.
std::vector<EarlyReturn> returns_before_barrier(const TranslationUnit& unit, const Function& kernel);

} // namespace tidegate::opencl_c
