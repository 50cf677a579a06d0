// The elements that expressions access: through pointer parameters, in arrays and in images.
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/expressions.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tidegate::opencl_c {

static constexpr std::int64_t most_elements = std::int64_t{1} << 31U; // see own_elements()

std::vector<std::int64_t> ExpressionReader::extents_of(const Name& array) {
  std::vector<std::int64_t> extents;
  for (const Type* type = array.type; type->is(Type::Kind::array); type = type->inner) {
    if (!constants_) {
      constants_.emplace(unit_);
    }
    std::optional<std::int64_t> extent;
    const Decl* const decl = unit_.tree->declaration(array.token);
    if (type->extent != nullptr) {
      extent = constants_->value(type->extent->tokens);
    } else if (decl != nullptr && decl->value != nullptr && decl->value->kind == Expr::Kind::list &&
               type == array.type && type->inner->is(Type::Kind::number)) { // float table[] = {1, 2}
      const bool plain = std::ranges::none_of(
          decl->value->operands, [](const Expr* part) { return part->kind == Expr::Kind::designated; });
      extent = plain ? static_cast<std::int64_t>(decl->value->operands.size()) : 0;
    }
    extents.push_back(extent.value_or(0));
  }
  return extents;
}

bool ExpressionReader::element_of_array(const Expr& expr) {
  std::vector<const Expr*> subscripts; // the last one first
  const Expr* array = &expr;
  for (; array->kind == Expr::Kind::subscript; array = array->operands[0]) {
    subscripts.push_back(array->operands[1]);
  }
  const Name* const name = array->kind == Expr::Kind::name ? unit_.meaning(array->token) : nullptr;
  if (name == nullptr || name->kind != NameKind::variable || !name->type->is(Type::Kind::array)) {
    return false;
  }
  const std::vector<std::int64_t> extents = extents_of(*name);
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    const Known subscript = read(*subscripts[subscripts.size() - 1 - i]);
    consume(subscript);
    const auto number = number_of(subscript);
    const auto [low, high] =
        number && number->exact ? range_of(*number, ids()) : std::array<std::int64_t, 2>{-1, -1};
    others_known_ = others_known_ && i < extents.size() && low >= 0 && high < extents[i];
  }
  others_known_ = others_known_ && subscripts.size() == extents.size(); // fewer are a pointer to a row
  return true;
}

void ExpressionReader::access(const std::string& function, const std::vector<Known>& arguments) {
  if (!arguments.empty() && arguments[0].kind == Known::Kind::image) {
    touch_image(function, arguments);
    return;
  }
  bool tracked = false;
  const bool moves = function.starts_with("vload") || function.starts_with("vstore");
  std::size_t pointer = arguments.size(); // the argument whose accesses are known
  Linear elements;
  if (function.starts_with("atomic_") || function.starts_with("atom_")) {
    pointer = 0;
  } else if (const std::size_t position = function.starts_with("vload") ? 1 : 2;
             moves && arguments.size() == position + 1) {
    static constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> widths{
        {{"2", 2}, {"3", 3}, {"4", 4}, {"8", 8}, {"16", 16}}};
    const auto* const width = std::ranges::find(widths, std::string_view(function).substr(position + 4),
                                                [](const auto& pair) { return pair.first; });
    const auto number = number_of(arguments[position - 1]);
    if (number && width != widths.end()) {
      const auto first = product(*number, constant_of(width->second, number->is_int), ids());
      const auto all =
          first ? sum(*first, between(0, width->second - 1, first->is_int), ids()) : std::nullopt;
      pointer = all ? position : pointer;
      elements = all.value_or(Linear());
    }
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Known& argument = arguments[i];
    if (argument.kind == Known::Kind::pointer || argument.kind == Known::Kind::moved_pointer) {
      touch(argument, is_whole() && i == pointer ? std::optional(elements) : std::nullopt);
    }
    tracked = tracked || argument.kind == Known::Kind::pointer ||
              argument.kind == Known::Kind::moved_pointer || argument.kind == Known::Kind::address;
  }
  others_known_ = others_known_ && (!moves || tracked);
}

void ExpressionReader::touch_image(const std::string& function, const std::vector<Known>& arguments) {
  const bool reads = function.starts_with("read_image");
  const bool samples = reads && arguments.size() == 3;
  if (function.starts_with("get_image") || (samples && samplers_.contains(arguments[1].variable))) {
    return; // a sampler of the program keeps coordinates inside
  }
  std::optional<Linear> at;
  if (arguments.size() == (reads && !samples ? 2 : 3) && (reads || function.starts_with("write_image"))) {
    const Known& coordinates = arguments[samples ? 2 : 1];
    at = coordinates.kind == Known::Kind::vector ? coordinates.number : number_of(coordinates);
  }
  touch(arguments[0], at);
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
             value.kind == Known::Kind::address || value.kind == Known::Kind::image) {
    escape(value);
    touched_[value.parameter].anywhere = true;
  } else if (value.kind == Known::Kind::inside) {
    others_known_ = false;
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
