// Precedence climbing over tokens, in exact 128-bit arithmetic that is then reduced to the type of the
// result.
#include "opencl_c/constant_expression.hpp"

#include "opencl_c/lexer.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

class ConstantParser {
public:
  ConstantParser(std::span<const Token> tokens, const Token& directive, std::string_view path,
                 Arithmetic arithmetic, const ConstantWords& words)
      : tokens_(tokens), directive_(directive), path_(path), arithmetic_(arithmetic),
        words_(words), plain_type_{.bits = arithmetic == Arithmetic::declaration     ? 32U
                                           : arithmetic == Arithmetic::c99_condition ? 64U
                                                                                     : 128U} {}

  Result<Constant> parse() {
    auto value = parse_list(true);
    if (value && at_ < tokens_.size()) {
      return unexpected_token();
    }
    return value;
  }

private:
  // `evaluated` is false for operands whose value cannot matter.
  Result<Constant> parse_list(bool evaluated) {
    auto value = parse_choice(evaluated);
    while (value && arithmetic_ != Arithmetic::declaration && next_is(",")) {
      ++at_;
      value = parse_choice(evaluated);
    }
    return value;
  }

  Result<Constant> parse_choice(bool evaluated) {
    if (depth_ == most_depth) {
      return refused("this condition is nested too deeply", "take it apart into several");
    }
    ++depth_;
    auto value = parse_binary(evaluated, 1);
    if (value && next_is("?")) {
      ++at_;
      const bool chosen = value->bits != 0;
      TIDEGATE_TRY(const Constant yes, parse_list(evaluated && chosen));
      if (!next_is(":")) {
        return unexpected_token();
      }
      ++at_;
      TIDEGATE_TRY(const Constant no, parse_choice(evaluated && !chosen));
      value = converted(chosen ? yes : no, common_type(yes.type, no.type));
    }
    --depth_;
    return value;
  }

  // Precedence climbing: reads operators of at least this rank.
  Result<Constant> parse_binary(bool evaluated, int least_rank) {
    auto left = parse_unary(evaluated);
    while (left && at_ < tokens_.size()) {
      const int rank = binary_rank(tokens_[at_].text);
      if (rank < least_rank) {
        break;
      }
      const Token& name = tokens_[at_++];
      const bool decided = (name.is("&&") && left->bits == 0) || (name.is("||") && left->bits != 0);
      TIDEGATE_TRY(const Constant right, parse_binary(evaluated && !decided, rank + 1));
      left = name.is("<<") || name.is(">>") ? shifted(name, *left, right, evaluated)
                                            : calculated(name, *left, right, evaluated);
    }
    return left;
  }

  Result<Constant> parse_unary(bool evaluated) {
    const std::size_t first = at_;
    while (next_is("+") || next_is("-") || next_is("~") || next_is("!")) {
      ++at_;
    }
    const std::size_t end = at_;
    std::optional<IntegerType> cast;
    if (next_is("(") && words_.cast) {
      cast = words_.cast(at_);
    }
    depth_ += cast ? 1 : 0;
    if (depth_ > most_depth) {
      return refused("this condition is nested too deeply", "take it apart into several");
    }
    auto value = cast ? parse_unary(evaluated) : parse_primary(evaluated);
    if (value && cast) {
      value = converted(*value, *cast);
      --depth_;
    }
    for (std::size_t i = end; value && i-- > first;) {
      const Constant promoted = converted(*value, common_type(value->type, value->type));
      switch (tokens_[i].text[0]) {
      case '-':
        value = in_its_type(tokens_[i], {.bits = -promoted.bits, .type = promoted.type}, evaluated);
        break;
      case '~': value = converted({.bits = ~promoted.bits}, promoted.type); break;
      case '!': value = truth(value->bits == 0); break;
      default: value = promoted; break;
      }
    }
    return value;
  }

