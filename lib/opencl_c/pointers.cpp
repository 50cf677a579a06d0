// Finds which functions drop const, by the types of their expressions, and through which pointers they only access elements.
#include "opencl_c/facts.hpp"
#include "opencl_c/footprint.hpp"
#include "opencl_c/outline.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

// Null for a type that is no pointer, also after an array has decayed.
const Type* element_pointed_to(const Type& type) {
  return type.is(Type::Kind::pointer) || type.is(Type::Kind::array) ? &element_of(*type.inner) : nullptr;
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
  ConstKeeper(const TranslationUnit& unit, const Function& function) : unit_(unit) {
    const Type& type = *unit.meaning(function.name_token)->type;
    const bool returns = type.is(Type::Kind::function) && points_to_const(*type.inner);
    each_statement(*function.statements, [&](const Stmt& stmt) {
      const bool is_result = stmt.kind == Stmt::Kind::return_value && !stmt.values.empty();
      keep(stmt.kind != Stmt::Kind::opaque && (!is_result || returns || !holds(*stmt.values[0])));
      each_value(stmt, [this](const Expr& value) { read(value, true); });
      for (const Decl* const decl : stmt.declared) {
        keep(decl->value == nullptr || !holds(*decl->value) || may_hold(decl));
      }
    });
    for (std::size_t i = function.body->begin; i < function.body->end; ++i) { // the rest is opaque
      const Decl* const name = unit.meaning(i);
      keep(name == nullptr || name->kind != Decl::Kind::variable || name->token == i || seen_.contains(i) ||
           !name->type->is(Type::Kind::pointer) || !element_of(*name->type->inner).is_const);
    }
  }

  [[nodiscard]] bool keeps() const { return keeps_; }

private:
  void keep(bool holds) { keeps_ = keeps_ && holds; }

  // True if the value may be a pointer to const that comes from a parameter.
  static bool holds(const Expr& expr) {
    const Type* const inner = element_pointed_to(*expr.type);
    return expr.kind != Expr::Kind::text &&
           (inner != nullptr ? inner->is_const : expr.type->is(Type::Kind::opaque) && expr.type->is_const);
  }

  [[nodiscard]] static bool may_hold(const Decl* variable) {
    return variable != nullptr && variable->kind == Decl::Kind::variable && !variable->is_file_scope &&
           variable->token != no_token && points_to_const(*variable->type);
  }

  void read(const Expr& expr, bool is_evaluated) {
    seen_.insert(expr.token);
    for (const Expr* const operand : expr.operands) {
      read(*operand, is_evaluated && expr.kind != Expr::Kind::size);
    }
    keep(!is_evaluated || allowed(expr));
  }

  [[nodiscard]] bool allowed(const Expr& expr) const {
    const auto is = [&](auto... texts) { return (unit_.is(expr.token, texts) || ...); };
    const auto is_held = [](const Expr* part) { return holds(*part); };
    const auto& operands = expr.operands;
    const bool any_held = std::ranges::any_of(operands, is_held);
    switch (expr.kind) {
    case Expr::Kind::opaque: return false;
    case Expr::Kind::call: return call(expr);
    case Expr::Kind::member:
      return !expr.type->is(Type::Kind::opaque) || !(any_held || operands[0]->type->is_const);
    case Expr::Kind::unary:
      return !any_held || is("*", "!", "++", "--") || (is("&") && operands[0]->type->is(Type::Kind::array));
    case Expr::Kind::binary:
      return !any_held || is("==", "!=", "<", ">", "<=", ">=", "&&", "||") ||
             (is("+") && points_to_const(*expr.type)) || (is("-") && !expr.type->is(Type::Kind::opaque));
    case Expr::Kind::assignment:
      return !holds(*operands[1]) || (is("=") && may_hold(named_by(unit_, *operands[0])));
    case Expr::Kind::conditional:
      return std::ranges::none_of(operands.subspan(1), is_held) || points_to_const(*expr.type);
    case Expr::Kind::cast: {
      const Expr* last = operands[0]; // of the elements of a vector
      bool any = any_held;
      for (; expr.type->is(Type::Kind::vector) && last->kind == Expr::Kind::comma; last = last->operands[0]) {
        any = any || std::ranges::any_of(last->operands, is_held);
      }
      return !any || expr.type->is(Type::Kind::nothing) || points_to_const(*expr.type);
    }
    case Expr::Kind::compound:
    case Expr::Kind::list: return !any_held;
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
          declared == nullptr
              ? (i == 1 && (name.starts_with("vload") || name.starts_with("async_work_group_"))) ||
                    (i == 0 && name == "prefetch")
              : function != nullptr && !function->is_overloadable && i < function->parameters.size() &&
                    points_to_const(*function->parameters[i].decl->type);
      known = known && (!holds(*expr.operands[i + 1]) || (takes && callee.kind == Expr::Kind::name));
    }
    return known;
  }

  const TranslationUnit& unit_;
  bool keeps_ = true;
  std::set<std::size_t> seen_; // tokens of names in expressions that are known
};

