// Visits the tree of an expression, in exact 128-bit arithmetic that is then reduced to the type of the result.
#include "opencl_c/constant_expression.hpp"

#include "opencl_c/lexer.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::opencl_c {
namespace {

using Bits = Constant::Bits;

constexpr IntegerType int_type{};

// Rules of arithmetic: conditions have one width, declarations the types of C.
enum class Arithmetic : std::uint8_t { c99_condition, clang_condition, declaration };

std::optional<Constant> number(std::string_view text, Arithmetic arithmetic) {
  const std::size_t digits = text.find_first_of("uUlL");
  std::string suffix(text.substr(std::min(digits, text.size())));
  text = text.substr(0, digits);
  const bool prefixed = text.size() > 1 && text[0] == '0';
  const Bits base = prefixed && (text[1] == 'x' || text[1] == 'X')   ? 16
                    : prefixed && (text[1] == 'b' || text[1] == 'B') ? 2
                    : prefixed                                       ? 8
                                                                     : 10;
  text.remove_prefix(base == 16 || base == 2 ? 2 : 0);
  Bits value = 0;
  bool fits = !text.empty();
  for (const char c : text) {
    const Bits digit = c >= '0' && c <= '9'   ? static_cast<Bits>(c - '0')
                       : c >= 'a' && c <= 'f' ? static_cast<Bits>(c - 'a' + 10)
                       : c >= 'A' && c <= 'F' ? static_cast<Bits>(c - 'A' + 10)
                                              : base;
    fits &= digit < base && value <= (~Bits{0} - digit) / base;
    value = value * base + digit;
  }
  const std::size_t with_u = suffix.find_first_of("uU");
  if (with_u != std::string::npos) {
    suffix.erase(with_u, 1);
  }
  constexpr std::array<std::string_view, 5> suffixes{"", "l", "L", "ll", "LL"};
  if (!fits || std::ranges::find(suffixes, suffix) == suffixes.end()) {
    return {};
  }
  const bool declared = arithmetic == Arithmetic::declaration;
  // The first type that holds the number. In declarations, decimal numbers without u are never unsigned.
  for (const std::uint32_t bits : {32U, 64U, 128U}) {
    const bool wide_enough = declared ? bits <= 64 && (bits == 64 || suffix.empty())
                                      : bits == (arithmetic == Arithmetic::c99_condition ? 64U : 128U);
    for (const bool is_unsigned : {false, true}) {
      const bool allowed =
          is_unsigned ? with_u != std::string::npos || base != 10 || !declared : with_u == std::string::npos;
      if (wide_enough && allowed && value >> (bits - 1) <= (is_unsigned ? 1U : 0U)) {
        return Constant{.bits = value, .type = {.bits = bits, .is_unsigned = is_unsigned}};
      }
    }
  }
  return {};
}

// Removes the first character of the text and returns it; escapes are those of C, and \e.
std::uint32_t take_character(std::string_view& text) {
  const auto take = [&text] {
    const char c = text.front();
    text.remove_prefix(1);
    return c;
  };
  const char c = take();
  if (c != '\\' || text.empty()) {
    return static_cast<unsigned char>(c);
  }
  constexpr std::string_view names = "abtnvfre";
  constexpr std::string_view values = "\a\b\t\n\v\f\r\x1b";
  const bool hexadecimal = text.front() == 'x';
  if (!hexadecimal && (text.front() < '0' || text.front() > '7')) {
    const char name = take();
    const std::size_t i = names.find(name);
    return static_cast<unsigned char>(i == std::string_view::npos ? name : values[i]);
  }
  text.remove_prefix(hexadecimal ? 1 : 0);
  std::uint32_t value = 0;
  const std::string_view digits = text.substr(0, hexadecimal ? text.size() : 3);
  const auto end =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 8).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// A narrow character is a signed byte; each further one shifts the previous ones left. Wide ones have 32
// bits.
std::int32_t character(std::string_view text) {
  const bool wide = text.starts_with('L');
  text = text.substr(wide ? 2 : 1, text.size() - (wide ? 3 : 2));
  std::uint32_t bits = 0;
  std::size_t count = 0;
  for (; !text.empty(); ++count) {
    const std::uint32_t c = take_character(text);
    bits = wide ? c : (bits << 8U) | (c & 0xffU);
  }
  return count == 1 && !wide ? static_cast<std::int8_t>(bits) : static_cast<std::int32_t>(bits);
}

Constant signed_constant(std::int64_t value, IntegerType type) {
  return converted({.bits = static_cast<Bits>(value)}, type);
}

// The usual arithmetic conversions: types below 32 bits become int; of equal widths the unsigned type wins.
IntegerType common_type(IntegerType left, IntegerType right) {
  left = left.bits < 32 ? int_type : left;
  right = right.bits < 32 ? int_type : right;
  return left.bits > right.bits || (left.bits == right.bits && left.is_unsigned) ? left : right;
}

Bits quotient(const Constant& left, const Constant& right, bool remainder) {
  if (left.type.is_unsigned) {
    return remainder ? left.bits % right.bits : left.bits / right.bits;
  }
  const auto magnitude = [](const Constant& value) { return value.is_negative() ? -value.bits : value.bits; };
  const Bits positive = remainder ? magnitude(left) % magnitude(right) : magnitude(left) / magnitude(right);
  const bool negative = remainder ? left.is_negative() : left.is_negative() != right.is_negative();
  return negative ? -positive : positive;
}

// The integer type that a cast converts to.
std::optional<IntegerType> integer_type(const Type& type) {
  const auto found = type.is(Type::Kind::number) ? arithmetic_type(type.name) : std::nullopt;
  if (!found || found->scalar == "half" || found->scalar == "float" || found->scalar == "double") {
    return {};
  }
  return IntegerType{.bits = 8 * found->scalar_bytes, .is_unsigned = found->scalar.starts_with('u')};
}

// Declarations need no places: they only have a value or none.
class Evaluation {
public:
  Evaluation(const TranslationUnit& unit, Arithmetic arithmetic, const Token& directive = {},
             std::string_view path = {})
      : unit_(unit), tokens_(unit.source.tokens), directive_(directive), path_(path),
        arithmetic_(arithmetic), plain_type_{.bits = arithmetic == Arithmetic::declaration     ? 32U
                                                     : arithmetic == Arithmetic::c99_condition ? 64U
                                                                                               : 128U} {}

