#include "opencl_c/expressions.hpp"

#include "opencl_c/constant_expression.hpp"
#include "opencl_c/macros.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

#include <span>
#include <utility>

namespace tidegate::opencl_c {
namespace {

constexpr std::int64_t most_distance = std::int64_t{1} << 30U;

constexpr std::int64_t most_ids = std::int64_t{1} << 31U;

constexpr std::array<std::string_view, 11> assignments{
    "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|="};

// The reduction that a call stands for if its result is not used.
std::optional<Reduction> reduction_of(std::string_view function) {
  static constexpr std::array<std::pair<std::string_view, Reduction>, 10> known{
      {{"add", Reduction::sum},
       {"sub", Reduction::sum},
       {"inc", Reduction::sum},
       {"dec", Reduction::sum},
       {"min", Reduction::min},
       {"max", Reduction::max},
       {"fetch_add", Reduction::sum},
       {"fetch_sub", Reduction::sum},
       {"fetch_min", Reduction::min},
       {"fetch_max", Reduction::max}}};
  for (const std::string_view prefix : {"atomic_", "atom_"}) {
    for (const auto& [name, reduction] : known) {
      if (function.starts_with(prefix) && function.substr(prefix.size()) == name) {
        return reduction;
      }
    }
  }
  return {};
}

Known of_number(const std::optional<Linear>& number, Known otherwise = {}) {
  return number ? Known{.kind = Known::Kind::number, .number = *number} : otherwise;
}

constexpr std::array<std::string_view, 8> wide_types{"int",    "uint",      "long",     "ulong",
                                                     "size_t", "ptrdiff_t", "intptr_t", "uintptr_t"};

std::optional<Linear> all_of(std::string_view type) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> bits{
      {{"char", 8}, {"uchar", 8}, {"short", 16}, {"ushort", 16}, {"int", 32}, {"uint", 32}}};
  for (const auto& [name, count] : bits) {
    if (name == type) {
      const bool has_sign = type.front() != 'u';
      const std::int64_t values = std::int64_t{1} << count;
      return between(has_sign ? -values / 2 : 0, (has_sign ? values / 2 : values) - 1, type != "uint");
    }
  }
  return {};
}

// The value where it is also known to be in a range.
Linear within(const Linear& value, const Interval& range, const IdRanges& ids) {
  const auto [low, high] = range_of(value, ids);
  if (low >= range.low && high <= range.high) {
    return value;
  }
  const Interval both = tighter(range, {low, high});
  return between(both.low, std::max(both.low, both.high),
                 value.is_int); // the greater one in code that never runs
}

Linear without_ids(const Linear& value, const IdRanges& ids) {
  const auto [low, high] = range_of(value, ids);
  Linear range = between(low, high, value.is_int);
  range.exact = value.exact;
  return range;
}

Known value_of_number(const Token& token) {
  const auto constant = evaluate_constant(std::span(&token, 1));
  const auto value = constant ? constant->number() : std::nullopt;
  const bool is_int =
      value && *value < (std::int64_t{1} << 31U) && token.text.find_first_of("uUlL") == std::string::npos;
  return value && *value <= most_distance ? of_number(constant_of(*value, is_int)) : Known{};
}

} // namespace

ExpressionReader::ExpressionReader(const TranslationUnit& unit, TokenRange body, bool by_parameter,
                                   const KernelSetting* setting)
    : unit_(unit), tokens_(unit.source.tokens), end_(body.end), setting_(setting),
      by_parameter_(by_parameter) {
  for (std::uint32_t d = 0; d < 3; ++d) {
    ids_.begin[d] = setting == nullptr ? 0 : setting->begin[d];
    ids_.end[d] = setting == nullptr ? most_ids : setting->begin[d] + setting->size[d];
  }
}

IdRanges ExpressionReader::ids() const {
  IdRanges ids = ids_;
  for (std::size_t d = 0; d < 3; ++d) {
    ids.begin[d] = std::max(ids.begin[d], bounds_.ids[d].low);
    ids.end[d] = std::min(ids.end[d], bounds_.ids[d].high + 1);
  }
  return ids;
}

std::optional<Linear> ExpressionReader::as_type(std::string_view type,
                                                const std::optional<Linear>& number) const {
  if (number && is_wide(type)) {
    return converted(*number, type == "int", ids());
  }
  const auto all = all_of(type);
  if (number && all && number->exact) {
    const auto [low, high] = range_of(*number, ids());
    if (low >= all->low && high <= all->high) {
      Linear same = *number;
      same.is_int = true; // in expressions
      return same;
    }
  }
  return setting_ == nullptr ? std::nullopt : all;
}

