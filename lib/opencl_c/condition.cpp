#include <tidegate/core/text.hpp>
#include <tidegate/opencl_c/condition.hpp>
#include <tidegate/opencl_c/lexer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace tidegate::opencl_c {
namespace {

struct Value {
  std::uint64_t bits = 0;
  bool is_unsigned = false;

  [[nodiscard]] std::int64_t as_signed() const { return static_cast<std::int64_t>(bits); }
};

std::optional<Value> number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
  } else if (text.starts_with("0b") || text.starts_with("0B")) {
    base = 2;
  } else if (text.starts_with('0')) {
    base = 8;
  }
  text.remove_prefix(base == 16 || base == 2 ? 2 : 0);
  Value value;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value.bits, base);
  std::string suffix(end, text.data() + text.size());
  const std::size_t with_u = suffix.find_first_of("uU");
  if (with_u != std::string::npos) {
    suffix.erase(with_u, 1);
  }
  constexpr std::array<std::string_view, 5> suffixes{"", "l", "L", "ll", "LL"};
  if (failure != std::errc() || std::ranges::find(suffixes, suffix) == suffixes.end()) {
    return std::nullopt;
  }
  value.is_unsigned = with_u != std::string::npos || value.as_signed() < 0;
  return value;
}

// The character that the text starts with, which is taken off; escapes are C's, and \e.
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

// Characters are signed bytes; of several, each shifts those before it to the left. Wide ones are 32 bits.
Value character(std::string_view text) {
  const bool wide = text.starts_with('L');
  text = text.substr(wide ? 2 : 1, text.size() - (wide ? 3 : 2));
  std::uint32_t bits = 0;
  std::size_t count = 0;
  for (; !text.empty(); ++count) {
    const std::uint32_t c = take_character(text);
    bits = wide ? c : (bits << 8U) | (c & 0xffU);
  }
  const std::int32_t value =
      count == 1 && !wide ? static_cast<std::int8_t>(bits) : static_cast<std::int32_t>(bits);
  return {.bits = static_cast<std::uint64_t>(std::int64_t{value})};
}

Value shifted(Value left, Value right, bool to_the_left) {
  std::uint64_t count = right.bits;
  if (!right.is_unsigned && right.as_signed() < 0) { // as compilers do it
    to_the_left = !to_the_left;
    count = 0 - count;
  }
  const bool fills_with_ones = !to_the_left && !left.is_unsigned && left.as_signed() < 0;
  if (count >= 64) {
    left.bits = fills_with_ones ? ~std::uint64_t{0} : 0;
  } else if (to_the_left) {
    left.bits <<= count;
  } else {
    left.bits = left.is_unsigned ? left.bits >> count : static_cast<std::uint64_t>(left.as_signed() >> count);
  }
  return left;
}

// The quotient or the remainder. The divisor is not 0.
std::uint64_t divided(Value left, Value right, bool is_unsigned, bool remainder) {
  if (is_unsigned) {
    return remainder ? left.bits % right.bits : left.bits / right.bits;
  }
  if (right.as_signed() == -1) { // the smallest number has no opposite
    return remainder ? 0 : 0 - left.bits;
  }
  return static_cast<std::uint64_t>(remainder ? left.as_signed() % right.as_signed()
                                              : left.as_signed() / right.as_signed());
}

Value calculated(std::string_view name, Value left, Value right) {
  const bool is_unsigned = left.is_unsigned || right.is_unsigned;
  const auto truth = [](bool value) { return Value{.bits = value ? 1U : 0U}; };
  const bool less = is_unsigned ? left.bits < right.bits : left.as_signed() < right.as_signed();
  const bool equal = left.bits == right.bits;
  if (name == "<<" || name == ">>") {
    return shifted(left, right, name == "<<");
  }
  if (name == "==" || name == "!=") {
    return truth(equal == (name == "=="));
  }
  if (name == "<" || name == ">=") {
    return truth(less == (name == "<"));
  }
  if (name == "<=" || name == ">") {
    return truth((less || equal) == (name == "<="));
  }
  if (name == "&&") {
    return truth(left.bits != 0 && right.bits != 0);
  }
  if (name == "||") {
    return truth(left.bits != 0 || right.bits != 0);
  }
  std::uint64_t bits = 0;
  switch (name[0]) {
  case '*': bits = left.bits * right.bits; break;
  case '+': bits = left.bits + right.bits; break;
  case '-': bits = left.bits - right.bits; break;
  case '&': bits = left.bits & right.bits; break;
  case '^': bits = left.bits ^ right.bits; break;
  case '|': bits = left.bits | right.bits; break;
  default: bits = right.bits == 0 ? 0 : divided(left, right, is_unsigned, name == "%"); break;
  }
  return {.bits = bits, .is_unsigned = is_unsigned};
}