// Where a kernel takes constant arguments, `constant` becomes `const global` in declarations of pointers, parameters included, and
// in casts to them. It stays in those of variables, of which parts and values may be used; their addresses have another type, and
// so have those of strings. All other uses of the word or of an address are obstacles.
class ConstantPointers {
public:
  explicit ConstantPointers(const TranslationUnit& unit) : unit_(unit) {}

  MovedConstants find() {
    for (const Decl* const name : unit_.names) {
      declared(*name);
    }
    for (const Function& function : unit_.functions) {
      for (const Parameter& parameter : function.parameters) {
        declared(*parameter.decl);                                         // which may have no name
        refuse(function.is_overloadable && is_constant_pointer(parameter), // which may choose the function
               function.name_token);
      }
      if (function.body) {
        each_statement(*function.statements, [this](const Stmt& stmt) {
          refuse(stmt.kind == Stmt::Kind::opaque, stmt.tokens.begin);
          for (const Expr* const value : stmt.values) {
            if (value != nullptr) {
              use(*value);
            }
          }
        });
      }
    }
    for (std::size_t i = 0; i < unit_.source.tokens.size(); ++i) {
      refuse(is_constant_word(i) && found_.words.contains(i) == stays_.contains(i), i);
    }
    return std::move(found_);
  }

private:
  void refuse(bool holds, std::size_t token) {
    if (holds) {
      found_.obstacles.insert(token);
    }
  }

  [[nodiscard]] bool is_constant_word(std::size_t i) const {
    return address_space(unit_.source.tokens[i].text) == AddressSpace::constant;
  }

  static bool is_constant(const Type& type) {
    const Type& element = element_of(type);
    return element.space == AddressSpace::constant && !element.is(Type::Kind::pointer);
  }

  // Notes where the words of the range belong to.
  void words(TokenRange range, const Type& type) {
    const bool moves =
        type.is(Type::Kind::pointer) && type.space == AddressSpace::none && is_constant(*type.inner);
    for (std::size_t i = range.begin; i < range.end && (moves || is_constant(type)); ++i) {
      if (is_constant_word(i)) {
        (moves ? found_.words : stays_).insert(i);
      }
    }
  }

  void declared(const Decl& decl) {
    if (decl.kind != Decl::Kind::variable) {
      return;
    }
    const Expr* const value = decl.value;
    words(decl.specifiers, *decl.type);
    words({decl.tokens.begin, value == nullptr ? decl.tokens.end : value->tokens.begin}, *decl.type);
    if (value != nullptr && !(value->kind == Expr::Kind::text && decl.type->is(Type::Kind::array))) {
      use(*value);
    }
    refuse(element_of(*decl.type).is(Type::Kind::opaque), decl.tokens.begin);
  }

