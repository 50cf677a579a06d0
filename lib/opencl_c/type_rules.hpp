// The types of a file, interned, and those of expressions by their operands (C99 6.3, 6.5).
#pragma once
#include "opencl_c/token_reader.hpp"

namespace tidegate::opencl_c {

class TypeRules : protected TokenReader {
protected:
  using Kind = Expr::Kind;

  explicit TypeRules(TranslationUnit& unit) : TokenReader(unit) { unit.tree = tree_; }

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

  const Type* attributed(const Type* of) {
    Type more = *of;
    more.has_attributes = true;
    return type(more);
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
    case Kind::call: {
      const Expr& callee = *operands[0];
      return callee.kind == Kind::name && callee.type->is(Type::Kind::function) ? callee.type->inner
                                                                                : opaque_;
    }
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
                                     ? member_type(*object->record, tokens_[token].text, 0)
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
    case Kind::comma:
    case Kind::designated: return operands.back()->type;
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

  [[nodiscard]] const Type* member_type(const Record& record, const std::string& name, int depth) const {
    constexpr int deepest = 16;
    for (const Decl* const member : record.members) {
      const bool is_named = member->token != no_token;
      if (is_named && tokens_[member->token].text == name) {
        return member->type;
      }
      if (!is_named && member->type->is(Type::Kind::record) && depth < deepest) {
        if (const Type* const inner = member_type(*member->type->record, name, depth + 1)) {
          return inner;
        }
      }
    }
    return nullptr;
  }

  const std::shared_ptr<Tree> tree_ = std::make_shared<Tree>();
  const Type* const opaque_ = type({});
  const Type* const number_ = type({.kind = Type::Kind::number});
};

} // namespace tidegate::opencl_c
