// Expressions: what is known of their numbers, and what comparisons prove.
#include "opencl_c/footprint_reader.hpp"

namespace tidegate::opencl_c {

// True for an integer type that can hold any id.
bool is_wide(std::string_view type) {
  static constexpr std::array<std::string_view, 8> wide{"int",    "uint",      "long",     "ulong",
                                                        "size_t", "ptrdiff_t", "intptr_t", "uintptr_t"};
  return std::ranges::find(wide, type) != wide.end();
}

// All numbers of a type, where they are 32 bits at most.
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

// The name of an arithmetic type; empty for others.
std::string text_of(const Type& type) {
  const bool known = type.is_arithmetic() && type.record == nullptr;
  return known && (arithmetic_type(type.name) || is_wide(type.name)) ? type.name : "";
}

namespace {

Known value_of_number(const TranslationUnit& unit, const Expr& expr) {
  const std::string& word = unit.source.tokens[expr.token].text;
  constexpr std::int64_t most_distance = std::int64_t{1} << 30U;
  const auto value = value_of(unit, expr);
  const bool is_int =
      value && *value < (std::int64_t{1} << 31U) && word.find_first_of("uUlL") == std::string::npos;
  return value && *value <= most_distance ? of_number(constant_of(*value, is_int)) : Known{};
}

} // namespace

Known FootprintReader::read(const Expr& expr) {
  const Deeper deeper(*this, expr.token);
  if (failed_) {
    return {};
  }
  token_ = expr.token;
  switch (expr.kind) {
  case Expr::Kind::number: return value_of_number(unit_, expr);
  case Expr::Kind::text: return {};
  case Expr::Kind::name: return named(expr);
  case Expr::Kind::call: return called(expr);
  case Expr::Kind::subscript: return accessed(element(expr), expr.token);
  case Expr::Kind::member: return member(expr);
  case Expr::Kind::unary: return unary(expr);
  case Expr::Kind::binary: return binary(expr);
  case Expr::Kind::assignment: return assignment(expr);
  case Expr::Kind::conditional: return conditional(expr);
  case Expr::Kind::postfix: change(read(*expr.operands[0])); return {};
  case Expr::Kind::cast: {
    const Known value = read(*expr.operands[0]);
    if (is_same_pointer(value, *expr.type)) {
      return {.kind = Known::Kind::pointer, .number = value.number, .parameter = value.parameter};
    }
    consume(value, "cast to another type");
    return of_number(as_type(text_of(*expr.type), number_of(value)));
  }
  case Expr::Kind::size: // its operand is not evaluated
    each_expression(expr, [this](const Expr& part) { seen_.insert(part.token); });
    return {};
  case Expr::Kind::comma:
  case Expr::Kind::vector:
  case Expr::Kind::compound:
  case Expr::Kind::list:
  case Expr::Kind::designated:
    for (const Expr* const part : expr.operands) {
      consume(read(*part));
    }
    return {};
  case Expr::Kind::opaque: break;
  }
  fail("an expression is not known", expr.tokens.begin);
  return {};
}

Known FootprintReader::named(const Expr& expr) {
  seen_.insert(expr.token);
  const Name* const name = unit_.meaning(expr.token);
  const std::string& word = text(expr.token);
  if ((name == nullptr && word != "true" && word != "false" && !standard_macros().contains(word)) ||
      (name != nullptr && name->kind != NameKind::variable && name->kind != NameKind::enumerator)) {
    fail("a name is not known", expr.token);
    return {};
  }
  if (name == nullptr || name->kind != NameKind::variable) {
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
  if (const auto range = bounds_.variables.find(name); range != bounds_.variables.end() && is_set &&
                                                       known.kind == Known::Kind::number &&
                                                       known.number->exact) {
    known.number = within(*known.number, range->second, ids());
  }
  return known;
}

Known FootprintReader::conditional(const Expr& expr) {
  const Known value = condition(*expr.operands[0]);
  const auto chosen = [this](const Expr& of) {
    const Known part = condition(of);
    return std::pair(number_of(part), ids());
  };
  const auto [first, first_ids] = where(value.if_true, [&] { return chosen(*expr.operands[1]); });
  const auto [second, second_ids] = where(value.if_false, [&] { return chosen(*expr.operands[2]); });
  return of_number(first && second ? either(*first, first_ids, *second, second_ids) : std::nullopt);
}

Known FootprintReader::binary(const Expr& expr) {
  std::vector<const Expr*> sums; // of long sums the first operand is the next sum
  for (const Expr* at = &expr; at->kind == Expr::Kind::binary; at = at->operands[0]) {
    sums.push_back(at);
  }
  Known left = read(*sums.back()->operands[0]);
  for (; !sums.empty(); sums.pop_back()) {
    const std::string& sign = text(sums.back()->token);
    const Expr& operand = *sums.back()->operands[1];
    if (sign == "&&" || sign == "||") {
      const Known right = where(sign == "&&" ? left.if_true : left.if_false, [&] { return read(operand); });
      left = combined(sign, left, right);
    } else {
      left = combined(sign, left, read(operand));
    }
  }
  return left;
}

Known FootprintReader::combined(std::string_view sign, const Known& left, const Known& right) {
  if (left.kind == Known::Kind::pointer && (sign == "+" || sign == "-") &&
      right.kind != Known::Kind::pointer) {
    const auto by = number_of(right);
    const auto number = !by || !left.number ? std::nullopt
                        : sign == "+"       ? sum(*left.number, *by, ids())
                                            : difference(*left.number, *by, ids());
    found_[left.parameter].own = false;
    return {.kind = Known::Kind::pointer, .number = number, .parameter = left.parameter};
  }
  consume(left);
  consume(right);
  if (sign == "&&") {
    return {.if_true = tighter(left.if_true, right.if_true)};
  }
  if (sign == "||") {
    return {.if_false = tighter(left.if_false, right.if_false)};
  }
  const IdRanges at = ids();
  const auto a = number_of(left);
  const auto b = number_of(right);
  if (sign == "&") {
    return of_number(masked(a, b, at));
  }
  if (!a || !b) {
    return {};
  }
  if (sign == "<<" || sign == ">>") { // by a power of two
    constexpr std::int64_t most = 30;
    const Linear by = constant_of(std::int64_t{1} << std::clamp<std::int64_t>(b->low, 0, most), a->is_int);
    return !b->is_constant() || b->low < 0 || b->low > most ? Known{}
           : sign == "<<"                                   ? of_number(product(*a, by, at))
                                                            : of_number(quotient(*a, by, at));
  }
  const auto number = sign == "+"                  ? sum(*a, *b, at)
                      : sign == "-"                ? difference(*a, *b, at)
                      : sign == "*"                ? product(*a, *b, at)
                      : sign == "/"                ? quotient(*a, *b, at)
                      : sign == "%"                ? remainder(*a, *b, at)
                      : sign == "|" || sign == "^" ? bits_of_either(*a, *b, at)
                                                   : std::nullopt;
  return number ? of_number(number) : compared(sign, left, right);
}

Known FootprintReader::compared(std::string_view sign, const Known& left, const Known& right) const {
  if (sign == ">" || sign == ">=") {
    return compared(sign == ">" ? "<" : "<=", right, left);
  }
  if (sign == "!=") {
    Known result = compared("==", left, right);
    std::swap(result.if_true, result.if_false);
    return result;
  }
  const auto a = number_of(left);
  const auto b = number_of(right);
  Known result;
  if ((sign != "<" && sign != "<=" && sign != "==") || !a || !b) {
    return result;
  }
  const Linear first = converted(*a, a->is_int && b->is_int, ids());
  const Linear second = converted(*b, a->is_int && b->is_int, ids());
  const auto [low, high] = range_of(first, ids());
  const auto [other_low, other_high] = range_of(second, ids());
  if (!first.exact || !second.exact) { // the conversion may change them
    return result;
  }
  if (sign != "==") {
    const std::int64_t equal = sign == "<=" ? 1 : 0;
    // Of an id and a constant, one bound says all.
    const bool exact = (is_id(first) && second.is_constant()) || (is_id(second) && first.is_constant()) ||
                       (first.is_constant() && second.is_constant());
    result.if_true.exact = result.if_false.exact = exact;
    narrow(left, first, {.high = other_high - 1 + equal}, result.if_true);
    narrow(right, second, {.low = low + 1 - equal}, result.if_true);
    narrow(left, first, {.low = other_low + equal}, result.if_false);
    narrow(right, second, {.high = high - equal}, result.if_false);
    if (high - equal < other_low) {
      never(result.if_false);
      result.if_true.exact = true;
    } else if (low >= other_high + equal) {
      never(result.if_true);
      result.if_false.exact = true;
    }
  } else {
    result.if_true.exact = is_id(first) && second.is_constant();
    narrow(left, first, {other_low, other_high}, result.if_true);
    narrow(right, second, {low, high}, result.if_true);
    if (other_low == other_high && other_low == low) {
      narrow(left, first, {.low = low + 1}, result.if_false);
    } else if (other_low == other_high && other_low == high) {
      narrow(left, first, {.high = high - 1}, result.if_false);
    }
    if (first.is_constant() && second.is_constant()) {
      result.if_true.exact = result.if_false.exact = true;
      never(low == other_low ? result.if_false : result.if_true);
    } else if (high < other_low || other_high < low) {
      result.if_false.exact = true;
      never(result.if_true);
    }
  }
  return result;
}

void FootprintReader::narrow(const Known& subject, const Linear& number, const Interval& range,
                             Bounds& holds) {
  if (const auto d = number.only(); d && number.factors[*d] == 1 && number.at[*d].modulus == 0) {
    const Interval beside = sum(number.at[*d].offset, {number.low, number.high});
    holds.ids[*d] = tighter(holds.ids[*d], {range.low - beside.high, range.high - beside.low});
  }
  if (subject.variable != nullptr && !subject.part) {
    holds.variables[subject.variable] = tighter(holds.variables[subject.variable], range);
  }
}

Known FootprintReader::unary(const Expr& expr) {
  const std::string& sign = text(expr.token);
  const Expr& operand = *expr.operands[0];
  if (sign == "&") {
    const bool is_element = operand.kind == Expr::Kind::subscript ||
                            (operand.kind == Expr::Kind::unary && unit_.is(operand.token, "*"));
    const Known of = is_element ? element(operand) : read(operand);
    if (of.kind == Known::Kind::element && !of.part) {
      found_[of.parameter].own = false;
      return {.kind = Known::Kind::pointer, .number = of.number, .parameter = of.parameter};
    }
    if (of.kind == Known::Kind::element) {
      lose(of.parameter, {"the address of a part of an element is taken", expr.token});
    }
    change(of);
    return {};
  }
  if (sign == "*") {
    return accessed(element(expr), expr.token);
  }
  const Known value = read(operand);
  if (sign == "++" || sign == "--") {
    change(value);
    return {};
  }
  consume(value);
  if (sign == "!") {
    return {.if_true = value.if_false, .if_false = value.if_true};
  }
  const auto number = number_of(value);
  if (!number || (sign != "+" && sign != "-")) {
    return {};
  }
  return of_number(sign == "-" ? difference(constant_of(0, true), *number, ids()) : number);
}

} // namespace tidegate::opencl_c
