// Finds parameters and their uses, computes them, and writes their values in their places.
#include "core/json.hpp"

namespace tidegate::documents {
namespace {

// Exact where all numbers are whole: wide enough for any product of two of 64 bits.
__extension__ typedef __int128 Integer;
using Operand = std::variant<Integer, double>;

double as_double(const Operand& value) {
  return std::visit([](auto each) { return static_cast<double>(each); }, value);
}

// A value in the text that stands for a number: a parameter's, or a use.
struct Stated {
  JsonValue value;
  std::string pointer;
  std::optional<std::string> parameter;  // set if it is the value of this one
  std::optional<std::string> expression; // else the value's text is the number
};

// Adds those in `value`, in the order of the text. `parameter` is the name if it is that of a parameter, or null.
void find_stated(JsonValue value, const std::string& pointer, const std::string* parameter,
                 std::vector<Stated>& found) {
  std::string room;
  std::optional<std::string> expression;
  const JsonValue first = value.inner();
  if (value.first() == '{' && first != value.next() && first.next().next() == value.next() &&
      !pointer.empty() && first.string(room) == "parameter" && first.next().first() == '"') {
    expression = first.next().string(room);
  }
  if (expression || (parameter != nullptr && !value.is_container())) {
    found.push_back({.value = value,
                     .pointer = pointer,
                     .parameter = parameter != nullptr ? std::optional(*parameter) : std::nullopt,
                     .expression = std::move(expression)});
    return;
  }
  const bool has_parameters = pointer == "/parameters" && value.first() == '{';
  (void)find_inner(value, [&](const std::string& name, JsonValue inner) {
    find_stated(inner, pointer + '/' + pointer_token(name), has_parameters ? &name : nullptr, found);
    return false;
  });
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string names_text(std::span<const Parameter> known) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : known) {
    names.push_back(parameter.first);
  }
  return names.empty() ? "the program has no parameters before this one"
                       : fmt::format("its parameters are {}", fmt::join(names, ", "));
}

tl::unexpected<Error> bad_expression(std::string message, std::string fix) {
  return failure(ErrorCode::invalid_program, std::move(message), std::move(fix));
}

// Reads an expression from left to right, and computes it.
class Expression {
public:
  Expression(std::string_view text, std::span<const Parameter> known) : text_(text), known_(known) {}

  Result<Number> value() {
    constexpr std::size_t longest = 1000; // bounds the depth of brackets
    if (text_.size() > longest) {
      return bad_expression("the expression has more than 1000 characters", "shorten it");
    }
    TIDEGATE_TRY(const Operand result, operation(1));
    if (next() != '\0') {
      return unexpected_text();
    }
    if (const double* const real = std::get_if<double>(&result)) {
      return std::isfinite(*real) ? Result<Number>(*real) : too_large();
    }
    const Integer whole = std::get<Integer>(result);
    if (whole > std::numeric_limits<std::uint64_t>::max() ||
        whole < std::numeric_limits<std::int64_t>::min()) {
      return too_large();
    }
    return whole < 0 ? Number(static_cast<std::int64_t>(whole)) : Number(static_cast<std::uint64_t>(whole));
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
    if (c == '-') {
      ++at_;
      TIDEGATE_TRY(const Operand value, factor());
      return computed('-', Integer{0}, value);
    }
    if (c == '(') {
      ++at_;
      TIDEGATE_TRY(const Operand value, operation(1));
      if (next() != ')') {
        return bad_expression("a bracket is not closed", "add )");
      }
      ++at_;
      return value;
    }
    if (is_letter(c)) {
      return named();
    }
    return is_digit(c) ? literal() : Result<Operand>(unexpected_text());
  }