std::optional<Linear> ExpressionReader::number_of(const Known& value) const {
  if (value.kind == Known::Kind::number) {
    return value.number;
  }
  const bool loaded = value.kind == Known::Kind::element || value.kind == Known::Kind::moved_element;
  return loaded && !value.part && setting_ != nullptr ? all_of(pointees_[value.parameter]) : std::nullopt;
}

void ExpressionReader::skip_brackets() {
  if (at_ < end_ && tokens_[at_].opens()) {
    at_ = unit_.counterpart(at_) + 1;
  } else {
    fail();
  }
}

bool ExpressionReader::is_wide(std::string_view type) {
  return std::ranges::find(wide_types, type) != wide_types.end();
}

bool ExpressionReader::starts_type(std::size_t i) const {
  if (i >= end_ || tokens_[i].kind != TokenKind::identifier) {
    return false;
  }
  const Name* const name = unit_.meaning(i);
  return name == nullptr ? is_qualifier(tokens_[i].text) || is_type_word(tokens_[i].text)
                         : name->kind == NameKind::type;
}

bool ExpressionReader::specifiers() {
  static constexpr std::array<std::string_view, 6> joined{"unsigned", "signed", "char",
                                                          "short",    "int",    "long"};
  const std::size_t begin = at_;
  bool plain = true;
  std::size_t types = 0;
  std::size_t words = 0;      // of a type that may consist of several, such as "unsigned int"
  std::string_view last_word; // the last word of the type
  while (true) {
    const std::string_view word = at_ < end_ ? std::string_view(tokens_[at_].text) : "";
    if (word == "typedef" || (next_is_word() && is_qualifier(word))) {
      plain &= word == "const" || word == "private" || word == "__private";
      ++at_;
    } else if (next_is_word() && is_attribute(word)) {
      plain = false;
      ++at_;
      skip_brackets();
    } else if (word == "struct" || word == "union" || word == "enum") {
      plain = false;
      ++types;
      ++at_;
      at_ += next_is_word() && !is_attribute(tokens_[at_].text) ? 1 : 0;
      if (next_is("{")) {
        skip_brackets();
      }
    } else if (starts_type(at_) && (types == 0 || is_type_word(word))) {
      words += std::ranges::find(joined, word) != joined.end() ? 1 : 0;
      last_word = word;
      ++types;
      ++at_;
    } else {
      break;
    }
  }
  specified_.clear();
  if (types == 0 || (types > 1 && words != types)) {
    fail();
    return false;
  }
  const auto layout = layout_of(unit_, {.begin = begin, .end = at_});
  if (types == 1 && last_word.ends_with("_t") && is_wide(last_word)) {
    specified_ = last_word;
  } else if (layout && layout->kind == TypeLayout::Kind::arithmetic) {
    specified_ = layout->name;
  }
  return plain;
}

std::size_t ExpressionReader::declarator() {
  const Deeper deeper(*this);
  while (next_is("*") || (next_is_word() && is_qualifier(tokens_[at_].text))) {
    ++at_;
  }
  std::size_t name = end_;
  if (take("(")) {
    name = declarator();
    expect(")");
  } else if (next_is_word() && !is_type_word(tokens_[at_].text)) {
    name = at_++;
  } else {
    fail();
  }
  bounds();
  while (next_is_word() && is_attribute(tokens_[at_].text)) {
    ++at_;
    skip_brackets();
  }
  return name;
}

void ExpressionReader::bounds() {
  while (take("[")) {
    if (!next_is("]")) {
      consume(expression());
    }
    expect("]");
  }
}

Known ExpressionReader::initializer() {
  const Deeper deeper(*this);
  if (!take("{")) {
    return assignment();
  }
  while (at_ < end_ && !next_is("}")) {
    const bool designated = next_is(".") || next_is("[");
    while (next_is(".") || next_is("[")) {
      if (take(".")) {
        ++at_;
      } else {
        bounds();
      }
    }
    if (designated) {
      expect("=");
    }
    consume(initializer());
    if (!take(",")) {
      break;
    }
  }
  expect("}");
  return {};
}

