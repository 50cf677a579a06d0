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
constexpr std::int64_t most_elements = std::int64_t{1} << 31U; // see own_elements()

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

// Returns what a comparison of an id with a number proves.
Known compared(std::string_view name, const Linear& left, const Linear& right) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> turned{
      {{"<", ">"}, {"<=", ">="}, {">", "<"}, {">=", "<="}, {"==", "=="}, {"!=", "!="}}};
  const auto id = left.id();
  if (!id && right.id()) {
    for (const auto& [one, other] : turned) {
      if (name == one) {
        return compared(other, right, left);
      }
    }
  }
  Known result;
  if (id && left.exact && left.low == 0 && left.high == 0 && right.is_constant() && right.exact &&
      right.low >= 0) {
    if (name == "<" || name == ">=") {
      (name == "<" ? result.if_true : result.if_false)[*id] = right.low;
    } else if (name == "<=" || name == ">" || name == "==" || name == "!=") {
      (name == "<=" || name == "==" ? result.if_true : result.if_false)[*id] = right.low + 1;
    }
  }
  return result;
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
    ids.end[d] = std::min(ids.end[d], bounds_[d]);
  }
  return ids;
}

void ExpressionReader::skip_brackets() {
  if (at_ < end_ && tokens_[at_].opens()) {
    at_ = unit_.counterpart(at_) + 1;
  } else {
    fail();
  }
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
  static constexpr std::array<std::string_view, 4> of_pointers{"size_t", "ptrdiff_t", "intptr_t",
                                                               "uintptr_t"};
  static constexpr std::array<std::string_view, 4> wide{"int", "uint", "long", "ulong"};
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
  specified_int_ = false;
  if (types == 0 || (types > 1 && words != types)) {
    fail();
    return false;
  }
  if (types == 1 && std::ranges::find(of_pointers, last_word) != of_pointers.end()) {
    return plain;
  }
  const auto layout = layout_of(unit_, {.begin = begin, .end = at_});
  specified_int_ = layout && layout->name == "int";
  return plain && layout && layout->kind == TypeLayout::Kind::arithmetic &&
         std::ranges::find(wide, layout->name) != wide.end();
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
  bool holds_ids = specifiers();
  for (std::size_t open = 0; at_ < end_ && (open > 0 || !next_is(")"));) {
    holds_ids = false;
    if (next_is("[")) {
      bounds();
    } else if (take("(")) {
      ++open;
    } else if (take(")")) {
      --open;
    } else if (!take("*") && !(next_is_word() && is_qualifier(tokens_[at_++].text))) {
      fail();
    }
  }
  expect(")");
  return holds_ids;
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
  consume(where(value.if_true, [this] { return expression(); }));
  expect(":");
  const Deeper deeper(*this);
  consume(where(value.if_false, [this] { return conditional(); }));
  return {};
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
    const IdBounds& holds = name == "&&" ? left.if_true : name == "||" ? left.if_false : no_bounds;
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
  if (left.kind != Known::Kind::number || right.kind != Known::Kind::number) {
    return {};
  }
  const IdRanges at = ids();
  return of_number(name == "+"   ? sum(left.number, right.number, at)
                   : name == "-" ? difference(left.number, right.number, at)
                   : name == "*" ? product(left.number, right.number, at)
                   : name == "%" ? remainder(left.number, right.number, at,
                                             setting_ == nullptr ? 3 : setting_->dimensions - 1)
                                 : std::nullopt,
                   compared(name, left.number, right.number));
}

Known ExpressionReader::moved(const Known& pointer, const Known& by) {
  const auto number = by.kind == Known::Kind::number ? sum(pointer.number, by.number, ids()) : std::nullopt;
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
    return {};
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
    if (sign == "!") {
      return {.if_true = value.if_false, .if_false = value.if_true};
    }
    if (value.kind != Known::Kind::number || (sign != "+" && sign != "-")) {
      return {};
    }
    return of_number(sign == "-" ? difference(constant_of(0, true), value.number, ids()) : value.number);
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
    const bool holds_ids = type_name();
    if (next_is("{")) { // a compound literal
      consume(initializer());
      return postfix({});
    }
    const bool is_int = specified_int_;
    const Known value = unary();
    consume(value);
    return holds_ids && value.kind == Known::Kind::number ? of_number(converted(value.number, is_int, ids()))
                                                          : Known{};
  }
  return postfix(primary());
}

