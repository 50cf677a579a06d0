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
  // `path` is for errors. Both arguments must outlive the lexer.
  Lexer(std::string_view text, std::string_view path);

  // Returns the tokens of the next non-empty line, with positions in the text and `file` 0; no tokens at the
  // end. Spliced lines and lines joined by a comment count as one. The first token of a line has space_before
  // set. Digraphs and trigraphs are replaced; the file name of an #include is one string with its quotes or
  // angle brackets; a byte that starts no token is a punctuator. Error: kernel_source for an unterminated
  // comment.
  Result<std::vector<Token>> next_line();

  // The line of the text where the next call starts.
  [[nodiscard]] std::uint32_t line() const { return location_.line; }

private:
  struct Location {
    std::size_t at = 0;
    std::uint32_t line = 1, column = 1;
  };

  struct Character {
    char meaning = '\0';
    std::size_t width = 0; // bytes; a trigraph has 3
  };
  [[nodiscard]] Character character(std::size_t at) const;
  [[nodiscard]] char at(const Location& location) const { return character(location.at).meaning; }
  [[nodiscard]] char current() const { return at(location_); }
  [[nodiscard]] bool ended(const Location& location) const { return location.at >= text_.size(); }
  [[nodiscard]] bool line_ended() const { return ended(location_) || current() == '\n'; }
  [[nodiscard]] Location past_splices(Location location) const;
  [[nodiscard]] Location after(Location location) const;
  [[nodiscard]] std::string lookahead(std::size_t most) const;

  void take_into(Token& token);
  bool skip_block_comment();
  Token read_token(bool file_name_expected);
  bool read_file_name(Token& token);
  void read_literal(Token& token);
  void read_number(Token& token);
  void read_punctuator(Token& token);

  std::string_view text_, path_;
  Location location_;
};

// True for a quote not closed on its line: a punctuator that holds the rest of the line.
bool is_unterminated(const Token& token);

// Joins the tokens, with one space where the source has blanks.
std::string spelling(std::span<const Token> tokens);

// kernel_source at a token of the file `path`.
Error source_error(std::string_view path, const Token& at, std::string message, std::string fix);

} // namespace tidegate::opencl_c
