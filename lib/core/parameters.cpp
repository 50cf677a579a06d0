// Computes the expressions of parameters.
#include "core/json.hpp"
#include "core/npy.hpp"

namespace tidegate::documents {
namespace {

// Exact where all numbers are whole: wide enough for any product of two of 64 bits.
using Operand = std::variant<WideInteger, double>;

double real(const Operand& value) {
  return std::visit([](auto each) { return static_cast<double>(each); }, value);
}

Operand operand(const Number& number) {
  const double* const fraction = std::get_if<double>(&number);
  return fraction != nullptr ? Operand(*fraction) : Operand(*as_integer(number));
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

tl::unexpected<Error> refused(std::string message, std::string fix) {
  return failure(ErrorCode::invalid_program, std::move(message), std::move(fix));
}

tl::unexpected<Error> too_great() {
  return failure(ErrorCode::out_of_range, "the value does not fit into 64 bits",
                 "give smaller numbers, or one with a decimal point");
}

Result<Operand> computed(char sign, const Operand& left, const Operand& right) {
  if (sign == '/' && real(right) == 0) {
    return refused("a division by zero", "divide by another number");
  }
  const auto* const a = std::get_if<WideInteger>(&left);
  const auto* const b = std::get_if<WideInteger>(&right);
  if (a == nullptr || b == nullptr) {
    const double x = real(left), y = real(right);
    return sign == '+' ? x + y : sign == '-' ? x - y : sign == '*' ? x * y : x / y;
  }
  WideInteger result = sign == '/' ? *a / *b : 0;
  const bool overflows = sign == '+'   ? __builtin_add_overflow(*a, *b, &result)
                         : sign == '-' ? __builtin_sub_overflow(*a, *b, &result)
                                       : sign == '*' && __builtin_mul_overflow(*a, *b, &result);
  return overflows ? too_great() : Result<Operand>(result);
}

// Reads an expression from left to right, and computes it.
class Expression {
public:
  Expression(std::string_view text, std::span<const Parameter> known) : text_(text), known_(known) {}

  Result<Number> value() {
    constexpr std::size_t longest = 1000; // bounds the depth of brackets
    if (text_.size() > longest) {
      return refused("the expression has more than 1000 characters", "shorten it");
    }
    TIDEGATE_TRY(const Operand result, operation(1));
    if (next() != '\0') {
      return unexpected_text();
    }
    const auto* const whole = std::get_if<WideInteger>(&result);
    if (whole == nullptr) {
      return std::isfinite(real(result)) ? Result<Number>(real(result)) : too_great();
    }
    return fits<std::uint64_t>(*whole)  ? Number(static_cast<std::uint64_t>(*whole))
           : fits<std::int64_t>(*whole) ? Number(static_cast<std::int64_t>(*whole))
                                        : Result<Number>(too_great());
  }

private:
  char next() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ == text_.size() ? '\0' : text_[at_];
  }

  // Operands with signs of at least this precedence between them.
  Result<Operand> operation(int least) {
    TIDEGATE_TRY(Operand left, factor());
    while (true) {
      const char sign = next();
      const int precedence = sign == '+' || sign == '-' ? 1 : sign == '*' || sign == '/' ? 2 : 0;
      if (precedence < least) {
        return left;
      }
      ++at_;
      TIDEGATE_TRY(const Operand right, operation(precedence + 1));
      TIDEGATE_TRY(left, computed(sign, left, right));
    }
  }

  Result<Operand> factor() {
    const char c = next();
    if (is_letter(c)) {
      return named();
    }
    if (is_digit(c)) {
      return literal();
    }
    if (c != '-' && c != '(') {
      return unexpected_text();
    }
    ++at_;
    TIDEGATE_TRY(const Operand value, c == '-' ? factor() : operation(1));
    if (c == '-') {
      return computed('-', WideInteger{0}, value);
    }
    if (next() != ')') {
      return refused("a bracket is not closed", "add )");
    }
    ++at_;
    return value;
  }

  Result<Operand> named() {
    const std::string_view rest = text_.substr(at_);
    const auto end = std::ranges::find_if_not(rest, [](char c) { return is_letter(c) || is_digit(c); });
    const std::string_view name(rest.begin(), end);
    at_ += name.size();
    const auto found = std::ranges::find(known_, name, &Parameter::first);
    return found == known_.end()
               ? refused(fmt::format("there is no parameter {}", in_quotes(name)), parameters_text(known_))
               : Result<Operand>(operand(found->second));
  }

  Result<Operand> literal() {
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    const std::string_view digits(begin, static_cast<std::size_t>(end - begin));
    at_ += digits.size();
    const Number number = number_of(digits);
    const bool is_real = digits.find_first_not_of("0123456789") != std::string_view::npos;
    return error != std::errc() || std::holds_alternative<double>(number) != is_real
               ? too_great()
               : Result<Operand>(operand(number));
  }

  tl::unexpected<Error> unexpected_text() {
    return refused(next() == '\0' ? "the expression ends early"
                                  : fmt::format("the expression goes on with {}",
                                                in_quotes(shortened(text_.substr(at_), 20))),
                   "give numbers and parameters with + - * / and brackets, such as n * 4 + 1");
  }

  std::string_view text_;
  std::span<const Parameter> known_;
  std::size_t at_ = 0;
};

} // namespace

bool is_parameter_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

std::string parameters_text(std::span<const Parameter> known) {
  std::vector<std::string_view> names;
  std::ranges::transform(known, std::back_inserter(names), &Parameter::first);
  return names.empty() ? "the program has no parameters before this one"
                       : fmt::format("its parameters are {}", fmt::join(names, ", "));
}

Result<Number> evaluate(std::string_view expression, std::span<const Parameter> known) {
  return Expression(expression, known).value();
}

Result<Number> read_number(std::string_view text) {
  return evaluate(text, {}).map_error([text](const Error& /*of an expression*/) {
    return Error{.code = ErrorCode::invalid_usage,
                 .message = fmt::format("{} is not a number", in_quotes(text)),
                 .fix = "give one such as 1024 or 0.5"};
  });
}

} // namespace tidegate::documents
