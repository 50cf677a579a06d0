// Follows the pointer of a parameter through a function: into local variables, sums, casts, elements and calls. What may become
// of it is a list of rules, one for pointers that are moved and one for pointers to const.
#include "opencl_c/facts.hpp"
#include "opencl_c/outline.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

// True for a pointer to const numbers, vectors or structures, or arrays of them.
bool points_to_const(const Type& type) {
  const Type* inner = type.is(Type::Kind::pointer) ? type.inner : nullptr;
  while (inner != nullptr && inner->is(Type::Kind::array)) {
    inner = inner->inner;
  }
  return inner != nullptr && inner->is_const &&
         (inner->is_arithmetic() || inner->is(Type::Kind::record) || inner->is(Type::Kind::nothing));
}

// The two uses of the rules: a pointer that is moved only accesses elements. A pointer to const keeps its const if nothing
// becomes of it but pointers to const: C allows to drop it by a cast, by a conversion that compilers only warn of, through a
// union, …
enum class Property : std::uint8_t { moved, constant };

using Seen = std::set<std::pair<const Function*, std::size_t>>;

// Finds whether every occurrence of the pointer, and of each local variable that may hold it, is in an expression that is
// known, and all that happens to it is in the rules. Names in opaque tokens are in no such expression. A function keeps the
// rules of `moved` if those that it hands the pointer to do.
class Follower {
public:
  Follower(Property property, const TranslationUnit& unit, const Function& function, Seen& seen)
      : property_(property), unit_(unit), function_(function),
        type_(*unit.meaning(function.name_token)->type), functions_(seen) {}

  bool run(std::size_t parameter) {
    const Stmt* const body = function_.statements;
    const Decl& decl = *function_.parameters[parameter].decl;
    if (body == nullptr || decl.token == no_token || !may_become(*decl.type)) {
      return false;
    }
    followed_ = {&decl};
    for (std::size_t count = 0; keeps_ && count != followed_.size();) {
      count = followed_.size();
      each_statement(*body, [this](const Stmt& stmt) { statement(stmt); });
    }
    for (std::size_t i = body->tokens.begin; keeps_ && i < body->tokens.end; ++i) { // the rest is opaque
      const Decl* const name = unit_.meaning(i);
      keeps_ = !followed_.contains(name) || name->token == i || seen_.contains(i);
    }
    return keeps_;
  }

private:
  // What a cast, a conversion or a variable makes of the pointer.
  [[nodiscard]] bool may_become(const Type& type) const {
    return property_ == Property::moved ? type.is(Type::Kind::pointer) : points_to_const(type);
  }

  [[nodiscard]] bool may_pass(const Function& callee, std::size_t index) const {
    const Parameter& parameter = callee.parameters[index];
    return property_ == Property::constant ? parameter.is_pointer && parameter.is_const
                                           : !functions_.emplace(&callee, index).second ||
                                                 Follower(property_, unit_, callee, functions_).run(index);
  }

  [[nodiscard]] bool may_take(std::string_view built_in, std::size_t index) const {
    return property_ == Property::moved ? builtin(built_in) && !is_builtin(built_in, Builtin::Kind::print)
                                        : (index == 1 && (built_in.starts_with("vload") ||
                                                          built_in.starts_with("async_work_group_"))) ||
                                              (index == 0 && built_in == "prefetch");
  }

  // What an expression is: the memory that the parameter points to or a part of it, or an address in there.
  enum class State : std::uint8_t { other, place, pointer };

  State lost() {
    keeps_ = false;
    return State::other;
  }

  void statement(const Stmt& stmt) {
    for (const Expr* const expr : stmt.values) {
      if (expr == nullptr || value(*expr) != State::pointer) {
        continue;
      }
      const bool known = stmt.kind == Stmt::Kind::expression ||
                         (stmt.kind == Stmt::Kind::for_loop && expr == stmt.values[1]) ||
                         (stmt.kind == Stmt::Kind::return_value ? may_become(*type_.inner)
                                                                : property_ == Property::constant);
      keeps_ = keeps_ && known;
    }
    for (const Decl* const decl : stmt.declared) {
      if (decl->value != nullptr && value(*decl->value) == State::pointer) {
        joins(decl->token == no_token ? nullptr : unit_.meaning(decl->token));
      }
    }
  }

