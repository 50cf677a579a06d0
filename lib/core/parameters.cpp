// Finds parameters and their uses in one walk over the text, computes them, and writes their values in their places.
#include "core/parameters.hpp"

#include "core/json_reader.hpp"
#include "core/json_text.hpp"
#include <tidegate/core/decode.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace tidegate::documents {
namespace {

// Exact where all numbers are whole: wide enough for any product of two of 64 bits.
__extension__ typedef __int128 Integer;
using Operand = std::variant<Integer, double>;

double as_double(const Operand& value) {
  return std::visit([](auto each) { return static_cast<double>(each); }, value);
}

// A value in the text: of a parameter, or in its place.
struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string pointer;
  std::optional<std::string> parameter;  // set if it is the value of this one
  std::optional<std::string> expression; // else the text between begin and end is the value
};

class Finder final : public PathHandler {
public:
  std::vector<Place> places; // in the order of the text

private:
  bool found(const Scalar& value) final {
    const auto* const text = std::get_if<std::string_view>(&value);
    use_ = text != nullptr ? std::optional<std::string>(*text) : std::nullopt;
    if (in_parameters()) {
      add(begin, {});
    }
    return true;
  }
  bool opened() final {
    use_.reset();
    return true;
  }
  bool closed(const Container& container) final {
    const bool only = !container.is_list && container.next == 1 && container.last_key == "parameter";
    if (only && use_ && !containers.empty()) {
      add(container.begin, std::exchange(use_, std::nullopt));
    }
    use_.reset();
    return true;
  }

  [[nodiscard]] bool in_parameters() const {
    return containers.size() == 2 && !containers[1].is_list && containers[0].last_key == "parameters";
  }

  // Notes the value between `first` and the end of this token.
  void add(std::size_t first, std::optional<std::string> expression) {
    places.push_back({.begin = first,
                      .end = end,
                      .pointer = path,
                      .parameter = in_parameters() ? std::optional(containers[1].last_key) : std::nullopt,
                      .expression = std::move(expression)});
  }

  std::optional<std::string> use_; // the value before, if it is a string
};

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

Error bad_expression(std::string message, std::string fix) {
  return {.code = ErrorCode::invalid_program, .message = std::move(message), .fix = std::move(fix)};
}

// Reads an expression from left to right, and computes it.
class Expression {
public:
  Expression(std::string_view text, std::span<const Parameter> known) : text_(text), known_(known) {}

  Result<Number> value() {
    constexpr std::size_t longest = 1000; // bounds the depth of brackets
    if (text_.size() > longest) {
      return tl::unexpected(bad_expression("the expression has more than 1000 characters", "shorten it"));
    }
    TIDEGATE_TRY(const Operand result, sum());
    if (next() != '\0') {
      return tl::unexpected(unexpected_text());
    }
    if (const double* const real = std::get_if<double>(&result)) {
      return std::isfinite(*real) ? Result<Number>(*real) : tl::unexpected(too_large());
    }
    const Integer whole = std::get<Integer>(result);
    if (whole > std::numeric_limits<std::uint64_t>::max() ||
        whole < std::numeric_limits<std::int64_t>::min()) {
      return tl::unexpected(too_large());
    }
    return whole < 0 ? Number(static_cast<std::int64_t>(whole)) : Number(static_cast<std::uint64_t>(whole));
  }

private:
  char next() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ == text_.size() ? '\0' : text_[at_];
  }

  Result<Operand> sum() {
    TIDEGATE_TRY(Operand left, product());
    while (next() == '+' || next() == '-') {
      const char sign = text_[at_++];
      TIDEGATE_TRY(const Operand right, product());
      TIDEGATE_TRY(left, computed(sign, left, right));
    }
    return left;
  }

  Result<Operand> product() {
    TIDEGATE_TRY(Operand left, factor());
    while (next() == '*' || next() == '/') {
      const char sign = text_[at_++];
      TIDEGATE_TRY(const Operand right, factor());
      TIDEGATE_TRY(left, computed(sign, left, right));
    }
    return left;
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
      TIDEGATE_TRY(const Operand value, sum());
      if (next() != ')') {
        return tl::unexpected(bad_expression("a bracket is not closed", "add )"));
      }
      ++at_;
      return value;
    }
    if (is_letter(c)) {
      return named();
    }
    return is_digit(c) ? literal() : tl::unexpected(unexpected_text());
  }

  Result<Operand> named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) {
      ++at_;
    }
    const std::string_view name = text_.substr(begin, at_ - begin);
    const auto found = std::ranges::find(known_, name, &Parameter::first);
    if (found == known_.end()) {
      return tl::unexpected(
          bad_expression(fmt::format("there is no parameter {}", in_quotes(name)), names_text(known_)));
    }
    return std::visit(
        [](auto value) -> Operand {
          if constexpr (std::is_same_v<decltype(value), double>) {
            return value;
          } else {
            return Integer{value};
          }
        },
        found->second);
  }

  Result<Operand> literal() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    std::uint64_t whole = 0;
    double real = 0;
    const auto as_whole = std::from_chars(begin, end, whole);
    const auto as_real = std::from_chars(begin, end, real);
    at_ = static_cast<std::size_t>(as_real.ptr - text_.data());
    if (as_real.ptr != as_whole.ptr) { // a point or an exponent
      return as_real.ec == std::errc() ? Result<Operand>(real) : tl::unexpected(too_large());
    }
    return as_whole.ec == std::errc() ? Result<Operand>(Integer{whole}) : tl::unexpected(too_large());
  }

  static Result<Operand> computed(char sign, const Operand& left, const Operand& right) {
    if (sign == '/' && as_double(right) == 0) {
      return tl::unexpected(bad_expression("a division by zero", "divide by another number"));
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
    return overflows ? tl::unexpected(too_large()) : Result<Operand>(result);
  }

  static Error too_large() {
    return {.code = ErrorCode::out_of_range,
            .message = "the value does not fit into 64 bits",
            .fix = "give smaller numbers, or one with a decimal point"};
  }
  Error unexpected_text() {
    return bad_expression(next() == '\0' ? "the expression ends early"
                                         : fmt::format("the expression goes on with {}",
                                                       in_quotes(shortened(text_.substr(at_), 20))),
                          "give numbers and parameters with + - * / and brackets, such as n * 4 + 1");
  }

  std::string_view text_;
  std::span<const Parameter> known_;
  std::size_t at_ = 0;
};