  // `evaluated` is false for operands whose value cannot matter.
  Result<Constant> value(const Expr& expr, bool evaluated = true) {
    using Kind = Expr::Kind;
    const Token& token = tokens_[std::min(expr.token, tokens_.size() - 1)];
    const bool declared = arithmetic_ == Arithmetic::declaration;
    switch (expr.kind) {
    case Kind::number: {
      const auto found = number(token.text, arithmetic_);
      return found ? Result<Constant>(*found)
                   : refused(expr.token, fmt::format("{} is not a 64-bit integer", in_quotes(token.text)),
                             "conditions take integers only");
    }
    case Kind::text:
      return token.kind == TokenKind::character ? signed_constant(character(token.text), plain_type_)
                                                : out_of_place(expr.token);
    case Kind::name: {
      if (!declared) {
        return truth(arithmetic_ == Arithmetic::clang_condition && token.is("true"));
      }
      const Name* const name = unit_.meaning(expr.token);
      const auto found =
          name == nullptr ? unit_.tree->enumerators.end() : unit_.tree->enumerators.find(name->token);
      return found == unit_.tree->enumerators.end() ? variable(expr, name) : Result<Constant>(found->second);
    }
    case Kind::unary: return unary(token, expr, evaluated);
    case Kind::binary: {
      TIDEGATE_TRY(const Constant left, value(*expr.operands[0], evaluated));
      const bool decided = (token.is("&&") && left.bits == 0) || (token.is("||") && left.bits != 0);
      TIDEGATE_TRY(const Constant right, value(*expr.operands[1], evaluated && !decided));
      return token.is("<<") || token.is(">>") ? shifted(token, left, right, evaluated)
                                              : calculated(token, left, right, evaluated);
    }
    case Kind::conditional: {
      TIDEGATE_TRY(const Constant condition, value(*expr.operands[0], evaluated));
      const bool chosen = condition.bits != 0;
      TIDEGATE_TRY(const Constant yes, value(*expr.operands[1], evaluated && chosen));
      TIDEGATE_TRY(const Constant no, value(*expr.operands[2], evaluated && !chosen));
      return converted(chosen ? yes : no, common_type(yes.type, no.type));
    }
    case Kind::comma:
      if (declared) {
        return out_of_place(expr.token);
      }
      TIDEGATE_CHECK(value(*expr.operands[0], evaluated));
      return value(*expr.operands[1], evaluated);
    case Kind::cast: {
      const auto to = integer_type(*expr.type);
      return to ? value(*expr.operands[0], evaluated).map([&](const Constant& of) {
        return converted(of, *to);
      })
                : out_of_place(expr.token);
    }
    case Kind::size: {
      const auto type = expr.measured == nullptr ? std::nullopt : arithmetic_type(expr.measured->name);
      return type ? Constant{.bits = type->bytes(), .type = {.bits = 64, .is_unsigned = true}}
                  : out_of_place(expr.token);
    }
    default: return out_of_place(expr.token);
    }
  }