class ConditionParser {
public:
  ConditionParser(std::span<const Token> tokens, const Token& directive, std::string_view path)
      : tokens_(tokens), directive_(directive), path_(path) {}

  Result<std::uint64_t> parse() {
    const auto value = parse_list(true);
    if (!value) {
      return tl::unexpected(value.error());
    }
    if (at_ < tokens_.size()) {
      return unexpected_token();
    }
    return value->bits;
  }

private:
  // `evaluated` is false in operands whose value cannot matter.
  Result<Value> parse_list(bool evaluated) {
    auto value = parse_choice(evaluated);
    while (value && next_is(",")) {
      ++at_;
      value = parse_choice(evaluated);
    }
    return value;
  }

  Result<Value> parse_choice(bool evaluated) {
    if (depth_ == most_depth) {
      return refused("this condition is nested too deeply", "take it apart into several");
    }
    ++depth_;
    auto value = parse_binary(evaluated, 1);
    if (value && next_is("?")) {
      ++at_;
      const bool chosen = value->bits != 0;
      const auto yes = parse_list(evaluated && chosen);
      if (!yes) {
        return yes;
      }
      if (!next_is(":")) {
        return unexpected_token();
      }
      ++at_;
      const auto no = parse_choice(evaluated && !chosen);
      if (!no) {
        return no;
      }
      value =
          Value{.bits = chosen ? yes->bits : no->bits, .is_unsigned = yes->is_unsigned || no->is_unsigned};
    }
    --depth_;
    return value;
  }

  // Precedence climbing: operators of at least that rank.
  Result<Value> parse_binary(bool evaluated, int least_rank) {
    auto left = parse_unary(evaluated);
    while (left && at_ < tokens_.size()) {
      const int rank = binary_rank(tokens_[at_].text);
      if (rank < least_rank) {
        break;
      }
      const Token& name = tokens_[at_++];
      const bool decided = (name.is("&&") && left->bits == 0) || (name.is("||") && left->bits != 0);
      const auto right = parse_binary(evaluated && !decided, rank + 1);
      if (!right) {
        return right;
      }
      if (evaluated && right->bits == 0 && (name.is("/") || name.is("%"))) {
        return tl::unexpected(
            source_error(path_, name, "a division by zero in a condition", "guard it with && or ?:"));
      }
      left = calculated(name.text, *left, *right);
    }
    return left;
  }

  Result<Value> parse_unary(bool evaluated) {
    const std::size_t first = at_;
    while (next_is("+") || next_is("-") || next_is("~") || next_is("!")) {
      ++at_;
    }
    const std::size_t end = at_;
    auto value = parse_primary(evaluated);
    for (std::size_t i = end; value && i-- > first;) {
      switch (tokens_[i].text[0]) {
      case '-': value->bits = 0 - value->bits; break;
      case '~': value->bits = ~value->bits; break;
      case '!': *value = {.bits = value->bits == 0 ? 1U : 0U}; break;
      default: break;
      }
    }
    return value;
  }

  Result<Value> parse_primary(bool evaluated) {
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
      const auto value = number(token.text);
      if (!value) {
        return refused(fmt::format("{} is no 64-bit integer", in_quotes(token.text)),
                       "conditions take integers only");
      }
      ++at_;
      return *value;
    }
    if (token.kind != TokenKind::identifier && token.kind != TokenKind::character) {
      return unexpected_token();
    }
    ++at_;
    return token.kind == TokenKind::character ? character(token.text) : Value{};
  }

  [[nodiscard]] bool next_is(const char* text) const { return at_ < tokens_.size() && tokens_[at_].is(text); }

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
  std::size_t at_ = 0, depth_ = 0;
};

} // namespace

int binary_rank(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, int>, 18> ranks{{{"*", 10},
                                                                           {"/", 10},
                                                                           {"%", 10},
                                                                           {"+", 9},
                                                                           {"-", 9},
                                                                           {"<<", 8},
                                                                           {">>", 8},
                                                                           {"<", 7},
                                                                           {">", 7},
                                                                           {"<=", 7},
                                                                           {">=", 7},
                                                                           {"==", 6},
                                                                           {"!=", 6},
                                                                           {"&", 5},
                                                                           {"^", 4},
                                                                           {"|", 3},
                                                                           {"&&", 2},
                                                                           {"||", 1}}};
  const auto found = std::ranges::find(ranks, name, &std::pair<std::string_view, int>::first);
  return found == ranks.end() ? 0 : found->second;
}

Result<std::uint64_t> evaluate_integer(std::span<const Token> tokens, const Token& directive,
                                       std::string_view path) {
  return ConditionParser(tokens, directive, path).parse();
}

Result<bool> evaluate_condition(std::span<const Token> tokens, const Token& directive,
                                std::string_view path) {
  return evaluate_integer(tokens, directive, path).map([](std::uint64_t value) { return value != 0; });
}

} // namespace tidegate::opencl_c