Known ExpressionReader::postfix(Known value) {
  while (at_ < end_) {
    if (next_is("[")) {
      value = subscripted(value);
    } else if (take(".")) {
      value.part = true;
      if (value.kind != Known::Kind::element && value.kind != Known::Kind::moved_element) {
        consume(value);
        value = {};
      }
      member();
    } else if (take("->")) {
      consume(value);
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
  if (next_is_word()) {
    ++at_;
  } else {
    fail();
  }
}

Known ExpressionReader::subscripted(Known value) {
  const std::size_t begin = ++at_;
  const Known subscript = expression();
  const TokenRange range{.begin = begin, .end = at_};
  expect("]");
  consume(subscript);
  const bool number = subscript.kind == Known::Kind::number;
  if (value.kind == Known::Kind::pointer) {
    const bool known = number && subscript.number.id() == 0U && subscript.number.low == subscript.number.high;
    value.use =
        add_use(value.parameter, {.kind = Kind::reads,
                                  .token = value.use,
                                  .subscript = range,
                                  .offset = known ? std::optional(subscript.number.low) : std::nullopt});
    value.kind = Known::Kind::element;
    touch(value, number ? std::optional(subscript.number) : std::nullopt);
  } else if (value.kind == Known::Kind::moved_pointer) {
    touch(value, number ? std::optional(subscript.number) : std::nullopt);
    value = {.kind = Known::Kind::moved_element, .parameter = value.parameter};
  } else if (value.kind == Known::Kind::moved_element) {
    value.part = true;
  } else if (value.kind == Known::Kind::element) { // a row of an array, or a component of a vector
    found_[value.parameter].uses[value.use].offset.reset();
    update(value);
    value.part = true;
  } else {
    consume(value);
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
        } else {
          consume(argument);
        }
        if (reduction && given.empty()) {
          reduce(argument, *reduction);
        }
        given.push_back(argument);
      } while (take(","));
    }
    expect(")");
    return name == nullptr ? built_in(text, given) : Known{};
  }
  if (called || (name == nullptr && text != "true" && text != "false" && !standard_macros().contains(text)) ||
      (name != nullptr && name->kind != NameKind::variable && name->kind != NameKind::enumerator)) {
    fail();
    return {};
  }
  if (const auto pointer = pointers_.find(name); name != nullptr && pointer != pointers_.end()) {
    return {.kind = Known::Kind::pointer, .parameter = pointer->second, .use = token};
  }
  if (const auto value = values_.find(name); name != nullptr && value != values_.end()) {
    Known known = value->second;
    known.variable = name;
    return known;
  }
  return {};
}

Known ExpressionReader::built_in(const std::string& function, const std::vector<Known>& arguments) const {
  if (arguments.empty() || !std::ranges::all_of(arguments, [](const Known& argument) {
        return argument.kind == Known::Kind::number;
      })) {
    return {};
  }
  const Linear& first = arguments[0].number;
  if (arguments.size() == 1 && first.is_constant() && first.low >= 0 && first.low < 3) {
    const auto d = static_cast<std::uint32_t>(first.low);
    const bool same_for_parts = setting_ != nullptr && d + 1 < setting_->dimensions;
    return function == "get_global_id" && !by_parameter_ ? of_number(id_of(d))
           : function == "get_global_size" && same_for_parts
               ? of_number(constant_of(setting_->size[d], false))
               : Known{};
  }
  const IdRanges at = ids();
  if (arguments.size() == 2 && (function == "min" || function == "max")) {
    return of_number((function == "min" ? least : greatest)(first, arguments[1].number, at));
  }
  if (arguments.size() == 3 && function == "clamp") {
    const auto raised = greatest(first, arguments[1].number, at);
    return of_number(raised ? least(*raised, arguments[2].number, at) : std::nullopt);
  }
  return {};
}