  Result<Constant> parse_primary(bool evaluated) {
    if (next_is("(")) {
      ++at_;
      auto value = parse_list(evaluated);
      if (value && !next_is(")")) {
        return unexpected_token();
      }
      ++at_;
      return value;
    }
    if (at_ == tokens_.size()) {
      return unexpected_token();
    }
    const Token& token = tokens_[at_];
    if (token.kind == TokenKind::number) {
      const auto value = number(token.text, arithmetic_);
      if (!value) {
        return refused(fmt::format("{} is not a 64-bit integer", in_quotes(token.text)),
                       "conditions take integers only");
      }
      ++at_;
      return *value;
    }
    if (token.kind == TokenKind::identifier && words_.value) {
      const auto value = words_.value(at_);
      return value ? Result<Constant>(*value) : unexpected_token();
    }
    const bool word = token.kind == TokenKind::identifier && arithmetic_ != Arithmetic::declaration;
    if (!word && token.kind != TokenKind::character) {
      return unexpected_token();
    }
    ++at_;
    return word ? truth(arithmetic_ == Arithmetic::clang_condition && token.is("true"))
                : signed_constant(character(token.text), plain_type_);
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

  [[nodiscard]] bool next_is(const char* text) const { return at_ < tokens_.size() && tokens_[at_].is(text); }

  [[nodiscard]] tl::unexpected<Error> uncertain(const Token& name) const {
    return tl::unexpected(
        source_error(path_, name, "this overflows", "keep values in the range of their type"));
  }

  [[nodiscard]] tl::unexpected<Error> refused(std::string message, std::string fix) const {
    const Token& place = at_ < tokens_.size() ? tokens_[at_] : directive_;
    return tl::unexpected(source_error(path_, place, std::move(message), std::move(fix)));
  }

  [[nodiscard]] tl::unexpected<Error> unexpected_token() const {
    const std::string found = at_ < tokens_.size() ? in_quotes(tokens_[at_].text) : "the end of the line";
    return refused(fmt::format("{} is out of place in the condition of #{}", found, directive_.text),
                   "write an expression of integers, names and defined(NAME)");
  }

  static constexpr std::size_t most_depth = 64;

  std::span<const Token> tokens_;
  const Token& directive_;
  std::string_view path_;
  const Arithmetic arithmetic_;
  const ConstantWords& words_;
  const IntegerType plain_type_; // of comparisons, names and characters
  std::size_t at_ = 0, depth_ = 0;
};

Result<Constant> evaluated(std::span<const Token> tokens, const Token& directive, std::string_view path,
                           Arithmetic arithmetic, const ConstantWords& words = {}) {
  return ConstantParser(tokens, directive, path, arithmetic, words).parse();
}

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
  const auto of_clang = evaluated(tokens, directive, path, Arithmetic::clang_condition);
  const auto of_c99 = evaluated(tokens, directive, path, Arithmetic::c99_condition);
  if (!of_clang && !of_c99) {
    return tl::unexpected(of_c99.error());
  }
  const bool differ = !of_clang || !of_c99 || (of_clang->bits != 0) != (of_c99->bits != 0);
  return differ ? std::nullopt : std::optional(of_clang->bits != 0);
}

Result<bool> evaluate_condition_as_clang(std::span<const Token> tokens, const Token& directive,
                                         std::string_view path) {
  return evaluated(tokens, directive, path, Arithmetic::clang_condition).map([](const Constant& value) {
    return value.bits != 0;
  });
}

std::optional<Constant> evaluate_constant(std::span<const Token> tokens, const ConstantWords& words) {
  const Token nowhere;
  const auto value = evaluated(tokens, nowhere, "", Arithmetic::declaration, words);
  return value ? std::optional(*value) : std::nullopt;
}

// Evaluates the lists of enumerators in source order: later values may use earlier ones.

ConstantValues::ConstantValues(const TranslationUnit& unit) : unit_(unit) {
  for (const Record& record : unit.tree->records) {
    if (record.kind == Record::Kind::enumeration && record.body.end != 0) {
      enumerators(record);
    }
  }
}

void ConstantValues::enumerators(const Record& record) {
  std::optional<Constant> next = Constant{};
  for (const Decl* const enumerator : record.members) {
    if (enumerator->value != nullptr) {
      next = constant(enumerator->value->tokens);
    }
    if (!next || !next->number()) {
      return;
    }
    values_[enumerator->tokens.begin] = *next;
    const Constant greater{.bits = next->bits + 1, .type = next->type};
    next = converted(greater, greater.type).bits == greater.bits ? std::optional(greater) : std::nullopt;
  }
  // After the list all enumerators are int, or have the enumeration's type if int cannot hold them.
  complete_.insert(&record);
  const auto type = type_of(record);
  for (const Decl* const enumerator : record.members) {
    Constant& value = values_[enumerator->tokens.begin];
    const Constant as_int = converted(value, {});
    value = as_int.number() == value.number() ? as_int : converted(value, type);
  }
}

