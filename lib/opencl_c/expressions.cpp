#include "opencl_c/expressions.hpp"

#include "opencl_c/constant_expression.hpp"
#include "opencl_c/macros.hpp"
#include "opencl_c/words.hpp"

#include <span>
#include <utility>

namespace tidegate::opencl_c {
namespace {

constexpr std::int64_t most_distance = std::int64_t{1} << 30U;

constexpr std::int64_t most_ids = std::int64_t{1} << 31U;

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

ExpressionReader::ExpressionReader(const TranslationUnit& unit, const KernelSetting* setting)
    : unit_(unit), tokens_(unit.source.tokens), setting_(setting) {
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

bool ExpressionReader::is_wide(std::string_view type) {
  return std::ranges::find(wide_types, type) != wide_types.end();
}

std::string ExpressionReader::text_of(const Type& type) {
  const bool known = type.is_arithmetic() && type.record == nullptr;
  return known && (arithmetic_type(type.name) || is_wide(type.name)) ? type.name : "";
}

bool ExpressionReader::holds_pointers(const Type& type) {
  return type.is(Type::Kind::array) ? holds_pointers(*type.inner)
                                    : type.is(Type::Kind::pointer) || type.is(Type::Kind::opaque);
}

Known ExpressionReader::read(const Expr& expr) {
  const Deeper deeper(*this);
  if (!understood_) {
    return {};
  }
  switch (expr.kind) {
  case Expr::Kind::number: return value_of_number(tokens_[expr.token]);
  case Expr::Kind::text: return {};
  case Expr::Kind::name: return named(expr);
  case Expr::Kind::call: return called(expr);
  case Expr::Kind::subscript: return subscripted(expr);
  case Expr::Kind::member: return member(expr);
  case Expr::Kind::unary: return unary(expr);
  case Expr::Kind::binary: return binary(expr);
  case Expr::Kind::assignment: return assignment(expr);
  case Expr::Kind::conditional: return conditional(expr);
  case Expr::Kind::vector: return vector_of(expr);
  case Expr::Kind::postfix: change(read(*expr.operands[0])); return {};
  case Expr::Kind::cast: {
    if (expr.type->is(Type::Kind::vector)) {
      return vector_of(expr);
    }
    others_known_ = others_known_ && !holds_pointers(*expr.type);
    const Known value = read(*expr.operands[0]);
    consume(value);
    return of_number(as_type(text_of(*expr.type), number_of(value)));
  }
  case Expr::Kind::compound: others_known_ = others_known_ && !holds_pointers(*expr.type); [[fallthrough]];
  case Expr::Kind::comma:
  case Expr::Kind::list:
  case Expr::Kind::designated:
  case Expr::Kind::size:
    for (const Expr* const part : expr.operands) {
      consume(read(*part));
    }
    return {};
  case Expr::Kind::opaque: break;
  }
  fail();
  return {};
}

Known ExpressionReader::assignment(const Expr& expr) {
  Known left = read(*expr.operands[0]);
  const bool whole = unit_.is(expr.token, "=") && left.kind == Known::Kind::element && !left.part;
  change(left);
  consume(read(*expr.operands[1]));
  if (!whole) {
    return {};
  }
  found_[left.parameter].uses[left.use].kind = Kind::writes;
  left.kind = Known::Kind::assignment;
  return left;
}

Known ExpressionReader::conditional(const Expr& expr) {
  const Known value = read(*expr.operands[0]);
  consume(value);
  const auto range = [this](const Expr& of) {
    const Known chosen = read(of);
    consume(chosen);
    const auto number = number_of(chosen);
    return number ? std::optional(without_ids(*number, ids())) : std::nullopt;
  };
  const auto first = where(value.if_true, [&] { return range(*expr.operands[1]); });
  const auto second = where(value.if_false, [&] { return range(*expr.operands[2]); });
  return of_number(either(first, second));
}

Known ExpressionReader::binary(const Expr& expr) {
  std::vector<const Expr*> sums; // of long sums the first operand is the next sum
  for (const Expr* at = &expr; at->kind == Expr::Kind::binary; at = at->operands[0]) {
    sums.push_back(at);
  }
  Known left = read(*sums.back()->operands[0]);
  for (; !sums.empty(); sums.pop_back()) {
    const std::string& name = tokens_[sums.back()->token].text;
    const Bounds holds = name == "&&" ? left.if_true : name == "||" ? left.if_false : Bounds();
    left = combined(name, left, where(holds, [&] { return read(*sums.back()->operands[1]); }));
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

Known ExpressionReader::unary(const Expr& expr) {
  const std::string& sign = tokens_[expr.token].text;
  Known value = read(*expr.operands[0]);
  if (sign == "++" || sign == "--") {
    change(value);
    return {};
  }
  if (sign == "&") {
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

Known ExpressionReader::vector_of(const Expr& expr) {
  const auto vector = arithmetic_type(expr.type->name);
  std::optional<Linear> all;
  bool first = true;
  for (const Expr* const operand : expr.operands) {
    const Known part = read(*operand);
    consume(part);
    auto number = part.kind == Known::Kind::vector ? part.number
                  : vector                         ? as_type(vector->scalar, number_of(part))
                                                   : std::nullopt;
    number = number ? std::optional(without_ids(*number, ids())) : std::nullopt;
    all = first ? number : either(all, number);
    first = false;
  }
  return all ? Known{.kind = Known::Kind::vector, .number = *all} : Known{};
}

Known ExpressionReader::member(const Expr& expr) {
  const bool is_array = std::exchange(array_, nullptr) == &expr;
  Known value = read(*expr.operands[0]);
  if (unit_.is(expr.token - 1, "->")) {
    if (value.kind == Known::Kind::pointer || value.kind == Known::Kind::moved_pointer) {
      escape(value);
      touch(value, Linear());
    } else {
      consume(value);
      others_known_ = false;
    }
    value = {};
  } else {
    value.part = true;
    if (value.kind != Known::Kind::element && value.kind != Known::Kind::moved_element) {
      consume(value);
      value = {.variable = value.variable, .part = true};
    }
  }
  if (is_whole() && !is_array) { // an array without a subscript is a pointer
    others_known_ = others_known_ && !expr.type->is(Type::Kind::array) && !holds_pointers(*expr.type);
  }
  return value;
}

Known ExpressionReader::subscripted(const Expr& expr) {
  if (is_whole() && element_of_array(expr)) {
    return {};
  }
  array_ = expr.operands[0];
  Known value = read(*expr.operands[0]);
  array_ = nullptr;
  const Known subscript = read(*expr.operands[1]);
  const TokenRange range{.begin = expr.token + 1, .end = unit_.counterpart(expr.token)};
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

Known ExpressionReader::named(const Expr& expr) {
  const std::string& text = tokens_[expr.token].text;
  const Name* const name = unit_.meaning(expr.token);
  if ((name == nullptr && text != "true" && text != "false" && !standard_macros().contains(text)) ||
      (name != nullptr && name->kind != NameKind::variable && name->kind != NameKind::enumerator)) {
    fail();
    return {};
  }
  if (const auto pointer = pointers_.find(name); name != nullptr && pointer != pointers_.end()) {
    return {.kind = Known::Kind::pointer, .parameter = pointer->second, .use = expr.token};
  }
  if (const auto image = images_.find(name); name != nullptr && image != images_.end()) {
    return {.kind = Known::Kind::image, .parameter = image->second};
  }
  if (name == nullptr || name->kind != NameKind::variable) {
    return {};
  }
  if (is_whole() && name->type->is(Type::Kind::array)) {
    others_known_ = false; // a pointer to it
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

Known ExpressionReader::called(const Expr& expr) {
  const Expr& callee = *expr.operands[0];
  const std::string& text = tokens_[callee.token].text;
  const Name* const name = unit_.meaning(callee.token);
  if (callee.kind != Expr::Kind::name ||
      !(name == nullptr ? is_built_in_function(text) : name->kind == NameKind::function)) {
    fail();
    return {};
  }
  std::vector<Known> given;
  const auto reduction = name == nullptr && &expr == statement_ ? reduction_of(text) : std::nullopt;
  const bool atomic = name == nullptr && (text.starts_with("atomic_") || text.starts_with("atom_"));
  for (const Expr* const operand : expr.operands.subspan(1)) {
    const Known argument = read(*operand);
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
  }
  if (name != nullptr) {
    return call(unit_.definition(text), given);
  }
  access(text, given);
  return built_in(text, given);
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
    if (function == "get_global_id") {
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
