// Finds pointer parameters whose const a function drops, and treats them as pointers that may be written. C allows
// this: an assignment converts with a warning, a cast without one. The check follows a pointer through a list of known
// expressions; any other use counts as dropping const.
#include "opencl_c/translation_unit.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::opencl_c {
namespace {

class ConstPointers {
public:
  explicit ConstPointers(const TranslationUnit& unit) : unit_(unit) {}

  bool stays_const(const Function& function, std::size_t parameter) {
    const auto [known, is_new] = known_.try_emplace({function.name_token, parameter}, true);
    if (!is_new || !function.body) { // a prototype; its definition, if any, is checked separately
      return known->second;
    }
    const bool has_numbers = arithmetic_type(function.parameters[parameter].type).has_value();
    std::set<std::size_t> names; // tokens that declare pointers to the same memory
    const TokenRange& declared = function.parameters[parameter].tokens;
    for (std::size_t i = declared.begin; i < declared.end; ++i) {
      if (const Name* const name = unit_.meaning(i); name != nullptr && name->token == i) {
        names.insert(i);
      }
    }
    bool stays = true;
    for (std::size_t count = 0; stays && count != names.size();) {
      count = names.size();
      for (std::size_t i = function.body->begin; stays && i < function.body->end; ++i) {
        const Name* const name = unit_.meaning(i);
        stays = name == nullptr || !names.contains(name->token) || name->token == i ||
                keeps(i, names, has_numbers);
      }
    }
    return known_[{function.name_token, parameter}] = stays;
  }

private:
  [[nodiscard]] bool is(std::size_t i, std::string_view text) const { return unit_.is(i, text); }
  [[nodiscard]] bool is_any(std::size_t i, std::span<const std::string_view> texts) const {
    return std::ranges::any_of(texts, [&](std::string_view text) { return is(i, text); });
  }

  // Returns true if an operand ends at the token, so that a following * or & is a binary operator.
  [[nodiscard]] bool ends_operand(std::size_t i) const {
    const Token& token = unit_.source.tokens[i];
    return is(i, "]") || (is(i, ")") && !is_cast(i)) || token.kind == TokenKind::number ||
           (token.kind == TokenKind::identifier && !is(i, "return"));
  }

  [[nodiscard]] bool is_cast(std::size_t close) const {
    const std::size_t first = unit_.counterpart(close) + 1;
    const Name* const name = unit_.meaning(first);
    return is_qualifier(unit_.source.tokens[first].text) || is_type_word(unit_.source.tokens[first].text) ||
           (name != nullptr && name->kind == NameKind::type);
  }

  // True if what the type points to is const.
  [[nodiscard]] bool says_const(TokenRange type) const {
    for (std::size_t i = type.begin; i < type.end && !is(i, "*"); ++i) {
      const auto found = unit_.qualified_typedefs.find(std::string(unit_.source.tokens[i].text));
      if (is(i, "const") || (found != unit_.qualified_typedefs.end() && found->second.is_const)) {
        return true;
      }
    }
    return false;
  }

  // Returns true if the use of the pointer at the token only reads through it or makes further pointers to const, which
  // are added to `names`. `has_numbers`: the pointer's elements are numbers; others may be or contain arrays, which
  // decay to pointers.
  bool keeps(std::size_t token, std::set<std::size_t>& names, bool has_numbers) {
    constexpr std::array<std::string_view, 2> picks{"[", "->"};
    const bool picked = is_any(token + 1, picks);
    if (is(token - 1, "*") && !ends_operand(token - 2)) {
      return true;
    }
    std::size_t begin = token;
    bool element = false;
    if (picked) {
      element = !is(token - 1, "&") || ends_operand(token - 2);
      if (element && has_numbers) {
        return true;
      }
      begin = element ? token : token - 1;
    }
    // Walks outwards through sums and parentheses to the expression that uses the pointer.
    for (;;) {
      constexpr std::array<std::string_view, 5> sums{"+", "-", "*", "?", ":"};
      constexpr std::array<std::string_view, 8> tests{"==", "!=", "<", ">", "<=", ">=", "&&", "||"};
      std::size_t before = begin - 1;
      while (is_any(before, sums) || is(before, ")") || is(before, "]") || ends_operand(before)) {
        if (is(before, "*") && !ends_operand(before - 1)) {
          return true; // reads through a cast pointer
        }
        const TokenRange inside{unit_.counterpart(before), before};
        if (is(before, ")") && is_cast(before) && !says_const(inside) &&
            !(element && !unit_.contains(inside, "*"))) {
          return false;
        }
        before = (unit_.source.tokens[before].closes() ? unit_.counterpart(before) : before) - 1;
      }
      if (is_any(before, tests) || begins_statement(before) || begins_condition(before)) {
        return true;
      }
      if (is(before, "=")) {
        return joins(before - 1, names) || (element && !is_pointer(unit_.meaning(before - 1)));
      }
      if (is(before, ",") || (is(before, "(") && unit_.is_call(before - 1))) {
        return passes_on(before, element);
      }
      if (!is(before, "(")) {
        return element;
      }
      const std::size_t close = unit_.counterpart(before);
      if (is_any(close + 1, picks) || (is(before - 1, "*") && !ends_operand(before - 2))) {
        return !is(before - 1, "&") || ends_operand(before - 2);
      }
      begin = before;
    }
  }

