// Reads a kernel's body: its statements, the expressions in them and the functions that it calls. Each expression returns
// what is known of its value; accesses of elements are collected, and summed up at the end.
#include "opencl_c/footprint.hpp"

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

// No work-item comes there.
void never(Bounds& bounds) {
  bounds.ids[0] = {0, -1};
}
bool is_never(const Bounds& bounds) {
  return bounds.ids[0].low > bounds.ids[0].high;
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
  bool plain = false;  // pointer: the parameter by its name
  bool part = false;   // a member of a variable or an element
  Bounds if_true = {}; // what holds after a condition
  Bounds if_false = {};
};

struct Access {
  Linear element;
  IdRanges ids;
  std::size_t token = 0;
  bool is_certain = false;
};

// What has been found of a parameter.
struct Use {
  Footprint footprint{.own = true, .only_accessed = true}; // its obstacle: it may touch any element
  std::vector<Access> accesses;
  std::size_t count = 0; // of accesses, also of those that never run, and of other uses
  bool mixed = false;    // some use is no reduction, or another one
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
  static constexpr std::array<std::pair<std::string_view, Reduction>, 6> names{{{"add", Reduction::sum},
                                                                                {"sub", Reduction::sum},
                                                                                {"inc", Reduction::sum},
                                                                                {"dec", Reduction::sum},
                                                                                {"min", Reduction::min},
                                                                                {"max", Reduction::max}}};
  for (const std::string_view prefix : {"atomic_fetch_", "atomic_", "atom_"}) {
    for (const auto& [name, reduction] : names) {
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

// Elements by ids and rows of all accesses; nullopt if they have nothing in common.
std::optional<ElementsById> joined(ElementsById all, const ElementsById& more) {
  for (std::size_t d = 0; d < 3; ++d) {
    all.offset[d] = hull(all.offset[d], more.offset[d]);
  }
  return all.per_id == more.per_id ? std::optional(all) : std::nullopt;
}

std::optional<RowElements> joined(const RowElements& all, const RowElements& more) {
  const bool alike =
      all.per_id == more.per_id && (all.wraps == 0 || more.wraps == 0 || all.wraps == more.wraps);
  return alike ? std::optional(RowElements{.per_id = all.per_id,
                                           .low = std::min(all.low, more.low),
                                           .high = std::max(all.high, more.high),
                                           .wraps = std::max(all.wraps, more.wraps)})
               : std::nullopt;
}

// Sets `all` to what the accesses have in common; returns the index of the first that has something else, or their number.
template <class T, class Of>
std::size_t join(const std::vector<Access>& accesses, std::optional<T>& all, const Of& of) {
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const std::optional<T> one = of(accesses[i]);
    all = one ? (i == 0 ? one : joined(*all, *one)) : std::nullopt;
    if (!all) {
      return i;
    }
  }
  return accesses.size();
}

// The rows that an access is in.
std::optional<RowElements> rows_of(const Access& access, std::uint32_t outermost) {
  Linear element = access.element;
  const std::int64_t per_id = element.factors[outermost];
  const Coordinate row = element.at[outermost];
  element.factors[outermost] = 0;
  element.range = {};
  const Interval in_row = range_of(element, access.ids);
  if (per_id <= 0 || (row.modulus != 0 && (in_row.low < 0 || in_row.high >= per_id))) {
    return {};
  }
  return RowElements{.per_id = per_id,
                     .low = in_row.low + row.offset.low * per_id,
                     .high = in_row.high + row.offset.high * per_id,
                     .wraps = row.modulus};
}

// Fills in what follows from the accesses of a parameter.
void sum_up(const Use& use, const LaunchSetting& setting, Footprint& footprint) {
  for (const Access& access : use.accesses) {
    const Interval range = range_of(access.element, access.ids);
    footprint.elements = footprint.elements ? hull(*footprint.elements, range) : range;
    if (access.is_certain) {
      footprint.certain = footprint.certain ? hull(*footprint.certain, range) : range;
    }
  }
  if (use.accesses.empty()) { // as if it touched its own
    footprint.elements = Interval{1, 0};
    footprint.by_id.emplace();
    footprint.by_id->per_id[0] = setting.dimensions == 1 ? 1 : 0;
    footprint.rows = setting.dimensions == 1 ? std::optional(RowElements{.per_id = 1}) : std::nullopt;
  }
  join(use.accesses, footprint.rows,
       [&](const Access& access) { return rows_of(access, setting.dimensions - 1); });
  // By the ids of all dimensions, or at least of those with several work-groups.
  const auto by_ids = [&](bool folds) {
    return [&setting, folds](const Access& access) -> std::optional<ElementsById> {
      Linear element = access.element;
      bool known = true;
      for (std::uint32_t d = 0; d < 3; ++d) {
        const bool counts = d < setting.dimensions && setting.size[d] > (folds ? setting.local[d] : 1);
        known = known && (element.factors[d] != 0 || !counts);
        element = folds && !counts ? folded(element, d, access.ids) : element;
      }
      return known ? ids_of(element, access.ids) : std::nullopt;
    };
  };
  const std::size_t first = join(use.accesses, footprint.by_id, by_ids(false));
  if (!footprint.by_id) {
    const std::size_t second = join(use.accesses, footprint.by_id, by_ids(true));
    if (!footprint.by_id) {
      footprint.obstacle = Obstacle{"its index does not follow the ids of all dimensions",
                                    use.accesses[std::max(first, second)].token};
    }
  }
  footprint.own = footprint.own && setting.dimensions == 1 && footprint.by_id &&
                  footprint.by_id->per_id[0] == 1 && footprint.by_id->offset[0] == Interval{0, 0};
}

// What all readers of a kernel share.
struct Reading {
  const TranslationUnit& unit;
  const Function& kernel;
  const LaunchSetting& setting;
  IdRanges ids;
  std::vector<Use> uses; // by parameter of the kernel
  std::size_t calls = 0; // that were followed
  std::vector<EarlyReturn> returns = {};
  std::size_t returns_before_barrier = 0; // of these
};

class FootprintReader {
public:
  // Reads a function that is called with these arguments where `at_call` holds; `nesting`: calls around its body.
  FootprintReader(Reading& reading, const Function& function, const std::vector<Known>& arguments,
                  const Bounds& at_call, std::size_t nesting)
      : reading_(reading), unit_(reading.unit), setting_(reading.setting), function_(function),
        at_call_(at_call), nesting_(nesting), bounds_(at_call) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Parameter& parameter = function.parameters[i];
      if (parameter.decl->token == no_token) {
        continue; // the body cannot use it
      }
      Known value = arguments[i];
      if (value.kind == Known::Kind::number || value.kind == Known::Kind::unknown) {
        value = of_number(parameter.is_pointer ? std::nullopt : as_type(parameter.type, value.number));
      }
      variables_[parameter.decl] = {.value = value, .type = parameter.is_pointer ? "" : parameter.type};
    }
    given_ = variables_;
    call_ids_ = ids();
  }

