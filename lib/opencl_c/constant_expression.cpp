// Visits the tree of an expression, in arithmetic that holds every value of every type.
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {
namespace {

using Value = Constant::Value;
__extension__ using Bits = unsigned __int128;

// Conditions have numbers of 64 bits; values that 63 bits do not hold are left to the compiler.
enum class Rules : std::uint8_t { declaration, condition, condition_of_clang };

// Reduced to the type, as by an assignment.
Constant converted(Value value, IntegerType type) {
  const Bits bits = static_cast<Bits>(value) & ((Bits{1} << type.bits) - 1);
  const bool negative = !type.is_unsigned && (bits >> (type.bits - 1)) != 0;
  return {.value = static_cast<Value>(bits) - (negative ? Value{1} << type.bits : 0), .type = type};
}

std::optional<Constant> number(std::string_view text, bool declared) {
  std::string suffix(text.substr(std::min(text.find_first_of("uUlL"), text.size())));
  text.remove_suffix(suffix.size());
  const std::size_t with_u = suffix.find_first_of("uU");
  const bool says_unsigned = with_u != std::string::npos;
  if (says_unsigned) {
    suffix.erase(with_u, 1);
  }
  constexpr std::array<std::string_view, 5> suffixes{"", "l", "L", "ll", "LL"};
  const char prefix = text.size() > 1 && text[0] == '0' ? text[1] : ' ';
  const int base = prefix == 'x' || prefix == 'X'   ? 16
                   : prefix == 'b' || prefix == 'B' ? 2
                   : prefix == ' '                  ? 10
                                                    : 8;
  text.remove_prefix(base == 16 || base == 2 ? 2 : 0);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() ||
      std::ranges::find(suffixes, suffix) == suffixes.end()) {
    return {};
  }
  // The first type that holds the number. Decimal numbers without u are never unsigned.
  for (const std::uint32_t bits : {32U, 64U}) {
    for (const bool is_unsigned : {false, true}) {
      const Constant found = converted(value, {.bits = bits, .is_unsigned = is_unsigned});
      const bool allowed = is_unsigned ? says_unsigned || base != 10 : !says_unsigned;
      if (allowed && (bits == 64 || (declared && suffix.empty())) && found.value == value) {
        return found;
      }
    }
  }
  return {};
}

// The usual arithmetic conversions: types below 32 bits become int; of equal widths the unsigned type wins.
IntegerType common_type(IntegerType left, IntegerType right) {
  left = left.bits < 32 ? IntegerType() : left;
  right = right.bits < 32 ? IntegerType() : right;
  return left.bits > right.bits || (left.bits == right.bits && left.is_unsigned) ? left : right;
}

// The integer type that a cast converts to.
std::optional<IntegerType> integer_type(const Type& type) {
  const auto found = type.is(Type::Kind::number) ? arithmetic_type(type.name) : std::nullopt;
  if (!found || found->scalar == "half" || found->scalar == "float" || found->scalar == "double") {
    return {};
  }
  return IntegerType{.bits = 8 * found->scalar_bytes, .is_unsigned = found->scalar.starts_with('u')};
}

class Evaluation {
public:
  using Found = std::optional<Constant>;

  Evaluation(const TranslationUnit& unit, Rules rules) : unit_(unit), rules_(rules) {}

  Found value(const Expr& expr) {
    using Kind = Expr::Kind;
    const Token& token = unit_.source.tokens[std::min(expr.token, unit_.source.tokens.size() - 1)];
    const auto operand = [&](std::size_t i) { return value(*expr.operands[i]); };
    switch (expr.kind) {
    case Kind::number: return number(token.text, is_declared());
    case Kind::text: { // a plain character
      const bool plain = token.kind == TokenKind::character && token.text.size() == 3 && token.text[1] > 0;
      return plain ? in_its_type(token.text[1], plain_type()) : std::nullopt;
    }
    case Kind::name: return is_declared() ? declared(expr) : name(token);
    case Kind::unary: return unary(token, operand(0));
    case Kind::binary: return binary(token, expr, operand(0));
    case Kind::conditional: {
      const Found condition = operand(0);
      const Found yes = operand(1);
      const Found no = operand(2);
      const Found& chosen = condition && condition->value != 0 ? yes : no;
      return condition && yes && no ? as(*chosen, common_type(yes->type, no->type)) : std::nullopt;
    }
    case Kind::cast: {
      const auto to = integer_type(*expr.type);
      const Found of = operand(0);
      return to && of ? Found(converted(of->value, *to)) : std::nullopt;
    }
    case Kind::size: {
      const auto type = expr.measured == nullptr ? std::nullopt : arithmetic_type(expr.measured->name);
      return type ? Found(Constant{.value = type->bytes(), .type = {.bits = 64, .is_unsigned = true}})
                  : std::nullopt;
    }
    default: return {};
    }
  }

private:
  [[nodiscard]] bool is_declared() const { return rules_ == Rules::declaration; }
  // Of comparisons, names and characters.
  [[nodiscard]] IntegerType plain_type() const { return {.bits = is_declared() ? 32U : 64U}; }
  [[nodiscard]] Constant truth(bool value) const { return {.value = value ? 1 : 0, .type = plain_type()}; }

  // A result in its type. A signed one must fit; so must an unsigned one of a condition, whose width compilers choose.
  [[nodiscard]] Found in_its_type(Value value, IntegerType type) const {
    const Constant reduced = converted(value, type);
    const bool fits = reduced.value == value && (is_declared() || reduced.number());
    return fits || (is_declared() && type.is_unsigned) ? Found(reduced) : std::nullopt;
  }

  [[nodiscard]] Found as(const Constant& value, IntegerType type) const {
    return in_its_type(value.value, type);
  }

  [[nodiscard]] Found name(const Token& token) const {
    return token.is("true") && rules_ == Rules::condition ? std::nullopt : Found(truth(token.is("true")));
  }

  // An enumerator, or "const int count = 16".
  Found declared(const Expr& expr) {
    const Decl* const name = unit_.meaning(expr.token);
    if (name == nullptr) {
      return {};
    }
    if (name->kind == Decl::Kind::enumerator) {
      return name->constant;
    }
    const bool known = name->value != nullptr && name->kind == Decl::Kind::variable && name->type->is_const &&
                       !name->type->is_volatile;
    const auto type = known ? integer_type(*name->type) : std::nullopt;
    constexpr int deepest = 16; // it may name itself
    if (!type || depth_ == deepest) {
      return {};
    }
    ++depth_;
    const Found found = value(*name->value);
    --depth_;
    return found ? Found(converted(found->value, *type)) : std::nullopt;
  }

  [[nodiscard]] Found unary(const Token& sign, const Found& of) const {
    if (!of) {
      return {};
    }
    const IntegerType type = common_type(of->type, of->type);
    return sign.is("+")   ? as(*of, type)
           : sign.is("-") ? in_its_type(-of->value, type)
           : sign.is("~") ? in_its_type(~of->value, type)
           : sign.is("!") ? Found(truth(of->value == 0))
                          : std::nullopt;
  }

  Found binary(const Token& sign, const Expr& expr, const Found& left) {
    if (!left) {
      return {};
    }
    if ((sign.is("&&") && left->value == 0) || (sign.is("||") && left->value != 0)) {
      return truth(sign.is("||")); // the other operand is not evaluated
    }
    const Found right = value(*expr.operands[1]);
    if (!right) {
      return {};
    }
    if (sign.is("&&") || sign.is("||")) {
      return truth(right->value != 0);
    }
    const bool shifts = sign.is("<<") || sign.is(">>");
    const IntegerType type = common_type(left->type, shifts ? left->type : right->type);
    const Found first = as(*left, type);
    const Found second = shifts ? right : as(*right, type);
    return first && second ? calculated(sign, first->value, second->value, type) : std::nullopt;
  }

  [[nodiscard]] Found calculated(const Token& sign, Value a, Value b, IntegerType type) const {
    const bool is_short = sign.text.size() == 1;
    const bool shifts = sign.is("<<") || sign.is(">>");
    if (shifts && (b < 0 || b >= type.bits)) {
      return {};
    }
    switch (sign.text[0]) {
    case '=': return truth(a == b);
    case '!': return truth(a != b);
    case '*': return in_its_type(static_cast<Value>(static_cast<Bits>(a) * static_cast<Bits>(b)), type);
    case '+': return in_its_type(a + b, type);
    case '-': return in_its_type(a - b, type);
    case '&': return in_its_type(a & b, type);
    case '^': return in_its_type(a ^ b, type);
    case '|': return in_its_type(a | b, type);
    case '/': return b == 0 ? std::nullopt : in_its_type(a / b, type);
    case '%': return b == 0 ? std::nullopt : in_its_type(a % b, type);
    case '>': return shifts ? in_its_type(a >> b, type) : truth(is_short ? a > b : a >= b);
    default: break;
    }
    if (!shifts) {
      return truth(is_short ? a < b : a <= b);
    }
    const auto shifted = static_cast<Value>(static_cast<Bits>(a) << static_cast<unsigned>(b));
    return is_declared() ? Found(converted(shifted, type)) : in_its_type(shifted, type);
  }

  const TranslationUnit& unit_;
  const Rules rules_;
  int depth_ = 0; // of variables
};

} // namespace

