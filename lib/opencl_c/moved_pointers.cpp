// Lists the uses of a pointer that mean the same if it points outside of its memory, and moves the pointers of kernels.
#include "opencl_c/accesses.hpp"
#include "opencl_c/call_graph.hpp"
#include "opencl_c/rewriting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tidegate::opencl_c {
namespace {

template <std::size_t N>
bool is_one_of(const Token& token, const std::array<std::string_view, N>& texts) {
  return std::ranges::find(texts, token.text) != texts.end();
}

class Uses {
public:
  explicit Uses(const TranslationUnit& unit) : unit_(unit), tokens_(unit.source.tokens) {}

  // Returns true if the function, and those that it hands the pointer to, only compute addresses from it that they
  // access.
  bool only_compute_addresses(const Function& function, std::size_t parameter) {
    if (!seen_.emplace(&function, parameter).second) {
      return true;
    }
    const TokenRange declared = function.parameters[parameter].tokens;
    const auto is_it = [&](std::size_t token) {
      const Name* const name = unit_.meaning(token);
      return name != nullptr && name->token >= declared.begin && name->token < declared.end;
    };
    for (std::size_t i = function.body->begin; i < function.body->end; ++i) {
      if (tokens_[i].is(function.parameters[parameter].name.c_str()) && is_it(i) && !computes_address(i)) {
        return false;
      }
    }
    return true;
  }

private:
  bool computes_address(std::size_t at) {
    const Token& before = tokens_[at - 1];
    const Token& after = tokens_[at + 1];
    if (after.is("[") || after.is("->") || before.is("*")) {
      return true;
    }
    if (const auto argument = unit_.argument(at)) {
      return may_take(*argument);
    }
    constexpr std::array<std::string_view, 4> may_begin{"(", ",", "=", "+"};
    constexpr std::array<std::string_view, 5> may_end{")", ",", ";", "+", "-"};
    if (!is_one_of(after, may_end)) {
      return false;
    }
    return before.is(")") ? is_pointer_cast(at - 1)
                          : is_one_of(before, may_begin) && (!before.is("(") || may_open(at - 1));
  }

  // True if the bracket ends a cast to a type of pointers.
  [[nodiscard]] bool is_pointer_cast(std::size_t bracket) const { return tokens_[bracket - 1].is("*"); }

  // True unless the bracket begins what is cast to a type of no pointers, or negated.
  [[nodiscard]] bool may_open(std::size_t bracket) const {
    const Token& before = tokens_[bracket - 1];
    return before.is(")") ? is_pointer_cast(bracket - 1) : !before.is("!");
  }

  // True for a built-in function that accesses memory, and a function of the file that does no more either.
  bool may_take(const Argument& argument) {
    const Name* const name = unit_.meaning(argument.function);
    if (name == nullptr) {
      constexpr std::array<std::string_view, 4> others{"printf", "if", "while", "switch"};
      return !is_one_of(tokens_[argument.function], others);
    }
    const Function* const function =
        name->kind == NameKind::function ? unit_.definition(tokens_[argument.function].text) : nullptr;
    return function != nullptr && function->body && !function->is_overloadable &&
           argument.index < function->parameters.size() && only_compute_addresses(*function, argument.index);
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  std::set<std::pair<const Function*, std::size_t>> seen_;
};

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
  std::set<std::string> all;
  for (const Function& function : unit.functions) {
    all.insert(function.name);
  }
  if (!kernel.body || std::ranges::count(unit.functions, kernel.name, &Function::name) != 1 ||
      CallGraph(unit).is_called(kernel.name, all)) {
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
  return Uses(unit).only_compute_addresses(kernel, parameter)
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