  [[nodiscard]] Result<Constant> out_of_place(std::size_t token) const {
    const std::string found = token < tokens_.size() ? in_quotes(tokens_[token].text) : "the end of the line";
    return refused(token, fmt::format("{} is out of place in the condition of #{}", found, directive_.text),
                   "write an expression of integers, names and defined(NAME)");
  }

  [[nodiscard]] Result<Constant> refused(std::size_t token, std::string message, std::string fix) const {
    const Token& place = token < tokens_.size() ? tokens_[token] : directive_;
    return tl::unexpected(source_error(path_, place, std::move(message), std::move(fix)));
  }

private:
  // "const int count = 16"
  Result<Constant> variable(const Expr& expr, const Name* name) {
    const Decl* const decl = name == nullptr ? nullptr : unit_.tree->declaration(name->token);
    const bool known = decl != nullptr && decl->value != nullptr && name->kind == NameKind::variable &&
                       decl->type->is_const && !decl->type->is_volatile;
    const auto type = known ? integer_type(*decl->type) : std::nullopt;
    constexpr int deepest = 16; // it may name itself
    if (!type || ++depth_ > deepest) {
      return out_of_place(expr.token);
    }
    auto found = value(*decl->value);
    --depth_;
    return found ? converted(*found, *type) : std::move(found);
  }

  Result<Constant> unary(const Token& name, const Expr& expr, bool evaluated) {
    static constexpr std::string_view known = "+-~!";
    if (name.text.size() != 1 || known.find(name.text[0]) == std::string_view::npos) {
      return out_of_place(expr.token);
    }
    TIDEGATE_TRY(const Constant of, value(*expr.operands[0], evaluated));
    const Constant promoted = converted(of, common_type(of.type, of.type));
    switch (name.text[0]) {
    case '-': return in_its_type(name, {.bits = -promoted.bits, .type = promoted.type}, evaluated);
    case '~': return converted({.bits = ~promoted.bits}, promoted.type);
    case '!': return truth(of.bits == 0);
    default: return promoted;
    }
  }

  Result<Constant> calculated(const Token& name, const Constant& left, const Constant& right,
                              bool evaluated) {
    if (name.is("&&") || name.is("||")) {
      return truth(name.is("&&") ? left.bits != 0 && right.bits != 0 : left.bits != 0 || right.bits != 0);
    }
    const IntegerType type = common_type(left.type, right.type);
    const Constant a = converted(left, type);
    const Constant b = converted(right, type);
    const bool less = a.is_negative() != b.is_negative() ? a.is_negative() : a.bits < b.bits;
    if (name.is("==") || name.is("!=")) {
      return truth((a.bits == b.bits) == name.is("=="));
    }
    if (name.is("<") || name.is(">=")) {
      return truth(less == name.is("<"));
    }
    if (name.is("<=") || name.is(">")) {
      return truth((less || a.bits == b.bits) == name.is("<="));
    }
    if (evaluated && b.bits == 0 && (name.is("/") || name.is("%"))) {
      return tl::unexpected(
          source_error(path_, name, "a division by zero in a condition", "guard it with && or ?:"));
    }
    Bits bits = 0;
    switch (name.text[0]) {
    case '*': bits = a.bits * b.bits; break;
    case '+': bits = a.bits + b.bits; break;
    case '-': bits = a.bits - b.bits; break;
    case '&': bits = a.bits & b.bits; break;
    case '^': bits = a.bits ^ b.bits; break;
    case '|': bits = a.bits | b.bits; break;
    default: bits = b.bits == 0 ? 0 : quotient(a, b, name.is("%")); break;
    }
    return in_its_type(name, {.bits = bits, .type = type}, evaluated);
  }

