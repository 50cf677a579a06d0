// What functions make of pointers: which drop const, by the types of their expressions, and which only access elements.
#include "opencl_c/facts.hpp"
#include "opencl_c/footprint.hpp"
#include "opencl_c/outline.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

// Null for a type that is no pointer, also after an array has decayed.
const Type* element_pointed_to(const Type& type) {
  const Type* inner = type.is(Type::Kind::pointer) || type.is(Type::Kind::array) ? type.inner : nullptr;
  while (inner != nullptr && inner->is(Type::Kind::array)) {
    inner = inner->inner;
  }
  return inner;
}

// True for a pointer to const numbers, vectors or structures, or arrays of them.
bool points_to_const(const Type& type) {
  const Type* const inner = element_pointed_to(type);
  return inner != nullptr && inner->is_const && type.is(Type::Kind::pointer) &&
         (inner->is_arithmetic() || inner->is(Type::Kind::record) || inner->is(Type::Kind::nothing));
}

// Finds whether a function keeps the const of its parameters. A pointer to const may be compared, moved, dereferenced, kept
// in a variable of such a type, and passed to a function that keeps it. C allows to drop const by a cast, by a conversion
// that compilers only warn of, through a union, …: everything else counts as that, and what is opaque, too.
class ConstKeeper {
public:
  ConstKeeper(const TranslationUnit& unit, const Function& function)
      : unit_(unit), type_(*unit.meaning(function.name_token)->type) {
    each_statement(*function.statements, [this](const Stmt& stmt) { statement(stmt); });
  }

  [[nodiscard]] bool keeps() const { return keeps_; }

private:
  // True if the value may be a pointer to const that comes from a parameter.
  static bool holds(const Expr& expr) {
    const Type* const inner = element_pointed_to(*expr.type);
    return expr.kind != Expr::Kind::text &&
           (inner != nullptr ? inner->is_const : expr.type->is(Type::Kind::opaque) && expr.type->is_const);
  }

  static bool any_holds(std::span<const Expr* const> parts) {
    return std::ranges::any_of(parts, [](const Expr* part) { return holds(*part); });
  }

  void converts(const Expr& expr, bool allowed) { keeps_ = keeps_ && (allowed || !holds(expr)); }

  [[nodiscard]] static bool may_hold(const Decl* variable) {
    return variable != nullptr && variable->kind == Decl::Kind::variable && !variable->is_file_scope &&
           variable->token != no_token && points_to_const(*variable->type);
  }

  void statement(const Stmt& stmt) {
    keeps_ = keeps_ && stmt.kind != Stmt::Kind::opaque;
    each_value(stmt, [this](const Expr& value) { read(value); });
    if (stmt.kind == Stmt::Kind::return_value && !stmt.values.empty()) {
      converts(*stmt.values[0], type_.is(Type::Kind::function) && points_to_const(*type_.inner));
    }
    for (const Decl* const decl : stmt.declared) {
      if (decl->value != nullptr) {
        converts(*decl->value, may_hold(decl));
      }
    }
  }

  void read(const Expr& expr) {
    if (expr.kind == Expr::Kind::size) { // not evaluated
      return;
    }
    for (const Expr* const operand : expr.operands) {
      read(*operand);
    }
    keeps_ = keeps_ && allowed(expr);
  }

  [[nodiscard]] bool allowed(const Expr& expr) const {
    const auto is = [&](auto... texts) { return (unit_.is(expr.token, texts) || ...); };
    const auto& operands = expr.operands;
    switch (expr.kind) {
    case Expr::Kind::opaque: return false;
    case Expr::Kind::call: return call(expr);
    case Expr::Kind::member:
      return !expr.type->is(Type::Kind::opaque) || !(holds(*operands[0]) || operands[0]->type->is_const);
    case Expr::Kind::unary:
      return is("*", "!", "++", "--") || !holds(*operands[0]) ||
             (is("&") && operands[0]->type->is(Type::Kind::array));
    case Expr::Kind::binary:
      return !any_holds(operands) || is("==", "!=", "<", ">", "<=", ">=", "&&", "||") ||
             (is("+") && points_to_const(*expr.type)) || (is("-") && !expr.type->is(Type::Kind::opaque));
    case Expr::Kind::assignment:
      return !holds(*operands[1]) || (is("=") && may_hold(named_by(unit_, *operands[0])));
    case Expr::Kind::conditional: return !any_holds(operands.subspan(1)) || points_to_const(*expr.type);
    case Expr::Kind::cast:
      return !holds(*operands[0]) || expr.type->is(Type::Kind::nothing) || points_to_const(*expr.type);
    case Expr::Kind::vector:
    case Expr::Kind::compound:
    case Expr::Kind::list:
    case Expr::Kind::designated: return !any_holds(operands);
    default: return true;
    }
  }

  [[nodiscard]] bool call(const Expr& expr) const {
    const Expr& callee = *expr.operands[0];
    const std::string_view name = unit_.source.tokens[callee.token].text;
    const Decl* const declared = unit_.meaning(callee.token);
    const Function* const function =
        declared != nullptr && declared->kind == Decl::Kind::function ? unit_.definition(name) : nullptr;
    bool known = true;
    for (std::size_t i = 0; i + 1 < expr.operands.size(); ++i) {
      const bool takes =
          declared == nullptr ? (i == 1 && (name.starts_with("vload") || name.starts_with("async_work_group_"))) ||
                                    (i == 0 && name == "prefetch")
                              : function != nullptr && !function->is_overloadable &&
                                    i < function->parameters.size() && function->parameters[i].is_pointer &&
                                    function->parameters[i].is_const;
      known = known && (!holds(*expr.operands[i + 1]) || (takes && callee.kind == Expr::Kind::name));
    }
    return known;
  }

  const TranslationUnit& unit_;
  const Type& type_; // of the function
  bool keeps_ = true;
};

} // namespace

void clear_lost_const(TranslationUnit& unit) {
  for (bool changed = true; changed;) { // a function passes pointers on to those that have kept their const so far
    changed = false;
    for (Function& function : unit.functions) {
      const auto is_const = [](const Parameter& parameter) { return parameter.is_pointer && parameter.is_const; };
      if (!function.body || std::ranges::none_of(function.parameters, is_const)) {
        continue;
      }
      const bool keeps = ConstKeeper(unit, function).keeps();
      for (Parameter& parameter : function.parameters) {
        if (is_const(parameter) && !(keeps && points_to_const(*parameter.decl->type))) {
          parameter.is_const = false;
          changed = true;
        }
      }
    }
  }
}

std::string obstacle_to_moving(const TranslationUnit& unit, const Function& kernel, std::size_t parameter) {
  if (!kernel.body || std::ranges::count(unit.functions, kernel.name, &Function::name) != 1 ||
      unit.facts->is_called(kernel.name)) {
    return fmt::format("{} is declared twice, or called", kernel.name);
  }
  const Parameter& pointer = kernel.parameters[parameter];
  if (!pointer.is_pointer || pointer.space != AddressSpace::global || pointer.name.empty() ||
      pointer.decl->type->is_const) {
    return fmt::format("the parameter {} of {} is not a pointer to global memory that can be assigned to",
                       pointer.name, kernel.name);
  }
  return footprints(unit, kernel, {}).parameters[parameter].only_accessed
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

} // namespace tidegate::opencl_c
