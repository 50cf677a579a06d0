// Writes tokens as text on their original lines, with edits.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace tidegate::opencl_c {

// Text that replaces or surrounds a token.
struct Edit {
  std::string before;
  bool replaced = false;
  std::string text; // if replaced
  std::string after;
};
using Edits = std::map<std::size_t, Edit>; // by token

class TokenWriter {
public:
  TokenWriter(const TranslationUnit& unit, std::string& out) : unit_(unit), out_(out) {}

  // Writes each token on its original line, so that compilers report the user's file and line.
  void write(TokenRange range, const Edits& edits);

  // Writes generated text on the current line.
  void text(std::string_view text);

private:
  void go_to(const Token& token);

  const TranslationUnit& unit_;
  std::string& out_;
  bool started_ = false;
  std::uint32_t file_ = 0;
  std::uint32_t line_ = 0;
};

} // namespace tidegate::opencl_c
