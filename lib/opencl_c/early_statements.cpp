// The first statements of a kernel that may run before a work-group waits for other work-groups. What may occur in them
// is on a list: types, variables of the body, values, pointers to memory that no wave writes, some functions.
#include "opencl_c/accesses.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace tidegate::opencl_c {
namespace {

constexpr std::size_t no_end = static_cast<std::size_t>(-1); // after all tokens

class EarlyStatements {
public:
  EarlyStatements(const TranslationUnit& unit, const Function& kernel, const std::set<std::size_t>& steady)
      : unit_(unit), kernel_(kernel), steady_(steady) {}

  // Returns the token after the early statements.
  std::size_t end() {
    const std::size_t close = kernel_.body->end - 1;
    std::size_t at = kernel_.body->begin + 1;
    while (at < close) {
      std::size_t first = at;
      while (first < close && token(first).kind == TokenKind::pragma) {
        ++first;
      }
      const std::size_t end = statement_end(first, close);
      if (end > close || !harmless({.begin = first, .end = end}, false)) {
        break;
      }
      at = end;
    }
    return at;
  }

private:
  [[nodiscard]] const Token& token(std::size_t i) const { return unit_.source.tokens[i]; }

  // Returns no_end for a statement that starts with a brace, and at the end.
  [[nodiscard]] std::size_t statement_end(std::size_t at, std::size_t close) const {
    if (at >= close || unit_.is(at, "{")) {
      return no_end;
    }
    if (unit_.is(at, "for") && unit_.is(at + 1, "(")) {
      const std::size_t body = unit_.counterpart(at + 1) + 1;
      return unit_.is(body, "{") ? unit_.counterpart(body) + 1 : statement_end(body, close);
    }
    return unit_.find({.begin = at, .end = close}, ";") + 1;
  }

  // True if nothing in the range leaves the kernel, meets other work-items or reaches memory that changes.
  bool harmless(TokenRange range, bool in_helper) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (token(i).kind == TokenKind::identifier && !unit_.is_member(i) && !harmless_word(i, in_helper)) {
        return false;
      }
    }
    return true;
  }

  bool harmless_word(std::size_t i, bool in_helper) {
    const std::string& text = token(i).text;
    if (const Name* const name = unit_.meaning(i)) {
      return name->kind == NameKind::function ? harmless_call(i) : in_helper || harmless_name(*name);
    }
    static constexpr std::array<std::string_view, 3> in_loops{"for", "break", "continue"};
    static constexpr std::array<std::string_view, 8> in_helpers{"return", "if",     "else", "while",
                                                                "do",     "switch", "case", "default"};
    static constexpr std::array<std::string_view, 8> functions{"min", "max",   "clamp", "fma",
                                                               "mad", "mad24", "mul24", "sizeof"};
    static constexpr std::array<std::string_view, 3> families{"vload", "as_", "convert_"};
    return (is_type_word(text) || is_qualifier(text) || is_work_item_function(text)) ||
           std::ranges::find(in_loops, text) != in_loops.end() ||
           std::ranges::find(functions, text) != functions.end() ||
           (in_helper && std::ranges::find(in_helpers, text) != in_helpers.end()) ||
           std::ranges::any_of(families, [&](std::string_view family) { return text.starts_with(family); });
  }

  // Helpers receive only what the kernel passes them; they have no other memory.
  bool harmless_call(std::size_t i) {
    const Function* const function = unit_.definition(token(i).text);
    if (!unit_.is_call(i) || function == nullptr || function->is_kernel) {
      return false;
    }
    return !seen_.insert(function->name).second || harmless(*function->body, true);
  }

  [[nodiscard]] bool harmless_name(const Name& name) const {
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
      const Parameter& parameter = kernel_.parameters[i];
      if (parameter.tokens.begin <= name.token && name.token < parameter.tokens.end) {
        return parameter.is_pointer ? steady_.contains(i) && !unit_.contains(parameter.tokens, "volatile")
                                    : arithmetic_type(parameter.type).has_value();
      }
    }
    return true; // a variable of the body, a constant, a type
  }

  const TranslationUnit& unit_;
  const Function& kernel_;
  const std::set<std::size_t>& steady_;
  std::set<std::string> seen_; // functions; one that does harm ends the search
};

} // namespace

std::size_t end_of_early_statements(const TranslationUnit& unit, const Function& kernel,
                                    const std::set<std::size_t>& steady) {
  return EarlyStatements(unit, kernel, steady).end();
}

} // namespace tidegate::opencl_c
