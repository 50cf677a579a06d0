// Accesses, by elements, calls and built-in functions, and what all accesses of a parameter have in common.
#include "opencl_c/footprint_reader.hpp"

namespace tidegate::opencl_c {

namespace {

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

std::int64_t floor_of(std::int64_t number, std::int64_t by) {
  return number / by - (number % by < 0 ? 1 : 0);
}

// The ids whose elements these are; nullopt if the element determines no ids.
std::optional<ElementsById> ids_of(const Linear& element, const IdRanges& ids) {
  ElementsById found;
  std::vector<std::uint32_t> order;
  for (std::uint32_t d = 0; d < 3; ++d) {
    if (element.factors[d] < 0 || (element.factors[d] != 0 && element.at[d].modulus != 0)) {
      return {};
    }
    if (element.factors[d] != 0) {
      found.per_id[d] = element.factors[d];
      found.offset[d] = element.at[d].offset;
      order.push_back(d);
    }
  }
  std::ranges::sort(order, std::ranges::greater{}, [&](std::uint32_t d) { return element.factors[d]; });
  Interval rest{element.low, element.high};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t d = order[i];
    const std::int64_t factor = element.factors[d];
    Interval inner = rest; // what is left below this factor
    for (std::size_t k = i + 1; k < order.size(); ++k) {
      const Interval part = range_of(element.at[order[k]], order[k], ids);
      inner = sum(inner, {part.low * element.factors[order[k]], part.high * element.factors[order[k]]});
    }
    const Interval steps{floor_of(inner.low, factor), floor_of(inner.high, factor)};
    if (i + 1 < order.size() && steps.low != steps.high) {
      return {};
    }
    found.offset[d] = sum(found.offset[d], steps);
    rest = sum(rest, {-steps.low * factor, -steps.low * factor});
  }
  return found;
}

bool join(std::optional<ElementsById>& all, const std::optional<ElementsById>& more) {
  if (!more || (all && all->per_id != more->per_id)) {
    return false;
  }
  for (std::size_t d = 0; all && d < 3; ++d) {
    all->offset[d] = hull(all->offset[d], more->offset[d]);
  }
  all = all ? all : more;
  return true;
}

bool join(std::optional<RowElements>& all, const std::optional<RowElements>& more) {
  if (!more || (all && (all->per_id != more->per_id ||
                        (all->wraps != 0 && more->wraps != 0 && all->wraps != more->wraps)))) {
    return false;
  }
  all = !all ? *more
             : RowElements{.per_id = all->per_id,
                           .low = std::min(all->low, more->low),
                           .high = std::max(all->high, more->high),
                           .wraps = std::max(all->wraps, more->wraps)};
  return true;
}

} // namespace

Known FootprintReader::element(const Expr& expr) {
  Known array = read(*expr.operands[0]);
  const bool has_index = expr.kind == Expr::Kind::subscript;
  const Known index = has_index ? condition(*expr.operands[1]) : of_number(constant_of(0, true));
  if (array.kind == Known::Kind::element) { // a component of a vector
    if (!expr.operands[0]->type->is(Type::Kind::vector)) {
      lose(array.parameter, {"its elements are no numbers", expr.token});
    }
    array.part = true;
    return array;
  }
  if (array.kind != Known::Kind::pointer) {
    return {.variable = array.variable, .part = true};
  }
  const auto by = number_of(index);
  const auto number = by && array.number ? sum(*array.number, *by, ids()) : std::nullopt;
  return {.kind = Known::Kind::element,
          .number = number,
          .parameter = array.parameter,
          .plain = array.plain && has_index};
}

Known FootprintReader::accessed(Known element, std::size_t token, std::optional<Reduction> reduction) {
  if (element.kind != Known::Kind::element || element.part) {
    return element;
  }
  Found& found = found_[element.parameter];
  const IdRanges at = ids();
  const auto& number = element.number;
  ++found.uses;
  found.mixed = found.mixed || !reduction || (found.reduction && found.reduction != reduction);
  found.reduction = reduction;
  found.own = found.own && element.plain && number && number->only() == 0U && number->factors[0] == 1 &&
              number->at[0].modulus == 0 && absorbed(*number).at[0].offset == Interval{0, 0};
  if (at.empty()) {
    return element; // this never runs
  }
  const Interval range = number ? range_of(*number, at) : Interval();
  if (range.low <= -most_elements || range.high >= most_elements) {
    const Obstacle unknown{number ? "its index may be any number"
                                  : "its index is no sum of ids with known factors and bounded numbers",
                           token};
    found.anywhere = found.anywhere ? found.anywhere : unknown;
    return element;
  }
  const bool is_first = !found.elements;
  found.elements = is_first ? range : hull(*found.elements, range);
  if (is_certain() && is_point(*number)) {
    found.certain = found.certain ? hull(*found.certain, range) : range;
  }
  found.in_rows = found.in_rows && join(found.rows, rows_of(*number, at));
  if (!join_by_ids(found, is_first, *number, at) && !found.elsewhere) {
    found.elsewhere = Obstacle{"its index does not follow the ids of all dimensions", token};
  }
  return element;
}