  // The pointer is stored in the variable.
  void joins(const Decl* variable) {
    if (variable != nullptr && variable->kind == Decl::Kind::variable && !variable->is_file_scope &&
        may_become(*variable->type)) {
      followed_.insert(variable);
    } else {
      lost();
    }
  }

  // The state of the value: an array decays to its address, and the value of another place is data.
  State value(const Expr& expr) {
    const State found = state(expr);
    if (found != State::place) {
      return found;
    }
    return expr.type->is(Type::Kind::array)    ? State::pointer
           : expr.type->is(Type::Kind::opaque) ? lost()
                                               : State::other;
  }

  State becomes(State found, const Type& type) {
    return found == State::pointer && !may_become(type) ? lost() : found;
  }

  State pointee(State pointer, const Type& type) {
    if (pointer != State::pointer) {
      return State::other;
    }
    const bool known = type.is_arithmetic() || type.is(Type::Kind::record) || type.is(Type::Kind::array);
    return known ? State::place : lost();
  }

  State compared(State found) {
    return found == State::pointer && property_ == Property::moved ? lost() : State::other;
  }

  State state(const Expr& expr) {
    const auto operand = [&expr](std::size_t i) -> const Expr& { return *expr.operands[i]; };
    const auto is = [&](std::string_view text) { return unit_.is(expr.token, text); };
    switch (expr.kind) {
    case Expr::Kind::name:
      seen_.insert(expr.token);
      return followed_.contains(unit_.meaning(expr.token)) ? State::pointer : State::other;
    case Expr::Kind::call: return call(expr);
    case Expr::Kind::subscript: {
      const State index = value(operand(1));
      const State array = operand(0).type->is_arithmetic() ? state(operand(0)) : value(operand(0));
      if (array == State::place) { // a component of a vector
        return index == State::other ? State::place : lost();
      }
      return array == index ? (array == State::other ? array : lost()) : pointee(State::pointer, *expr.type);
    }
    case Expr::Kind::member: {
      if (unit_.is(expr.token - 1, "->")) {
        return value(operand(0)) == State::pointer ? State::place : State::other;
      }
      const State object = state(operand(0));
      return object == State::pointer ? lost() : object;
    }
    case Expr::Kind::unary: {
      if (is("&")) {
        const State of = state(operand(0));
        return of == State::place ? becomes(State::pointer, *expr.type) : of == State::pointer ? lost() : of;
      }
      if (is("*")) {
        return pointee(value(operand(0)), *expr.type);
      }
      if (is("++") || is("--")) {
        return changed(operand(0));
      }
      const State of = value(operand(0));
      return of == State::pointer && !is("!") ? lost() : compared(of);
    }
    case Expr::Kind::postfix: return changed(operand(0));
    case Expr::Kind::binary: return binary(expr);
    case Expr::Kind::assignment: {
      const State to = changed(operand(0));
      const State of = value(operand(1));
      if (of != State::pointer) {
        return to;
      }
      if (!is("=") || operand(0).kind != Expr::Kind::name) {
        return lost();
      }
      joins(unit_.meaning(operand(0).token));
      return of;
    }
    case Expr::Kind::conditional: {
      compared(value(operand(0)));
      const State yes = value(operand(1));
      const State no = value(operand(2));
      if (yes == State::pointer || no == State::pointer) {
        compared(State::pointer);
        return becomes(State::pointer, *expr.type);
      }
      return State::other;
    }
    case Expr::Kind::comma: value(operand(0)); return value(operand(1));
    case Expr::Kind::cast: {
      const State of = value(operand(0));
      return expr.type->is(Type::Kind::nothing) ? State::other : becomes(of, *expr.type);
    }
    case Expr::Kind::size: // not evaluated
      each_expression(expr, [this](const Expr& part) { seen_.insert(part.token); });
      return State::other;
    case Expr::Kind::vector:
    case Expr::Kind::compound:
    case Expr::Kind::list:
    case Expr::Kind::designated:
      for (const Expr* const part : expr.operands) {
        none(*part);
      }
      return State::other;
    default: return State::other; // names in what is opaque are not seen
    }
  }

  State none(const Expr& expr) { return value(expr) == State::pointer ? lost() : State::other; }

  State binary(const Expr& expr) {
    static constexpr std::array<std::string_view, 8> tests{"==", "!=", "<", ">", "<=", ">=", "&&", "||"};
    const auto is = [&](std::string_view text) { return unit_.is(expr.token, text); };
    const State left = value(*expr.operands[0]);
    const State right = value(*expr.operands[1]);
    if (std::ranges::any_of(tests, is)) {
      compared(left);
      return compared(right);
    }
    if (left == right) { // two pointers have a difference
      return left == State::other || is("-") ? State::other : lost();
    }
    return is("+") || (is("-") && left == State::pointer) ? becomes(State::pointer, *expr.type) : lost();
  }