  // True for a variable in constant memory, and for its elements and members.
  [[nodiscard]] bool is_place(const Expr& expr) const {
    const Decl* const name = named_by(unit_, expr);
    return selects(expr) ? is_place(*expr.operands[0])
                         : name != nullptr && name->kind == Decl::Kind::variable && is_constant(*name->type);
  }
  [[nodiscard]] bool selects(const Expr& expr) const {
    return (expr.kind == Expr::Kind::subscript && expr.operands[0]->type->is(Type::Kind::array)) ||
           (expr.kind == Expr::Kind::member && unit_.is(expr.token - 1, "."));
  }

  // The value in a place may be used, its address may not, unless a part of it is `selected`.
  void use(const Expr& expr, bool selected = false) {
    using Kind = Expr::Kind;
    if (expr.kind == Kind::size) { // whose operand is not evaluated
      return;
    }
    const bool is_opaque = expr.type->is(Type::Kind::opaque);
    const bool makes_type = expr.kind == Kind::cast || expr.kind == Kind::compound;
    const bool calls_builtin = expr.kind == Kind::call && unit_.meaning(expr.operands[0]->token) == nullptr;
    const bool is_unknown = calls_builtin && !builtin(unit_.source.tokens[expr.operands[0]->token].text);
    const bool is_address = expr.kind == Kind::unary && unit_.is(expr.token, "&");
    const bool is_string = expr.kind == Kind::text && expr.type->is(Type::Kind::pointer);
    refuse(expr.kind == Kind::opaque || is_unknown || is_string || (makes_type && is_opaque) ||
               (is_address && is_place(*expr.operands[0])) ||
               (!selected && is_place(expr) && (is_opaque || expr.type->is(Type::Kind::array))),
           expr.tokens.begin);
    if (makes_type) {
      words({expr.token + 1, unit_.counterpart(expr.token)}, *expr.type);
    }
    for (const Expr* const operand : expr.operands) {
      if (!calls_builtin || operand->kind != Kind::text) { // the format of printf
        use(*operand, is_address || (selects(expr) && operand == expr.operands[0]));
      }
    }
  }

  const TranslationUnit& unit_;
  MovedConstants found_;
  std::set<std::size_t> stays_; // words that do
};

} // namespace

void clear_lost_const(TranslationUnit& unit) {
  const auto is_const = [](const Parameter& parameter) { return parameter.is_pointer && parameter.is_const; };
  std::set<std::string> losing; // functions that drop const themselves
  for (const Function& function : unit.functions) {
    if (function.body && std::ranges::any_of(function.parameters, is_const) &&
        !ConstKeeper(unit, function).keeps()) {
      losing.insert(function.name);
    }
  }
  for (Function& function : unit.functions) {
    const std::set<std::string> called = unit.facts->reachable({function.name});
    const bool keeps = std::ranges::none_of(called, [&](const auto& name) { return losing.contains(name); });
    for (Parameter& parameter : function.parameters) {
      parameter.is_const = parameter.is_const && (!parameter.is_pointer || !function.body ||
                                                  (keeps && points_to_const(*parameter.decl->type)));
    }
  }
}

std::string obstacle_to_moving(const TranslationUnit& unit, const Function& kernel, std::size_t parameter) {
  const Parameter& pointer = kernel.parameters[parameter];
  const bool is_one = kernel.body && std::ranges::count(unit.functions, kernel.name, &Function::name) == 1 &&
                      !unit.facts->is_called(kernel.name);
  const bool moves = is_one && pointer.is_pointer && pointer.space == AddressSpace::global &&
                     !pointer.name.empty() && !pointer.decl->type->is_const &&
                     footprints(unit, kernel, {}).parameters[parameter].only_accessed;
  return moves ? "" : fmt::format("{} does more with {} than access elements", kernel.name, pointer.name);
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
  return preprocessed_text(unit, edits);
}

MovedConstants constants_to_global(const TranslationUnit& unit) {
  return ConstantPointers(unit).find();
}

} // namespace tidegate::opencl_c
