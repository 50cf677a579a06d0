// The parser's base: it passes the tokens of a file, looks up the names in them by the scopes of C (C99 6.2.1 to 6.2.3), and
// gives types, interned, to declarations and to expressions by their operands (C99 6.3, 6.5).
#pragma once
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {

using Scope = std::unordered_map<std::string, const Decl*>;

class ParserBase {
protected:
  using Kind = Expr::Kind;

  explicit ParserBase(TranslationUnit& unit) : unit_(unit) {
    unit.tree = tree_;
    unit.meanings.assign(tokens_.size(), nullptr);
  }

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

  bool take(std::string_view wanted) { return is(wanted) && (advance(), true); }

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

  // Reads what is in the brackets that are next with a function of the closing one. Returns false if it leaves some of it.
  bool in_brackets(const auto& read) {
    const std::size_t close = unit_.counterpart(at_);
    advance();
    read(close);
    const bool complete = at_ >= close;
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

  // --- Types ---

  const Type* type(const Type& wanted) { return &*tree_->types.insert(wanted).first; }

  const Type* pointer_to(const Type* inner) { return type({.kind = Type::Kind::pointer, .inner = inner}); }

  // The type with the qualifiers of another one, too; those of an array are its elements'.
  const Type* qualified(const Type* of, const Type& by) {
    Type more = *of;
    if (more.is(Type::Kind::array)) {
      more.inner = qualified(more.inner, by);
    } else if (!more.is(Type::Kind::function)) {
      more.is_const |= by.is_const;
      more.is_volatile |= by.is_volatile;
      more.has_attributes |= by.has_attributes;
      more.space = by.space == AddressSpace::none ? more.space : by.space;
    }
    return more == *of ? of : type(more);
  }

  const Type* named_type(const std::vector<std::string_view>& words) {
    const std::string name = canonical_type(words);
    if (name == "void") {
      return type({.kind = Type::Kind::nothing});
    }
    const auto arithmetic = arithmetic_type(name);
    const bool is_handle = name == "sampler_t" || name == "event_t" || is_image_type(name);
    const Type::Kind kind = is_handle                             ? Type::Kind::handle
                            : arithmetic && arithmetic->width > 1 ? Type::Kind::vector
                                                                  : Type::Kind::number;
    return is_type_word(name) ? type({.kind = kind, .name = name}) : opaque_;
  }

  // The type of a value: an array decays to a pointer.
  const Type* value_type(const Type* of) { return of->is(Type::Kind::array) ? pointer_to(of->inner) : of; }
  const Type* pointee(const Type* of) {
    of = value_type(of);
    return of->is(Type::Kind::pointer) ? of->inner : opaque_;
  }

  const Type* type_of(Kind kind, std::size_t token, const std::vector<const Expr*>& operands) {
    const auto operand = [&](std::size_t i) { return value_type(operands[i]->type); };
    switch (kind) {
    case Kind::number: {
      const std::string& digits = tokens_[token].text;
      const bool plain = digits.find_first_not_of("0123456789") == std::string::npos && digits.size() < 10;
      return plain ? type({.kind = Type::Kind::number, .name = "int"}) : number_;
    }
    case Kind::size: return number_;
    case Kind::call:
      return operands[0]->kind == Kind::name && operands[0]->type->is(Type::Kind::function)
                 ? operands[0]->type->inner
                 : opaque_;
    case Kind::subscript: {
      const bool swapped = operand(0)->is_arithmetic() && operand(1)->is(Type::Kind::pointer); // 1[a]
      const Type* const array = operand(swapped ? 1 : 0);
      return array->is_arithmetic() ? qualified(number_, *array) : pointee(array);
    }
    case Kind::member: { // it has the qualifiers of its object, too
      const Type* const of = operands[0]->type;
      const Type* const object = is(token - 1, "->") ? pointee(of) : of;
      const Type* const member = object->is_arithmetic() && object->record == nullptr ? number_
                                 : object->is(Type::Kind::record)
                                     ? member_type(*object->record, tokens_[token].text)
                                     : nullptr;
      return member == nullptr ? opaque_ : qualified(member, *object);
    }
    case Kind::unary:
      return is(token, "&")                                          ? pointer_to(operands[0]->type)
             : is(token, "*")                                        ? pointee(operands[0]->type)
             : is(token, "!") && !operand(0)->is(Type::Kind::vector) ? number_
                                                                     : operands[0]->type;
    case Kind::postfix:
    case Kind::assignment: return operands[0]->type;
    case Kind::comma: return operands.back()->type;
    case Kind::binary: return combined(token, operand(0), operand(1));
    case Kind::conditional: return either(operand(1), operand(2));
    default: return opaque_;
    }
  }

  const Type* combined(std::size_t token, const Type* left, const Type* right) const {
    const bool adds = is(token, "+");
    const bool moves = adds || is(token, "-");
    return left->is(Type::Kind::opaque) || right->is(Type::Kind::opaque)      ? opaque_
           : moves && left->is(Type::Kind::pointer) && right->is_arithmetic() ? left
           : adds && right->is(Type::Kind::pointer) && left->is_arithmetic()  ? right
           : left->is(Type::Kind::vector)                                     ? left
           : right->is(Type::Kind::vector)                                    ? right
                                                                              : number_;
  }

  // The result is one of two values. A pointer to const and another make a pointer to const.
  const Type* either(const Type* yes, const Type* no) {
    if (yes->is(Type::Kind::opaque) || no->is(Type::Kind::opaque)) {
      return opaque_;
    }
    if (yes->is(Type::Kind::pointer) && no->is(Type::Kind::pointer)) {
      const bool known = !yes->inner->is(Type::Kind::nothing);
      return pointer_to(qualified(known ? yes->inner : no->inner, known ? *no->inner : *yes->inner));
    }
    if (yes->is_arithmetic() && no->is_arithmetic()) {
      return yes->name == no->name ? yes : no->is(Type::Kind::vector) ? no : number_;
    }
    return yes->is(Type::Kind::pointer) ? yes : no;
  }

  [[nodiscard]] const Type* member_type(const Record& record, const std::string& name) const {
    for (const Decl* const member : record.members) {
      if (member->token != no_token && tokens_[member->token].text == name) {
        return member->type;
      }
    }
    return nullptr;
  }

  TranslationUnit& unit_;
  const std::vector<Token>& tokens_ = unit_.source.tokens;
  std::vector<Scope> scopes_{1}; // nested, that of the file first
  std::size_t at_ = 0;
  std::size_t last_ = 0; // the last token that was passed
  std::optional<Error> error_;
  const std::shared_ptr<Tree> tree_ = std::make_shared<Tree>();
  const Type* const opaque_ = type({});
  const Type* const number_ = type({.kind = Type::Kind::number});
};

} // namespace tidegate::opencl_c
