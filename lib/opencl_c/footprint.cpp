// Reads a kernel's body: its statements, the expressions in them and the functions that it calls. Each expression returns
// what is known of its value; accesses of elements are collected, and summed up at the end.
#include "opencl_c/footprint.hpp"

#include "opencl_c/facts.hpp"
#include "opencl_c/known.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 31U; // see Footprint
constexpr std::int64_t most_count = most_elements - 1;

// The reduction that a call stands for if its result is not used.
std::optional<Reduction> reduction_of(std::string_view function) {
  for (const std::string_view prefix : {"atomic_fetch_", "atomic_", "atom_"}) {
    const std::string_view name = function.starts_with(prefix) ? function.substr(prefix.size()) : "";
    if (name == "add" || name == "sub" || name == "inc" || name == "dec") {
      return Reduction::sum;
    }
    if (name == "min" || name == "max") {
      return name == "min" ? Reduction::min : Reduction::max;
    }
  }
  return {};
}

// All readers of a kernel share this.
struct Reading {
  const TranslationUnit& unit;
  const Function& kernel;
  const LaunchSetting& setting;
  std::vector<Use> uses = std::vector<Use>(kernel.parameters.size()); // by parameter of the kernel
  std::size_t calls = 0;                                              // that were followed
  std::vector<EarlyReturn> returns = {}, open = {}; // before a barrier; after which none has been read
};

class FootprintReader {
public:
  // Reads a function that is called with these arguments where `at_call` holds; `nesting`: calls around its body.
  FootprintReader(Reading& reading, const Function& function, const std::vector<Known>& arguments,
                  const Bounds& at_call, std::size_t nesting)
      : reading_(reading), unit_(reading.unit), function_(function), nesting_(nesting),
        call_ids_(at_call.ids), bounds_(at_call) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Parameter& parameter = function.parameters[i];
      const Known& value = arguments[i];
      const bool is_memory = value.kind == Known::Kind::pointer || value.kind == Known::Kind::record;
      if (parameter.decl->token != no_token) { // otherwise the body cannot use it
        variables_[parameter.decl] = is_memory ? value
                                               : of_number(as_type(parameter.is_pointer ? "" : parameter.type,
                                                                   number_of(value), bounds_.ids));
      }
    }
  }

  // Returns why the body is not understood.
  std::optional<Obstacle> run() {
    const std::vector<Use> before = reading_.uses;
    find_changes();
    for (const Stmt* const part : function_.statements->parts) {
      statement(*part);
    }
    // A safeguard: each occurrence of a pointer has been read.
    for (std::size_t i = function_.body->begin; i < function_.body->end; ++i) {
      const auto variable = variables_.find(unit_.meaning(i));
      if (variable != variables_.end() && variable->first->token != i && !seen_.contains(i)) {
        token_ = i;
        consume(variable->second, "in an occurrence that was not read");
      }
    }
    if (failed_) {
      reading_.uses = before;
    }
    return failed_;
  }

  // After run(): returns what is known of the value that the function returns.
  [[nodiscard]] Known result() const {
    const auto number =
        result_ && result_->number ? as_type(function_.result, result_->number, bounds_.ids) : std::nullopt;
    return result_ ? kept(number, *result_) : Known();
  }

