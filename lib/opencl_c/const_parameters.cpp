// Finds the pointer parameters whose const a function may drop, which C allows by a cast, by a conversion that compilers
// only warn of, through a union, …: these read and write. A parameter keeps its const if each use of it, and of each
// local pointer to const Q that may hold it, is on this list of elements E and pointers P:
//
//     E: P[…]   *P   P->member
//     P: Q   (… + P)   (… ? P : P)   (global const int*)P   &E   f(P)
//     Q = P   Q++   Q += …   as a statement; Q = P also in a declaration
//     f(P), return P   if f keeps the const of its parameter, and of its result; vload, prefetch, asynchronous copies
//
// Declarations have one star, typedefs included. Elements are numbers, or structures if no type of the
// file has arrays, so that no element becomes a pointer by itself.
#include "opencl_c/translation_unit.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

namespace tidegate::opencl_c {
namespace {

using Texts = std::initializer_list<std::string_view>;

class ConstPointers {
public:
  explicit ConstPointers(const TranslationUnit& unit) : unit_(unit) {
    for (const Name& name : unit.names) {
      has_arrays_ |= (name.kind == NameKind::member || name.kind == NameKind::type) &&
                     unit.contains(name.declarator, "[");
    }
  }

  bool stays_const(const Function& function, const Parameter& parameter) {
    if (!function.body) { // a prototype; its definition, if any, is checked separately
      return true;
    }
    function_ = &function;
    names_.clear();
    for (std::size_t i = parameter.tokens.begin; i < parameter.tokens.end; ++i) {
      if (const Name* const name = unit_.meaning(i); name != nullptr && name->token == i) {
        names_.insert(i);
      }
    }
    bool stays = stars(parameter.tokens) == 1 && has_known_words(*function.body);
    for (std::size_t count = 0; stays && count != names_.size();) {
      count = names_.size();
      for (std::size_t i = function.body->begin; stays && i < function.body->end; ++i) {
        const Name* const name = unit_.meaning(i);
        stays = name == nullptr || !names_.contains(name->token) || name->token == i || keeps(i);
      }
    }
    return stays;
  }

private:
  [[nodiscard]] bool is(std::size_t i, std::string_view text) const { return unit_.is(i, text); }
  [[nodiscard]] bool is_any(std::size_t i, Texts texts) const {
    return std::ranges::any_of(texts, [&](std::string_view text) { return is(i, text); });
  }

  // Stars and brackets of arrays in a declaration or cast, typedefs included; many if a word may hide one.
  [[nodiscard]] int stars(TokenRange range) const {
    constexpr int many = 100;
    int count = 0;
    for (std::size_t i = range.begin; i < range.end && count < many; ++i) {
      const std::string& word = unit_.source.tokens[i].text;
      const Name* const name = unit_.meaning(i);
      if (word == "*" || word == "[") {
        ++count;
        i = word == "[" ? unit_.counterpart(i) : i;
      } else if (name != nullptr && name->kind == NameKind::type && name->token != i) {
        count += stars({name->specifiers.begin, unit_.find(name->specifiers, "{")}) + stars(name->declarator);
      } else if (word == "struct" || word == "union"
                     ? has_arrays_
                     : name == nullptr && !is_qualifier(word) && !is_type_word(word) && word != "typedef") {
        return many;
      }
    }
    return count;
  }

  // True if no word of the body but declared names, members and this list may do something to a pointer: __typeof__,
  // _Generic and asm are not on it, nor are statements in parentheses.
  [[nodiscard]] bool has_known_words(TokenRange body) const {
    for (std::size_t i = body.begin; i < body.end; ++i) {
      const std::string& word = unit_.source.tokens[i].text;
      const bool is_undeclared = unit_.source.tokens[i].kind == TokenKind::identifier &&
                                 unit_.meaning(i) == nullptr && !unit_.is_member(i);
      const bool is_lower = std::ranges::any_of(word, [](char c) { return 'a' <= c && c <= 'z'; });
      if ((is_undeclared && is_lower && !is_qualifier(word) && !is_type_word(word) &&
           !is_built_in_function(word) && !word.starts_with("memory_") &&
           !is_any(i, {"if", "else", "for", "while", "do", "switch", "case", "default", "break", "continue",
                       "return", "goto", "sizeof", "typedef", "true", "false", "__attribute__",
                       "opencl_unroll_hint", "aligned"})) ||
          (is(i, "{") && is(i - 1, "("))) {
        return false;
      }
    }
    return true;
  }

  // Returns true if the use of the pointer at the token is on the list.
  bool keeps(std::size_t token) {
    return is(token - 1, "*") ? element(token - 1) : operand(token, token + 1);
  }