bool FootprintReader::is_point(const Linear& number) {
  bool point = number.low == number.high && number.range == Interval();
  for (std::size_t d = 0; d < 3; ++d) {
    const Coordinate& at = number.at[d];
    point = point && (number.factors[d] == 0 ||
                      (at.offset.low == at.offset.high && at.modulus == 0 && at.range == Interval()));
  }
  return point;
}

bool FootprintReader::join_by_ids(Found& found, bool is_first, const Linear& number,
                                  const IdRanges& at) const {
  Linear fewer = number;
  bool all = true;
  bool all_of_fewer = true;
  for (std::uint32_t d = 0; d < 3; ++d) {
    const bool several = d < setting_.dimensions && setting_.size[d] > setting_.local[d];
    all = all && (number.factors[d] != 0 || d >= setting_.dimensions || setting_.size[d] == 1);
    all_of_fewer = all_of_fewer && (number.factors[d] != 0 || !several);
    fewer = several ? fewer : folded(fewer, d, at);
  }
  const auto first = all ? ids_of(number, at) : std::nullopt;
  const auto second = all_of_fewer ? ids_of(fewer, at) : std::nullopt;
  if ((!is_first && !found.by_id) || !join(found.by_id, first)) {
    found.by_id.reset();
  }
  if ((!is_first && !found.by_fewer_ids) || !join(found.by_fewer_ids, second)) {
    found.by_fewer_ids.reset();
  }
  return found.by_id || found.by_fewer_ids;
}

std::optional<RowElements> FootprintReader::rows_of(Linear element, const IdRanges& at) const {
  const std::uint32_t outermost = setting_.dimensions - 1;
  const std::int64_t per_id = element.factors[outermost];
  const Coordinate row = element.at[outermost];
  if (per_id <= 0) {
    return {};
  }
  element.factors[outermost] = 0;
  element.range = {};
  const Interval in_row = range_of(element, at);
  if (row.modulus != 0 && (in_row.low < 0 || in_row.high >= per_id)) {
    return {};
  }
  return RowElements{.per_id = per_id,
                     .low = in_row.low + row.offset.low * per_id,
                     .high = in_row.high + row.offset.high * per_id,
                     .wraps = row.modulus};
}

Known FootprintReader::member(const Expr& expr) {
  const Known of = read(*expr.operands[0]);
  if (!unit_.is(expr.token - 1, ".")) {
    consume(of, "that of a structure");
    return {};
  }
  if (of.kind == Known::Kind::element) {
    Known part = of;
    part.part = true;
    return part;
  }
  Known part{.variable = of.variable, .part = true};
  if (of.kind == Known::Kind::record) {
    const auto value = setting_.members.find({of.parameter, text(expr.token)});
    const std::string type = text_of(*expr.type);
    if (value != setting_.members.end() && !type.empty()) {
      const auto number = as_type(type, constant_of(value->second, type == "int"));
      part.kind = number ? Known::Kind::number : part.kind;
      part.number = number;
    }
  }
  consume(of);
  return part;
}

Known FootprintReader::called(const Expr& expr) {
  const Expr& callee = *expr.operands[0];
  const std::string& word = text(callee.token);
  const Name* const name = unit_.meaning(callee.token);
  if (callee.kind != Expr::Kind::name ||
      !(name == nullptr ? builtin(word).has_value() : name->kind == NameKind::function)) {
    fail("a call is not known", expr.tokens.begin);
    return {};
  }
  const bool is_statement = &expr == statement_;
  std::vector<Known> given;
  for (const Expr* const operand : expr.operands.subspan(1)) {
    given.push_back(read(*operand));
  }
  token_ = callee.token;
  if (name != nullptr) {
    return call(unit_.definition(word), word, given);
  }
  access(word, given, is_statement);
  return built_in(word, given);
}

Known FootprintReader::call(const Function* callee, const std::string& name, std::vector<Known>& arguments) {
  const std::size_t at = token_;
  const bool follows = callee != nullptr && callee->body && !callee->is_overloadable &&
                       callee->parameters.size() == arguments.size() && nesting_ < most_nested &&
                       ++calls_ < most_calls;
  const std::string how = fmt::format("passed to {}", name);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    Known& argument = arguments[i];
    if (argument.kind != Known::Kind::pointer) {
      continue;
    }
    found_[argument.parameter].own = false;
    if (!follows || !is_same_pointer(argument, *callee->parameters[i].decl->type)) {
      consume(argument, how);
      argument = {};
    }
  }
  if (!follows) {
    return {};
  }
  const std::vector<Found> before = found_;
  FootprintReader reader(*this, *callee, arguments);
  reader.calls_ = calls_;
  const auto obstacle = reader.run();
  calls_ = reader.calls_;
  if (!obstacle) {
    return reader.result(*callee);
  }
  found_ = before;
  for (const Known& argument : arguments) {
    if (argument.kind == Known::Kind::pointer) {
      lose(argument.parameter, {fmt::format("it is {}, where {}", how, obstacle->reason), at});
    }
  }
  return {};
}