  // What is assigned to may be a variable that holds the pointer.
  State changed(const Expr& target) {
    const State found = state(target);
    if (found == State::place) {
      return property_ == Property::moved ? State::other : lost();
    }
    return found == State::pointer && target.kind != Expr::Kind::name ? lost() : found;
  }

  State call(const Expr& expr) {
    const Expr& callee = *expr.operands[0];
    const std::string_view name = unit_.source.tokens[callee.token].text;
    const Decl* const called = named_by(unit_, callee);
    const Function* const function =
        called == nullptr || called->kind != Decl::Kind::function ? nullptr : unit_.definition(name);
    State result = none(callee);
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
      if (value(*expr.operands[i]) != State::pointer) {
        continue;
      }
      const std::size_t index = i - 1;
      if (called == nullptr) {
        keeps_ = keeps_ && callee.kind == Expr::Kind::name && may_take(name, index);
      } else if (function != nullptr && !function->is_overloadable && index < function->parameters.size() &&
                 may_pass(*function, index)) {
        result = callee.type->inner->is(Type::Kind::pointer) ? becomes(State::pointer, *expr.type) : result;
      } else {
        lost();
      }
    }
    return result;
  }

  const Property property_;
  const TranslationUnit& unit_;
  const Function& function_;
  const Type& type_; // of the function
  bool keeps_ = true;
  std::set<const Decl*> followed_; // names that may hold the pointer
  std::set<std::size_t> seen_;     // tokens of names in expressions that are known
  Seen& functions_;
};

} // namespace

std::string obstacle_to_moving(const TranslationUnit& unit, const Function& kernel, std::size_t parameter) {
  if (!kernel.body || std::ranges::count(unit.functions, kernel.name, &Function::name) != 1 ||
      unit.facts->is_called(kernel.name)) {
    return fmt::format("{} is declared twice, or called", kernel.name);
  }
  if (!unit.source.own_macros.empty()) {
    return fmt::format("how a compiler reads {} is not known: {}", kernel.name, unit.source.own_macros);
  }
  const Parameter& pointer = kernel.parameters[parameter];
  if (!pointer.is_pointer || pointer.space != AddressSpace::global || pointer.name.empty() ||
      pointer.decl->type->is_const) {
    return fmt::format("the parameter {} of {} is not a pointer to global memory that can be assigned to",
                       pointer.name, kernel.name);
  }
  Seen seen{{&kernel, parameter}};
  return Follower(Property::moved, unit, kernel, seen).run(parameter)
             ? ""
             : fmt::format("{} does more with {} than access elements", kernel.name, pointer.name);
}

std::string move_pointers(const TranslationUnit& unit, const MovedPointers& moved) {
  Edits edits;
  for (const Function& function : unit.functions) {
    const auto found = moved.find(function.name);
    if (found == moved.end() || !function.body) {
      continue;
    }
    std::string& parameters = edits[function.parameter_list.end - 1].after;
    std::string& begin = edits[function.body->begin].after;
    for (const std::size_t parameter : found->second) {
      const std::string& name = function.parameters[parameter].name;
      parameters += fmt::format(", ulong tg_begin{}", parameter);
      // In integers, as a pointer outside of its memory would be undefined. The address and the number are both
      // multiples of what any type is aligned to.
      begin +=
          fmt::format(" {0} = (global void*)((uintptr_t){0} - (uintptr_t)tg_begin{1});", name, parameter);
    }
  }
  std::string text;
  TokenWriter(unit, text).write({.begin = 0, .end = unit.source.tokens.size()}, edits);
  return text + '\n';
}

void clear_lost_const(TranslationUnit& unit) {
  Seen seen;
  for (bool changed = true;
       changed;) { // a function passes pointers on to those that have kept their const so far
    changed = false;
    for (Function& function : unit.functions) {
      for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        Parameter& parameter = function.parameters[i];
        if (parameter.is_pointer && parameter.is_const && function.body &&
            !Follower(Property::constant, unit, function, seen).run(i)) {
          parameter.is_const = false;
          changed = true;
        }
      }
    }
  }
}

} // namespace tidegate::opencl_c