private:
  // Nothing is known of the body.
  void fail(std::string reason, std::size_t token) {
    failed_ = failed_ ? failed_ : Obstacle{std::move(reason), token};
  }

  // The parameter may be used in any way.
  void lose(std::size_t parameter, const Obstacle& obstacle) {
    Use& use = reading_.uses[parameter];
    use.footprint.obstacle = use.footprint.obstacle ? use.footprint.obstacle : obstacle;
    use.mixed = true;
    ++use.count;
    use.footprint.only_accessed = use.footprint.assigned_first = false;
  }

  // Uses the value in a way of which nothing more is known.
  void consume(const Known& value, std::string_view how = "stored or compared") {
    if (value.kind == Known::Kind::pointer) {
      lose(value.parameter, {fmt::format("the pointer is {}", how), token_});
    }
  }

  static Known moved(const Known& pointer, const std::optional<Linear>& number) {
    return {.kind = Known::Kind::pointer, .number = number, .parameter = pointer.parameter};
  }

  // Reads what runs if a condition holds, or if it does not. A case label may jump into it.
  template <class Read>
  auto where(const Bounds& holds, const Read& read) {
    const Bounds before = bounds_;
    bounds_ = tighter(bounds_, switches_ == 0 ? holds : Bounds());
    auto result = read();
    bounds_ = before;
    return result;
  }

  // Reads what may not run, or end earlier. Work-items that return there stay among the ids of `bounds_`.
  template <class Read>
  void maybe(const Read& read) {
    const bool was_exact = std::exchange(bounds_.exact, false);
    const bool returned = std::exchange(has_returned_, false);
    read();
    bounds_.exact = was_exact && !has_returned_;
    has_returned_ = has_returned_ || returned;
  }

  // The number that a value is, also if it is loaded from memory.
  [[nodiscard]] std::optional<Linear> number_of(const Known& value) const {
    return value.kind == Known::Kind::number ? value.number
           : value.is_element()              ? all_of(reading_.kernel.parameters[value.parameter].type)
                                             : std::nullopt;
  }

  // The variable that a for loop declares and then steps, and that nothing else changes; null for another loop.
  [[nodiscard]] const Decl* counter_of(const Stmt& loop) const {
    const Expr* const step = loop.values[1];
    if (step == nullptr || !changes(unit_, *step) || !is_one_of("++ += -- -=", text(step->token))) {
      return nullptr;
    }
    const Decl* const name = named_by(unit_, *step->operands[0]);
    const auto& declared = loop.parts[0]->declared;
    const auto is_change = [&](std::size_t i) { return unit_.meaning(i) == name; };
    return name != nullptr && name->type->is(Type::Kind::number) &&
                   std::ranges::find(declared, name) != declared.end() &&
                   std::ranges::count_if(unit_.facts->own(function_.name).changed, is_change) == 1
               ? name
               : nullptr;
  }

  // Finds the variables that more than their declarations set; loops that count one take it out.
  void find_changes() {
    for (const std::size_t i : unit_.facts->own(function_.name).changed) {
      const auto variable = variables_.find(unit_.meaning(i));
      changing_.insert(unit_.meaning(i));
      if (variable != variables_.end()) {
        token_ = i;
        consume(variable->second, "changed");
        variables_.erase(variable);
      }
    }
  }

  // Returns true if nothing runs after it.
  bool statement(const Stmt& stmt) {
    using S = Stmt::Kind;
    const Nested nested(depth_);
    token_ = stmt.tokens.begin;
    const bool is_deep = depth_ > most_depth;
    if (failed_ || is_deep || (stmt.has_attributes && !stmt.is_loop())) { // a loop may have some
      fail(is_deep ? "it is nested too deeply" : "a statement has attributes", stmt.tokens.begin);
      return false;
    }
    switch (stmt.kind) {
    case S::nothing: break;
    case S::block: {
      bool leaves = false;
      for (const Stmt* const part : stmt.parts) {
        leaves = statement(*part) || leaves;
      }
      return leaves;
    }
    case S::expression:
      statement_ = stmt.values[0];
      is_at_top_ = depth_ == 1;
      condition(*statement_);
      break;
    case S::declaration:
      for (const Decl* const decl : stmt.declared) {
        if (decl->kind != Decl::Kind::type) {
          declared(*decl);
        }
      }
      break;
    case S::if_else: return if_else(stmt);
    case S::return_value:
      if (!stmt.values.empty()) {
        returned(condition(*stmt.values[0]));
      }
      bounds_.exact = false;
      has_returned_ = true;
      return_ = stmt.tokens.begin;
      return true;
    case S::while_loop: {
      const Known holds = condition(*stmt.values[0]);
      maybe([&] { loop_body(*stmt.parts[0], holds.if_true); });
      break;
    }
    case S::do_loop:
      maybe([&] {
        loop_body(*stmt.parts[0], {});
        condition(*stmt.values[0]); // unless it breaks
      });
      break;
    case S::for_loop: maybe([&] { for_loop(stmt); }); break;
    case S::switch_block:
      condition(*stmt.values[0]);
      ++switches_;
      maybe([&] { loop_body(*stmt.parts[0], {}); });
      --switches_;
      break;
    case S::case_label: condition(*stmt.values[0]); [[fallthrough]];
    case S::default_label: return !stmt.parts.empty() && statement(*stmt.parts[0]);
    case S::break_out:
    case S::continue_loop: return true; // of the loop's body
    case S::opaque:
    case S::label:
    case S::goto_label: fail("a statement is not known", stmt.tokens.begin);
    }
    return false;
  }

  // Code after it runs where neither branch has left. Those that return in a branch that goes on stay among the ids of
  // `bounds_`, and so do all that return in a loop, whose bounds are forgotten.
  bool if_else(const Stmt& stmt) {
    const Known holds = condition(*stmt.values[0]);
    const bool returned = has_returned_;
    std::array<bool, 2> leaves{};
    std::array<bool, 2> returns{};
    for (std::size_t i = 0; i < stmt.parts.size(); ++i) {
      has_returned_ = false;
      leaves[i] = where(i == 0 ? holds.if_true : holds.if_false, [&] { return statement(*stmt.parts[i]); });
      returns[i] = has_returned_;
    }
    has_returned_ = returned || returns[0] || returns[1];
    const bool narrows = switches_ == 0 && leaves[0] != leaves[1];
    const bool all_stay = narrows && loops_ == 0 ? !returns[leaves[0] ? 1 : 0] : !returns[0] && !returns[1];
    bounds_.exact = bounds_.exact && all_stay;
    if (!narrows) {
      return leaves[0] && leaves[1];
    }
    const Bounds& stays = leaves[0] ? holds.if_false : holds.if_true;
    bounds_ = tighter(bounds_, stays);
    for (std::uint32_t d = 0; depth_ == 1 && nesting_ == 0 && d < 3; ++d) {
      const std::int64_t first = stays.ids[d].high + 1, before = first - reading_.setting.begin[d];
      if (before > 0 && before < reading_.setting.size[d] && before % reading_.setting.local[d] != 0) {
        reading_.open.push_back({return_, d, first});
      }
    }
    return false;
  }

  // The value is the only result, or one of several.
  void returned(Known value) {
    value.number = number_of(value);
    if (!result_) {
      result_ = value;
      result_ids_ = bounds_.ids;
      return;
    }
    const auto& other = result_->number;
    result_ = of_number(other && value.number ? either(*other, result_ids_, *value.number, bounds_.ids)
                                              : std::nullopt);
    result_ids_ = call_ids_;
  }

  Known condition(const Expr& expr) {
    Known value = read(expr);
    consume(value);
    return value;
  }

  void for_loop(const Stmt& stmt) {
    const Decl* const counter = switches_ == 0 ? counter_of(stmt) : nullptr;
    changing_.erase(counter);
    statement(*stmt.parts[0]);
    const auto holds = [&] { return stmt.values[0] == nullptr ? Known() : condition(*stmt.values[0]); };
    const bool counts = counter != nullptr && start_count(*counter, *stmt.values[1]);
    Known in_body = counts ? holds() : Known();
    if (!counts || !is_counted(*counter, in_body, *stmt.values[1])) {
      changing_.insert(counter);
      variables_.erase(counter);
      in_body = holds();
      if (stmt.values[1] != nullptr) {
        condition(*stmt.values[1]);
      }
    }
    loop_body(*stmt.parts[1], in_body.if_true);
    variables_.erase(counter);
  }

  [[nodiscard]] bool steps_up(const Expr& step) const { return text(step.token).front() == '+'; }

  // Called before the condition is read: assumes that the variable stays on one side of its first value. Returns false if
  // that value is not known.
  bool start_count(const Decl& name, const Expr& step) {
    const auto found = variables_.find(&name);
    if (found == variables_.end() || !found->second.number || !found->second.number->exact ||
        !is_wide(type_of(name))) {
      return false;
    }
    Linear& number = *found->second.number;
    const auto [low, high] = range_of(number, bounds_.ids);
    number =
        between(steps_up(step) ? Interval{low, most_count} : Interval{number.is_int ? -most_count : 0, high},
                number.is_int);
    bounds_.variables.erase(&name); // it was another number before
    return high <= most_count;
  }

  // Reads the step. Returns false if it may overflow: then what start_count() has assumed does not hold.
  bool is_counted(const Decl& name, const Known& holds, const Expr& step) {
    const Known by =
        step.kind == Expr::Kind::assignment ? condition(*step.operands[1]) : of_number(constant_of(1, true));
    const auto found = holds.if_true.variables.find(&name);
    const Interval in_body = found == holds.if_true.variables.end() ? Interval() : found->second;
    const auto amount = number_of(by);
    const auto [least, greatest] = amount && amount->exact ? range_of(*amount, bounds_.ids) : Interval{-1, 0};
    return least >= 0 && greatest <= most_count &&
           (steps_up(step) ? in_body.high <= most_count - greatest
                           : in_body.low - greatest >= (variables_[&name].number->is_int ? -most_count : 0));
  }

  void loop_body(const Stmt& stmt, const Bounds& holds) {
    ++loops_;
    where(holds, [&] { return statement(stmt); });
    --loops_;
  }

  void declared(const Decl& decl) {
    if (decl.token == no_token || decl.type->is(Type::Kind::function) || decl.type->is(Type::Kind::opaque) ||
        is_type_word(text(decl.token))) {
      fail("a declaration is not known", token_);
      return;
    }
    const Decl& name = *unit_.meaning(decl.token);
    bounds_.variables.erase(&name);
    variables_.erase(&name);
    // A case label may jump over the declaration.
    const bool keeps = &name == &decl && !decl.type->is_volatile && !decl.has_attributes &&
                       !changing_.contains(&name) && switches_ == 0;
    const Known value = decl.value == nullptr ? Known() : read(*decl.value);
    if (keeps && is_same_pointer(value, *decl.type)) {
      variables_[&name] = value;
      return;
    }
    consume(value);
    if (keeps && decl.value != nullptr && decl.type->is(Type::Kind::number)) {
      variables_[&name] = kept(as_type(type_of(name), number_of(value), bounds_.ids), value);
    }
  }

  // The type that the numbers in a variable have; empty if it is not certain.
  static std::string type_of(const Decl& variable) {
    const Type& type = *variable.type;
    const bool is_simple = !type.is_volatile && !variable.has_attributes && type.space == AddressSpace::none;
    return is_simple ? arithmetic_name(type) : "";
  }

  // Returns true if the value is a pointer parameter, moved or not, and the type a pointer to the same type.
  [[nodiscard]] bool is_same_pointer(const Known& value, const Type& type) const {
    if (value.kind != Known::Kind::pointer || !type.is(Type::Kind::pointer)) {
      return false;
    }
    const std::string pointee =
        arithmetic_name(*reading_.kernel.parameters[value.parameter].decl->type->inner);
    return !pointee.empty() && pointee == arithmetic_name(*type.inner);
  }
  [[nodiscard]] const std::string& text(std::size_t token) const { return unit_.source.tokens[token].text; }

  Known read(const Expr& expr) {
    using E = Expr::Kind;
    const Nested nested(depth_);
    if (failed_ || depth_ > most_depth) {
      fail("it is nested too deeply", expr.token);
      return {};
    }
    token_ = expr.token;
    switch (expr.kind) {
    case E::number: {
      const std::int64_t value = value_of(unit_, expr).value_or(most_elements);
      const bool is_int = text(expr.token).find_first_of("uUlL") == std::string::npos;
      return value <= most_elements / 2 ? of_number(constant_of(value, is_int)) : Known();
    }
    case E::text: return {};
    case E::name: return named(expr);
    case E::call: return called(expr);
    case E::subscript: return accessed(element(expr), expr.token);
    case E::member: return member(expr);
    case E::unary: return unary(expr);
    case E::binary: return binary(expr);
    case E::assignment:
    case E::postfix: return assignment(expr);
    case E::conditional: return conditional(expr);
    case E::cast: {
      const Known value = read(*expr.operands[0]);
      if (is_same_pointer(value, *expr.type)) {
        return value;
      }
      consume(value, "cast to another type");
      return of_number(as_type(arithmetic_name(*expr.type), number_of(value), bounds_.ids));
    }
    case E::size: // its operand is not evaluated
      each_expression(expr, [this](const Expr& part) { seen_.insert(part.token); });
      return {};
    case E::comma:
    case E::compound:
    case E::list:
      for (const Expr* const part : expr.operands) {
        condition(*part);
      }
      return {};
    case E::opaque: break;
    }
    fail("an expression is not known", expr.tokens.begin);
    return {};
  }

  Known named(const Expr& expr) {
    seen_.insert(expr.token);
    const Decl* const name = unit_.meaning(expr.token);
    const std::string& word = text(expr.token);
    const bool is_variable = name != nullptr && name->kind == Decl::Kind::variable;
    const bool is_constant = name == nullptr ? word == "true" || word == "false" || is_standard_macro(word)
                                             : name->kind == Decl::Kind::enumerator;
    if (!is_variable) {
      if (!is_constant) {
        fail("a name is not known", expr.token);
      }
      return {};
    }
    const auto found = variables_.find(name);
    const bool is_known = found != variables_.end();
    Known known = is_known ? found->second : of_number(as_type(type_of(*name), {}, bounds_.ids));
    known.variable = name;
    const bool is_set = is_known || (name->value != nullptr && !changing_.contains(name));
    const auto range = bounds_.variables.find(name);
    if (is_set && range != bounds_.variables.end() && known.kind == Known::Kind::number &&
        known.number->exact) {
      known.number = within(*known.number, range->second, bounds_.ids);
    }
    return known;
  }

  // Also postfix ++ and --, which have one operand.
  Known assignment(const Expr& expr) {
    const bool is_certain_statement = &expr == statement_ && is_at_top_ && nesting_ == 0 && !has_returned_;
    const Known left = read(*expr.operands[0]);
    Use* const use = is_certain_statement && left.is_element() ? &reading_.uses[left.parameter] : nullptr;
    const bool is_first = use != nullptr && use->count == 1; // no use before it
    consume(left, "changed");
    if (expr.operands.size() == 2) {
      condition(*expr.operands[1]);
    }
    if (is_first && !unit_.is(expr.token, "=")) {
      use->footprint.changed_first = true;
    } else if (is_first) {
      use->footprint.assigned_first |= use->count == 1; // nor in its value
    }
    return {};
  }

  Known conditional(const Expr& expr) {
    const Known value = condition(*expr.operands[0]);
    const auto chosen = [this](const Bounds& holds, const Expr& of) {
      return where(holds, [&] { return std::pair(number_of(condition(of)), bounds_.ids); });
    };
    const auto [first, first_ids] = chosen(value.if_true, *expr.operands[1]);
    const auto [second, second_ids] = chosen(value.if_false, *expr.operands[2]);
    return of_number(first && second ? either(*first, first_ids, *second, second_ids) : std::nullopt);
  }

  Known binary(const Expr& expr) {
    const std::string& sign = text(expr.token);
    const Known left = read(*expr.operands[0]);
    const auto read_right = [&] { return read(*expr.operands[1]); };
    const Known right = sign == "&&"   ? where(left.if_true, read_right)
                        : sign == "||" ? where(left.if_false, read_right)
                                       : read_right();
    const bool moves = left.kind == Known::Kind::pointer;
    const auto number = computed(sign, moves ? left.number : number_of(left), number_of(right), bounds_.ids);
    if (moves && (sign == "+" || sign == "-") && right.kind != Known::Kind::pointer) {
      return moved(left, number);
    }
    consume(left);
    consume(right);
    if (sign == "&&") {
      return {.if_true = tighter(left.if_true, right.if_true)};
    }
    if (sign == "||") {
      return {.if_false = tighter(left.if_false, right.if_false)};
    }
    return number && !moves ? of_number(number)
                            : compared(sign, left, number_of(left), right, number_of(right), bounds_.ids);
  }

  Known unary(const Expr& expr) {
    const std::string& sign = text(expr.token);
    const Expr& operand = *expr.operands[0];
    if (sign == "*") {
      return accessed(element(expr), expr.token);
    }
    if (sign == "&") {
      const bool is_element = operand.kind == Expr::Kind::subscript ||
                              (operand.kind == Expr::Kind::unary && unit_.is(operand.token, "*"));
      const Known of = is_element ? element(operand) : read(operand);
      if (of.is_element()) {
        return moved(of, of.number);
      }
      if (of.kind == Known::Kind::element) {
        lose(of.parameter, {"the address of a part of an element is taken", expr.token});
      }
      consume(of, "changed");
      return {};
    }
    const Known value = read(operand);
    const bool is_change = sign == "++" || sign == "--";
    consume(value, is_change ? "changed" : "stored or compared");
    if (sign == "!") {
      return {.if_true = value.if_false, .if_false = value.if_true};
    }
    const auto number = number_of(value);
    return sign == "+"   ? of_number(number)
           : sign == "-" ? of_number(computed("-", constant_of(0, true), number, bounds_.ids))
                         : Known{};
  }

  // The elements that pointer[index] or *pointer denotes, not accessed yet.
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
            .number = computed("+", array.number, number_of(index), bounds_.ids),
            .parameter = array.parameter};
  }

  // The element is accessed; also by a reduction.
  Known accessed(const Known& element, std::size_t token, std::optional<Reduction> reduction = {}) {
    if (!element.is_element()) {
      return element;
    }
    Use& use = reading_.uses[element.parameter];
    Footprint& footprint = use.footprint;
    ++use.count;
    use.mixed = use.mixed || !reduction || (footprint.reduction && footprint.reduction != reduction);
    footprint.reduction = reduction;
    if (is_empty(bounds_.ids)) {
      return element; // this never runs
    }
    const Interval range = element.number ? range_of(*element.number, bounds_.ids) : Interval();
    if (range.low > -most_elements && range.high < most_elements) {
      use.accesses.push_back(
          {*element.number, bounds_.ids, token, bounds_.exact && element.number->is_point()});
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
    Known part = of.kind == Known::Kind::element ? of : Known{.variable = of.variable};
    part.part = true;
    const auto value = of.kind == Known::Kind::record
                           ? reading_.setting.members.find({of.parameter, text(expr.token)})
                           : reading_.setting.members.end();
    if (value != reading_.setting.members.end()) {
      part.number = as_type(arithmetic_name(*expr.type), constant_of(value->second, true), bounds_.ids);
      part.kind = part.number ? Known::Kind::number : part.kind;
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
    std::vector<Known> given;
    for (const Expr* const operand : expr.operands.subspan(1)) {
      given.push_back(read(*operand));
    }
    token_ = callee.token;
    if (name != nullptr) {
      return call(unit_.definition(word), word, given);
    }
    if (word == "barrier" || word == "work_group_barrier") {
      std::ranges::move(std::exchange(reading_.open, {}), std::back_inserter(reading_.returns));
    }
    access(word, given, &expr == statement_);
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
      const bool goes_on = follows && is_same_pointer(argument, *callee->parameters[i].decl->type);
      if (!goes_on && argument.kind == Known::Kind::pointer) {
        consume(argument, how);
        argument = {};
      }
    }
    if (!follows) {
      return {};
    }
    Bounds here = bounds_;
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
        elements = computed("+", computed("*", by, constant_of(vector->width, is_int), bounds_.ids),
                            between({0, vector->width - 1}, is_int), bounds_.ids);
      }
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Known& argument = arguments[i];
      if (argument.kind != Known::Kind::pointer || i != pointer) {
        consume(argument, fmt::format("passed to {}", function));
        continue;
      }
      Known element = moved(argument, computed("+", argument.number, elements, bounds_.ids));
      element.kind = Known::Kind::element;
      accessed(element, token_, reduction);
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
    if (numbers.size() == 1 && numbers[0].is_constant() && Interval{0, 2}.contains(numbers[0].rest)) {
      const auto d = static_cast<std::uint32_t>(numbers[0].rest.low);
      const bool same_for_parts = d + 1 < reading_.setting.dimensions; // ranks cut the outermost dimension
      return function == "get_global_id" ? of_number(id_of(d))
             : function == "get_global_size" && same_for_parts
                 ? of_number(constant_of(reading_.setting.size[d], false))
             : function == "get_local_id" ? of_number(between({0, reading_.setting.local[d] - 1}))
                                          : Known{};
    }
    if (numbers.size() == 2 && (function == "min" || function == "max")) {
      return of_number(extreme(numbers[0], numbers[1], bounds_.ids, function == "min"));
    }
    if (numbers.size() == 3 && function == "clamp") {
      const auto low = extreme(numbers[0], numbers[1], bounds_.ids, false);
      return of_number(low ? extreme(*low, numbers[2], bounds_.ids, true) : std::nullopt);
    }
    return {};
  }

  static constexpr std::size_t most_depth = 200; // nested statements and expressions
  static constexpr std::size_t most_calls = 1000;
  static constexpr std::size_t most_nested = 6; // calls

  Reading& reading_;
  const TranslationUnit& unit_;
  const Function& function_;  // the kernel, or one that it calls
  const std::size_t nesting_; // calls around this body
  const Ids call_ids_;        // for which it is called
  Bounds bounds_;             // what holds where the reader is; exact if all these ids come here
  std::optional<Obstacle> failed_;
  std::size_t depth_ = 0;
  std::size_t switches_ = 0, loops_ = 0;   // around the statement being read
  bool has_returned_ = false;              // a return has been read
  std::size_t return_ = 0;                 // the last one
  std::size_t token_ = 0;                  // being read
  const Expr* statement_ = nullptr;        // the last that is one
  bool is_at_top_ = false;                 // of the body
  std::map<const Decl*, Known> variables_; // set by their declarations alone, or by loops that count
  std::set<const Decl*> changing_; // variables that more than their declarations and counting loops set
  std::set<std::size_t> seen_;     // names that have been read
  std::optional<Known> result_;    // what the function returns
  Ids result_ids_;                 // for which that is known
};

} // namespace

