// Where a kernel takes constant arguments, `constant` becomes `const global` in each type of a pointer, in the whole source.
// Then the address of a variable that stays in constant memory, or of a string, has another type: that is an obstacle.
#include "opencl_c/outline.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

const Type& element_of(const Type& type) {
  return type.is(Type::Kind::array) ? element_of(*type.inner) : type;
}

bool in_constant(const Type& type) {
  return type.space == AddressSpace::constant ||
         ((type.is(Type::Kind::pointer) || type.is(Type::Kind::array)) && in_constant(*type.inner));
}

// True for a pointer into constant memory, an array of such, and a function that returns one.
bool points_to_constant(const Type& type) {
  const Type& element = element_of(type.is(Type::Kind::function) ? *type.inner : type);
  return element.is(Type::Kind::pointer) && in_constant(*element.inner);
}

class ConstantPointers {
public:
  explicit ConstantPointers(const TranslationUnit& unit) : unit_(unit) {}

  MovedConstants find() {
    for (const Decl* const name : unit_.names) {
      if (!points_to_constant(*name->type)) {
        continue;
      }
      type_in(name->specifiers);
      type_in(name->tokens);
      for (const Decl* const other : unit_.names) { // `typedef constant float value, *values`
        if (other->specifiers.begin == name->specifiers.begin &&
            element_of(*other->type).space == AddressSpace::constant) {
          note(other->token);
        }
      }
    }
    for (const Decl* const decl : unit_.tree->file_scope) {
      variable(*decl);
      const bool again = !decl->type->is(Type::Kind::function) && unit_.meaning(decl->token) != decl;
      if (again && points_to_constant(*decl->type)) { // its words are those of the first one
        note(decl->tokens.begin);
      }
    }
    for (const Function& function : unit_.functions) {
      const Decl* const name = unit_.meaning(function.name_token);
      type_in(name != nullptr && points_to_constant(*name->type)
                  ? TokenRange{.begin = function.begin, .end = function.name_token}
                  : TokenRange());
      for (const Parameter& parameter : function.parameters) {
        const bool moves = is_constant_pointer(parameter);
        type_in(moves ? parameter.tokens : TokenRange());
        if (moves && function.is_overloadable) { // the address space may choose the function
          note(function.name_token);
        }
      }
      if (function.body) {
        each_statement(*function.statements, [this](const Stmt& stmt) { statement(stmt); });
      }
    }
    return std::move(found_);
  }

private:
  void note(std::size_t token) { found_.obstacles.insert(token); }

  // The words of a type that is a pointer into constant memory.
  void type_in(TokenRange range) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Decl* const name = unit_.meaning(i);
      if (unit_.is(i, "{") || unit_.is(i, "=")) { // members, or a value
        i = unit_.is(i, "{") ? unit_.counterpart(i) : range.end;
      } else if (address_space(unit_.source.tokens[i].text) == AddressSpace::constant) {
        found_.words.insert(i);
      } else if (name != nullptr && name->kind == Decl::Kind::type && name->token != i &&
                 in_constant(*name->type) && !points_to_constant(*name->type)) { // variables have it, too
        note(i);
      }
    }
  }

  void statement(const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::opaque) {
      note(stmt.tokens.begin);
    }
    for (const Expr* const expr : stmt.values) {
      value(expr);
    }
    for (const Decl* const decl : stmt.declared) {
      variable(*decl);
    }
  }

  void variable(const Decl& decl) {
    const Type& element = element_of(*decl.type);
    if (element.is(Type::Kind::opaque)) {
      note(decl.tokens.begin);
    }
    for (const Decl* const parameter : decl.parameters) {
      variable(*parameter);
    }
    initial(decl.value, !element.is(Type::Kind::pointer));
  }

  // A string fills an array of characters.
  void initial(const Expr* of, bool characters) {
    if (of != nullptr && (of->kind == Expr::Kind::list || of->kind == Expr::Kind::designated)) {
      for (const Expr* const part : of->operands) {
        initial(part, characters);
      }
    } else if (of != nullptr && !(characters && of->kind == Expr::Kind::text)) {
      value(of);
    }
  }

  // True for a variable in constant memory, and for its elements and members.
  [[nodiscard]] bool is_place(const Expr& expr) const {
    if (expr.kind == Expr::Kind::name) {
      const Decl* const name = unit_.meaning(expr.token);
      return name != nullptr && name->kind == Decl::Kind::variable &&
             element_of(*name->type).space == AddressSpace::constant;
    }
    return (expr.kind == Expr::Kind::subscript
                ? expr.operands[0]->type->is(Type::Kind::array)
                : expr.kind == Expr::Kind::member && unit_.is(expr.token - 1, ".")) &&
           is_place(*expr.operands[0]);
  }

  // The value in a place may be used, its address may not.
  void value(const Expr* of) {
    if (of == nullptr || of->kind == Expr::Kind::size) { // whose operand is not evaluated
      return;
    }
    const Expr& expr = *of;
    const bool makes_type = expr.kind == Expr::Kind::cast || expr.kind == Expr::Kind::compound;
    const bool is_type_known = !expr.type->is(Type::Kind::opaque);
    if (is_place(expr)) {
      if (!is_type_known || expr.type->is(Type::Kind::array)) {
        note(expr.tokens.begin);
      }
      for (const Expr* at = &expr; at->kind != Expr::Kind::name; at = at->operands[0]) {
        value(at->kind == Expr::Kind::subscript ? at->operands[1] : nullptr);
      }
      return;
    }
    const bool calls_unknown =
        expr.kind == Expr::Kind::call && unit_.meaning(expr.operands[0]->token) == nullptr;
    const bool is_known = calls_unknown && builtin(unit_.source.tokens[expr.operands[0]->token].text);
    if (expr.kind == Expr::Kind::opaque || (makes_type && !is_type_known) || (calls_unknown && !is_known) ||
        (expr.kind == Expr::Kind::text && expr.type->is(Type::Kind::pointer)) ||
        (expr.kind == Expr::Kind::unary && unit_.is(expr.token, "&") && is_place(*expr.operands[0]))) {
      note(expr.tokens.begin);
    }
    if (makes_type && points_to_constant(*expr.type)) {
      type_in({.begin = expr.token + 1, .end = unit_.counterpart(expr.token)});
    }
    for (const Expr* const operand : expr.operands) {
      value(is_known && operand->kind == Expr::Kind::text ? nullptr : operand); // the format of printf
    }
  }

  const TranslationUnit& unit_;
  MovedConstants found_;
};

} // namespace

MovedConstants constants_to_global(const TranslationUnit& unit) {
  return ConstantPointers(unit).find();
}

} // namespace tidegate::opencl_c