std::optional<std::int64_t> Constant::number() const {
  const bool fits =
      value >= std::numeric_limits<std::int64_t>::min() && value <= std::numeric_limits<std::int64_t>::max();
  return fits ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
}

Result<std::optional<bool>> evaluate_condition(std::span<const Token> tokens, const Token& directive,
                                               std::string_view path, bool assumes_clang) {
  TranslationUnit unit; // of its own
  unit.source.tokens.assign(tokens.begin(), tokens.end());
  unit.source.files = {std::string(path)};
  for (Token& token : unit.source.tokens) {
    token.file = 0;
  }
  const bool has_pairs = match_brackets(unit).has_value(); // of brackets
  const Condition condition = parse_condition(unit);
  const auto refused = [&](std::size_t token, std::string message, std::string fix) {
    return tl::unexpected(source_error(path, token < tokens.size() ? tokens[token] : directive,
                                       std::move(message), std::move(fix)));
  };
  if (condition.too_deep) {
    return refused(condition.stuck, "this condition is nested too deeply", "take it apart into several");
  }
  std::size_t stuck = has_pairs ? condition.stuck : std::min(condition.stuck, tokens.size());
  each_expression(*condition.value, [&](const Expr& expr) {
    using Kind = Expr::Kind;
    static constexpr std::array<Kind, 7> kinds{Kind::number,      Kind::name,  Kind::text,  Kind::binary,
                                               Kind::conditional, Kind::comma, Kind::opaque};
    const bool is_sign = expr.kind == Kind::unary &&
                         std::string_view("+-~!").find(tokens[expr.token].text) != std::string::npos;
    const bool is_string = expr.kind == Kind::text && tokens[expr.token].kind == TokenKind::string;
    if (is_string || (!is_sign && std::ranges::find(kinds, expr.kind) == kinds.end())) {
      stuck = std::min(stuck, expr.token);
    }
  });
  if (stuck != no_token) {
    return refused(stuck,
                   fmt::format("{} is out of place in the condition of #{}",
                               stuck < tokens.size() ? in_quotes(tokens[stuck].text) : "the end of the line",
                               directive.text),
                   "write an expression of integers, names and defined(NAME)");
  }
  const auto value =
      Evaluation(unit, assumes_clang ? Rules::condition_of_clang : Rules::condition).value(*condition.value);
  return value ? std::optional(value->value != 0) : std::nullopt;
}

