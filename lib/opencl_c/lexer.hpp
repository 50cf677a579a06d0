// Splits OpenCL C text into preprocessing tokens (C99 6.4). Text that may stand in a group which #if skips is never an
// error.
#pragma once
#include "core/prelude.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::opencl_c {

enum class TokenKind : std::uint8_t {
  identifier, // keywords too
  number,     // a preprocessing number
  character,
  string,
  punctuator,
  pragma, // a whole #pragma line, passed on to the compiler on its own line
};

// Positions are those for messages and #line: a token from a macro has the position of the macro call.
struct Token {
  TokenKind kind = TokenKind::identifier;
  std::string text;
  std::uint32_t file = 0;   // index into TokenStream::files
  std::uint32_t line = 1;   // 1-based
  std::uint32_t column = 1; // 1-based, in bytes
  bool space_before = false;
  bool stays = false; // no macro replaces it any more

  [[nodiscard]] bool is(const char* wanted) const { return text == wanted; }
  void move_to(const Token& other) {
    file = other.file;
    line = other.line;
    column = other.column;
  }
  [[nodiscard]] bool opens() const { return is("(") || is("[") || is("{"); }
  [[nodiscard]] bool closes() const { return is(")") || is("]") || is("}"); }
};

struct TokenStream {
  std::vector<std::string> files; // paths as messages show them
  std::vector<Token> tokens;
  std::string own_macros; // why the tokens are valid only with the program's own macros; or empty
};

class Lexer {
public:
  // `path` is for errors.
  Lexer(std::string_view text, std::string_view path);

  // Returns the tokens of the next non-empty line, with positions in the text and `file` 0; no tokens at the
  // end. Spliced lines and lines joined by a comment count as one. The first token of a line has space_before
  // set. The file name of an #include is one string with its quotes or angle brackets; a byte that starts no token is a
  // punctuator. Error: kernel_source for an unterminated comment.
  Result<std::vector<Token>> next_line();

  // The line of the text where the next call starts.
  [[nodiscard]] std::uint32_t line() const { return token_here().line; }

private:
  [[nodiscard]] Token token_here() const;
  Token read_token(bool file_name_expected);

  std::string text_;                   // without the ends of lines that are spliced, and with one at its end
  std::vector<std::size_t> starts_{0}; // where each line of the source begins there
  std::string path_;
  std::size_t at_ = 0;
};

// True for a quote not closed on its line, a punctuator that holds the rest of the line, and for a trigraph.
bool is_unterminated(const Token& token);

// Joins the tokens, with one space where the source has blanks.
std::string spelling(std::span<const Token> tokens);

std::set<std::string, std::less<>> identifiers(const TokenStream& source);

// The texts of the tokens of the first line.
std::vector<std::string> words_in(std::string_view text);

// kernel_source at a token of the file `path`.
Error source_error(std::string_view path, const Token& at, std::string message, std::string fix);

} // namespace tidegate::opencl_c
