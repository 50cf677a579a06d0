// Visits the tree of an expression. A value is known where all types that compilers may give it have it: a negative number next
// to one that may be unsigned has none, and neither has what leaves the range of int and uint, or of 63 bits in a condition.
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {
namespace {

using Found = std::optional<Constant>;
__extension__ using Value = __int128; // the result of any operation on two numbers

enum class Rules : std::uint8_t { declaration, condition, condition_of_clang };

class Evaluation {
public:
  Evaluation(const TranslationUnit& unit, Rules rules) : unit_(unit), rules_(rules) {}

  Found value(const Expr& expr) {
    using Kind = Expr::Kind;
    const Token& token = unit_.source.tokens[std::min(expr.token, unit_.source.tokens.size() - 1)];
    std::array<Found, 3> operands;
    for (std::size_t i = 0; i < std::min(operands.size(), expr.operands.size()); ++i) {
      operands[i] = value(*expr.operands[i]);
    }
    const auto& [first, second, third] = operands;
    switch (expr.kind) {
    case Kind::number: return number(token.text);
    case Kind::text: { // a plain character
      const bool plain = token.kind == TokenKind::character && token.text.size() == 3 && token.text[1] > 0;
      return plain ? within(token.text[1], false) : std::nullopt;
    }
    case Kind::name:
      return is_declared()                                    ? enumerator(expr)
             : token.is("true") && rules_ == Rules::condition ? std::nullopt
                                                              : within(token.is("true") ? 1 : 0, false);
    case Kind::unary: // "~x" is -1 ^ x, "!x" is 0 == x
      return first && is_one_of("+ - ~ !", token.text)
                 ? binary(token.is("~")   ? "^"
                          : token.is("!") ? "=="
                                          : token.text,
                          Constant{.value = token.is("~") ? -1 : 0}, first)
                 : std::nullopt;
    case Kind::binary: return binary(token.text, first, second);
    case Kind::conditional:
      return first && second && third ? within(first->value != 0 ? second->value : third->value,
                                               second->is_unsigned || third->is_unsigned)
                                      : std::nullopt;
    case Kind::cast: return converted(first, *expr.type);
    case Kind::size: {
      const auto type = expr.measured == nullptr ? std::nullopt : arithmetic_type(expr.measured->name);
      return type ? within(type->bytes(), true) : std::nullopt;
    }
    default: return {};
    }
  }

private:
  [[nodiscard]] bool is_declared() const { return rules_ == Rules::declaration; }

  [[nodiscard]] Found within(Value value, bool is_unsigned) const {
    constexpr std::int64_t widest = std::numeric_limits<std::int64_t>::max();
    const std::int64_t most = !is_declared() ? widest
                              : is_unsigned  ? std::numeric_limits<std::uint32_t>::max()
                                             : std::numeric_limits<std::int32_t>::max();
    const bool fits = value <= most && value >= (is_unsigned ? 0 : -Value{most} - 1);
    return fits ? Found(Constant{.value = static_cast<std::int64_t>(value), .is_unsigned = is_unsigned})
                : std::nullopt;
  }

  [[nodiscard]] Found number(std::string_view text) const {
    constexpr std::string_view suffixes =
        "u U l L ll LL ul uL Ul UL lu lU Lu LU ull uLL Ull ULL llu llU LLu LLU";
    const std::string_view suffix = text.substr(std::min(text.find_first_of("uUlL"), text.size()));
    text.remove_suffix(suffix.size());
    const char prefix = text.size() > 1 && text[0] == '0' ? text[1] : ' ';
    const int base = prefix == 'x' || prefix == 'X'   ? 16
                     : prefix == 'b' || prefix == 'B' ? 2
                     : prefix == ' '                  ? 10
                                                      : 8;
    text.remove_prefix(base == 16 || base == 2 ? 2 : 0);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    const bool plain = error == std::errc() && end == text.data() + text.size() && value >= 0 &&
                       (suffix.empty() || is_one_of(suffixes, suffix));
    const bool is_long = is_declared() && value > std::numeric_limits<std::int32_t>::max();
    return plain ? within(value, is_long || suffix.find_first_of("uU") != std::string_view::npos)
                 : std::nullopt;
  }

  // As by a cast that keeps the value.
  [[nodiscard]] Found converted(const Found& from, const Type& to) const {
    const auto type = to.is(Type::Kind::number) ? arithmetic_type(to.name) : std::nullopt;
    if (!from || !type || is_one_of("half float double", type->scalar)) {
      return {};
    }
    const bool is_unsigned = type->scalar.starts_with('u');
    const Value end = Value{1} << (8 * type->scalar_bytes - (is_unsigned ? 0 : 1));
    return from->value < end && from->value >= (is_unsigned ? 0 : -end)
               ? within(from->value, is_unsigned && type->scalar_bytes >= 4)
               : std::nullopt;
  }

  [[nodiscard]] Found enumerator(const Expr& expr) const {
    const Decl* const name = unit_.meaning(expr.token);
    return name == nullptr ? std::nullopt : name->constant;
  }

  [[nodiscard]] Found binary(std::string_view sign, const Found& left, const Found& right) const {
    const auto truth = [this](bool holds) { return within(holds ? 1 : 0, false); };
    const bool either = sign == "||";
    if (either || sign == "&&") {
      const bool decides = left && (left->value != 0) == either; // the other operand is not evaluated
      return decides ? truth(either) : left && right ? truth(right->value != 0) : std::nullopt;
    }
    const bool shifts = sign == "<<" || sign == ">>";
    const Value bits = is_declared() ? 32 : 64;
    if (!left || !right || (right->value == 0 && (sign == "/" || sign == "%")) ||
        ((sign == "<<" && left->value < 0) || (shifts && (right->value < 0 || right->value >= bits)))) {
      return {};
    }
    const bool is_unsigned = left->is_unsigned || (right->is_unsigned && !shifts);
    const Value a = left->value, b = right->value;
    if (is_unsigned && (a < 0 || b < 0)) {
      return {};
    }
    const auto result = [&](Value value) { return within(value, is_unsigned); };
    return sign == "=="   ? truth(a == b)
           : sign == "!=" ? truth(a != b)
           : sign == "<"  ? truth(a < b)
           : sign == ">"  ? truth(a > b)
           : sign == "<=" ? truth(a <= b)
           : sign == ">=" ? truth(a >= b)
           : sign == "+"  ? result(a + b)
           : sign == "-"  ? result(a - b)
           : sign == "*"  ? result(a * b)
           : sign == "/"  ? result(a / b)
           : sign == "%"  ? result(a % b)
           : sign == "&"  ? result(a & b)
           : sign == "^"  ? result(a ^ b)
           : sign == "|"  ? result(a | b)
           : sign == "<<" ? result(a << b)
                          : result(a >> b);
  }

  const TranslationUnit& unit_;
  const Rules rules_;
};

} // namespace

Result<std::optional<bool>> evaluate_condition(std::span<const Token> tokens, const Token& directive,
                                               std::string_view path, bool assumes_clang) {
  TranslationUnit unit; // of its own
  unit.source.tokens.assign(tokens.begin(), tokens.end());
  const bool has_pairs = !match_brackets(unit); // of brackets
  const auto [condition, end] = parse_condition(unit);
  std::size_t stuck = end < tokens.size() ? end : no_token;
  each_expression(*condition, [&stuck](const Expr& part) {
    stuck = part.kind == Expr::Kind::opaque ? std::min(stuck, part.token) : stuck;
  });
  if (stuck != no_token || !has_pairs) {
    const bool at_end = stuck >= tokens.size();
    return tl::unexpected(source_error(
        path, at_end ? directive : tokens[stuck],
        fmt::format("{} is out of place in the condition of #{}",
                    at_end ? "the end of the line" : in_quotes(tokens[stuck].text), directive.text),
        "write an expression of integers, names and defined(NAME)"));
  }
  const auto value =
      Evaluation(unit, assumes_clang ? Rules::condition_of_clang : Rules::condition).value(*condition);
  return value ? std::optional(value->value != 0) : std::nullopt;
}

std::optional<std::int64_t> value_of(const TranslationUnit& unit, const Expr& expr) {
  const auto found = constant_in(unit, expr);
  return found ? std::optional(found->value) : std::nullopt;
}

std::optional<Constant> constant_in(const TranslationUnit& unit, const Expr& expr) {
  return Evaluation(unit, Rules::declaration).value(expr);
}

std::string_view evaluate_enumerators(const TranslationUnit& unit, std::span<Decl* const> enumerators) {
  constexpr std::int64_t most_int = std::numeric_limits<std::int32_t>::max();
  Found next = Constant{};
  std::int64_t least = 0, most = 0;
  for (Decl* const enumerator : enumerators) {
    const Found found = enumerator->value == nullptr ? next : constant_in(unit, *enumerator->value);
    if (!found) {
      return "";
    }
    enumerator->constant = found;
    next = found->value < most_int ? Found(Constant{found->value + 1, found->is_unsigned}) : std::nullopt;
    least = std::min(least, found->value);
    most = std::max(most, found->value);
  }
  for (Decl* const enumerator : enumerators) { // after the list all are int that int can hold
    enumerator->constant->is_unsigned = enumerator->constant->value > most_int;
  }
  return least >= 0 ? "uint" : most <= most_int ? "int" : "";
}

} // namespace tidegate::opencl_c
