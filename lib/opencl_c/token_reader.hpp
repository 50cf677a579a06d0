// Passes the tokens of a file and looks up the names in them, by the scopes of C (C99 6.2.1 to 6.2.3).
#pragma once
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {

using Scope = std::unordered_map<std::string, const Decl*>;

class TokenReader {
protected:
  explicit TokenReader(TranslationUnit& unit) : unit_(unit) { unit.meanings.assign(tokens_.size(), nullptr); }

  [[nodiscard]] bool ended() const { return at_ >= tokens_.size(); }
  [[nodiscard]] bool is(std::string_view text) const { return unit_.is(at_, text); }
  [[nodiscard]] bool is(std::size_t i, std::string_view text) const { return unit_.is(i, text); }
  [[nodiscard]] bool is_word(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::identifier;
  }
  [[nodiscard]] bool is_attribute(std::size_t i) const {
    return is_word(i) && opencl_c::is_attribute(tokens_[i].text);
  }
  [[nodiscard]] bool closes() const { return ended() || tokens_[at_].closes(); }
  [[nodiscard]] const std::string& text() const { return tokens_[at_].text; }

  void skip_pragmas() {
    while (!ended() && tokens_[at_].kind == TokenKind::pragma) {
      ++at_;
    }
  }

  std::size_t advance() {
    last_ = at_++;
    skip_pragmas();
    return last_;
  }

  bool take(std::string_view wanted) {
    const bool found = is(wanted);
    if (found) {
      advance();
    }
    return found;
  }

  [[nodiscard]] TokenRange since(std::size_t begin) const {
    return {.begin = begin, .end = std::max(begin, last_ + 1)};
  }

  // The first error ends the parsing.
  void refuse(std::size_t token, ErrorCode code, std::string message, std::string fix) {
    error_ = error_ ? error_ : error_at(unit_, token, code, std::move(message), std::move(fix));
  }

  // Passes a token of which nothing is known but what it names.
  void look_up() {
    if (!is_file_scope() && (is("static") || is("extern"))) {
      refuse_static(at_);
    }
    if (is_word(at_) && !unit_.is_member(at_)) {
      const bool is_tag = at_ > 0 && is_one_of("struct union enum", tokens_[at_ - 1].text);
      unit_.meanings[at_] = find(is_tag ? "struct " + text() : text());
    }
    advance();
  }

  void stuck_at(std::size_t token) { stuck_ = std::min(stuck_, token); }

  // Reads what is in the brackets that are next with a function of the closing one. Returns false if it leaves some of it.
  bool in_brackets(const auto& read) {
    const std::size_t close = unit_.counterpart(at_);
    advance();
    read(close);
    const bool complete = at_ >= close;
    if (!complete) {
      stuck_at(at_);
    }
    while (at_ < close && !ended()) {
      look_up();
    }
    at_ = close;
    advance();
    return complete;
  }

  // Passes tokens up to one of these characters outside of brackets, or the end of the brackets around.
  void look_up_until(std::string_view stops) {
    while (!closes() && !(text().size() == 1 && stops.find(text()[0]) != std::string_view::npos)) {
      const std::size_t end = tokens_[at_].opens() ? unit_.counterpart(at_) : at_;
      while (at_ <= end && !ended()) {
        look_up();
      }
    }
  }

  [[nodiscard]] bool is_file_scope() const { return scopes_.size() == 1; }

  // The visible name of this key; null for none.
  [[nodiscard]] const Decl* find(const std::string& key, bool innermost = false) const {
    for (auto scope = scopes_.rbegin(); scope != (innermost ? scopes_.rbegin() + 1 : scopes_.rend());
         ++scope) {
      if (const auto found = scope->find(key); found != scope->end()) {
        return found->second;
      }
    }
    return nullptr;
  }

  [[nodiscard]] const Decl* visible(std::size_t token) const {
    return is_word(token) ? find(tokens_[token].text) : nullptr;
  }

  void refuse_static(std::size_t word) {
    refuse(word, ErrorCode::unsupported_kernel,
           fmt::format("this {} variable is outside constant and local memory", tokens_[word].text),
           fix_of_shared);
  }
  static inline const std::string fix_of_shared = fmt::format(
      "pass it as a buffer: a persistent kernel and a plain one would each have a separate copy; {}",
      see_unsupported);

  TranslationUnit& unit_;
  const std::vector<Token>& tokens_ = unit_.source.tokens;
  std::vector<Scope> scopes_{1}; // nested, that of the file first
  std::size_t at_ = 0;
  std::size_t last_ = 0;         // the last token that was passed
  std::size_t stuck_ = no_token; // the first token that did not fit
  std::optional<Error> error_;
};

} // namespace tidegate::opencl_c
