#include "opencl_c/lexer.hpp"

#include "core/files.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {
namespace {

// Punctuators of several characters, longest first; any other character is a punctuator alone.
constexpr std::array<std::string_view, 23> long_punctuators{"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                                            "<=",  ">=",  "==",  "!=", "&&", "||", "*=", "/=",
                                                            "%=",  "+=",  "-=",  "&=", "^=", "|=", "##"};

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

// As compilers do, accepts blanks between the backslash and the end of the line.
Lexer::Lexer(std::string_view text, std::string_view path) : path_(path) {
  text = without_byte_order_mark(text);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = text[i] == '\\' ? text.find_first_not_of(blanks, i + 1) : std::string_view::npos;
    const bool splices = end != std::string_view::npos && text[end] == '\n';
    if (!splices) {
      text_ += text[i];
    }
    i = splices ? end + 1 : i + 1;
    if (splices || text_.back() == '\n') {
      starts_.push_back(text_.size());
    }
  }
  text_ += '\n';
}

Token Lexer::token_here() const {
  const auto line = std::ranges::upper_bound(starts_, at_) - starts_.begin();
  const std::size_t start = starts_[static_cast<std::size_t>(line) - 1];
  return {.line = static_cast<std::uint32_t>(line), .column = static_cast<std::uint32_t>(at_ - start) + 1};
}

Result<std::vector<Token>> Lexer::next_line() {
  std::vector<Token> line;
  bool space = true;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const char next = text_[at_ + 1];
    if (c == '\n' && !line.empty()) {
      ++at_;
      break;
    }
    if (c == '\n' || blanks.find(c) != std::string_view::npos) {
      ++at_;
      space = true;
    } else if (c == '/' && next == '/') {
      at_ = text_.find('\n', at_);
    } else if (c == '/' && next == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string::npos) {
        return tl::unexpected(source_error(path_, token_here(), "this comment does not end",
                                           "close it with */ where it should end"));
      }
      at_ = end + 2;
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
  Token token = token_here();
  const char c = text_[at_];
  std::size_t end = at_ + 1;
  // Backslashes are part of a file name.
  const std::size_t closing = file_name_expected && (c == '"' || c == '<')
                                  ? text_.find(c == '<' ? '>' : '"', end)
                                  : std::string::npos;
  if (closing < text_.find('\n', at_)) {
    token.kind = TokenKind::string;
    end = closing + 1;
  } else if (is_quote(c) || (c == 'L' && is_quote(text_[end]))) {
    end += is_quote(c) ? 0 : 1;
    const char quote = text_[end - 1];
    while (text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' && text_[end + 1] != '\n' ? 2 : 1;
    }
    const bool is_closed = text_[end] == quote;
    token.kind = !is_closed ? TokenKind::punctuator : quote == '"' ? TokenKind::string : TokenKind::character;
    end += is_closed ? 1 : 0;
  } else if (starts_identifier(c)) {
    while (continues_identifier(text_[end])) {
      ++end;
    }
  } else if (is_digit(c) || (c == '.' && is_digit(text_[end]))) {
    token.kind = TokenKind::number;
    constexpr std::string_view exponents = "eEpP";
    while (continues_identifier(text_[end]) || text_[end] == '.' ||
           ((text_[end] == '+' || text_[end] == '-') &&
            exponents.find(text_[end - 1]) != std::string_view::npos)) {
      ++end;
    }
  } else {
    token.kind = TokenKind::punctuator;
    const std::string_view rest = std::string_view(text_).substr(at_);
    const bool is_trigraph = rest.size() > 2 &&
                             rest.starts_with("?\?") && // C99 5.2.1.1: compilers replace it
                             std::string_view("=/'()!<>-").find(rest[2]) != std::string_view::npos;
    const auto* const found = std::ranges::find_if(
        long_punctuators, [rest](std::string_view longer) { return rest.starts_with(longer); });
    end = at_ + (is_trigraph ? 3 : found == long_punctuators.end() ? 1 : found->size());
  }
  token.text = text_.substr(at_, end - at_);
  at_ = end;
  if (token.text.find("?\?/") != std::string::npos) { // which may escape the quote
    token.kind = TokenKind::punctuator;
  }
  return token;
}

bool is_unterminated(const Token& token) {
  return token.kind == TokenKind::punctuator &&
         (token.text.find_first_of("\"'") != std::string::npos || token.text.starts_with("?\?"));
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

std::set<std::string, std::less<>> identifiers(const TokenStream& source) {
  std::set<std::string, std::less<>> words;
  for (const Token& token : source.tokens) {
    if (token.kind == TokenKind::identifier) {
      words.insert(token.text);
    }
  }
  return words;
}

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  for (const Token& token : Lexer(text, "").next_line().value_or(std::vector<Token>())) {
    words.push_back(token.text);
  }
  return words;
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
