// Reads a kernel's body: its statements, the expressions in them and the functions that it calls. Each expression returns
// what is known of its value.
#include "opencl_c/footprint.hpp"

#include "opencl_c/constant_expression.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 31U; // see Footprint
constexpr std::int64_t most_count = most_elements - 1;

// What holds in a part of the body: ranges of ids, and of variables that only their declarations set.
struct Bounds {
  std::array<Interval, 3> ids;
  std::map<const Decl*, Interval> variables;
  bool exact = false; // the part runs for all these ids
};

Bounds tighter(Bounds a, const Bounds& b) {
  for (std::size_t d = 0; d < 3; ++d) {
    a.ids[d] = tighter(a.ids[d], b.ids[d]);
  }
  for (const auto& [name, interval] : b.variables) {
    a.variables[name] = tighter(a.variables[name], interval);
  }
  a.exact = a.exact && b.exact;
  return a;
}

// What is known of an expression.
struct Known {
  enum class Kind : std::uint8_t {
    unknown,
    number,
    pointer, // a parameter, moved by `number` elements
    element, // that it points to
    record,  // a parameter that is a structure
  };
  Kind kind = Kind::unknown;
  std::optional<Linear> number = {};
  const Decl* variable = nullptr; // that the expression denotes
  std::size_t parameter = 0;
  bool plain = false;    // pointer: the parameter by its name
  bool part = false;     // a member of a variable or an element
  bool assigned = false; // the expression assigns a whole element of `parameter`
  Bounds if_true = {};   // what holds after a condition
  Bounds if_false = {};
};

// What has been found of a parameter.
struct Found {
  std::optional<Obstacle> anywhere;
  std::optional<Obstacle> elsewhere; // it may touch elements that do not follow the ids
  std::size_t uses = 0;
  bool mixed = false; // some use is no reduction, or another one
  bool own = true;
  bool assigned_first = false;
  std::optional<Reduction> reduction;
  std::optional<Interval> elements;
  std::optional<Interval> certain;
  std::optional<ElementsById> by_id;
  std::optional<ElementsById> by_fewer_ids; // without those of dimensions of one work-group
  std::optional<RowElements> rows;
  bool in_rows = true;
};

Known of_number(const std::optional<Linear>& number) {
  return number ? Known{.kind = Known::Kind::number, .number = number} : Known{};
}

// True for an integer type that can hold any id.
bool is_wide(std::string_view type) {
  static constexpr std::array<std::string_view, 8> wide{"int",    "uint",      "long",     "ulong",
                                                        "size_t", "ptrdiff_t", "intptr_t", "uintptr_t"};
  return std::ranges::find(wide, type) != wide.end();
}

// All numbers of a type, where they are 32 bits at most.
std::optional<Linear> all_of(std::string_view type) {
  const auto known = arithmetic_type(type);
  const bool is_number =
      known && known->width == 1 && known->scalar_bytes <= 4 && type != "half" && type != "float";
  if (!is_number) {
    return {};
  }
  const std::int64_t values = std::int64_t{1} << (8 * known->scalar_bytes);
  const bool has_sign = type.front() != 'u';
  return between(has_sign ? -values / 2 : 0, (has_sign ? values / 2 : values) - 1, type != "uint");
}

// The name of an arithmetic type; empty for others.
std::string text_of(const Type& type) {
  const bool known = type.is_arithmetic() && type.record == nullptr;
  return known && (arithmetic_type(type.name) || is_wide(type.name)) ? type.name : "";
}

Known value_of_number(const TranslationUnit& unit, const Expr& expr) {
  const std::string& word = unit.source.tokens[expr.token].text;
  constexpr std::int64_t most_distance = std::int64_t{1} << 30U;
  const auto value = value_of(unit, expr);
  const bool is_int =
      value && *value < (std::int64_t{1} << 31U) && word.find_first_of("uUlL") == std::string::npos;
  return value && *value <= most_distance ? of_number(constant_of(*value, is_int)) : Known{};
}