Footprints footprints(const TranslationUnit& unit, const Function& kernel, const LaunchSetting& setting) {
  Reading reading{.unit = unit, .kernel = kernel, .setting = setting};
  Bounds launch{.variables = {}, .exact = true};
  for (std::uint32_t d = 0; d < 3; ++d) {
    launch.ids[d] = {setting.begin[d], setting.begin[d] + setting.size[d] - 1};
  }
  std::vector<Known> arguments;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    const auto value = setting.values.find(i);
    arguments.push_back(
        parameter.is_pointer
            ? Known{.kind = Known::Kind::pointer, .number = constant_of(0, true), .parameter = i}
        : value != setting.values.end()                ? of_number(constant_of(value->second, true))
        : parameter.decl->type->is(Type::Kind::record) ? Known{.kind = Known::Kind::record, .parameter = i}
                                                       : Known());
  }
  // A compiler may read the kernel otherwise.
  const std::string& macros = unit.source.own_macros;
  const std::string other = !kernel.body     ? "its kernel has no body"
                            : macros.empty() ? pragma_scope(unit).obstacle
                                             : macros;
  const auto failed = other.empty() ? FootprintReader(reading, kernel, arguments, launch, 0).run()
                                    : std::optional(Obstacle{other, kernel.name_token});
  Footprints found{{}, failed ? std::vector<EarlyReturn>() : std::move(reading.returns)};
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    Footprint& footprint = found.parameters.emplace_back();
    if (failed || !parameter.is_pointer) {
      footprint.obstacle = failed;
      continue;
    }
    footprint = reading.uses[i].footprint;
    footprint.reduction = reading.uses[i].mixed ? std::nullopt : footprint.reduction;
    const auto element = layout_of_pointee(unit, parameter);
    const bool has_numbers = element && element->kind == TypeLayout::Kind::arithmetic;
    if (!footprint.obstacle && (!has_numbers || parameter.space != AddressSpace::global)) {
      footprint.obstacle = Obstacle{"its elements are no numbers", parameter.tokens.begin};
    }
    if (footprint.obstacle) {
      footprint.assigned_first = false;
    } else {
      footprint.element_bytes = static_cast<std::uint32_t>(element->bytes);
      sum_up(reading.uses[i].accesses, setting, footprint);
    }
  }
  return found;
}

} // namespace tidegate::opencl_c
