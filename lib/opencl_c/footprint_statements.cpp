// Statements: which ids come to each of them, and what variables hold there.
#include "opencl_c/footprint_reader.hpp"

namespace tidegate::opencl_c {

std::optional<Obstacle> FootprintReader::run() {
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

Known FootprintReader::result(const Function& callee) const {
  const Decl* const decl = unit_.tree->declaration(callee.name_token);
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

void FootprintReader::read_body() {
  leaks_ = false;
  returns_ = switches_ = loops_ = 0;
  values_ = given_;
  for (const Name* const name : changing_) {
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

bool FootprintReader::statement(const Stmt& stmt) {
  const Deeper deeper(*this, stmt.tokens.begin);
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

bool FootprintReader::if_else(const Stmt& stmt) {
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

void FootprintReader::for_loop(const Stmt& stmt) {
  const Stmt& begin = *stmt.parts[0];
  const Expr* const step = stmt.values[1];
  const Expr* const start = begin.values.empty() ? nullptr : begin.values[0];
  const Name* const stepped = step == nullptr ? nullptr : stepped_variable(*step);
  const Name* counter = nullptr;
  if (begin.kind == Stmt::Kind::declaration) {
    counter = declaration(begin);
  } else if (stepped != nullptr && start != nullptr && start->kind == Expr::Kind::assignment &&
             unit_.is(start->token, "=") && start->operands[0]->kind == Expr::Kind::name &&
             unit_.meaning(start->operands[0]->token) == stepped && unset_.contains(stepped) &&
             !changing_.contains(stepped) && !values_.contains(stepped) && // no outer loop counts it
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

const Name* FootprintReader::stepped_variable(const Expr& step) const {
  static constexpr std::array<std::string_view, 8> steps{"++", "--", "+=", "-=", "*=", "/=", "<<=", ">>="};
  const bool changes = step.kind == Expr::Kind::unary || step.kind == Expr::Kind::postfix ||
                       step.kind == Expr::Kind::assignment;
  return changes && std::ranges::find(steps, text(step.token)) != steps.end() &&
                 step.operands[0]->kind == Expr::Kind::name
             ? unit_.meaning(step.operands[0]->token)
             : nullptr;
}

bool FootprintReader::start_count(const Name& variable, const Expr& step) {
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

void FootprintReader::count(const Name& variable, const Known& holds, const Expr& step_by) {
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

void FootprintReader::loop_body(const Stmt& stmt, Bounds holds) {
  const std::size_t before = returns_;
  ++loops_;
  holds.exact = false;
  where(holds, [&] { return statement(stmt); });
  --loops_;
  leaks_ = leaks_ || returns_ != before;
}

void FootprintReader::expression_statement(const Expr& expr) {
  statement_ = &expr;
  const Known value = read(expr);
  consume(value);
  if (value.assigned && depth_ == 1 && nesting_ == 0 && returns_ == 0) {
    Found& found = found_[value.parameter];
    found.assigned_first |= found.uses == 1; // no use before it or in its value
  }
}

const Name* FootprintReader::declared(const Decl& decl) {
  if (decl.name == no_name || decl.type->is(Type::Kind::function) || decl.type->is(Type::Kind::opaque) ||
      is_type_word(text(unit_.names[decl.name].token))) {
    fail("a declaration is not known", token_);
    return nullptr;
  }
  const Name& name = unit_.names[decl.name];
  bounds_.variables.erase(&name);
  const bool is_new = unit_.tree->declaration(name.token) == &decl;
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
    pointers_[&name] =
        values_[&name] = {.kind = Known::Kind::pointer, .number = value.number, .parameter = value.parameter};
    found_[value.parameter].own = false;
    return nullptr;
  }
  consume(value);
  const auto number = number_of(value);
  const auto kept = number ? as_type(type, number) : std::nullopt;
  const bool is_scalar = decl.type->is(Type::Kind::number) && !decl.type->is_volatile && !decl.has_attributes;
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

} // namespace tidegate::opencl_c
