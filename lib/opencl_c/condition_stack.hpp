// Which groups of #if ... #endif count in a file.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/opencl_c/token.hpp>

#include <functional>
#include <string_view>
#include <vector>

namespace tidegate::opencl_c {

class ConditionStack {
public:
  // True inside a group that does not count.
  [[nodiscard]] bool is_skipping() const { return !open_.empty() && !open_.back().active; }

  // The directive that opened the innermost group; null outside all.
  [[nodiscard]] const Token* innermost() const { return open_.empty() ? nullptr : &open_.back().opening; }

  // Carries out #if, #ifdef, #ifndef, #elif, #else or #endif, given by its name; false for any other
  // directive. `evaluate` yields its condition, and is called only where that matters. kernel_source, in the
  // file `path`: a directive without its #if, or behind #else.
  Result<bool> carry_out(const Token& name, std::string_view path,
                         const std::function<Result<bool>()>& evaluate);

private:
  struct Conditional {
    Token opening;
    bool inside_skipped; // so that none of its groups counts
    bool taken;          // one of its groups counted, or does
    bool active;         // the current group counts
    bool else_seen = false;
  };

  std::vector<Conditional> open_;
};

} // namespace tidegate::opencl_c