void FootprintReader::access(const std::string& function, const std::vector<Known>& arguments,
                             bool is_statement) {
  std::size_t pointer = arguments.size(); // the argument whose accesses are known
  std::optional<Linear> elements = constant_of(0, true);
  std::optional<Reduction> reduction;
  if (function.starts_with("atomic_") || function.starts_with("atom_")) {
    pointer = 0;
    reduction = is_statement ? reduction_of(function) : std::nullopt;
  } else if (function.starts_with("vload") || function.starts_with("vstore")) {
    static constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> widths{
        {{"2", 2}, {"3", 3}, {"4", 4}, {"8", 8}, {"16", 16}}};
    const std::size_t position = function.starts_with("vload") ? 1 : 2;
    const auto* const width = std::ranges::find(widths, std::string_view(function).substr(position + 4),
                                                [](const auto& pair) { return pair.first; });
    if (arguments.size() == position + 1 && width != widths.end()) {
      pointer = position;
      const auto by = number_of(arguments[position - 1]);
      const auto first = by ? product(*by, constant_of(width->second, by->is_int), ids()) : std::nullopt;
      elements = first ? sum(*first, between(0, width->second - 1, first->is_int), ids()) : std::nullopt;
    }
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Known& argument = arguments[i];
    if (argument.kind != Known::Kind::pointer || i != pointer) {
      consume(argument, fmt::format("passed to {}", function));
      continue;
    }
    const auto number = elements && argument.number ? sum(*argument.number, *elements, ids()) : std::nullopt;
    found_[argument.parameter].own = false;
    accessed({.kind = Known::Kind::element, .number = number, .parameter = argument.parameter}, token_,
             reduction);
  }
}

Known FootprintReader::built_in(const std::string& function, const std::vector<Known>& arguments) const {
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
    const bool same_for_parts = d + 1 < setting_.dimensions; // ranks cut the outermost dimension
    return function == "get_global_id"                       ? of_number(id_of(d))
           : function == "get_global_size" && same_for_parts ? of_number(constant_of(setting_.size[d], false))
           : function == "get_local_id"                      ? of_number(between(0, setting_.local[d] - 1))
                                                             : Known{};
  }
  const IdRanges at = ids();
  if (numbers.size() == 2 && (function == "min" || function == "max")) {
    return of_number((function == "min" ? least : greatest)(numbers[0], numbers[1], at));
  }
  if (numbers.size() == 3 && function == "clamp") {
    const auto low = greatest(numbers[0], numbers[1], at);
    return of_number(low ? least(*low, numbers[2], at) : std::nullopt);
  }
  return {};
}

namespace {

// Returns why a compiler may read the kernel otherwise.
std::optional<Obstacle> other_meaning(const TranslationUnit& unit, const Function& kernel) {
  const bool named = std::ranges::none_of(kernel.parameters, [](const Parameter& parameter) {
    return parameter.name.empty() || is_type_word(parameter.name);
  });
  const std::string pragma = pragma_scope(unit).obstacle;
  return !kernel.body ? std::optional(Obstacle{"its kernel has no body", kernel.name_token})
         : !named     ? Obstacle{"a parameter has no name", kernel.name_token}
         : !unit.source.own_macros.empty() ? Obstacle{unit.source.own_macros, kernel.name_token}
         : !pragma.empty()                 ? Obstacle{pragma, kernel.name_token}
                                           : std::optional<Obstacle>();
}

} // namespace

std::vector<Footprint> footprints(const TranslationUnit& unit, const Function& kernel,
                                  const LaunchSetting& setting) {
  std::vector<Found> found(kernel.parameters.size());
  auto failed = other_meaning(unit, kernel);
  failed = failed ? failed : FootprintReader(unit, kernel, setting, found).run();
  std::vector<Footprint> footprints(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    Footprint& footprint = footprints[i];
    Found& all = found[i];
    if (failed || !parameter.is_pointer) {
      footprint.obstacle = failed;
      continue;
    }
    footprint.reduction = all.mixed ? std::nullopt : all.reduction;
    const auto element = layout_of_pointee(unit, parameter);
    const bool plain = element && element->kind == TypeLayout::Kind::arithmetic;
    if (all.anywhere || !plain || parameter.space != AddressSpace::global) {
      footprint.obstacle =
          all.anywhere ? all.anywhere : Obstacle{"its elements are no numbers", parameter.tokens.begin};
      continue;
    }
    footprint.obstacle = all.elsewhere;
    footprint.element_bytes = static_cast<std::uint32_t>(element->bytes);
    footprint.own = all.own && setting.dimensions == 1;
    footprint.assigned_first = all.assigned_first;
    footprint.elements = all.elements.value_or(Interval{1, 0});
    footprint.certain = all.certain;
    if (!all.elements) { // as if it touched its own
      all.by_id.emplace();
      all.by_id->per_id[0] = setting.dimensions == 1 ? 1 : 0;
      all.rows = setting.dimensions == 1 ? std::optional(RowElements{.per_id = 1}) : std::nullopt;
    }
    footprint.by_id = all.by_id ? all.by_id : all.by_fewer_ids;
    footprint.rows = all.in_rows ? all.rows : std::nullopt;
  }
  return footprints;
}

} // namespace tidegate::opencl_c
