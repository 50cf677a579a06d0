// Finds the name that a declaration declares.
#pragma once
#include "opencl_c/lexer.hpp"
#include "opencl_c/translation_unit.hpp"
#include "opencl_c/words.hpp"

#include <cstddef>
#include <vector>

namespace tidegate::opencl_c {

// True if token `i` is the name of a declarator: followed by bounds, a value or another declarator, or by
// attributes and then one of those.
inline bool is_declarator_name(const std::vector<Token>& tokens, std::size_t i) {
  std::size_t next = i + 1;
  while (next + 1 < tokens.size() && is_attribute(tokens[next].text)) {
    next = closing(tokens, next + 1) + 1;
  }
  return next < tokens.size() && tokens[i].kind == TokenKind::identifier &&
         (tokens[next].is("[") || tokens[next].is(",") || tokens[next].is("=") || tokens[next].is(";"));
}

} // namespace tidegate::opencl_c
