// Keeps lines with newlines and #line directives, and separates tokens that would merge.
#include "opencl_c/token_writer.hpp"

#include <fmt/format.h>

#include <cctype>

namespace tidegate::opencl_c {
namespace {

constexpr std::uint32_t most_empty_lines = 4; // for a larger gap a #line directive is shorter

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '.' || c == '$' || byte >= 0x80;
}

// Escapes a path for the quotes of a #line directive.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) {
    text += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return text;
}

} // namespace

void TokenWriter::go_to(const Token& token) {
  const bool near =
      started_ && token.file == file_ && token.line >= line_ && token.line - line_ <= most_empty_lines;
  if (near) {
    out_.append(token.line - line_, '\n');
  } else {
    out_ += fmt::format("\n#line {} \"{}\"\n", token.line, escaped(unit_.source.files[token.file]));
  }
  started_ = true;
  file_ = token.file;
  line_ = token.line;
}

void TokenWriter::text(std::string_view text) {
  if (!out_.empty() && !text.empty() && is_word(out_.back()) && is_word(text.front())) {
    out_ += ' ';
  }
  out_ += text;
  started_ = started_ && text.find('\n') == std::string_view::npos; // the line numbers no longer agree
}

void TokenWriter::write(TokenRange range, const Edits& edits) {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Token& token = unit_.source.tokens[i];
    const auto found = edits.find(i);
    const Edit* const edit = found == edits.end() ? nullptr : &found->second;
    if (edit != nullptr && edit->replaced && edit->text.empty() && edit->before.empty() &&
        edit->after.empty()) {
      continue;
    }
    const std::size_t length = out_.size();
    if (!started_ || token.file != file_ || token.line != line_) {
      go_to(token);
    }
    if (token.kind == TokenKind::pragma) {
      out_ += (out_.empty() || out_.back() == '\n' ? "" : "\n") + token.text + "\n";
      started_ = false; // the line numbers no longer agree
      continue;
    }
    // A space keeps two tokens apart where they would merge or where the source had one.
    const bool same_line = out_.size() == length;
    const bool punctuators = token.kind == TokenKind::punctuator && i > range.begin &&
                             unit_.source.tokens[i - 1].kind == TokenKind::punctuator &&
                             std::string_view("()[]{};,").find(token.text[0]) == std::string_view::npos;
    // 0x1e and + would form one number, L and 'c' one character.
    const bool joins =
        i > range.begin && ((unit_.source.tokens[i - 1].kind == TokenKind::number &&
                             (token.text[0] == '+' || token.text[0] == '-')) ||
                            token.kind == TokenKind::character || token.kind == TokenKind::string);
    if (same_line && !out_.empty() && out_.back() != ' ' && out_.back() != '\n' &&
        (token.space_before || punctuators || joins)) {
      out_ += ' ';
    }
    if (edit == nullptr) {
      text(token.text);
      continue;
    }
    text(edit->before);
    text(edit->replaced ? edit->text : token.text);
    text(edit->after);
  }
}

} // namespace tidegate::opencl_c
