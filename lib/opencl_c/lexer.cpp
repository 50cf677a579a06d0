// Reads characters through a layer that replaces trigraphs and removes line splices.
#include "opencl_c/lexer.hpp"

#include "core/files.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {
namespace {

struct Punctuator {
  std::string_view spelling, meaning;
};

// Punctuators of several characters, longest first; any other character is a punctuator alone.
constexpr std::array long_punctuators{
    Punctuator{"%:%:", "##"}, Punctuator{"<<=", "<<="}, Punctuator{">>=", ">>="}, Punctuator{"...", "..."},
    Punctuator{"->", "->"},   Punctuator{"++", "++"},   Punctuator{"--", "--"},   Punctuator{"<<", "<<"},
    Punctuator{">>", ">>"},   Punctuator{"<=", "<="},   Punctuator{">=", ">="},   Punctuator{"==", "=="},
    Punctuator{"!=", "!="},   Punctuator{"&&", "&&"},   Punctuator{"||", "||"},   Punctuator{"*=", "*="},
    Punctuator{"/=", "/="},   Punctuator{"%=", "%="},   Punctuator{"+=", "+="},   Punctuator{"-=", "-="},
    Punctuator{"&=", "&="},   Punctuator{"^=", "^="},   Punctuator{"|=", "|="},   Punctuator{"##", "##"},
    Punctuator{"<:", "["},    Punctuator{":>", "]"},    Punctuator{"<%", "{"},    Punctuator{"%>", "}"},
    Punctuator{"%:", "#"}};

constexpr std::string_view begin_long_punctuators = "%<>.-+=!&|*/^#:";
constexpr std::string_view blanks = " \t\v\f\r";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Compilers also accept $ and letters beyond ASCII.
bool starts_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool continues_identifier(char c) {
  return starts_identifier(c) || is_digit(c);
}

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

} // namespace

Lexer::Lexer(std::string_view text, std::string_view path)
    : text_(without_byte_order_mark(text)), path_(path) {
  location_ = past_splices(location_);
}

// C99 5.2.1.1: `??/` is a backslash.
Lexer::Character Lexer::character(std::size_t at) const {
  constexpr std::string_view thirds = "=/'()!<>-";
  constexpr std::string_view meanings = "#\\^[]|{}~";
  if (at >= text_.size()) {
    return {};
  }
  const bool may_be = text_[at] == '?' && at + 2 < text_.size() && text_[at + 1] == '?';
  const std::size_t found = may_be ? thirds.find(text_[at + 2]) : std::string_view::npos;
  return found == std::string_view::npos ? Character{.meaning = text_[at], .width = 1}
                                         : Character{.meaning = meanings[found], .width = 3};
}

// As compilers do, accepts blanks between the backslash and the end of the line.
Lexer::Location Lexer::past_splices(Location location) const {
  while (at(location) == '\\') {
    const std::size_t end = text_.find_first_not_of(blanks, location.at + character(location.at).width);
    if (end == std::string_view::npos || text_[end] != '\n') {
      break;
    }
    location = {.at = end + 1, .line = location.line + 1, .column = 1};
  }
  return location;
}

Lexer::Location Lexer::after(Location location) const {
  const Character passed = character(location.at);
  location.at += passed.width;
  location.column += static_cast<std::uint32_t>(passed.width);
  if (passed.meaning == '\n') {
    ++location.line;
    location.column = 1;
  }
  return past_splices(location);
}

std::string Lexer::lookahead(std::size_t most) const {
  std::string text;
  for (Location location = location_; text.size() < most && !ended(location); location = after(location)) {
    text += at(location);
  }
  return text;
}

void Lexer::take_into(Token& token) {
  token.text += current();
  location_ = after(location_);
}

bool Lexer::skip_block_comment() {
  location_ = after(after(location_));
  for (char last = '\0'; !ended(location_);) {
    const char c = current();
    location_ = after(location_);
    if (last == '*' && c == '/') {
      return true;
    }
    last = c;
  }
  return false;
}

