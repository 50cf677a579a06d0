// Follows the pointer of a parameter through a function: into local variables, sums, casts, elements and calls.
#pragma once
#include "opencl_c/tree.hpp"

#include <cstddef>
#include <functional>
#include <string_view>

namespace tidegate::opencl_c {

struct FollowRules {
  std::function<bool(const Type& type)>
      may_become; // what a cast, a conversion or a variable makes of the pointer
  std::function<bool(const Function& callee, std::size_t index)> may_pass;
  std::function<bool(std::string_view built_in, std::size_t index)> may_take;
  bool may_write = false;   // the memory
  bool may_compare = false; // the pointer, and choose between pointers
};

// Returns true if every occurrence of the pointer, and of each local variable that may hold it, is in an expression that
// is known, and all that happens to it is in the rules. Names in opaque tokens are in no such expression.
bool only_used_by(const FollowRules& rules, const TranslationUnit& unit, const Function& function,
                  std::size_t parameter);

} // namespace tidegate::opencl_c
