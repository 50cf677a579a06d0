// Finds the pointer parameters whose const a function may drop, which C allows by a cast, by a conversion that compilers
// only warn of, through a union, …: these read and write. A parameter keeps its const if every occurrence of it, and of
// each local pointer to const that may hold it, is in an expression on the list in state(), and no expression makes a
// pointer that is not to const of it, a number, or something that is not known.
#include "opencl_c/tree.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace tidegate::opencl_c {
namespace {

using Kind = Expr::Kind;

// True for a pointer to const numbers, vectors or structures, or arrays of them.
bool points_to_const(const Type& type) {
  const Type* inner = type.is(Type::Kind::pointer) ? type.inner : nullptr;
  while (inner != nullptr && inner->is(Type::Kind::array)) {
    inner = inner->inner;
  }
  return inner != nullptr && inner->is_const &&
         (inner->is_arithmetic() || inner->is(Type::Kind::record) || inner->is(Type::Kind::nothing));
}

class Follower {
public:
  Follower(const TranslationUnit& unit, const Function& function)
      : unit_(unit), function_(function), decl_(unit.tree->declaration(function.name_token)) {}

  bool keeps_const(std::size_t parameter) {
    const Stmt* const body = unit_.tree->body(function_);
    if (body == nullptr || decl_ == nullptr || decl_->parameters.size() != function_.parameters.size() ||
        decl_->parameters[parameter]->name == no_name ||
        !points_to_const(*decl_->parameters[parameter]->type)) {
      return false;
    }
    followed_ = {decl_->parameters[parameter]->name};
    for (std::size_t count = 0; keeps_ && count != followed_.size();) {
      count = followed_.size();
      each_statement(*body, [this](const Stmt& stmt) { statement(stmt); });
    }
    for (std::size_t i = body->tokens.begin; keeps_ && i < body->tokens.end; ++i) { // the rest is opaque
      const std::size_t name = unit_.meanings[i];
      keeps_ = !followed_.contains(name) || unit_.names[name].token == i || seen_.contains(i);
    }
    return keeps_;
  }

private:
  // What an expression is: the memory that the parameter points to or a part of it, or an address in there.
  enum class State : std::uint8_t { other, place, pointer };

  State lost() {
    keeps_ = false;
    return State::other;
  }

  void statement(const Stmt& stmt) {
    for (const Expr* const expr : stmt.values) {
      if (expr != nullptr && value(*expr) == State::pointer && stmt.kind == Stmt::Kind::return_value &&
          !points_to_const(*decl_->type->inner)) {
        lost();
      }
    }
    for (const Decl* const decl : stmt.declared) {
      if (decl->value != nullptr && value(*decl->value) == State::pointer) {
        joins(decl->name);
      }
    }
  }