void ExpressionReader::touch(const Known& pointer, const std::optional<Linear>& subscript) {
  Touched& touched = touched_[pointer.parameter];
  const IdRanges at = ids();
  const auto element = subscript && setting_ != nullptr ? sum(pointer.number, *subscript, at) : std::nullopt;
  if (!element) {
    touched.anywhere = true;
    return;
  }
  const auto [first, last] = range_of(*element, at);
  touched.exact = touched.exact && element->exact;
  touched.first = std::min(touched.first, first);
  touched.last = std::max(touched.last, last);
  touched.in_rows = touched.in_rows && add_rows(touched.rows, *element, at);
}

bool ExpressionReader::add_rows(RowElements& rows, Linear element, IdRanges at) const {
  const std::uint32_t outermost = setting_->dimensions - 1;
  const std::int64_t wraps = element.wrapped.factor == 0 ? 0 : element.wrapped.modulus;
  const std::int64_t per_id = wraps == 0 ? element.factors[outermost] : element.wrapped.factor;
  const auto [first, last] = range_of(element, at);
  if (per_id <= 0 || first <= -most_elements || last >= most_elements ||
      (wraps != 0 && (element.factors[outermost] != 0 || element.wrapped.dimension != outermost)) ||
      (rows.per_id != 0 && rows.per_id != per_id) || (rows.wraps != 0 && wraps != 0 && rows.wraps != wraps)) {
    return false;
  }
  const Wrapped by = element.wrapped;
  element.factors[outermost] = 0;
  element.wrapped = {};
  auto [low, high] = range_of(element, at);
  if (wraps != 0 && (low < 0 || high >= per_id)) {
    return false;
  }
  low += by.low * per_id;
  high += by.high * per_id;
  rows.per_id = per_id;
  rows.wraps = std::max(rows.wraps, wraps);
  rows.low = std::min(rows.low, low);
  rows.high = std::max(rows.high, high);
  return true;
}

std::size_t ExpressionReader::add_use(std::size_t parameter, const PointerUse& use) {
  found_[parameter].uses.push_back(use);
  return found_[parameter].uses.size() - 1;
}

void ExpressionReader::consume(const Known& value) {
  if (value.kind == Known::Kind::element && value.part) {
    update(value); // a member that is an array decays to an address
  } else if (value.kind == Known::Kind::pointer || value.kind == Known::Kind::moved_pointer ||
             value.kind == Known::Kind::address) {
    escape(value);
    touched_[value.parameter].anywhere = true;
  }
}

void ExpressionReader::escape(const Known& value) {
  if (value.kind == Known::Kind::pointer) {
    add_use(value.parameter, escaping(value.use));
  } else if (value.kind == Known::Kind::address) {
    PointerUse& use = found_[value.parameter].uses[value.use];
    use = escaping(use.token);
  }
}

void ExpressionReader::reduce(const Known& argument, Reduction reduction) {
  if (argument.kind == Known::Kind::pointer) {
    found_[argument.parameter].uses.back().reduction = reduction;
  } else if (argument.use != Known::no_use && (argument.kind == Known::Kind::moved_pointer ||
                                               (argument.kind == Known::Kind::address && !argument.part))) {
    found_[argument.parameter].uses[argument.use].reduction = reduction;
  }
}

void ExpressionReader::change(const Known& value) {
  if (value.kind == Known::Kind::element) {
    update(value);
  } else if (value.variable != nullptr) {
    changing_.insert(value.variable);
    consume(value);
  } else {
    consume(value);
  }
}

void ExpressionReader::update(const Known& value) {
  Kind& kind = found_[value.parameter].uses[value.use].kind;
  kind = kind == Kind::escapes ? kind : Kind::updates;
}

} // namespace tidegate::opencl_c