std::string number_text(const Number& number) {
  std::string text;
  if (const double* const real = std::get_if<double>(&number)) {
    append_number(text, *real);
    return text;
  }
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

bool is_name(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

} // namespace

void remove_comments(std::string& json) {
  json.erase(0, json.size() - without_byte_order_mark(json).size());
  bool in_string = false;
  for (std::size_t at = json.find("//") == std::string::npos ? json.size() : 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string && c == '\\') {
      ++at;
    } else if (c == '"' || c == '\n') { // no string goes on in the next line
      in_string = c == '"' && !in_string;
    } else if (!in_string && c == '/' && json.compare(at, 2, "//") == 0) {
      for (; at < json.size() && json[at] != '\n'; ++at) {
        json[at] = ' ';
      }
    }
  }
}

Result<Number> read_number(std::string_view text) {
  auto value = Expression(text, {}).value();
  if (!value) {
    return failure(ErrorCode::invalid_usage, fmt::format("{} is not a number", in_quotes(text)),
                   "give one such as 1024 or 0.5");
  }
  return value;
}

Result<std::string> replace_parameters(std::string json, std::span<const Parameter> given) {
  std::vector<Place> places;
  if (json.find("\"parameter") != std::string::npos) {
    Finder finder;
    if (!read_json(json, finder)) {
      places = std::move(finder.places);
    }
  }
  ErrorList errors;
  const auto add = [&](Error error, const Place& place) {
    const Position position = position_of(json, place.begin);
    error.pointer = place.pointer;
    error.line = position.line;
    error.column = position.column;
    errors.add(std::move(error));
  };
  std::vector<Parameter> known;
  for (const Place& place : places) {
    if (!place.parameter) {
      continue;
    }
    const std::string& name = *place.parameter;
    if (!is_name(name)) {
      add(bad_expression(fmt::format("{} is not a name of a parameter", in_quotes(name)),
                         "use letters, digits and _, and no digit first"),
          place);
    }
    const std::string_view stated = std::string_view(json).substr(place.begin, place.end - place.begin);
    auto value = place.expression ? Expression(*place.expression, known).value()
                 : is_digit(stated[0]) || stated[0] == '-'
                     ? Expression(stated, {}).value()
                     : tl::unexpected(bad_expression(
                           fmt::format("the parameter {} is {}, not a number", in_quotes(name), stated),
                           R"(give a number, or an expression: {"parameter": "2 * n"})"));
    if (const auto other = std::ranges::find(given, name, &Parameter::first); other != given.end()) {
      value = other->second;
    }
    if (!value) {
      add(std::move(value.error()), place);
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
  for (const Place& place : places) {
    if (place.parameter && !place.expression) {
      continue; // the number that the file states keeps its length; no one reads it from here on
    }
    // The value of a parameter is an expression, too: its name.
    const auto value = Expression(place.parameter.value_or(place.expression.value_or("")), known).value();
    if (!value) {
      if (!place.parameter) { // else it was added above
        add(value.error(), place);
      }
      continue;
    }
    replaced.append(json, copied, place.begin - copied);
    const std::string text = number_text(*value);
    const std::size_t room = place.end - place.begin;
    replaced += text;
    // Line breaks in a use stay, so that what follows keeps its line.
    for (std::size_t i = 0; i < room; ++i) {
      if (json[place.begin + i] == '\n') {
        replaced += '\n';
      } else if (i >= text.size()) {
        replaced += ' ';
      }
    }
    copied = place.end;
  }
  TIDEGATE_CHECK(errors.result());
  return places.empty() ? std::move(json) : replaced.append(json, copied);
}

} // namespace tidegate::documents