std::optional<Constant> ConstantValues::constant(TokenRange expression) const {
  const std::vector<Token>& tokens = unit_.source.tokens;
  // Returns the arithmetic type in the parentheses at `open`.
  const auto type_in = [&](std::size_t open) -> std::optional<ArithmeticType> {
    std::vector<std::string_view> words;
    for (std::size_t i = open + 1; i < unit_.counterpart(open); ++i) {
      const Name* const name = unit_.meaning(i);
      if (tokens[i].kind != TokenKind::identifier || (name != nullptr && !name->is_file_scope)) {
        return {};
      }
      words.push_back(tokens[i].text);
    }
    return arithmetic_type(canonical_type(words, unit_.typedefs));
  };
  const ConstantWords words{
      .value = [&](std::size_t& at) -> std::optional<Constant> {
        const std::size_t token = expression.begin + at++;
        if (tokens[token].is("sizeof") && token + 1 < expression.end && tokens[token + 1].is("(")) {
          const auto type = type_in(token + 1);
          at = unit_.counterpart(token + 1) + 1 - expression.begin;
          return type ? std::optional(
                            Constant{.bits = type->bytes(), .type = {.bits = 64, .is_unsigned = true}})
                      : std::nullopt;
        }
        const Name* const name = unit_.meaning(token);
        const auto found = name == nullptr ? values_.end() : values_.find(name->token);
        return found == values_.end() ? std::nullopt : std::optional(found->second);
      },
      .cast = [&](std::size_t& at) -> std::optional<IntegerType> {
        const std::size_t open = expression.begin + at;
        const auto type = type_in(open);
        const bool is_integer = type && type->width == 1 && type->scalar != "half" &&
                                type->scalar != "float" && type->scalar != "double";
        if (!is_integer) {
          return {};
        }
        at = unit_.counterpart(open) + 1 - expression.begin;
        return IntegerType{.bits = 8 * type->scalar_bytes, .is_unsigned = type->scalar.starts_with('u')};
      }};
  return evaluate_constant(unit_.tokens(expression), words);
}

std::optional<std::int64_t> ConstantValues::value(TokenRange expression) const {
  const auto found = constant(expression);
  return found ? found->number() : std::nullopt;
}

std::optional<std::vector<std::pair<std::string, std::int64_t>>>
ConstantValues::enumerators_of(const Record& record) const {
  if (!complete_.contains(&record)) {
    return {};
  }
  std::vector<std::pair<std::string, std::int64_t>> found;
  for (const Decl* const enumerator : record.members) {
    const std::size_t token = enumerator->tokens.begin;
    found.emplace_back(unit_.source.tokens[token].text, *values_.at(token).number());
  }
  return found;
}

// Compilers take the first of uint, int, ulong and long that holds every enumerator.
IntegerType ConstantValues::type_of(const Record& record) const {
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (const Decl* const enumerator : record.members) {
    const std::int64_t value = *values_.at(enumerator->tokens.begin).number();
    least = std::min(least, value);
    most = std::max(most, value);
  }
  const bool is_long = least < std::numeric_limits<std::int32_t>::min() ||
                       most > (least < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::max()}
                                         : std::int64_t{std::numeric_limits<std::uint32_t>::max()});
  return {.bits = is_long ? 64U : 32U, .is_unsigned = least >= 0};
}

std::string ConstantValues::integer_of(const Type& type) const {
  const bool known = type.is(Type::Kind::number) && type.record != nullptr && !type.has_attributes &&
                     complete_.contains(type.record) && !type.record->attributes.packed &&
                     !type.record->attributes.other && type.record->attributes.aligned.empty();
  if (!known) {
    return "";
  }
  const IntegerType integer = type_of(*type.record);
  return std::string(integer.is_unsigned ? "u" : "") + (integer.bits == 64 ? "long" : "int");
}

} // namespace tidegate::opencl_c