  // Returns why the body is not understood.
  std::optional<Obstacle> run() {
    // Variables count as what their declarations say until a change of them is found: then all is read again.
    const std::vector<Use> before = reading_.uses;
    for (std::size_t changing = ~std::size_t{0}; changing != changing_.size() && !failed_;) {
      changing = changing_.size();
      reading_.uses = before;
      read_body();
    }
    if (failed_) {
      reading_.uses = before;
    }
    bounds_ = at_call_;
    return failed_;
  }

  // After run(): returns what is known of the value that the function returns.
  [[nodiscard]] Known result() const {
    const Type& type = *unit_.meaning(function_.name_token)->type;
    if (!result_ || !type.is(Type::Kind::function)) {
      return {};
    }
    Known known = of_number(result_->number ? as_type(text_of(*type.inner), result_->number) : std::nullopt);
    known.if_true = result_->if_true;
    known.if_false = result_->if_false;
    known.if_true.variables.clear();
    known.if_false.variables.clear();
    return known;
  }

private:
  // A variable that only its declaration sets has a value; of others, a type that numbers have may be known.
  struct Variable {
    std::optional<Known> value;
    std::string type;
    bool is_unset = false; // loops may set it, as its declaration does not
  };

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
    Use& use = reading_.uses[parameter];
    use.footprint.obstacle = use.footprint.obstacle ? use.footprint.obstacle : obstacle;
    use.mixed = true;
    ++use.count;
    use.footprint.own = use.footprint.only_accessed = use.footprint.assigned_first = false;
  }

  // Uses the value in a way of which nothing more is known.
  void consume(const Known& value, std::string_view how = "stored or compared") {
    if (value.kind == Known::Kind::pointer) {
      lose(value.parameter, {fmt::format("the pointer is {}", how), token_});
    }
  }

  // The pointer by another expression than the parameter's name.
  Known moved(const Known& pointer, const std::optional<Linear>& number) {
    reading_.uses[pointer.parameter].footprint.own = false;
    return {.kind = Known::Kind::pointer, .number = number, .parameter = pointer.parameter};
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

  // Returns the ranges of the ids at this point of the body.
  [[nodiscard]] IdRanges ids() const {
    IdRanges ids = reading_.ids;
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
               ? all_of(reading_.kernel.parameters[value.parameter].type)
               : std::nullopt;
  }

  void read_body() {
    leaks_ = has_returned_ = false;
    switches_ = loops_ = 0;
    if (nesting_ == 0) {
      reading_.returns.clear();
    }
    variables_ = given_;
    for (const Decl* const name : changing_) {
      if (const auto variable = variables_.find(name); variable != variables_.end()) {
        consume(variable->second.value.value_or(Known()), "changed");
        variable->second.value.reset();
      }
    }
    bounds_ = at_call_;
    result_.reset();
    for (const Stmt* const part : function_.statements->parts) {
      statement(*part);
    }
    // A safeguard: each occurrence of a pointer has been read.
    for (std::size_t i = function_.body->begin; i < function_.body->end; ++i) {
      const auto variable = variables_.find(unit_.meaning(i));
      if (variable != variables_.end() && variable->second.value && variable->first->token != i &&
          !seen_.contains(i)) {
        token_ = i;
        consume(*variable->second.value, "in an occurrence that was not read");
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
    case Stmt::Kind::expression:
      statement_ = stmt.values[0];
      is_at_top_ = depth_ == 1;
      consume(read(*statement_));
      return false;
    case Stmt::Kind::declaration: declaration(stmt); return false;
    case Stmt::Kind::if_else: return if_else(stmt);
    case Stmt::Kind::return_value:
      if (!stmt.values.empty()) {
        returned(condition(*stmt.values[0]));
      }
      return_ = stmt.tokens.begin;
      leaks_ = has_returned_ = true; // until the branch that returns is left out
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

  // What comes after it runs where neither branch has left. Those that return in a branch that goes on stay among the ids of
  // `bounds_`, and so do all that return in a loop, whose bounds are forgotten.
  bool if_else(const Stmt& stmt) {
    const bool is_top = depth_ == 1 && nesting_ == 0;
    const Known holds = condition(*stmt.values[0]);
    const bool leaked = leaks_;
    const bool returned = std::exchange(has_returned_, false);
    const bool then_leaves = where(holds.if_true, [&] { return statement(*stmt.parts[0]); });
    const bool then_returns = std::exchange(has_returned_, false);
    leaks_ = leaked;
    const bool else_leaves =
        stmt.parts.size() > 1 && where(holds.if_false, [&] { return statement(*stmt.parts[1]); });
    const bool else_returns = std::exchange(has_returned_, returned || then_returns || has_returned_);
    if (switches_ != 0 || then_leaves == else_leaves) {
      leaks_ = leaked || then_returns || else_returns;
      return then_leaves && else_leaves;
    }
    leaks_ = leaked || (loops_ != 0   ? then_returns || else_returns
                        : then_leaves ? else_returns
                                      : then_returns);
    const Bounds& stays = then_leaves ? holds.if_false : holds.if_true;
    bounds_ = tighter(bounds_, stays);
    for (std::uint32_t d = 0; is_top && d < 3; ++d) {
      const std::int64_t first = stays.ids[d].high + 1;
      const std::int64_t begin = setting_.begin[d];
      if (first > begin && first < begin + setting_.size[d] && (first - begin) % setting_.local[d] != 0) {
        reading_.returns.push_back({return_, d, first});
      }
    }
    return false;
  }

  // The value is the only result, or one of several.
  void returned(Known value) {
    value.number = number_of(value);
    if (!result_) {
      result_ = value;
      result_ids_ = ids();
      return;
    }
    const auto& other = result_->number;
    result_ =
        of_number(other && value.number ? either(*other, result_ids_, *value.number, ids()) : std::nullopt);
    result_ids_ = call_ids_;
  }

  Known condition(const Expr& expr) {
    Known value = read(expr);
    consume(value);
    return value;
  }

  void for_loop(const Stmt& stmt) {
    const Expr* const step = stmt.values[1];
    const Decl* const stepped = step == nullptr ? nullptr : stepped_variable(*step);
    const Decl* const counter = first_value(*stmt.parts[0], stepped);
    const bool was_exact = std::exchange(bounds_.exact, false);
    const bool steps = counter != nullptr && counter == stepped;
    const bool counts = steps && start_count(*counter, *step);
    const Known holds = stmt.values[0] == nullptr ? Known() : condition(*stmt.values[0]);
    if (counts) {
      count(*counter, holds, *step);
    } else if (steps) {
      changing_.insert(counter);
    } else if (step != nullptr) {
      condition(*step);
    }
    loop_body(*stmt.parts[1], holds.if_true);
    if (counts) {
      variables_[counter].value.reset();
    }
    bounds_.exact = was_exact;
  }

  // Reads the first statement of a loop; returns the variable that it sets if its value is known.
  const Decl* first_value(const Stmt& first, const Decl* stepped) {
    if (first.kind == Stmt::Kind::declaration) {
      return declaration(first);
    }
    if (first.values.empty()) {
      return nullptr;
    }
    const Expr& start = *first.values[0];
    const auto variable = variables_.find(stepped);
    if (variable == variables_.end() || start.kind != Expr::Kind::assignment || !unit_.is(start.token, "=") ||
        named_by(unit_, *start.operands[0]) != stepped || !variable->second.is_unset ||
        changing_.contains(stepped) || variable->second.value || // an outer loop counts it
        switches_ != 0) {
      condition(start);
      return nullptr;
    }
    const Known value = condition(*start.operands[1]);
    if (const auto number = as_type(variable->second.type, number_of(value))) {
      variable->second.value = of_number(number);
    }
    return stepped;
  }

  // Returns the variable that ++i, i--, i += … or i -= … changes; null for another step.
  [[nodiscard]] const Decl* stepped_variable(const Expr& step) const {
    static constexpr std::array<std::string_view, 4> steps{"++", "+=", "--", "-="};
    const bool listed = std::ranges::find(steps, text(step.token)) != steps.end();
    return listed && changes(unit_, step) ? named_by(unit_, *step.operands[0]) : nullptr;
  }
  [[nodiscard]] bool steps_up(const Expr& step) const { return text(step.token).front() == '+'; }

  // Called before the condition is read: assumes that the variable stays on one side of its first value. Returns false if
  // that value is not known.
  bool start_count(const Decl& name, const Expr& step) {
    Variable& variable = variables_[&name];
    if (!variable.value || variable.value->kind != Known::Kind::number || !variable.value->number->exact ||
        !is_wide(variable.type)) {
      return false;
    }
    Linear& number = *variable.value->number;
    const auto [low, high] = range_of(number, ids());
    number = steps_up(step) ? between(low, most_count, number.is_int)
                            : between(number.is_int ? -most_count : 0, high, number.is_int);
    bounds_.variables.erase(&name); // it was another number before
    return high <= most_count;
  }

  // Reads the step, after the condition. If it may overflow, what start_count() has assumed does not hold.
  void count(const Decl& name, const Known& holds, const Expr& step) {
    const Known by =
        step.kind == Expr::Kind::assignment ? read(*step.operands[1]) : of_number(constant_of(1, true));
    consume(by);
    seen_.insert(step.operands[0]->token);
    Variable& variable = variables_[&name];
    const auto found = holds.if_true.variables.find(&name);
    const Interval in_body = found == holds.if_true.variables.end() ? Interval() : found->second;
    const auto amount = number_of(by);
    const auto [least, greatest] = amount && amount->exact ? range_of(*amount, ids()) : Interval{-1, 0};
    if (least < 0 || greatest > most_count ||
        (steps_up(step) ? in_body.high > most_count - greatest
                        : in_body.low - greatest < (variable.value->number->is_int ? -most_count : 0))) {
      variable.value.reset();
      changing_.insert(&name);
    }
  }

  // It may not run, or end earlier.
  void loop_body(const Stmt& stmt, Bounds holds) {
    ++loops_;
    holds.exact = false;
    where(holds, [&] { return statement(stmt); });
    --loops_;
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
    const bool is_simple = is_new && !decl.type->is_volatile && !decl.has_attributes;
    const std::string type =
        is_simple && decl.type->space == AddressSpace::none ? text_of(*decl.type) : std::string();
    if (!type.empty()) {
      Variable& variable = variables_[&name];
      variable.type = type;
      variable.is_unset = variable.is_unset || decl.value == nullptr;
    }
    if (decl.value == nullptr) {
      return nullptr;
    }
    Known value = read(*decl.value);
    // A case label may jump over the declaration.
    const bool keeps = is_new && !decl.type->is_volatile && !changing_.contains(&name) && switches_ == 0;
    if (keeps && is_same_pointer(value, *decl.type)) {
      variables_[&name].value = moved(value, value.number);
      return nullptr;
    }
    consume(value);
    if (!keeps || !is_simple || !decl.type->is(Type::Kind::number)) {
      return nullptr;
    }
    Known kept = of_number(type.empty() ? std::nullopt : as_type(type, number_of(value)));
    kept.if_true = value.if_true;
    kept.if_false = value.if_false;
    kept.if_true.variables.clear(); // they may count again
    kept.if_false.variables.clear();
    variables_[&name].value = kept;
    return kept.number ? &name : nullptr;
  }

  // Returns true if the value is a pointer parameter, moved or not, and the type a pointer to the same type.
  [[nodiscard]] bool is_same_pointer(const Known& value, const Type& type) const {
    if (value.kind != Known::Kind::pointer || !type.is(Type::Kind::pointer)) {
      return false;
    }
    const std::string pointee = text_of(*reading_.kernel.parameters[value.parameter].decl->type->inner);
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
    case Expr::Kind::assignment:
    case Expr::Kind::postfix: return assignment(expr);
    case Expr::Kind::conditional: return conditional(expr);
    case Expr::Kind::cast: {
      const Known value = read(*expr.operands[0]);
      if (is_same_pointer(value, *expr.type)) {
        return moved(value, value.number);
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
    bool is_set = !changing_.contains(name);
    if (const auto variable = variables_.find(name); variable != variables_.end()) {
      const auto& [value, type, is_unset] = variable->second;
      known = value ? *value : of_number(as_type(type, {}));
      is_set = value || (is_set && !is_unset);
    }
    known.variable = name;
    if (const auto range = bounds_.variables.find(name); range != bounds_.variables.end() && is_set &&
                                                         known.kind == Known::Kind::number &&
                                                         known.number->exact) {
      known.number = within(*known.number, range->second, ids());
    }
    return known;
  }

  // Also postfix ++ and --, which have one operand.
  Known assignment(const Expr& expr) {
    const bool is_certain_statement = &expr == statement_ && is_at_top_ && nesting_ == 0 && !has_returned_;
    const Known left = read(*expr.operands[0]);
    Use* const use = is_certain_statement && left.kind == Known::Kind::element && !left.part
                         ? &reading_.uses[left.parameter]
                         : nullptr;
    const bool is_first = use != nullptr && use->count == 1; // no use before it
    change(left);
    if (expr.operands.size() == 2) {
      consume(read(*expr.operands[1]));
    }
    if (is_first && !unit_.is(expr.token, "=")) {
      use->footprint.changed_first = true;
    } else if (is_first) {
      use->footprint.assigned_first |= use->count == 1; // nor in its value
    }
    return {};
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
    const auto a = left.kind == Known::Kind::pointer ? left.number : number_of(left);
    const auto b = number_of(right);
    if (left.kind == Known::Kind::pointer && (sign == "+" || sign == "-") &&
        right.kind != Known::Kind::pointer) {
      return moved(left, computed(sign, a, b, ids()));
    }
    consume(left);
    consume(right);
    if (sign == "&&") {
      return {.if_true = tighter(left.if_true, right.if_true)};
    }
    if (sign == "||") {
      return {.if_false = tighter(left.if_false, right.if_false)};
    }
    const auto number = left.kind == Known::Kind::pointer ? std::nullopt : computed(sign, a, b, ids());
    return number ? of_number(number) : compared(sign, left, right);
  }

  // Returns a comparison of numbers with what it proves if it holds, and if not.
  Known compared(std::string_view sign, const Known& left, const Known& right) const {
    if (sign == ">" || sign == ">=") {
      return compared(sign == ">" ? "<" : "<=", right, left);
    }
    auto a = number_of(left);
    auto b = number_of(right);
    if (!a || !b) {
      return {};
    }
    const bool is_int = a->is_int && b->is_int;
    a = converted(*a, is_int, ids());
    b = converted(*b, is_int, ids());
    if (!a->exact || !b->exact) { // the conversion may change them
      return {};
    }
    const auto ordered = [&](bool swapped, std::int64_t equal) {
      return swapped ? less(right, *b, left, *a, equal) : less(left, *a, right, *b, equal);
    };
    if (sign == "<" || sign == "<=") {
      return ordered(false, sign == "<=" ? 1 : 0);
    }
    if (sign != "==" && sign != "!=") {
      return {};
    }
    Known equal{.if_true = tighter(ordered(false, 1).if_true, ordered(true, 1).if_true)};
    const Bounds below = ordered(false, 0).if_true;
    const Bounds above = ordered(true, 0).if_true;
    equal.if_false = is_never(below) ? above : is_never(above) ? below : Bounds();
    if (sign == "!=") {
      std::swap(equal.if_true, equal.if_false);
    }
    return equal;
  }

  // What holds if a < b, or a <= b with `equal` of 1, and if not.
  [[nodiscard]] Known less(const Known& left, const Linear& a, const Known& right, const Linear& b,
                           std::int64_t equal) const {
    const auto [low, high] = range_of(a, ids());
    const auto [other_low, other_high] = range_of(b, ids());
    // Of an id and a constant, one bound says all.
    const auto is_plain = [](const Linear& value) {
      return value.is_constant() || (value.is_point() && value.id());
    };
    Known result;
    result.if_true.exact = result.if_false.exact =
        is_plain(a) && is_plain(b) && (a.is_constant() || b.is_constant());
    narrow(left, a, {.high = other_high - 1 + equal}, result.if_true);
    narrow(right, b, {.low = low + 1 - equal}, result.if_true);
    narrow(left, a, {.low = other_low + equal}, result.if_false);
    narrow(right, b, {.high = high - equal}, result.if_false);
    if (high - equal < other_low) {
      never(result.if_false);
      result.if_true.exact = true;
    } else if (low >= other_high + equal) {
      never(result.if_true);
      result.if_false.exact = true;
    }
    return result;
  }

  // Adds to `holds` that a number is in a range.
  static void narrow(const Known& subject, const Linear& number, const Interval& range, Bounds& holds) {
    if (const auto d = number.id()) {
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
        return moved(of, of.number);
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
    return sign == "+"   ? of_number(number)
           : sign == "-" ? of_number(computed("-", constant_of(0, true), number, ids()))
                         : Known{};
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
    return {.kind = Known::Kind::element,
            .number = computed("+", array.number, number_of(index), ids()),
            .parameter = array.parameter,
            .plain = array.plain && has_index};
  }

  // The element is accessed; also by a reduction.
  Known accessed(const Known& element, std::size_t token, std::optional<Reduction> reduction = {}) {
    if (element.kind != Known::Kind::element || element.part) {
      return element;
    }
    Use& use = reading_.uses[element.parameter];
    Footprint& footprint = use.footprint;
    ++use.count;
    use.mixed = use.mixed || !reduction || (footprint.reduction && footprint.reduction != reduction);
    footprint.reduction = reduction;
    footprint.own = footprint.own && element.plain;
    const IdRanges at = ids();
    if (at.empty()) {
      return element; // this never runs
    }
    const Interval range = element.number ? range_of(*element.number, at) : Interval();
    if (range.low > -most_elements && range.high < most_elements) {
      use.accesses.push_back({*element.number, at, token, is_certain() && element.number->is_point()});
    } else if (!footprint.obstacle) {
      footprint.obstacle =
          Obstacle{element.number ? "its index may be any number"
                                  : "its index is no sum of ids with known factors and bounded numbers",
                   token};
    }
    return element;
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
      if (value != setting_.members.end()) {
        part.number = as_type(text_of(*expr.type), constant_of(value->second, true));
        part.kind = part.number ? Known::Kind::number : part.kind;
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
    if (word == "barrier" || word == "work_group_barrier") {
      reading_.returns_before_barrier = reading_.returns.size();
    }
    access(word, given, is_statement);
    return built_in(word, given);
  }

  Known call(const Function* callee, const std::string& name, std::vector<Known>& arguments) {
    const std::size_t at = token_;
    const bool follows = callee != nullptr && callee->body && !callee->is_overloadable &&
                         callee->parameters.size() == arguments.size() && nesting_ < most_nested &&
                         ++reading_.calls < most_calls;
    const std::string how = fmt::format("passed to {}", name);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      Known& argument = arguments[i];
      if (argument.kind == Known::Kind::pointer) {
        if (follows && is_same_pointer(argument, *callee->parameters[i].decl->type)) {
          argument = moved(argument, argument.number);
        } else {
          consume(argument, how);
          argument = {};
        }
      } else if (argument.kind != Known::Kind::record) {
        argument = of_number(number_of(argument));
      }
    }
    if (!follows) {
      return {};
    }
    Bounds here = bounds_;
    here.exact = is_certain();
    here.variables.clear(); // of another call, if it calls itself
    FootprintReader reader(reading_, *callee, arguments, here, nesting_ + 1);
    const auto obstacle = reader.run();
    if (!obstacle) {
      return reader.result();
    }
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
        const bool is_int = by && by->is_int;
        elements = computed("+", computed("*", by, constant_of(vector->width, is_int), ids()),
                            between(0, vector->width - 1, is_int), ids());
      }
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Known& argument = arguments[i];
      if (argument.kind != Known::Kind::pointer || i != pointer) {
        consume(argument, fmt::format("passed to {}", function));
        continue;
      }
      const Known pointee = moved(argument, computed("+", argument.number, elements, ids()));
      accessed({.kind = Known::Kind::element, .number = pointee.number, .parameter = pointee.parameter},
               token_, reduction);
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

  Reading& reading_;
  const TranslationUnit& unit_;
  const LaunchSetting& setting_;
  const Function& function_; // the kernel, or one that it calls
  const Bounds at_call_;
  const std::size_t nesting_; // calls around this body
  Bounds bounds_;             // what holds where the reader is
  std::optional<Obstacle> failed_;
  std::size_t depth_ = 0;
  std::size_t switches_ = 0, loops_ = 0;  // around the statement being read
  bool has_returned_ = false;             // a return has been read
  std::size_t return_ = 0;                // the last one
  bool leaks_ = false;                    // `bounds_` may have ids that returned
  std::size_t token_ = 0;                 // being read
  const Expr* statement_ = nullptr;       // the last that is one
  bool is_at_top_ = false;                // of the body
  std::map<const Decl*, Variable> given_; // parameters
  std::map<const Decl*, Variable> variables_;
  std::set<const Decl*> changing_; // variables that more than their declarations set
  std::set<std::size_t> seen_;     // names that have been read
  std::optional<Known> result_;    // what the function returns
  IdRanges result_ids_;            // for which that is known
  IdRanges call_ids_;              // for which it is called
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

Footprints footprints(const TranslationUnit& unit, const Function& kernel, const LaunchSetting& setting) {
  Reading reading{
      .unit = unit, .kernel = kernel, .setting = setting, .uses = std::vector<Use>(kernel.parameters.size())};
  for (std::uint32_t d = 0; d < 3; ++d) {
    reading.ids.begin[d] = setting.begin[d];
    reading.ids.end[d] = setting.begin[d] + setting.size[d];
  }
  std::vector<Known> arguments;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    const auto value = setting.values.find(i);
    arguments.push_back(parameter.is_pointer            ? Known{.kind = Known::Kind::pointer,
                                                                .number = constant_of(0, true),
                                                                .parameter = i,
                                                                .plain = true}
                        : value != setting.values.end() ? of_number(constant_of(value->second, true))
                        : parameter.decl->type->is(Type::Kind::record)
                            ? Known{.kind = Known::Kind::record, .parameter = i}
                            : Known());
  }
  auto failed = other_meaning(unit, kernel);
  failed = failed ? failed : FootprintReader(reading, kernel, arguments, {.exact = true}, 0).run();
  reading.returns.resize(failed ? 0 : std::min(reading.returns.size(), reading.returns_before_barrier));
  Footprints found{.parameters = std::vector<Footprint>(kernel.parameters.size()),
                   .returns = std::move(reading.returns)};
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    Footprint& footprint = found.parameters[i];
    if (failed || !parameter.is_pointer) {
      footprint.obstacle = failed;
      continue;
    }
    const Use& use = reading.uses[i];
    footprint.reduction = use.mixed ? std::nullopt : use.footprint.reduction;
    footprint.obstacle = use.footprint.obstacle;
    footprint.only_accessed = use.footprint.only_accessed;
    footprint.changed_first = use.footprint.changed_first;
    const auto element = layout_of_pointee(unit, parameter);
    if (!element || element->kind != TypeLayout::Kind::arithmetic ||
        parameter.space != AddressSpace::global) {
      footprint.obstacle = footprint.obstacle
                               ? footprint.obstacle
                               : Obstacle{"its elements are no numbers", parameter.tokens.begin};
    }
    if (!footprint.obstacle) {
      footprint.element_bytes = static_cast<std::uint32_t>(element->bytes);
      footprint.own = use.footprint.own;
      footprint.assigned_first = use.footprint.assigned_first;
      sum_up(use, setting, footprint);
    }
  }
  return found;
}

} // namespace tidegate::opencl_c