  // The pointer is stored in the variable.
  void joins(std::size_t name) {
    const Name* const variable = name == no_name ? nullptr : &unit_.names[name];
    if (variable != nullptr && variable->kind == NameKind::variable && !variable->is_file_scope &&
        points_to_const(*variable->type)) {
      followed_.insert(name);
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

  State none(const Expr& expr) { return value(expr) == State::pointer ? lost() : State::other; }

  State if_const(State found, const Type& type) {
    return found == State::pointer && !points_to_const(type) ? lost() : found;
  }

  State pointee(State pointer, const Type& type) {
    if (pointer != State::pointer) {
      return State::other;
    }
    const bool known = type.is_arithmetic() || type.is(Type::Kind::record) || type.is(Type::Kind::array);
    return known ? State::place : lost();
  }

  State state(const Expr& expr) {
    const auto operand = [&expr](std::size_t i) -> const Expr& { return *expr.operands[i]; };
    const auto is = [&](std::string_view text) { return unit_.is(expr.token, text); };
    switch (expr.kind) {
    case Kind::name:
      seen_.insert(expr.token);
      return followed_.contains(unit_.meanings[expr.token]) ? State::pointer : State::other;
    case Kind::call: return call(expr);
    case Kind::subscript: {
      const State index = value(operand(1));
      const bool part = operand(0).type->is_arithmetic();
      const State array = part ? state(operand(0)) : value(operand(0));
      if (array == State::place) { // a component of a vector
        return index == State::other ? State::place : lost();
      }
      return array == index ? (array == State::other ? array : lost()) : pointee(State::pointer, *expr.type);
    }
    case Kind::member: {
      if (unit_.is(expr.token - 1, "->")) {
        return value(operand(0)) == State::pointer ? State::place : State::other;
      }
      const State object = state(operand(0));
      return object == State::pointer ? lost() : object;
    }
    case Kind::unary: {
      if (is("&")) {
        const State of = state(operand(0));
        return of == State::place ? if_const(State::pointer, *expr.type) : of == State::pointer ? lost() : of;
      }
      if (is("*")) {
        return pointee(value(operand(0)), *expr.type);
      }
      if (is("++") || is("--")) {
        return changed(operand(0));
      }
      const State of = value(operand(0));
      return of == State::pointer && !is("!") ? lost() : State::other;
    }
    case Kind::postfix: return changed(operand(0));
    case Kind::binary: {
      static constexpr std::array<std::string_view, 8> tests{"==", "!=", "<", ">", "<=", ">=", "&&", "||"};
      const State left = value(operand(0));
      const State right = value(operand(1));
      if (std::ranges::any_of(tests, is) || left == right) {
        return left == State::other || !is("+") ? State::other : lost();
      }
      return is("+") || (is("-") && left == State::pointer)
                 ? if_const(State::pointer, *expr.type) // elsewhere than a number is added
                 : lost();
    }
    case Kind::assignment: {
      const State to = changed(operand(0));
      const State of = value(operand(1));
      if (of != State::pointer) {
        return to;
      }
      if (!is("=") || operand(0).kind != Kind::name) {
        return lost();
      }
      joins(unit_.meanings[operand(0).token]);
      return of;
    }
    case Kind::conditional: {
      value(operand(0));
      const State yes = value(operand(1));
      const State no = value(operand(2));
      return if_const(yes == State::pointer ? yes : no, *expr.type);
    }
    case Kind::comma: value(operand(0)); return value(operand(1));
    case Kind::cast: {
      const State of = value(operand(0));
      return expr.type->is(Type::Kind::nothing) ? State::other : if_const(of, *expr.type);
    }
    case Kind::size: {
      each_expression(expr, [this](const Expr& part) { seen_.insert(part.token); }); // not evaluated
      return State::other;
    }
    case Kind::vector:
    case Kind::compound:
    case Kind::list:
    case Kind::designated:
      for (const Expr* const part : expr.operands) {
        none(*part);
      }
      return State::other;
    default: return State::other; // names in what is opaque are not seen
    }
  }

  // What is assigned to may be a variable that holds the pointer, but not the memory.
  State changed(const Expr& target) {
    const State found = state(target);
    return found == State::place || (found == State::pointer && target.kind != Kind::name) ? lost() : found;
  }

  State call(const Expr& expr) {
    const Expr& callee = *expr.operands[0];
    const std::string_view name = unit_.source.tokens[callee.token].text;
    const Name* const called = callee.kind == Kind::name ? unit_.meaning(callee.token) : nullptr;
    const Function* const function = called == nullptr ? nullptr : unit_.definition(name);
    State result = none(callee);
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
      if (value(*expr.operands[i]) != State::pointer) {
        continue;
      }
      const std::size_t index = i - 1;
      if (called == nullptr) {
        const bool reads =
            callee.kind == Kind::name &&
            ((index == 1 && (name.starts_with("vload") || name.starts_with("async_work_group_"))) ||
             (index == 0 && name == "prefetch"));
        result = reads ? result : lost();
      } else if (called->kind == NameKind::function && function != nullptr && !function->is_overloadable &&
                 index < function->parameters.size() && function->parameters[index].is_pointer &&
                 function->parameters[index].is_const) {
        result = callee.type->inner->is(Type::Kind::pointer) ? if_const(State::pointer, *expr.type) : result;
      } else {
        lost();
      }
    }
    return result;
  }

  const TranslationUnit& unit_;
  const Function& function_;
  const Decl* const decl_;
  bool keeps_ = true;
  std::set<std::size_t> followed_; // names that may hold the pointer
  std::set<std::size_t> seen_;     // tokens of names in expressions that are known
};

} // namespace

void clear_lost_const(TranslationUnit& unit) {
  for (bool changed = true;
       changed;) { // a function passes pointers on to those that have kept their const so far
    changed = false;
    for (Function& function : unit.functions) {
      for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        Parameter& parameter = function.parameters[i];
        if (parameter.is_pointer && parameter.is_const && function.body &&
            !Follower(unit, function).keeps_const(i)) {
          parameter.is_const = false;
          changed = true;
        }
      }
    }
  }
}

} // namespace tidegate::opencl_c
