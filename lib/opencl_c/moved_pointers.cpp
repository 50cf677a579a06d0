// Moves the pointers of kernels whose uses mean the same if a pointer is outside of its memory.
#include "opencl_c/moved_pointers.hpp"

#include "opencl_c/facts.hpp"
#include "opencl_c/followed_pointer.hpp"
#include "opencl_c/rewriting.hpp"
#include "opencl_c/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tidegate::opencl_c {
namespace {

// True if the function, and those that it hands the pointer to, only access elements through it.
bool only_accesses_elements(const TranslationUnit& unit, const Function& function, std::size_t parameter,
                            std::set<std::pair<const Function*, std::size_t>>& seen) {
  const FollowRules rules{
      .may_become = [](const Type& type) { return type.is(Type::Kind::pointer); },
      .may_pass = [&](const Function& callee,
                      std::size_t index) { return only_accesses_elements(unit, callee, index, seen); },
      .may_take = [](std::string_view name,
                     std::size_t) { return builtin(name) && !is_builtin(name, Builtin::Kind::print); },
      .may_write = true};
  return !seen.emplace(&function, parameter).second || only_used_by(rules, unit, function, parameter);
}

// True if the declaration is that of a pointer to global memory that the kernel may assign to.
bool is_assignable(const TranslationUnit& unit, const Parameter& parameter) {
  if (!parameter.is_pointer || parameter.space != AddressSpace::global || parameter.name.empty()) {
    return false;
  }
  const auto tokens = unit.tokens(parameter.tokens);
  const auto star =
      std::ranges::find_if(tokens.rbegin(), tokens.rend(), [](const Token& token) { return token.is("*"); });
  return star != tokens.rend() && std::none_of(tokens.rbegin(), star, [](const Token& token) {
           return token.is("const") || token.is("[");
         });
}

} // namespace

std::string obstacle_to_moving(const TranslationUnit& unit, const Function& kernel, std::size_t parameter) {
  if (!kernel.body || std::ranges::count(unit.functions, kernel.name, &Function::name) != 1 ||
      unit.facts->is_called(kernel.name)) {
    return fmt::format("{} is declared twice, or called", kernel.name);
  }
  if (!unit.source.own_macros.empty()) {
    return fmt::format("how a compiler reads {} is not known: {}", kernel.name, unit.source.own_macros);
  }
  const Parameter& pointer = kernel.parameters[parameter];
  if (!is_assignable(unit, pointer)) {
    return fmt::format("the parameter {} of {} is not a pointer to global memory that can be assigned to",
                       pointer.name, kernel.name);
  }
  std::set<std::pair<const Function*, std::size_t>> seen;
  return only_accesses_elements(unit, kernel, parameter, seen)
             ? ""
             : fmt::format("{} does more with {} than access elements", kernel.name, pointer.name);
}

std::string move_pointers(const TranslationUnit& unit, const MovedPointers& moved) {
  Edits edits;
  for (const Function& function : unit.functions) {
    const auto found = moved.find(function.name);
    if (found == moved.end() || !function.body) {
      continue;
    }
    std::string& parameters = edits[function.parameter_list.end - 1].after;
    std::string& begin = edits[function.body->begin].after;
    for (const std::size_t parameter : found->second) {
      const std::string& name = function.parameters[parameter].name;
      parameters += fmt::format(", ulong tg_begin{}", parameter);
      // In integers, as a pointer outside of its memory would be undefined. The address and the number are both
      // multiples of what any type is aligned to.
      begin +=
          fmt::format(" {0} = (global void*)((uintptr_t){0} - (uintptr_t)tg_begin{1});", name, parameter);
    }
  }
  std::string text;
  TokenWriter(unit, text).write({.begin = 0, .end = unit.source.tokens.size()}, edits);
  return text + '\n';
}

} // namespace tidegate::opencl_c