bool ExpressionReader::type_name() {
  specifiers();
  bool points = false;
  for (std::size_t open = 0; at_ < end_ && (open > 0 || !next_is(")"));) {
    specified_.clear();
    if (next_is("[")) {
      bounds();
    } else if (take("(")) {
      ++open;
    } else if (take(")")) {
      --open;
    } else if (take("*")) {
      points = true;
    } else if (!(next_is_word() && is_qualifier(tokens_[at_++].text))) {
      fail();
    }
  }
  expect(")");
  return points;
}

Known ExpressionReader::expression() {
  Known value = assignment();
  while (take(",")) {
    consume(value);
    consume(assignment());
    value = {};
  }
  return value;
}

Known ExpressionReader::assignment() {
  const Deeper deeper(*this);
  Known left = conditional();
  if (at_ >= end_ || std::ranges::find(assignments, tokens_[at_].text) == assignments.end()) {
    return left;
  }
  const bool whole = tokens_[at_++].is("=") && left.kind == Known::Kind::element && !left.part;
  change(left);
  consume(assignment());
  if (!whole) {
    return {};
  }
  found_[left.parameter].uses[left.use].kind = Kind::writes;
  left.kind = Known::Kind::assignment;
  return left;
}

Known ExpressionReader::conditional() {
  const Known value = binary(1);
  if (!take("?")) {
    return value;
  }
  consume(value);
  const auto range = [this](const Known& chosen) {
    consume(chosen);
    const auto number = number_of(chosen);
    return number ? std::optional(without_ids(*number, ids())) : std::nullopt;
  };
  const auto first = where(value.if_true, [&] { return range(expression()); });
  expect(":");
  const Deeper deeper(*this);
  const auto second = where(value.if_false, [&] { return range(conditional()); });
  return of_number(either(first, second));
}

Known ExpressionReader::binary(int least_rank) {
  Known left = unary();
  while (at_ < end_) {
    const std::string& name = tokens_[at_].text;
    const int rank = binary_rank(name);
    if (rank < least_rank) {
      break;
    }
    ++at_;
    const Bounds holds = name == "&&" ? left.if_true : name == "||" ? left.if_false : Bounds();
    left = combined(name, left, where(holds, [this, rank] { return binary(rank + 1); }));
  }
  return left;
}

Known ExpressionReader::combined(std::string_view name, const Known& left, const Known& right) {
  if (name == "+" && (left.kind == Known::Kind::pointer || left.kind == Known::Kind::moved_pointer)) {
    consume(right);
    return moved(left, right);
  }
  consume(left);
  consume(right);
  if (name == "&&") {
    return {.if_true = tighter(left.if_true, right.if_true)};
  }
  if (name == "||") {
    return {.if_false = tighter(left.if_false, right.if_false)};
  }
  if (left.kind == Known::Kind::inside || right.kind == Known::Kind::inside) {
    others_known_ = false;
  }
  const IdRanges at = ids();
  const auto a = number_of(left);
  const auto b = number_of(right);
  if (name == "&") {
    return of_number(masked(a, b, at));
  }
  if (b && (name == "/" || name == "%")) { // a division by 0 may end the program
    const auto [low, high] = range_of(*b, at);
    others_known_ = others_known_ && (low > 0 || high < 0);
  }
  if (!a || !b) {
    return {};
  }
  if (name == "<<" || name == ">>") { // by a power of two
    constexpr std::int64_t most = 30;
    const Linear by = constant_of(std::int64_t{1} << std::clamp<std::int64_t>(b->low, 0, most), a->is_int);
    return !b->is_constant() || b->low < 0 || b->low > most ? Known{}
           : name == "<<"                                   ? of_number(product(*a, by, at))
                                                            : of_number(quotient(*a, by, at));
  }
  return of_number(name == "+"                  ? sum(*a, *b, at)
                   : name == "-"                ? difference(*a, *b, at)
                   : name == "*"                ? product(*a, *b, at)
                   : name == "/"                ? quotient(*a, *b, at)
                   : name == "|" || name == "^" ? bits_of_either(*a, *b, at)
                   : name == "%" ? remainder(*a, *b, at, setting_ == nullptr ? 3 : setting_->dimensions - 1)
                                 : std::nullopt,
                   compared(name, left, right));
}