// The reduction that a call stands for if its result is not used.
std::optional<Reduction> reduction_of(std::string_view function) {
  for (const std::string_view prefix : {"atomic_fetch_", "atomic_", "atom_"}) {
    if (function.starts_with(prefix)) {
      function.remove_prefix(prefix.size());
      const bool sums = function == "add" || function == "sub" || function == "inc" || function == "dec";
      return sums                ? std::optional(Reduction::sum)
             : function == "min" ? std::optional(Reduction::min)
             : function == "max" ? std::optional(Reduction::max)
                                 : std::nullopt;
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

class FootprintReader {
public:
  FootprintReader(const TranslationUnit& unit, const Function& kernel, const LaunchSetting& setting,
                  std::vector<Found>& found)
      : unit_(unit), kernel_(kernel), setting_(setting), body_(*kernel.body), statements_(kernel.statements),
        found_(found) {
    for (std::uint32_t d = 0; d < 3; ++d) {
      ids_.begin[d] = setting.begin[d];
      ids_.end[d] = setting.begin[d] + setting.size[d];
    }
    at_call_.exact = true;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const Parameter& parameter = kernel.parameters[i];
      const Decl* const name = name_of(parameter);
      if (parameter.is_pointer) {
        given_[name] = {
            .kind = Known::Kind::pointer, .number = constant_of(0, true), .parameter = i, .plain = true};
        pointers_[name] = given_[name];
        continue;
      }
      types_[name] = parameter.type;
      if (const auto value = setting.values.find(i); value != setting.values.end()) {
        given_[name] = of_number(constant_of(value->second, parameter.type == "int"));
      } else if (parameter.decl->type->is(Type::Kind::record)) {
        given_[name] = {.kind = Known::Kind::record, .parameter = i};
      }
    }
  }

  // Reads a function that the body of `caller` calls.
  FootprintReader(const FootprintReader& caller, const Function& callee, const std::vector<Known>& arguments)
      : unit_(caller.unit_), kernel_(caller.kernel_), setting_(caller.setting_), body_(*callee.body),
        statements_(callee.statements), found_(caller.found_), ids_(caller.ids_), at_call_(caller.bounds_),
        nesting_(caller.nesting_ + 1) {
    at_call_.exact = caller.is_certain();
    at_call_.variables.clear(); // of another call, if it calls itself
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Parameter& parameter = callee.parameters[i];
      const Known& argument = arguments[i];
      const Decl* const name = name_of(parameter);
      if (name == nullptr) {
        continue; // the body cannot use it
      }
      if (argument.kind == Known::Kind::pointer || argument.kind == Known::Kind::record) {
        given_[name] = {.kind = argument.kind, .number = argument.number, .parameter = argument.parameter};
        pointers_[name] = given_[name];
      } else if (const auto number = caller.as_type(parameter.type, caller.number_of(argument));
                 number && !parameter.is_pointer) {
        given_[name] = of_number(number);
      }
      types_[name] = parameter.is_pointer ? "" : parameter.type;
    }
  }
  // Returns why the body is not understood.
  std::optional<Obstacle> run() {
    // Variables count as what their declarations say until a change of them is found: then all is read again.
    const std::vector<Found> before = found_;
    for (std::size_t changing = ~std::size_t{0}; changing != changing_.size() && !failed_;) {
      changing = changing_.size();
      found_ = before;
      read_body();
    }
    bounds_ = at_call_;
    return failed_;
  }

  // After run(): returns what is known of the value that the function returns.
  [[nodiscard]] Known result(const Function& callee) const {
    const Decl* const decl = unit_.meaning(callee.name_token);
    if (results_.empty() || decl == nullptr || !decl->type->is(Type::Kind::function)) {
      return {};
    }
    std::optional<Linear> all;
    IdRanges ids; // for which it is known
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const auto& [value, at] = results_[i];
      const auto number = value.number && value.kind == Known::Kind::number ? value.number : std::nullopt;
      all = i == 0 ? number : all;
      all = all && number ? either(*all, i == 0 ? at : ids, *number, at) : std::nullopt;
      ids = i == 0 ? at : this->ids();
    }
    Known known = of_number(all ? as_type(text_of(*decl->type->inner), all) : std::nullopt);
    if (results_.size() == 1) {
      known.if_true = results_[0].first.if_true;
      known.if_false = results_[0].first.if_false;
      known.if_true.variables.clear();
      known.if_false.variables.clear();
    }
    return known;
  }

private:
  // Nothing is known of the body.
  void fail(std::string reason, std::size_t token) {
    failed_ = failed_ ? failed_ : Obstacle{std::move(reason), token};
  }

  // Bounds the recursion.
  void check_depth(std::size_t token) {
    if (depth_ > most_depth) {
      fail("it is nested too deeply", token);
    }
  }

  // The parameter may be used in any way.
  void lose(std::size_t parameter, const Obstacle& obstacle) {
    Found& found = found_[parameter];
    found.anywhere = found.anywhere ? found.anywhere : obstacle;
    found.mixed = true;
    found.own = found.assigned_first = false;
  }

  // Uses the value in a way of which nothing more is known.
  void consume(const Known& value, std::string_view how = "stored or compared") {
    if (value.kind == Known::Kind::pointer) {
      lose(value.parameter, {fmt::format("the pointer is {}", how), token_});
    }
  }

  // All ids of `bounds_` come here.
  [[nodiscard]] bool is_certain() const { return bounds_.exact && !leaks_; }

  // Reads what runs if a condition holds, or if it does not. A case label may jump into it.
  template <class Read>
  auto where(const Bounds& holds, const Read& read) {
    const Bounds before = bounds_;
    bounds_ = tighter(bounds_, switches_ == 0 ? holds : Bounds());
    auto result = read();
    bounds_ = before;
    return result;
  }

  // Null for a parameter that the body cannot use.
  [[nodiscard]] const Decl* name_of(const Parameter& parameter) const {
    return parameter.decl->token == no_token ? nullptr : parameter.decl;
  }

  // Returns the ranges of the ids at this point of the body.
  [[nodiscard]] IdRanges ids() const {
    IdRanges ids = ids_;
    for (std::size_t d = 0; d < 3; ++d) {
      ids.begin[d] = std::max(ids.begin[d], bounds_.ids[d].low);
      ids.end[d] = std::min(ids.end[d], bounds_.ids[d].high + 1);
    }
    return ids;
  }

  // The number in a variable of this type; where it is not known, whatever the type holds.
  [[nodiscard]] std::optional<Linear> as_type(std::string_view type,
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
    return all;
  }

  // The number that a value is, also if it is loaded from memory.
  [[nodiscard]] std::optional<Linear> number_of(const Known& value) const {
    return value.kind == Known::Kind::number ? value.number
           : value.kind == Known::Kind::element && !value.part
               ? all_of(kernel_.parameters[value.parameter].type)
               : std::nullopt;
  }

  void read_body() {
    leaks_ = false;
    returns_ = switches_ = loops_ = 0;
    values_ = given_;
    for (const Decl* const name : changing_) {
      if (const auto value = values_.find(name); value != values_.end()) {
        consume(value->second, "changed");
        values_.erase(value);
      }
    }
    bounds_ = at_call_;
    results_.clear();
    if (statements_ == nullptr) {
      fail("its body is not known", body_.begin);
      return;
    }
    for (const Stmt* const part : statements_->parts) {
      statement(*part);
    }
    // A safeguard: each occurrence of a pointer has been read.
    for (std::size_t i = body_.begin; i < body_.end; ++i) {
      const auto pointer = pointers_.find(unit_.meaning(i));
      if (pointer != pointers_.end() && pointer->first->token != i && !seen_.contains(i)) {
        lose(pointer->second.parameter, {"an occurrence of the pointer was not read", i});
      }
    }
  }

  // Returns true if nothing runs after it.
  bool statement(const Stmt& stmt) {
    const Nested nested(depth_);
    check_depth(stmt.tokens.begin);
    token_ = stmt.tokens.begin;
    if (failed_ || (stmt.has_attributes && !stmt.is_loop())) { // a loop may have some
      fail("a statement has attributes", stmt.tokens.begin);
      return false;
    }
    switch (stmt.kind) {
    case Stmt::Kind::nothing: return false;
    case Stmt::Kind::block: {
      bool leaves = false;
      for (const Stmt* const part : stmt.parts) {
        leaves = statement(*part) || leaves;
      }
      return leaves;
    }
    case Stmt::Kind::expression: expression_statement(*stmt.values[0]); return false;
    case Stmt::Kind::declaration: declaration(stmt); return false;
    case Stmt::Kind::if_else: return if_else(stmt);
    case Stmt::Kind::return_value:
      if (!stmt.values.empty()) {
        Known value = condition(*stmt.values[0]);
        value.number = number_of(value);
        value.kind = value.number ? Known::Kind::number : Known::Kind::unknown;
        results_.emplace_back(std::move(value), ids());
      }
      ++returns_;
      leaks_ = true; // until the branch that returns is left out
      return true;
    case Stmt::Kind::while_loop: {
      const Known holds = condition(*stmt.values[0]);
      loop_body(*stmt.parts[0], holds.if_true);
      return false;
    }
    case Stmt::Kind::do_loop:
      loop_body(*stmt.parts[0], {});
      where({}, [&] { return condition(*stmt.values[0]); }); // unless it breaks
      return false;
    case Stmt::Kind::for_loop: for_loop(stmt); return false;
    case Stmt::Kind::switch_block:
      condition(*stmt.values[0]);
      ++switches_;
      loop_body(*stmt.parts[0], {});
      --switches_;
      return false;
    case Stmt::Kind::case_label: consume(read(*stmt.values[0])); [[fallthrough]];
    case Stmt::Kind::default_label: return !stmt.parts.empty() && statement(*stmt.parts[0]);
    case Stmt::Kind::break_out:
    case Stmt::Kind::continue_loop: return true; // of the loop's body
    case Stmt::Kind::opaque:
    case Stmt::Kind::label:
    case Stmt::Kind::goto_label: break;
    }
    fail("a statement is not known", stmt.tokens.begin);
    return false;
  }

  // What comes after it runs where neither branch has left.
  bool if_else(const Stmt& stmt) {
    const Known holds = condition(*stmt.values[0]);
    // Returns true if all that comes to the branch leaves; those that return otherwise may be among the ids of `bounds_`.
    std::array<bool, 2> leaks{};
    const auto leaves = [&](std::size_t branch, const Bounds& bounds) {
      const std::size_t before = returns_;
      const bool all_leave = where(bounds, [&] { return statement(*stmt.parts[branch]); });
      leaks.at(branch) = returns_ != before;
      return all_leave;
    };
    const bool leaked = leaks_;
    const bool then_leaves = leaves(0, holds.if_true);
    const bool else_leaves = stmt.parts.size() > 1 && leaves(1, holds.if_false);
    if (switches_ == 0 && then_leaves != else_leaves) {
      bounds_ = tighter(bounds_, then_leaves ? holds.if_false : holds.if_true);
      const bool stays = leaks.at(then_leaves ? 1 : 0); // a return in the branch that goes on
      leaks_ =
          leaked || stays || (loops_ != 0 && (leaks[0] || leaks[1])); // after a loop its bounds are forgotten
    } else {
      leaks_ = leaks_ || leaks[0] || leaks[1];
    }
    return then_leaves && else_leaves;
  }

  Known condition(const Expr& expr) {
    Known value = read(expr);
    consume(value);
    return value;
  }

  void for_loop(const Stmt& stmt) {
    const Stmt& begin = *stmt.parts[0];
    const Expr* const step = stmt.values[1];
    const Expr* const start = begin.values.empty() ? nullptr : begin.values[0];
    const Decl* const stepped = step == nullptr ? nullptr : stepped_variable(*step);
    const Decl* counter = nullptr;
    if (begin.kind == Stmt::Kind::declaration) {
      counter = declaration(begin);
    } else if (stepped != nullptr && start != nullptr && start->kind == Expr::Kind::assignment &&
               unit_.is(start->token, "=") && named_by(unit_, *start->operands[0]) == stepped &&
               unset_.contains(stepped) && !changing_.contains(stepped) &&
               !values_.contains(stepped) && // no outer loop counts it
               switches_ == 0) {
      const Known first = condition(*start->operands[1]);
      if (const auto number = as_type(types_[stepped], number_of(first))) {
        values_[stepped] = of_number(number);
      }
      counter = stepped;
    } else if (start != nullptr) {
      condition(*start);
    }
    const Bounds before = bounds_;
    bounds_.exact = false;
    const bool counts = counter != nullptr && counter == stepped && start_count(*counter, *step);
    const Known holds = stmt.values[0] == nullptr ? Known() : condition(*stmt.values[0]);
    if (counts) {
      count(*counter, holds, *step);
    } else if (counter != nullptr && counter == stepped) {
      changing_.insert(counter);
    } else if (step != nullptr) {
      condition(*step);
    }
    loop_body(*stmt.parts[1], holds.if_true);
    if (counts) {
      values_.erase(counter);
    }
    bounds_.exact = before.exact;
  }

  // Returns the variable that ++i, i-- or i += … changes; null for another step.
  [[nodiscard]] const Decl* stepped_variable(const Expr& step) const {
    static constexpr std::array<std::string_view, 8> steps{"++", "--", "+=", "-=", "*=", "/=", "<<=", ">>="};
    const bool listed = std::ranges::find(steps, text(step.token)) != steps.end();
    return listed && changes(unit_, step) ? named_by(unit_, *step.operands[0]) : nullptr;
  }

  // Called before the condition is read: assumes that the variable stays on one side of its first value. Returns false if
  // that value is not known.
  bool start_count(const Decl& variable, const Expr& step) {
    const auto value = values_.find(&variable);
    if (value == values_.end() || value->second.kind != Known::Kind::number || !value->second.number->exact ||
        !is_wide(types_[&variable])) {
      return false;
    }
    Linear& number = *value->second.number;
    const auto [low, high] = range_of(number, ids());
    static constexpr std::array<std::string_view, 4> downwards{"--", "-=", "/=", ">>="};
    const bool down = std::ranges::find(downwards, text(step.token)) != downwards.end();
    number = down ? between(number.is_int ? -most_count : 0, high, number.is_int)
                  : between(low, most_count, number.is_int);
    bounds_.variables.erase(&variable); // it was another number before
    return high <= most_count;
  }

  // Reads the step, after the condition. If it may overflow, what start_count() has assumed does not hold.
  void count(const Decl& variable, const Known& holds, const Expr& step_by) {
    const std::string& sign = text(step_by.token);
    const Known by =
        step_by.kind == Expr::Kind::assignment ? read(*step_by.operands[1]) : of_number(constant_of(1, true));
    consume(by);
    seen_.insert(step_by.operands[0]->token);
    const Linear number = *values_[&variable].number;
    const auto found = holds.if_true.variables.find(&variable);
    const Interval in_body = found == holds.if_true.variables.end() ? Interval() : found->second;
    const auto step = number_of(by);
    const auto [least, greatest] = step && step->exact ? range_of(*step, ids()) : Interval{-1, 0};
    const bool below = in_body.high <= most_count && greatest <= most_count;
    const bool stays =
        least >= (sign == "*=" || sign == "/=" ? 1 : 0) &&
        (sign == "++" || sign == "+=" ? below && in_body.high + greatest <= most_count
         : sign == "*="               ? below && number.low >= 0 && in_body.high * greatest <= most_count
         : sign == "<<="
             ? below && number.low >= 0 && in_body.high <= most_count >> std::min(greatest, std::int64_t{31})
         : sign == "--" || sign == "-=" ? in_body.low - greatest >= (number.is_int ? -most_count : 0)
                                        : in_body.low >= 0);
    if (!stays) {
      values_.erase(&variable);
      changing_.insert(&variable);
    }
  }

  // After the loop nothing is known from its early returns: it may not run, or end earlier.
  void loop_body(const Stmt& stmt, Bounds holds) {
    const std::size_t before = returns_;
    ++loops_;
    holds.exact = false;
    where(holds, [&] { return statement(stmt); });
    --loops_;
    leaks_ = leaks_ || returns_ != before;
  }

  void expression_statement(const Expr& expr) {
    statement_ = &expr;
    const Known value = read(expr);
    consume(value);
    if (value.assigned && depth_ == 1 && nesting_ == 0 && returns_ == 0) {
      Found& found = found_[value.parameter];
      found.assigned_first |= found.uses == 1; // no use before it or in its value
    }
  }

  // Returns the last variable if its value is known.
  const Decl* declaration(const Stmt& stmt) {
    const Decl* known = nullptr;
    for (const Decl* const decl : stmt.declared) {
      known = decl->kind == Decl::Kind::type ? nullptr : declared(*decl);
    }
    return known;
  }

  const Decl* declared(const Decl& decl) {
    if (decl.token == no_token || decl.type->is(Type::Kind::function) || decl.type->is(Type::Kind::opaque) ||
        is_type_word(text(decl.token))) {
      fail("a declaration is not known", token_);
      return nullptr;
    }
    const Decl& name = *unit_.meaning(decl.token);
    bounds_.variables.erase(&name);
    const bool is_new = &name == &decl;
    const std::string type = text_of(*decl.type);
    const bool plain = is_new && !type.empty() && !decl.type->is_volatile && !decl.has_attributes &&
                       decl.type->space == AddressSpace::none;
    if (plain) {
      types_[&name] = type;
    }
    if (decl.value == nullptr) {
      if (plain) {
        unset_.insert(&name);
      }
      return nullptr;
    }
    Known value = read(*decl.value);
    const bool keeps =
        is_new && !changing_.contains(&name) && switches_ == 0; // a case label may jump over the declaration
    if (keeps && is_same_pointer(value, *decl.type) && !decl.type->is_volatile) {
      pointers_[&name] = values_[&name] = {
          .kind = Known::Kind::pointer, .number = value.number, .parameter = value.parameter};
      found_[value.parameter].own = false;
      return nullptr;
    }
    consume(value);
    const auto number = number_of(value);
    const auto kept = number ? as_type(type, number) : std::nullopt;
    const bool is_scalar =
        decl.type->is(Type::Kind::number) && !decl.type->is_volatile && !decl.has_attributes;
    if (!keeps || !is_scalar) {
      return nullptr;
    }
    value = {.kind = plain && kept ? Known::Kind::number : Known::Kind::unknown,
             .number = plain ? kept : std::nullopt,
             .if_true = value.if_true,
             .if_false = value.if_false};
    value.if_true.variables.clear(); // they may count again
    value.if_false.variables.clear();
    if (value.number || plain) {
      value = value.number ? value : Known{.kind = Known::Kind::number, .number = as_type(type, {})};
    }
    values_[&name] = value;
    return value.number ? &name : nullptr;
  }

  // Returns true if the value is a pointer parameter, moved or not, and the type a pointer to the same type.
  [[nodiscard]] bool is_same_pointer(const Known& value, const Type& type) const {
    if (value.kind != Known::Kind::pointer || !type.is(Type::Kind::pointer)) {
      return false;
    }
    const std::string pointee = text_of(*kernel_.parameters[value.parameter].decl->type->inner);
    return !pointee.empty() && pointee == text_of(*type.inner);
  }
  [[nodiscard]] const std::string& text(std::size_t token) const { return unit_.source.tokens[token].text; }

  Known read(const Expr& expr) {
    const Nested nested(depth_);
    check_depth(expr.token);
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

  Known named(const Expr& expr) {
    seen_.insert(expr.token);
    const Decl* const name = unit_.meaning(expr.token);
    const std::string& word = text(expr.token);
    if ((name == nullptr && word != "true" && word != "false" && !standard_macros().contains(word)) ||
        (name != nullptr && name->kind != Decl::Kind::variable && name->kind != Decl::Kind::enumerator)) {
      fail("a name is not known", expr.token);
      return {};
    }
    if (name == nullptr || name->kind != Decl::Kind::variable) {
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

  Known assignment(const Expr& expr) {
    const Known left = read(*expr.operands[0]);
    const bool whole = unit_.is(expr.token, "=") && left.kind == Known::Kind::element && !left.part;
    change(left);
    consume(read(*expr.operands[1]));
    return {.parameter = left.parameter, .assigned = whole};
  }
  // The value is assigned to, or its address is taken.
  void change(const Known& value) {
    if (value.kind != Known::Kind::element && value.variable != nullptr) {
      changing_.insert(value.variable);
    }
    consume(value, "changed");
  }

  Known conditional(const Expr& expr) {
    const Known value = condition(*expr.operands[0]);
    const auto chosen = [this](const Expr& of) {
      const Known part = condition(of);
      return std::pair(number_of(part), ids());
    };
    const auto [first, first_ids] = where(value.if_true, [&] { return chosen(*expr.operands[1]); });
    const auto [second, second_ids] = where(value.if_false, [&] { return chosen(*expr.operands[2]); });
    return of_number(first && second ? either(*first, first_ids, *second, second_ids) : std::nullopt);
  }

  Known binary(const Expr& expr) {
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

  Known combined(std::string_view sign, const Known& left, const Known& right) {
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

  // Returns a comparison of numbers with what it proves if it holds, and if not.
  Known compared(std::string_view sign, const Known& left, const Known& right) const {
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

  // No work-item comes there.
  static void never(Bounds& bounds) { bounds.ids[0] = {0, -1}; }
  // An id plus a known number.
  static bool is_id(const Linear& value) {
    const auto d = value.only();
    return d && value.factors[*d] == 1 && value.at[*d] == Coordinate{.offset = value.at[*d].offset} &&
           value.range == Interval() && value.low == value.high &&
           value.at[*d].offset.low == value.at[*d].offset.high;
  }
  // Adds to `holds` that a number is in a range.
  static void narrow(const Known& subject, const Linear& number, const Interval& range, Bounds& holds) {
    if (const auto d = number.only(); d && number.factors[*d] == 1 && number.at[*d].modulus == 0) {
      const Interval beside = sum(number.at[*d].offset, {number.low, number.high});
      holds.ids[*d] = tighter(holds.ids[*d], {range.low - beside.high, range.high - beside.low});
    }
    if (subject.variable != nullptr && !subject.part) {
      holds.variables[subject.variable] = tighter(holds.variables[subject.variable], range);
    }
  }

  Known unary(const Expr& expr) {
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

  // What pointer[index] or *pointer denotes, not accessed yet.
  Known element(const Expr& expr) {
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

  // The element is accessed; also by a reduction.
  Known accessed(Known element, std::size_t token, std::optional<Reduction> reduction = {}) {
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

  // The ids give one element each.
  static bool is_point(const Linear& number) {
    bool point = number.low == number.high && number.range == Interval();
    for (std::size_t d = 0; d < 3; ++d) {
      const Coordinate& at = number.at[d];
      point = point && (number.factors[d] == 0 ||
                        (at.offset.low == at.offset.high && at.modulus == 0 && at.range == Interval()));
    }
    return point;
  }

  // Returns false if the element determines no ids of dimensions with several work-groups.
  bool join_by_ids(Found& found, bool is_first, const Linear& number, const IdRanges& at) const {
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

  // The rows that the element is in.
  [[nodiscard]] std::optional<RowElements> rows_of(Linear element, const IdRanges& at) const {
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

  Known member(const Expr& expr) {
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

  Known called(const Expr& expr) {
    const Expr& callee = *expr.operands[0];
    const std::string& word = text(callee.token);
    const Decl* const name = unit_.meaning(callee.token);
    if (callee.kind != Expr::Kind::name ||
        !(name == nullptr ? builtin(word).has_value() : name->kind == Decl::Kind::function)) {
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

  Known call(const Function* callee, const std::string& name, std::vector<Known>& arguments) {
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

  // The elements that a built-in function accesses through pointers.
  void access(const std::string& function, const std::vector<Known>& arguments, bool is_statement) {
    std::size_t pointer = arguments.size(); // the argument whose accesses are known
    std::optional<Linear> elements = constant_of(0, true);
    std::optional<Reduction> reduction;
    if (function.starts_with("atomic_") || function.starts_with("atom_")) {
      pointer = 0;
      reduction = is_statement ? reduction_of(function) : std::nullopt;
    } else if (function.starts_with("vload") || function.starts_with("vstore")) {
      const std::size_t position = function.starts_with("vload") ? 1 : 2;
      const auto vector = arithmetic_type("int" + function.substr(position + 4)); // of as many numbers
      if (arguments.size() == position + 1 && vector && vector->width > 1) {
        pointer = position;
        const auto by = number_of(arguments[position - 1]);
        const auto first = by ? product(*by, constant_of(vector->width, by->is_int), ids()) : std::nullopt;
        elements = first ? sum(*first, between(0, vector->width - 1, first->is_int), ids()) : std::nullopt;
      }
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Known& argument = arguments[i];
      if (argument.kind != Known::Kind::pointer || i != pointer) {
        consume(argument, fmt::format("passed to {}", function));
        continue;
      }
      const auto number =
          elements && argument.number ? sum(*argument.number, *elements, ids()) : std::nullopt;
      found_[argument.parameter].own = false;
      accessed({.kind = Known::Kind::element, .number = number, .parameter = argument.parameter}, token_,
               reduction);
    }
  }

  // The value of a built-in function, if all arguments are numbers.
  Known built_in(const std::string& function, const std::vector<Known>& arguments) const {
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
      return function == "get_global_id" ? of_number(id_of(d))
             : function == "get_global_size" && same_for_parts
                 ? of_number(constant_of(setting_.size[d], false))
             : function == "get_local_id" ? of_number(between(0, setting_.local[d] - 1))
                                          : Known{};
    }
    const IdRanges at = ids();
    if (numbers.size() == 2 && (function == "min" || function == "max")) {
      return of_number(extreme(numbers[0], numbers[1], at, function == "min"));
    }
    if (numbers.size() == 3 && function == "clamp") {
      const auto low = extreme(numbers[0], numbers[1], at, false);
      return of_number(low ? extreme(*low, numbers[2], at, true) : std::nullopt);
    }
    return {};
  }

  static constexpr std::size_t most_depth = 200; // nested statements and expressions
  static constexpr std::size_t most_calls = 1000;
  static constexpr std::size_t most_nested = 6; // calls

  const TranslationUnit& unit_;
  const Function& kernel_;
  const LaunchSetting& setting_;
  const TokenRange body_; // of it, or of a function that it calls
  const Stmt* const statements_;
  std::vector<Found>& found_; // by parameter of the kernel
  IdRanges ids_;
  Bounds at_call_;
  Bounds bounds_; // what holds where the reader is
  std::optional<Obstacle> failed_;
  std::size_t depth_ = 0;
  std::size_t nesting_ = 0;                  // calls around this body
  std::size_t calls_ = 0;                    // that were followed
  std::size_t switches_ = 0, loops_ = 0;     // around the statement being read
  std::size_t returns_ = 0;                  // that have been read
  bool leaks_ = false;                       // `bounds_` may have ids that returned
  std::size_t token_ = 0;                    // being read
  const Expr* statement_ = nullptr;          // the last that is one
  std::map<const Decl*, Known> given_;       // parameters
  std::map<const Decl*, Known> values_;      // of variables that only their declarations set
  std::map<const Decl*, Known> pointers_;    // variables that are pointers
  std::set<const Decl*> changing_;           // other variables
  std::set<const Decl*> unset_;              // variables that loops may set, as their declarations do not
  std::map<const Decl*, std::string> types_; // of variables
  std::set<std::size_t> seen_;               // names that have been read
  std::vector<std::pair<Known, IdRanges>> results_; // that the function returns
};

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
