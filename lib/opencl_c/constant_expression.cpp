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
  constexpr std::string_view suffixes =
      "u U l L ll LL ul uL Ul UL lu lU Lu LU ull uLL Ull ULL llu llU LLu LLU";
  const std::string_view suffix = text.substr(std::min(text.find_first_of("uUlL"), text.size()));
  const bool says_unsigned = suffix.find_first_of("uU") != std::string_view::npos;
  const bool says_long = suffix.find_first_of("lL") != std::string_view::npos;
  text.remove_suffix(suffix.size());
  const char prefix = text.size() > 1 && text[0] == '0' ? text[1] : ' ';
  const int base = prefix == 'x' || prefix == 'X'   ? 16
                   : prefix == 'b' || prefix == 'B' ? 2
                   : prefix == ' '                  ? 10
                                                    : 8;
  text.remove_prefix(base == 16 || base == 2 ? 2 : 0);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(suffix.empty() || is_one_of(suffixes, suffix))) {
    return {};
  }
  // The first type that holds the number. Decimal numbers without u are never unsigned.
  for (const auto& [bits, is_unsigned] : {IntegerType{32, false}, {32, true}, {64, false}, {64, true}}) {
    const Constant found = converted(value, {.bits = bits, .is_unsigned = is_unsigned});
    const bool allowed = is_unsigned ? says_unsigned || base != 10 : !says_unsigned;
    if (allowed && (bits == 64 || (declared && !says_long)) && found.value == value) {
      return found;
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
    case Kind::name:
      return is_declared()                                    ? declared(expr)
             : token.is("true") && rules_ == Rules::condition ? std::nullopt
                                                              : truth(token.is("true"));
    case Kind::unary: { // "~x" is -1 ^ x, "!x" is 0 == x
      const Found of = operand(0);
      const std::string sign = token.is("~") ? "^" : token.is("!") ? "==" : token.text;
      return of && is_one_of("+ - ~ !", token.text)
                 ? calculated(sign, token.is("~") ? -1 : 0, of->value, common_type(of->type, of->type))
                 : std::nullopt;
    }
    case Kind::binary: return binary(token.text, expr);
    case Kind::conditional: {
      const Found condition = operand(0), yes = operand(1), no = operand(2);
      return condition && yes && no ? in_its_type(condition->value != 0 ? yes->value : no->value,
                                                  common_type(yes->type, no->type))
                                    : std::nullopt;
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
  [[nodiscard]] Found truth(bool value) const {
    return Constant{.value = value ? 1 : 0, .type = plain_type()};
  }

  // A result in its type. A signed one must fit; so must an unsigned one of a condition, whose width compilers choose.
  [[nodiscard]] Found in_its_type(Value value, IntegerType type) const {
    const Constant reduced = converted(value, type);
    const bool fits = reduced.value == value && (is_declared() || reduced.number());
    return fits || (is_declared() && type.is_unsigned) ? Found(reduced) : std::nullopt;
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

  Found binary(std::string_view sign, const Expr& expr) {
    const bool either = sign == "||";
    const bool is_logical = either || sign == "&&";
    const Found left = value(*expr.operands[0]);
    if (!left || (is_logical && (left->value != 0) == either)) { // the other operand is not evaluated
      return left ? truth(either) : left;
    }
    const Found right = value(*expr.operands[1]);
    if (!right || is_logical) {
      return right ? truth(right->value != 0) : right;
    }
    const bool shifts = sign == "<<" || sign == ">>";
    const IntegerType type = common_type(left->type, shifts ? left->type : right->type);
    const Found first = in_its_type(left->value, type);
    const Found second = shifts ? right : in_its_type(right->value, type);
    return first && second ? calculated(sign, first->value, second->value, type) : std::nullopt;
  }

  [[nodiscard]] Found calculated(std::string_view sign, Value a, Value b, IntegerType type) const {
    const bool shifts = sign == "<<" || sign == ">>";
    if ((shifts && (b < 0 || b >= type.bits)) || (b == 0 && (sign == "/" || sign == "%"))) {
      return {};
    }
    const auto product = [a](Bits by) { return static_cast<Value>(static_cast<Bits>(a) * by); };
    const auto result = [&](Value value) { return in_its_type(value, type); };
    return sign == "=="    ? truth(a == b)
           : sign == "!="  ? truth(a != b)
           : sign == "<"   ? truth(a < b)
           : sign == ">"   ? truth(a > b)
           : sign == "<="  ? truth(a <= b)
           : sign == ">="  ? truth(a >= b)
           : sign == "+"   ? result(a + b)
           : sign == "-"   ? result(a - b)
           : sign == "*"   ? result(product(static_cast<Bits>(b)))
           : sign == "/"   ? result(a / b)
           : sign == "%"   ? result(a % b)
           : sign == "&"   ? result(a & b)
           : sign == "^"   ? result(a ^ b)
           : sign == "|"   ? result(a | b)
           : sign == ">>"  ? result(a >> b)
           : is_declared() ? converted(product(Bits{1} << b), type)
                           : result(product(Bits{1} << b));
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
  const bool has_pairs = !match_brackets(unit); // of brackets
  const Condition condition = parse_condition(unit);
  const std::size_t stuck = has_pairs ? condition.stuck : std::min(condition.stuck, tokens.size());
  if (stuck != no_token) {
    const bool at_end = stuck >= tokens.size();
    return tl::unexpected(source_error(
        path, at_end ? directive : tokens[stuck],
        condition.too_deep
            ? "this condition is nested too deeply"
            : fmt::format("{} is out of place in the condition of #{}",
                          at_end ? "the end of the line" : in_quotes(tokens[stuck].text), directive.text),
        condition.too_deep ? "take it apart into several"
                           : "write an expression of integers, names and defined(NAME)"));
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

std::optional<IntegerType> evaluate_enumerators(const TranslationUnit& unit,
                                                std::span<Decl* const> enumerators) {
  std::optional<Constant> next = Constant{};
  Value least = 0, most = 0;
  for (Decl* const enumerator : enumerators) {
    next = enumerator->value == nullptr ? next : constant_in(unit, *enumerator->value);
    if (!next || !next->number()) {
      return {};
    }
    enumerator->constant = next;
    least = std::min(least, next->value);
    most = std::max(most, next->value);
    const Constant greater = converted(next->value + 1, next->type);
    next = greater.value == next->value + 1 ? std::optional(greater) : std::nullopt;
  }
  const auto fits = [](Value value, IntegerType type) { return converted(value, type).value == value; };
  IntegerType type{.is_unsigned = least >= 0};
  type.bits = fits(least, type) && fits(most, type) ? 32 : 64;
  // After the list all enumerators are int, or have the enumeration's type if int cannot hold them.
  for (Decl* const enumerator : enumerators) {
    const Value value = enumerator->constant->value;
    enumerator->constant = converted(value, fits(value, {}) ? IntegerType() : type);
  }
  return type;
}

} // namespace tidegate::opencl_c