Known ExpressionReader::compared(std::string_view name, const Known& left, const Known& right) const {
  if (name == ">" || name == ">=") {
    return compared(name == ">" ? "<" : "<=", right, left);
  }
  if (name == "!=") {
    Known result = compared("==", left, right);
    std::swap(result.if_true, result.if_false);
    return result;
  }
  const auto a = number_of(left);
  const auto b = number_of(right);
  Known result;
  if ((name != "<" && name != "<=" && name != "==") || !a || !b) {
    return result;
  }
  const Linear first = converted(*a, a->is_int && b->is_int, ids());
  const Linear second = converted(*b, a->is_int && b->is_int, ids());
  const auto [low, high] = range_of(first, ids());
  const auto [other_low, other_high] = range_of(second, ids());
  if (!first.exact || !second.exact) { // the conversion may change them
    return result;
  }
  if (name != "==") {
    const std::int64_t equal = name == "<=" ? 1 : 0;
    narrow(left, first, {.high = other_high - 1 + equal}, result.if_true);
    narrow(right, second, {.low = low + 1 - equal}, result.if_true);
    narrow(left, first, {.low = other_low + equal}, result.if_false);
    narrow(right, second, {.high = high - equal}, result.if_false);
  } else {
    narrow(left, first, {other_low, other_high}, result.if_true);
    narrow(right, second, {low, high}, result.if_true);
    if (other_low == other_high && other_low == low) {
      narrow(left, first, {.low = low + 1}, result.if_false);
    } else if (other_low == other_high && other_low == high) {
      narrow(left, first, {.high = high - 1}, result.if_false);
    }
  }
  return result;
}

void ExpressionReader::narrow(const Known& subject, const Linear& number, const Interval& range,
                              Bounds& holds) const {
  if (const auto d = number.id()) {
    holds.ids[*d] = tighter(holds.ids[*d], {range.low - number.high, range.high - number.low});
  }
  if (subject.variable != nullptr && !subject.part) {
    holds.variables[subject.variable] = tighter(holds.variables[subject.variable], range);
  }
}

Known ExpressionReader::moved(const Known& pointer, const Known& by) {
  const auto elements = number_of(by);
  const auto number = elements ? sum(pointer.number, *elements, ids()) : std::nullopt;
  Known result{.kind = Known::Kind::moved_pointer,
               .number = number.value_or(Linear()),
               .parameter = pointer.parameter,
               .use = pointer.use};
  if (pointer.kind == Known::Kind::pointer) {
    result.use = add_use(pointer.parameter, escaping(pointer.use));
  }
  if (!number) {
    touched_[pointer.parameter].anywhere = true;
  }
  return result;
}

Known ExpressionReader::unary() {
  const Deeper deeper(*this);
  if (take("++") || take("--")) {
    change(unary());
    return {};
  }
  if (take("&")) {
    Known value = unary();
    if (value.kind == Known::Kind::element) {
      value.kind = Known::Kind::address;
      return value;
    }
    if (value.kind == Known::Kind::moved_element) {
      touched_[value.parameter].anywhere = true;
    }
    change(value);
    return {.kind = Known::Kind::inside};
  }
  if (next_is("+") || next_is("-") || next_is("~") || next_is("!") || next_is("*")) {
    const std::string& sign = tokens_[at_++].text;
    Known value = unary();
    if (sign == "*" && value.kind == Known::Kind::pointer) {
      value.use =
          add_use(value.parameter, {.kind = Kind::reads, .token = value.use, .subscript = {}, .offset = {}});
      value.kind = Known::Kind::element;
      touch(value, Linear());
      return value;
    }
    if (sign == "*" && value.kind == Known::Kind::moved_pointer) {
      touch(value, Linear());
      return {.kind = Known::Kind::moved_element, .parameter = value.parameter};
    }
    consume(value);
    others_known_ = others_known_ && sign != "*";
    if (sign == "!") {
      return {.if_true = value.if_false, .if_false = value.if_true};
    }
    const auto number = number_of(value);
    if (!number || (sign != "+" && sign != "-")) {
      return {};
    }
    return of_number(sign == "-" ? difference(constant_of(0, true), *number, ids()) : number);
  }
  if (take("sizeof")) {
    if (next_is("(") && starts_type(at_ + 1)) {
      ++at_;
      type_name();
    } else {
      consume(unary());
    }
    return {};
  }
  if (next_is("(") && starts_type(at_ + 1)) {
    ++at_;
    others_known_ = !type_name() && others_known_;
    const std::string type = specified_;
    if (next_is("{")) { // a compound literal
      consume(initializer());
      return postfix({});
    }
    const auto vector = arithmetic_type(type);
    if (vector && vector->width > 1 && take("(")) {
      return postfix(vector_of(vector->scalar));
    }
    const Known value = unary();
    consume(value);
    return of_number(as_type(type, number_of(value)));
  }
  return postfix(primary());
}