std::optional<Constant> constant_in(const TranslationUnit& unit, const Expr& expr) {
  return Evaluation(unit, Rules::declaration).value(expr);
}

std::optional<std::int64_t> value_of(const TranslationUnit& unit, const Expr& expr) {
  const auto found = constant_in(unit, expr);
  return found ? found->number() : std::nullopt;
}

void evaluate_enumerators(const TranslationUnit& unit, std::span<Decl* const> enumerators) {
  std::optional<Constant> next = Constant{};
  Enumerators values;
  for (Decl* const enumerator : enumerators) {
    next = enumerator->value == nullptr ? next : constant_in(unit, *enumerator->value);
    if (!next || !next->number()) {
      return;
    }
    enumerator->constant = next;
    values.emplace_back("", *next->number());
    const Constant greater = converted(next->value + 1, next->type);
    next = greater.value == next->value + 1 ? std::optional(greater) : std::nullopt;
  }
  // After the list all enumerators are int, or have the enumeration's type if int cannot hold them.
  const IntegerType type = integer_type_of(values);
  for (Decl* const enumerator : enumerators) {
    const Constant as_int = converted(enumerator->constant->value, {});
    const bool fits = as_int.value == enumerator->constant->value;
    enumerator->constant = fits ? as_int : converted(enumerator->constant->value, type);
  }
}

std::optional<Enumerators> enumerators_of(const TranslationUnit& unit, const Record& record) {
  Enumerators found;
  for (const Decl* const enumerator : record.members) {
    if (!enumerator->constant) {
      return {};
    }
    found.emplace_back(unit.source.tokens[enumerator->token].text, *enumerator->constant->number());
  }
  return found;
}

IntegerType integer_type_of(const Enumerators& enumerators) {
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (const auto& [name, value] : enumerators) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const bool is_unsigned = least >= 0;
  const auto fits = [is_unsigned](std::int64_t value) {
    return converted(value, {.bits = 32, .is_unsigned = is_unsigned}).value == value;
  };
  return {.bits = fits(least) && fits(most) ? 32U : 64U, .is_unsigned = is_unsigned};
}

std::string integer_of(const TranslationUnit& unit, const Type& type) {
  const bool plain = type.is(Type::Kind::number) && type.record != nullptr && !type.has_attributes &&
                     type.record->body.end != 0 && !type.record->attributes.any();
  const auto known = plain ? enumerators_of(unit, *type.record) : std::nullopt;
  const IntegerType integer = known ? integer_type_of(*known) : IntegerType();
  return !known ? ""
                : fmt::format("{}{}", integer.is_unsigned ? "u" : "", integer.bits == 64 ? "long" : "int");
}

} // namespace tidegate::opencl_c
