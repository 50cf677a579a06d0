#include <tidegate/opencl_c/condition_stack.hpp>
#include <tidegate/opencl_c/lexer.hpp>

#include <fmt/format.h>

namespace tidegate::opencl_c {

Result<bool> ConditionStack::carry_out(const Token& name, std::string_view path,
                                       const std::function<Result<bool>()>& evaluate) {
  if (name.is("if") || name.is("ifdef") || name.is("ifndef")) {
    const bool skipping = is_skipping();
    const auto holds = skipping ? false : evaluate();
    if (!holds) {
      return holds;
    }
    open_.push_back({.opening = name, .inside_skipped = skipping, .taken = *holds, .active = *holds});
    return true;
  }
  if (!name.is("elif") && !name.is("else") && !name.is("endif")) {
    return false;
  }
  if (open_.empty()) {
    return tl::unexpected(
        source_error(path, name, fmt::format("#{} without #if", name.text), "remove it, or add the #if"));
  }
  Conditional& innermost = open_.back();
  if (name.is("endif")) {
    open_.pop_back();
    return true;
  }
  if (innermost.else_seen) {
    return tl::unexpected(
        source_error(path, name, fmt::format("#{} behind #else", name.text), "put #else last before #endif"));
  }
  innermost.else_seen = name.is("else");
  innermost.active = false;
  if (!innermost.taken && !innermost.inside_skipped) {
    const auto holds = innermost.else_seen ? true : evaluate();
    if (!holds) {
      return holds;
    }
    innermost.active = innermost.taken = *holds;
  }
  return true;
}

} // namespace tidegate::opencl_c