Known ExpressionReader::vector_of(std::string_view scalar) {
  Known vector{.kind = Known::Kind::vector};
  std::optional<Linear> all;
  bool first = true;
  do {
    const Known part = assignment();
    consume(part);
    auto number = part.kind == Known::Kind::vector ? part.number : as_type(scalar, number_of(part));
    number = number ? std::optional(without_ids(*number, ids())) : std::nullopt;
    all = first ? number : either(all, number);
    first = false;
  } while (take(","));
  expect(")");
  return all ? Known{.kind = Known::Kind::vector, .number = *all} : Known{};
}

Known ExpressionReader::postfix(Known value) {
  while (at_ < end_) {
    if (next_is("[")) {
      value = subscripted(value);
    } else if (take(".")) {
      value.part = true;
      if (value.kind != Known::Kind::element && value.kind != Known::Kind::moved_element) {
        consume(value);
        value = {.variable = value.variable, .part = true};
      }
      member();
    } else if (take("->")) {
      if (value.kind == Known::Kind::pointer || value.kind == Known::Kind::moved_pointer) {
        escape(value);
        touch(value, Linear());
      } else {
        consume(value);
        others_known_ = false;
      }
      value = {};
      member();
    } else if (take("++") || take("--")) {
      change(value);
      value = {};
    } else {
      break;
    }
  }
  return value;
}

void ExpressionReader::member() {
  if (!next_is_word()) {
    fail();
    return;
  }
  const std::string& name = tokens_[at_++].text;
  if (is_whole() && others_known_ && !next_is("[")) { // an array without a subscript is a pointer
    others_known_ = !declared_as_pointer(name);
  }
}

Known ExpressionReader::subscripted(Known value) {
  const std::size_t begin = ++at_;
  const Known subscript = expression();
  const TokenRange range{.begin = begin, .end = at_};
  expect("]");
  consume(subscript);
  const auto number = number_of(subscript);
  if (value.kind == Known::Kind::pointer) {
    const bool known = number && number->id() == 0U && number->low == number->high;
    value.use = add_use(value.parameter, {.kind = Kind::reads,
                                          .token = value.use,
                                          .subscript = range,
                                          .offset = known ? std::optional(number->low) : std::nullopt});
    value.kind = Known::Kind::element;
    touch(value, number);
  } else if (value.kind == Known::Kind::moved_pointer) {
    touch(value, number);
    value = {.kind = Known::Kind::moved_element, .parameter = value.parameter};
  } else if (value.kind == Known::Kind::moved_element) {
    touched_[value.parameter].anywhere = true;
    value.part = true;
  } else if (value.kind == Known::Kind::element) { // a row of an array, or a component of a vector
    found_[value.parameter].uses[value.use].offset.reset();
    update(value);
    touched_[value.parameter].anywhere = true;
    value.part = true;
  } else {
    consume(value);
    others_known_ = false;
    value = {};
  }
  return value;
}

Known ExpressionReader::primary() {
  if (take("(")) {
    const Known value = expression();
    expect(")");
    return value;
  }
  if (at_ >= end_) {
    fail();
    return {};
  }
  const std::size_t token = at_++;
  switch (tokens_[token].kind) {
  case TokenKind::number: return value_of_number(tokens_[token]);
  case TokenKind::character: return {};
  case TokenKind::string:
    while (at_ < end_ && tokens_[at_].kind == TokenKind::string) {
      ++at_;
    }
    return {};
  case TokenKind::identifier: return named(token);
  default: fail(); return {};
  }
}

