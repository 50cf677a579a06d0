// A place in a file, and what the names that are passed there mean.
#pragma once

#include <tidegate/opencl_c/scopes.hpp>
#include <tidegate/opencl_c/translation_unit.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tidegate::opencl_c {

// Moves over the tokens of a unit and notes in it what they declare and name.
class NameCursor {
protected:
  explicit NameCursor(TranslationUnit& unit) : unit_(unit), tokens_(unit.source.tokens) {
    unit.names.clear();
    unit.meanings.assign(tokens_.size(), no_name);
  }

  [[nodiscard]] bool ended() const { return at_ >= tokens_.size(); }
  [[nodiscard]] const Token& token() const { return tokens_[at_]; }
  [[nodiscard]] bool is(std::size_t i, const char* text) const {
    return i < tokens_.size() && tokens_[i].is(text);
  }
  [[nodiscard]] bool is_word(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::identifier;
  }
  [[nodiscard]] bool is_attribute(std::size_t i) const {
    return is_word(i) && opencl_c::is_attribute(tokens_[i].text);
  }
  [[nodiscard]] bool opens() const { return token().opens(); }
  [[nodiscard]] bool closes() const { return token().closes(); }
  [[nodiscard]] bool starts_tag() const {
    return token().is("struct") || token().is("union") || token().is("enum");
  }

  // One token that names something, or is of an expression.
  void use() {
    const bool member = at_ > 0 && (tokens_[at_ - 1].is(".") || tokens_[at_ - 1].is("->"));
    if (is_word(at_) && !member) {
      unit_.meanings[at_] = scopes_.find(token().text);
    }
    ++at_;
  }

  // "__attribute__((aligned(size)))": words in the third parentheses are expressions, the others are its own.
  void attribute() {
    std::size_t depth = 0;
    ++at_;
    if (!is(at_, "(")) {
      return;
    }
    do {
      depth += opens() ? 1U : 0U;
      depth -= closes() ? 1U : 0U;
      if (depth > 2) {
        use();
      } else {
        ++at_;
      }
    } while (depth > 0 && !ended());
  }

  // A name that the innermost scope may have already; returns its number when it is new.
  std::size_t declare(const Name& name, const std::string& key) {
    const std::size_t found = name.kind == NameKind::member ? no_name : scopes_.find_innermost(key);
    if (found != no_name) {
      unit_.meanings[name.token] = found;
      return no_name;
    }
    const std::size_t number = unit_.names.size();
    unit_.names.push_back(name);
    unit_.names.back().is_file_scope = scopes_.is_file_scope();
    unit_.meanings[name.token] = number;
    if (name.kind != NameKind::member) {
      scopes_.declare(key, number);
    }
    return number;
  }

  // A tag, which another declaration may have declared already.
  void tag(bool declares) {
    const std::string key = "struct " + token().text; // all tags share one name space
    const std::size_t found = declares ? scopes_.find_innermost(key) : scopes_.find(key);
    if (found == no_name) {
      declare({.kind = NameKind::tag, .token = at_}, key);
    } else {
      unit_.meanings[at_] = found;
    }
    ++at_;
  }

  TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  Scopes scopes_;
  std::size_t at_ = 0;
};

} // namespace tidegate::opencl_c