  Result<Constant> shifted(const Token& name, const Constant& left, const Constant& right, bool evaluated) {
    const IntegerType type = common_type(left.type, left.type);
    const Constant value = converted(left, type);
    bool to_the_left = name.is("<<");
    Bits count = right.bits;
    if (evaluated && arithmetic_ == Arithmetic::declaration && count >= type.bits) {
      return uncertain(name);
    }
    if (arithmetic_ == Arithmetic::c99_condition && right.is_negative()) { // as in GNU C
      to_the_left = !to_the_left;
      count = -count;
    }
    if (to_the_left) {
      return converted({.bits = count < type.bits ? value.bits << count : 0}, type);
    }
    if (arithmetic_ == Arithmetic::clang_condition) { // clang keeps 32 bits of the count
      count = static_cast<std::uint32_t>(std::min<Bits>(count, std::numeric_limits<std::uint64_t>::max()));
    }
    const auto most = type.bits - 1; // clang clamps the count; others do so for signed numbers only
    const bool gone = arithmetic_ == Arithmetic::c99_condition && type.is_unsigned && count > most;
    const auto by = static_cast<std::uint32_t>(std::min<Bits>(count, most));
    const Bits sign = value.is_negative() && by != 0 ? ~(~Bits{0} >> by) : 0;
    return Constant{.bits = gone ? 0 : (value.bits >> by) | sign, .type = type};
  }

  // Converts a result to its type. In declarations a signed value must fit.
  Result<Constant> in_its_type(const Token& name, const Constant& exact, bool evaluated) const {
    const Constant value = converted(exact, exact.type);
    const bool overflows = !exact.type.is_unsigned && value.bits != exact.bits;
    return evaluated && overflows && arithmetic_ == Arithmetic::declaration ? uncertain(name)
                                                                            : Result<Constant>(value);
  }

  [[nodiscard]] Constant truth(bool value) const { return {.bits = value ? 1U : 0U, .type = plain_type_}; }

  [[nodiscard]] tl::unexpected<Error> uncertain(const Token& name) const {
    return tl::unexpected(
        source_error(path_, name, "this overflows", "keep values in the range of their type"));
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  const Token& directive_;
  std::string_view path_;
  const Arithmetic arithmetic_;
  const IntegerType plain_type_; // of comparisons, names and characters
  int depth_ = 0;                // of variables
};

// A condition, parsed as a unit of its own.
class ConditionTree {
public:
  ConditionTree(std::span<const Token> tokens, const Token& directive, std::string_view path)
      : directive_(directive), path_(path) {
    unit_.source.tokens.assign(tokens.begin(), tokens.end());
    unit_.source.files = {std::string(path)};
    for (Token& token : unit_.source.tokens) {
      token.file = 0;
    }
    pairs_ = match_brackets(unit_).has_value();
    condition_ = parse_condition(unit_);
  }