Result<std::vector<Token>> Lexer::next_line() {
  std::vector<Token> line;
  bool space = true;
  while (!ended(location_)) {
    const char c = current();
    const char next = c == '/' ? at(after(location_)) : '\0';
    if (c == '\n') {
      location_ = after(location_);
      if (!line.empty()) {
        break;
      }
    } else if (blanks.find(c) != std::string_view::npos) {
      location_ = after(location_);
      space = true;
    } else if (next == '/') {
      while (!line_ended()) {
        location_ = after(location_);
      }
    } else if (next == '*') {
      const Token start{.line = location_.line, .column = location_.column};
      if (!skip_block_comment()) {
        return tl::unexpected(
            source_error(path_, start, "this comment does not end", "close it with */ where it should end"));
      }
      space = true;
    } else {
      const bool includes = line.size() == 2 && line[0].is("#") && line[1].is("include");
      line.push_back(read_token(includes));
      line.back().space_before = std::exchange(space, false);
    }
  }
  return line;
}

Token Lexer::read_token(bool file_name_expected) {
  Token token{.line = location_.line, .column = location_.column};
  const char c = current();
  if (file_name_expected && read_file_name(token)) {
    return token;
  }
  if (starts_identifier(c)) {
    while (continues_identifier(current())) {
      take_into(token);
    }
    if (token.is("L") && is_quote(current())) {
      read_literal(token);
    }
  } else if (is_quote(c)) {
    read_literal(token);
  } else if (is_digit(c) || (c == '.' && is_digit(at(after(location_))))) {
    read_number(token);
  } else {
    read_punctuator(token);
  }
  return token;
}

// Backslashes are part of a file name.
bool Lexer::read_file_name(Token& token) {
  const char opening = current();
  if (opening != '"' && opening != '<') {
    return false;
  }
  const char closing = opening == '<' ? '>' : '"';
  const std::string_view rest = text_.substr(location_.at, text_.find('\n', location_.at) - location_.at);
  if (rest.find(closing, 1) == std::string_view::npos) {
    return false;
  }
  token.kind = TokenKind::string;
  do {
    take_into(token);
  } while (current() != closing);
  take_into(token);
  return true;
}

void Lexer::read_literal(Token& token) {
  const char quote = current();
  token.kind = quote == '"' ? TokenKind::string : TokenKind::character;
  take_into(token);
  while (!line_ended() && current() != quote) {
    if (current() == '\\') {
      take_into(token);
    }
    if (!line_ended()) {
      take_into(token);
    }
  }
  if (line_ended()) {
    token.kind = TokenKind::punctuator;
  } else {
    take_into(token);
  }
}

void Lexer::read_number(Token& token) {
  token.kind = TokenKind::number;
  constexpr std::string_view exponents = "eEpP";
  while (continues_identifier(current()) || current() == '.' ||
         ((current() == '+' || current() == '-') &&
          exponents.find(token.text.back()) != std::string_view::npos)) {
    take_into(token);
  }
}

void Lexer::read_punctuator(Token& token) {
  token.kind = TokenKind::punctuator;
  if (begin_long_punctuators.find(current()) == std::string_view::npos) {
    take_into(token);
    return;
  }
  const std::string next = lookahead(4);
  std::size_t length = 1;
  token.text = next.substr(0, 1);
  for (const Punctuator& punctuator : long_punctuators) {
    if (next.starts_with(punctuator.spelling)) {
      length = punctuator.spelling.size();
      token.text = punctuator.meaning;
      break;
    }
  }
  for (; length > 0; --length) {
    location_ = after(location_);
  }
}

bool is_unterminated(const Token& token) {
  return token.kind == TokenKind::punctuator && token.text.find_first_of("\"'") != std::string::npos;
}

std::string spelling(std::span<const Token> tokens) {
  std::string text;
  for (const Token& token : tokens) {
    if (token.space_before && !text.empty()) {
      text += ' ';
    }
    text += token.text;
  }
  return text;
}

Error source_error(std::string_view path, const Token& at, std::string message, std::string fix) {
  return {.code = ErrorCode::kernel_source,
          .message = std::move(message),
          .fix = std::move(fix),
          .source = display_name(path),
          .line = at.line,
          .column = at.column};
}

} // namespace tidegate::opencl_c
