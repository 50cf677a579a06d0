// Tokens back to text, with edits, on the lines that they came from.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace tidegate::opencl_c {

// What stands in place of a token or around it.
struct Edit {
  std::string before;
  bool replaced = false;
  std::string text; // when replaced
  std::string after;
};
using Edits = std::map<std::size_t, Edit>; // by token

class TokenWriter {
public:
  TokenWriter(const TranslationUnit& unit, std::string& out) : unit_(unit), out_(out) {}

  // The tokens, each on its line: compilers then name the user's file and line.
  void write(TokenRange range, const Edits& edits);

  // Text of our own, on the line that was reached.
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