  [[nodiscard]] Result<Constant> value(Arithmetic arithmetic) const {
    Evaluation evaluation(unit_, arithmetic, directive_, path_);
    const std::size_t end = unit_.source.tokens.size();
    if (condition_.too_deep) {
      return evaluation.refused(condition_.stuck, "this condition is nested too deeply",
                                "take it apart into several");
    }
    return condition_.stuck != no_name ? evaluation.out_of_place(condition_.stuck)
           : !pairs_                   ? evaluation.out_of_place(end)
                                       : evaluation.value(*condition_.value);
  }

private:
  const Token& directive_;
  std::string_view path_;
  TranslationUnit unit_;
  Condition condition_;
  bool pairs_ = true; // all brackets
};

} // namespace

std::optional<std::int64_t> Constant::number() const {
  const Bits most = static_cast<Bits>(std::numeric_limits<std::int64_t>::max());
  const bool fits = is_negative() ? ~bits <= most : bits <= most;
  return fits ? std::optional(static_cast<std::int64_t>(static_cast<std::uint64_t>(bits))) : std::nullopt;
}

Constant converted(const Constant& value, IntegerType type) {
  Constant result{.bits = value.bits, .type = type};
  if (type.bits < 128) {
    const Bits high = ~Bits{0} << type.bits;
    const bool negative = !type.is_unsigned && (value.bits >> (type.bits - 1) & 1U) != 0;
    result.bits = negative ? value.bits | high : value.bits & ~high;
  }
  return result;
}

int binary_rank(std::string_view name) {
  static constexpr std::array<std::string_view, 10> operators{
      " || ", " && ", " | ", " ^ ", " & ", " == != ", " < > <= >= ", " << >> ", " + - ", " * / % "};
  const std::string word = fmt::format(" {} ", name);
  const auto found = std::ranges::find_if(
      operators, [&word](std::string_view rank) { return rank.find(word) != std::string_view::npos; });
  return found == operators.end() ? 0 : static_cast<int>(found - operators.begin()) + 1;
}

Result<std::optional<bool>> evaluate_condition(std::span<const Token> tokens, const Token& directive,
                                               std::string_view path) {
  const ConditionTree tree(tokens, directive, path);
  const auto of_clang = tree.value(Arithmetic::clang_condition);
  const auto of_c99 = tree.value(Arithmetic::c99_condition);
  if (!of_clang && !of_c99) {
    return tl::unexpected(of_c99.error());
  }
  const bool differ = !of_clang || !of_c99 || (of_clang->bits != 0) != (of_c99->bits != 0);
  return differ ? std::nullopt : std::optional(of_clang->bits != 0);
}

Result<bool> evaluate_condition_as_clang(std::span<const Token> tokens, const Token& directive,
                                         std::string_view path) {
  return ConditionTree(tokens, directive, path)
      .value(Arithmetic::clang_condition)
      .map([](const Constant& value) { return value.bits != 0; });
}

Result<bool> evaluate_condition_as_clang(std::string_view condition) {
  return Lexer(condition, "").next_line().and_then([](const std::vector<Token>& tokens) {
    return evaluate_condition_as_clang(tokens, {}, "");
  });
}

std::optional<Constant> constant_in(const TranslationUnit& unit, const Expr& expr) {
  const auto value = Evaluation(unit, Arithmetic::declaration).value(expr);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<std::int64_t> value_of(const TranslationUnit& unit, const Expr& expr) {
  const auto found = constant_in(unit, expr);
  return found ? found->number() : std::nullopt;
}

void evaluate_enumerators(const TranslationUnit& unit, const Record& record,
                          std::unordered_map<std::size_t, Constant>& values) {
  std::optional<Constant> next = Constant{};
  for (const Decl* const enumerator : record.members) {
    if (enumerator->value != nullptr) {
      next = constant_in(unit, *enumerator->value);
    }
    if (!next || !next->number()) {
      return;
    }
    values[enumerator->tokens.begin] = *next;
    const Constant greater{.bits = next->bits + 1, .type = next->type};
    next = converted(greater, greater.type).bits == greater.bits ? std::optional(greater) : std::nullopt;
  }
  // After the list all enumerators are int, or have the enumeration's type if int cannot hold them.
  const IntegerType type = integer_type_of(*enumerators_of(unit, record));
  for (const Decl* const enumerator : record.members) {
    Constant& value = values[enumerator->tokens.begin];
    const Constant as_int = converted(value, {});
    value = as_int.number() == value.number() ? as_int : converted(value, type);
  }
}

std::optional<Enumerators> enumerators_of(const TranslationUnit& unit, const Record& record) {
  Enumerators found;
  for (const Decl* const enumerator : record.members) {
    const std::size_t token = enumerator->tokens.begin;
    const auto value = unit.tree->enumerators.find(token);
    if (value == unit.tree->enumerators.end()) {
      return {};
    }
    found.emplace_back(unit.source.tokens[token].text, *value->second.number());
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
  const bool is_long = least < std::numeric_limits<std::int32_t>::min() ||
                       most > (least < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::max()}
                                         : std::int64_t{std::numeric_limits<std::uint32_t>::max()});
  return {.bits = is_long ? 64U : 32U, .is_unsigned = least >= 0};
}

std::string integer_of(const TranslationUnit& unit, const Type& type) {
  const bool plain = type.is(Type::Kind::number) && type.record != nullptr && !type.has_attributes &&
                     type.record->body.end != 0 && !type.record->attributes.packed &&
                     !type.record->attributes.other && type.record->attributes.aligned.empty();
  const auto known = plain ? enumerators_of(unit, *type.record) : std::nullopt;
  if (!known) {
    return "";
  }
  const IntegerType integer = integer_type_of(*known);
  return std::string(integer.is_unsigned ? "u" : "") + (integer.bits == 64 ? "long" : "int");
}

} // namespace tidegate::opencl_c