Known ExpressionReader::named(std::size_t token) {
  const std::string& text = tokens_[token].text;
  const Name* const name = unit_.meaning(token);
  const bool called = next_is("(");
  if (called && (name == nullptr ? is_built_in_function(text) : name->kind == NameKind::function)) {
    Known argument;
    std::vector<Known> given;
    const std::size_t after = unit_.counterpart(at_) + 1;
    const bool statement = name == nullptr && token == statement_ && after < end_ && tokens_[after].is(";");
    const auto reduction = statement ? reduction_of(text) : std::nullopt;
    ++at_;
    if (!next_is(")")) {
      do {
        argument = assignment();
        const bool atomic = name == nullptr && (text.starts_with("atomic_") || text.starts_with("atom_"));
        if (atomic && given.empty() && argument.kind == Known::Kind::address) {
          found_[argument.parameter].uses[argument.use].offset.reset(); // atomics need memory
          update(argument);
        } else if (argument.kind == Known::Kind::pointer || argument.kind == Known::Kind::moved_pointer) {
          escape(argument);
        } else if (argument.kind != Known::Kind::image &&
                   (argument.kind != Known::Kind::inside || name != nullptr || text.starts_with("async_"))) {
          consume(argument); // other built-in functions use one element at an address
        }
        if (reduction && given.empty()) {
          reduce(argument, *reduction);
        }
        given.push_back(argument);
      } while (take(","));
    }
    expect(")");
    if (name != nullptr) {
      return call(unit_.definition(text), given);
    }
    access(text, given);
    return built_in(text, given);
  }
  if (called || (name == nullptr && text != "true" && text != "false" && !standard_macros().contains(text)) ||
      (name != nullptr && name->kind != NameKind::variable && name->kind != NameKind::enumerator)) {
    fail();
    return {};
  }
  if (const auto pointer = pointers_.find(name); name != nullptr && pointer != pointers_.end()) {
    return {.kind = Known::Kind::pointer, .parameter = pointer->second, .use = token};
  }
  if (const auto image = images_.find(name); name != nullptr && image != images_.end()) {
    return {.kind = Known::Kind::image, .parameter = image->second};
  }
  if (name == nullptr || name->kind != NameKind::variable) {
    return {};
  }
  if (const auto extents = is_whole() ? extents_of(*name) : std::vector<std::int64_t>(); !extents.empty()) {
    element_of_array(extents);
    return {};
  }
  Known known;
  if (const auto value = values_.find(name); value != values_.end()) {
    known = value->second;
  } else if (const auto type = types_.find(name); type != types_.end()) {
    known = of_number(as_type(type->second, {}));
  }
  known.variable = name;
  const bool is_set = values_.contains(name) || !(changing_.contains(name) || unset_.contains(name));
  if (const auto range = bounds_.variables.find(name);
      range != bounds_.variables.end() && is_set && known.kind == Known::Kind::number &&
      (is_whole() || known.number.is_bounded())) { // others keep their factors
    known.number = within(known.number, range->second, ids());
  }
  return known;
}

Known ExpressionReader::built_in(const std::string& function, const std::vector<Known>& arguments) const {
  std::vector<Linear> numbers;
  for (const Known& argument : arguments) {
    const auto number = number_of(argument);
    if (!number) {
      return {};
    }
    numbers.push_back(*number);
  }
  if (numbers.size() == 1 && numbers[0].is_constant() && numbers[0].low >= 0 && numbers[0].low < 3) {
    const auto d = static_cast<std::uint32_t>(numbers[0].low);
    const bool same_for_parts = setting_ != nullptr && d + 1 < setting_->dimensions;
    const std::int64_t size = setting_ != nullptr ? setting_->size[d] : 0;
    const std::int64_t local = is_whole() ? setting_->local_size[d] : 0;
    if (function == "get_global_id" && !by_parameter_) {
      return of_number(id_of(d));
    }
    if (function == "get_global_size" && (same_for_parts || is_whole())) {
      return of_number(constant_of(size, false));
    }
    return local == 0                     ? Known{}
           : function == "get_local_size" ? of_number(constant_of(local, false))
           : function == "get_num_groups" ? of_number(constant_of(size / local, false))
           : function == "get_local_id"   ? of_number(between(0, local - 1))
           : function == "get_group_id"   ? of_number(between(0, size / local - 1))
                                          : Known{};
  }
  const IdRanges at = ids();
  const auto bound = [&](const std::optional<Linear>& a, const Linear& b,
                         bool less) -> std::optional<Linear> {
    if (!a || !is_whole()) {
      return a ? (less ? least : greatest)(*a, b, at) : std::nullopt;
    }
    const auto [low, high] = range_of(*a, at);
    const auto [other_low, other_high] = range_of(b, at);
    Linear value = less ? between(std::min(low, other_low), std::min(high, other_high), b.is_int)
                        : between(std::max(low, other_low), std::max(high, other_high), b.is_int);
    value.exact = a->exact && b.exact && a->is_int == b.is_int;
    return value;
  };
  if (numbers.size() == 2 && (function == "min" || function == "max")) {
    return of_number(bound(numbers[0], numbers[1], function == "min"));
  }
  if (numbers.size() == 3 && function == "clamp") {
    return of_number(bound(bound(numbers[0], numbers[1], false), numbers[2], true));
  }
  return {};
}

} // namespace tidegate::opencl_c