  // A pointer from one token to another: what follows may make an element of it.
  bool operand(std::size_t begin, std::size_t after) {
    return is_any(after, {"[", "->"}) ? element(begin) : pointer(begin, after);
  }

  // An element begins at the token; its address may be taken.
  bool element(std::size_t begin) {
    std::size_t before = begin - 1;
    while (is(before, "(") && !unit_.is_call(before - 1)) {
      --before;
    }
    // An operand ends before a binary &. A parenthesis ends one if it begins with a number or a variable.
    const std::size_t left = is(before - 1, ")") ? unit_.counterpart(before - 1) + 1 : before - 1;
    const Name* const name = unit_.meaning(left);
    const bool is_operand =
        is(left, "]") || unit_.is_member(left) || unit_.source.tokens[left].kind == TokenKind::number ||
        (name != nullptr && (name->kind == NameKind::variable || name->kind == NameKind::enumerator));
    return !is(before, "&") || is_operand || pointer(before, before + 1);
  }

  // The use of a pointer that begins at the token.
  bool pointer(std::size_t begin, std::size_t after) {
    std::size_t before = begin - 1;
    while (is(before, ")")) {
      const TokenRange cast{.begin = unit_.counterpart(before) + 1, .end = before};
      if (!unit_.contains(cast, "const") || !is(before - 1, "*") || stars(cast) != 1) {
        return false;
      }
      before = cast.begin - 2;
    }
    if (is(before, "*")) {
      return element(before);
    }
    return is_any(before, {";", "}"})
               ? is_any(after, {"=", "++", "--", "+=", "-="})
               : is_any(before, {"(", ",", "=", "?", ":", "+", "return"}) && in_context(before);
  }

  // What becomes of an expression that may be a pointer; the token before its last operand is given.
  bool in_context(std::size_t before) {
    std::size_t commas = 0;
    for (; !unit_.source.tokens[before].opens(); --before) {
      if (is_any(before, {";", "}"})) {
        return false;
      }
      if (is(before, "return")) {
        return returns_const(*function_);
      }
      if (is(before, "=") && commas == 0) {
        return joins(before - 1);
      }
      commas += is(before, ",") ? 1 : 0;
      before = unit_.source.tokens[before].closes() ? unit_.counterpart(before) : before;
    }
    if (is(before, "(") && unit_.is_call(before - 1)) {
      return passes_on(before - 1, commas);
    }
    return is(before, "(") && commas == 0 && operand(before, unit_.counterpart(before) + 1);
  }

  // The pointer is assigned to the variable at the token, which joins the names if it is a pointer to const.
  bool joins(std::size_t token) {
    const Name* const name = unit_.meaning(token);
    const bool fits = name != nullptr && name->kind == NameKind::variable && !name->is_file_scope &&
                      is_any(token - 1, {";", "}", "*", "const", "restrict"}) && !is(name->token + 1, "[") &&
                      unit_.contains(name->specifiers, "const") && stars(name->specifiers) == 0 &&
                      stars({.begin = name->declarator.begin, .end = name->token + 1}) == 1;
    if (fits) {
      names_.insert(name->token);
    }
    return fits;
  }

  // The pointer is an argument of a call, and may be its result.
  bool passes_on(std::size_t called, std::size_t index) {
    const std::string& name = unit_.source.tokens[called].text;
    const Function* const callee = unit_.definition(name);
    if (unit_.meaning(called) == nullptr) {
      return (index == 1 && (name.starts_with("vload") || name.starts_with("async_work_group_"))) ||
             (index == 0 && name == "prefetch");
    }
    return callee != nullptr && unit_.meaning(called)->kind == NameKind::function &&
           !callee->is_overloadable && index < callee->parameters.size() &&
           callee->parameters[index].is_pointer && callee->parameters[index].is_const &&
           (!returns_const(*callee) || operand(called, unit_.counterpart(called + 1) + 1));
  }

  [[nodiscard]] bool returns_const(const Function& function) const {
    const TokenRange result{.begin = function.begin, .end = function.name_token};
    return unit_.contains(result, "const") && stars(result) == 1;
  }

  const TranslationUnit& unit_;
  bool has_arrays_ = false; // a member or a typedef is an array
  const Function* function_ = nullptr;
  std::set<std::size_t> names_; // tokens that declare pointers to the parameter's memory
};

} // namespace

void clear_lost_const(TranslationUnit& unit) {
  ConstPointers pointers(unit);
  for (bool changed = true;
       changed;) { // a caller passes pointers on to those that have kept their const so far
    changed = false;
    for (Function& function : unit.functions) {
      for (Parameter& parameter : function.parameters) {
        if (parameter.is_pointer && parameter.is_const && !pointers.stays_const(function, parameter)) {
          parameter.is_const = false;
          changed = true;
        }
      }
    }
  }
}

} // namespace tidegate::opencl_c
