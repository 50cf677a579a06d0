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

// Returns the name that the text begins with.
std::string_view name_at(std::string_view text) {
  const auto goes_on = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const bool is_number = !text.empty() && text[0] >= '0' && text[0] <= '9';
  return is_number ? "" : std::string_view(text.begin(), std::ranges::find_if_not(text, goes_on));
}

// Reads an expression from left to right, and computes it.
class Expression {
public:
  Expression(std::string_view text, std::span<const Parameter> known) : rest_(text), known_(known) {}

  Result<Number> value() {
    constexpr std::size_t longest = 1000; // bounds the depth of brackets
    if (rest_.size() > longest) {
      return refused("the expression has more than 1000 characters", "shorten it");
    }
    TIDEGATE_TRY(const Operand result, operation(1));
    if (next() != '\0') {
      return unexpected_text();
    }
    const auto* const whole = std::get_if<WideInteger>(&result);
    if (whole == nullptr ? !std::isfinite(real(result))
                         : !fits<std::uint64_t>(*whole) && !fits<std::int64_t>(*whole)) {
      return too_great();
    }
    return whole == nullptr ? Number(real(result))
           : *whole < 0     ? Number(static_cast<std::int64_t>(*whole))
                            : Number(static_cast<std::uint64_t>(*whole));
  }

private:
  char next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    return rest_.empty() ? '\0' : rest_[0];
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
      rest_.remove_prefix(1);
      TIDEGATE_TRY(const Operand right, operation(precedence + 1));
      TIDEGATE_TRY(left, computed(sign, left, right));
    }
  }

  Result<Operand> factor() {
    const char c = next();
    if (c != '-' && c != '(') {
      return name_at(rest_).empty() ? literal() : named(name_at(rest_));
    }
    rest_.remove_prefix(1);
    TIDEGATE_TRY(const Operand value, c == '-' ? factor() : operation(1));
    if (c == '-') {
      return computed('-', WideInteger{0}, value);
    }
    if (next() != ')') {
      return refused("a bracket is not closed", "add )");
    }
    rest_.remove_prefix(1);
    return value;
  }

  Result<Operand> named(std::string_view name) {
    rest_.remove_prefix(name.size());
    const auto found = std::ranges::find(known_, name, &Parameter::first);
    return found == known_.end()
               ? refused(fmt::format("there is no parameter {}", in_quotes(name)), parameters_text(known_))
               : Result<Operand>(operand(found->second));
  }

  Result<Operand> literal() {
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const std::string_view digits = rest_.substr(0, static_cast<std::size_t>(end - rest_.data()));
    if (digits.empty()) {
      return unexpected_text();
    }
    rest_.remove_prefix(digits.size());
    const Number number = number_of(digits);
    const bool is_real = digits.find_first_not_of("0123456789") != std::string_view::npos;
    return error != std::errc() || std::holds_alternative<double>(number) != is_real
               ? too_great()
               : Result<Operand>(operand(number));
  }

  tl::unexpected<Error> unexpected_text() {
    return refused(next() == '\0'
                       ? "the expression ends early"
                       : fmt::format("the expression goes on with {}", in_quotes(shortened(rest_, 20))),
                   "give numbers and parameters with + - * / and brackets, such as n * 4 + 1");
  }

  std::string_view rest_;
  std::span<const Parameter> known_;
};

} // namespace

bool is_parameter_name(std::string_view text) {
  return !text.empty() && name_at(text) == text;
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

} // namespace tidegate::documents