  // Returns true if a statement begins after the token. A brace may also begin an initializer.
  [[nodiscard]] bool begins_statement(std::size_t before) const {
    return is(before, ";") || is(before, "}") ||
           (is(before, "{") &&
            (is(before - 1, ")") || is(before - 1, ";") || is(before - 1, "}") || is(before - 1, "else") ||
             is(before - 1, "do")) &&
            !(is(before - 1, ")") && is_cast(before - 1)));
  }

  [[nodiscard]] bool is_pointer(const Name* name) const {
    return name != nullptr && unit_.contains({name->declarator.begin, name->token}, "*");
  }

  [[nodiscard]] bool begins_condition(std::size_t open) const {
    return is(open, "(") && (is(open - 1, "if") || is(open - 1, "while"));
  }

  // The pointer is assigned to the variable at the token. If that is a local pointer to const, adds it to `names` and
  // returns true.
  bool joins(std::size_t token, std::set<std::size_t>& names) const {
    const Name* const name = unit_.meaning(token);
    const bool fits = is_pointer(name) && name->kind == NameKind::variable && !name->is_file_scope &&
                      says_const(name->specifiers) && !is(name->token - 2, "*"); // with a single *
    if (fits) {
      names.insert(name->token);
    }
    return fits;
  }

  // The pointer is the argument after this comma or parenthesis. Returns true if the called function keeps it const.
  bool passes_on(std::size_t before, bool element) {
    std::size_t index = 0;
    while (!unit_.source.tokens[before].opens()) {
      index += is(before, ",") ? 1 : 0;
      before = (unit_.source.tokens[before].closes() ? unit_.counterpart(before) : before) - 1;
    }
    if (!is(before, "(") || !unit_.is_call(before - 1)) {
      return element;
    }
    const std::string_view called = unit_.source.tokens[before - 1].text;
    const Function* const callee = unit_.definition(called);
    if (callee == nullptr) {
      const bool written = (index == 2 && called.starts_with("vstore")) ||
                           (index == 0 && (called.starts_with("atom") || called.starts_with("async_")));
      return (element && !written) || called.starts_with("vload") || called == "prefetch" ||
             (index == 1 && called.starts_with("async_work_group_"));
    }
    if (element && index < callee->parameters.size() && !callee->parameters[index].is_pointer) {
      return true;
    }
    return !callee->is_overloadable && index < callee->parameters.size() &&
           callee->parameters[index].is_pointer && callee->parameters[index].is_const &&
           stays_const(*callee, index);
  }

  const TranslationUnit& unit_;
  std::map<std::pair<std::size_t, std::size_t>, bool> known_; // by function and parameter
};

} // namespace

void clear_lost_const(TranslationUnit& unit) {
  ConstPointers pointers(unit);
  std::vector<Parameter*> lost;
  for (Function& function : unit.functions) {
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      if (function.parameters[i].is_pointer && function.parameters[i].is_const &&
          !pointers.stays_const(function, i)) {
        lost.push_back(&function.parameters[i]);
      }
    }
  }
  for (Parameter* const parameter : lost) {
    parameter->is_const = false;
  }
}

} // namespace tidegate::opencl_c