  Result<Operand> named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) {
      ++at_;
    }
    const std::string_view name = text_.substr(begin, at_ - begin);
    const auto found = std::ranges::find(known_, name, &Parameter::first);
    if (found == known_.end()) {
      return bad_expression(fmt::format("there is no parameter {}", in_quotes(name)), names_text(known_));
    }
    return operand(found->second);
  }

  static Operand operand(const Number& number) {
    const double* const real = std::get_if<double>(&number);
    return real != nullptr
               ? Operand(*real)
               : std::visit([](auto whole) { return Operand(static_cast<Integer>(whole)); }, number);
  }

  Result<Operand> literal() {
    double real = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), real);
    const std::string_view digits(begin, static_cast<std::size_t>(end - begin));
    at_ += digits.size();
    const Number number = number_of(digits);
    const bool is_real = digits.find_first_not_of("0123456789") != std::string_view::npos;
    return error != std::errc() || std::holds_alternative<double>(number) != is_real
               ? Result<Operand>(too_large())
               : operand(number);
  }

  static Result<Operand> computed(char sign, const Operand& left, const Operand& right) {
    if (sign == '/' && as_double(right) == 0) {
      return bad_expression("a division by zero", "divide by another number");
    }
    if (std::holds_alternative<double>(left) || std::holds_alternative<double>(right)) {
      const double a = as_double(left);
      const double b = as_double(right);
      return sign == '+' ? a + b : sign == '-' ? a - b : sign == '*' ? a * b : a / b;
    }
    const Integer a = std::get<Integer>(left);
    const Integer b = std::get<Integer>(right);
    Integer result = 0;
    const bool overflows = sign == '+'   ? __builtin_add_overflow(a, b, &result)
                           : sign == '-' ? __builtin_sub_overflow(a, b, &result)
                           : sign == '*' ? __builtin_mul_overflow(a, b, &result)
                                         : (result = a / b, false);
    return overflows ? too_large() : Result<Operand>(result);
  }

  static tl::unexpected<Error> too_large() {
    return failure(ErrorCode::out_of_range, "the value does not fit into 64 bits",
                   "give smaller numbers, or one with a decimal point");
  }
  tl::unexpected<Error> unexpected_text() {
    return bad_expression(next() == '\0' ? "the expression ends early"
                                         : fmt::format("the expression goes on with {}",
                                                       in_quotes(shortened(text_.substr(at_), 20))),
                          "give numbers and parameters with + - * / and brackets, such as n * 4 + 1");
  }

  std::string_view text_;
  std::span<const Parameter> known_;
  std::size_t at_ = 0;
};

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

} // namespace

Result<Number> read_number(std::string_view text) {
  auto value = Expression(text, {}).value();
  if (!value) {
    return failure(ErrorCode::invalid_usage, fmt::format("{} is not a number", in_quotes(text)),
                   "give one such as 1024 or 0.5");
  }
  return value;
}

Result<std::string> replace_parameters(std::string json, std::span<const Parameter> given) {
  JsonParser parser;
  std::vector<Stated> all;
  if (json.find("\"parameter") != std::string::npos) {
    if (const auto document = parser.parse(json)) {
      find_stated(*document, "", nullptr, all);
    }
  }
  ErrorList errors;
  const auto add = [&](Error error, const Stated& stated) {
    error.pointer = stated.pointer;
    errors.add(error_at(json, stated.value.begin(), std::move(error)));
  };
  std::vector<Parameter> known;
  for (const Stated& stated : all) {
    if (!stated.parameter) {
      continue;
    }
    const std::string& name = *stated.parameter;
    if (!is_name(name)) {
      add(bad_expression(fmt::format("{} is not a name of a parameter", in_quotes(name)),
                         "use letters, digits and _, and no digit first")
              .value(),
          stated);
    }
    const std::string_view text = stated.value.text();
    auto value =
        stated.expression ? Expression(*stated.expression, known).value()
        : is_digit(text[0]) || text[0] == '-'
            ? Expression(text, {}).value()
            : bad_expression(fmt::format("the parameter {} is {}, not a number", in_quotes(name), text),
                             R"(give a number, or an expression: {"parameter": "2 * n"})");
    if (const auto other = std::ranges::find(given, name, &Parameter::first); other != given.end()) {
      value = other->second;
    }
    if (!value) {
      add(std::move(value.error()), stated);
    }
    known.emplace_back(name, value.value_or(Number(std::uint64_t{1}))); // so that its uses are not errors
  }
  for (const auto& [name, value] : given) {
    if (std::ranges::find(known, name, &Parameter::first) == known.end()) {
      errors.add({.code = ErrorCode::invalid_usage,
                  .message = fmt::format("--param {}: the program has no such parameter", name),
                  .fix = known.empty() ? "add \"parameters\" to the program" : names_text(known)});
    }
  }
  std::string replaced;
  std::size_t copied = 0;
  for (const Stated& stated : all) {
    if (stated.parameter && !stated.expression) {
      continue; // the number that the file states keeps its length; no one reads it from here on
    }
    // The value of a parameter is an expression, too: its name.
    const auto value = Expression(stated.parameter.value_or(stated.expression.value_or("")), known).value();
    if (!value) {
      if (!stated.parameter) { // else it was added above
        add(value.error(), stated);
      }
      continue;
    }
    const std::string_view use = stated.value.text();
    replaced.append(json, copied, stated.value.begin() - copied);
    std::string text;
    std::visit([&text](auto number) { append_number(text, number); }, *value);
    replaced += text;
    // Line breaks in a use stay, so that what follows keeps its line.
    for (std::size_t i = 0; i < use.size(); ++i) {
      replaced += use[i] == '\n' ? "\n" : i >= text.size() ? " " : "";
    }
    copied = stated.value.end();
  }
  TIDEGATE_CHECK(errors.result());
  return all.empty() ? std::move(json) : replaced.append(json, copied);
}

} // namespace tidegate::documents
