// Tokens of OpenCL C, and the text they come from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::opencl_c {

enum class TokenKind : std::uint8_t {
  identifier, // keywords too
  number,     // a preprocessing number
  character,
  string,
  punctuator,
  pragma, // a whole #pragma line, to be handed to the compiler on a line of its own
};

// Where a token stands for messages and #line: a token that comes out of a macro stands where the macro was
// called.
struct Token {
  TokenKind kind = TokenKind::identifier;
  std::string text;
  std::uint32_t file = 0;   // index into TokenStream::files
  std::uint32_t line = 1;   // counted from 1
  std::uint32_t column = 1; // likewise, in bytes
  bool space_before = false;

  [[nodiscard]] bool is(const char* wanted) const { return text == wanted; }
  [[nodiscard]] bool opens() const { return is("(") || is("[") || is("{"); }
  [[nodiscard]] bool closes() const { return is(")") || is("]") || is("}"); }
};

struct TokenStream {
  std::vector<std::string> files; // paths as messages show them
  std::vector<Token> tokens;
  std::string
      own_macros; // why the tokens mean the same only where the program's own text is compiled; or empty
};

} // namespace tidegate::opencl_c
