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
  ConstKeeper(const TranslationUnit& unit, const Function& function)
      : unit_(unit), type_(*unit.meaning(function.name_token)->type) {
    each_statement(*function.statements, [this](const Stmt& stmt) { statement(stmt); });
    for (std::size_t i = function.body->begin; keeps_ && i < function.body->end; ++i) { // the rest is opaque
      const Decl* const name = unit.meaning(i);
      keeps_ = name == nullptr || name->kind != Decl::Kind::variable || name->token == i ||
               !name->type->is(Type::Kind::pointer) || !element_of(*name->type->inner).is_const ||
               seen_.contains(i);
    }
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
    seen_.insert(expr.token);
    if (expr.kind == Expr::Kind::size) { // not evaluated
      each_expression(expr, [this](const Expr& part) { seen_.insert(part.token); });
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
          declared == nullptr
              ? (i == 1 && (name.starts_with("vload") || name.starts_with("async_work_group_"))) ||
                    (i == 0 && name == "prefetch")
              : function != nullptr && !function->is_overloadable && i < function->parameters.size() &&
                    function->parameters[i].is_pointer && function->parameters[i].is_const;
      known = known && (!holds(*expr.operands[i + 1]) || (takes && callee.kind == Expr::Kind::name));
    }
    return known;
  }

  const TranslationUnit& unit_;
  const Type& type_; // of the function
  bool keeps_ = true;
  std::set<std::size_t> seen_; // tokens of names in expressions that are known
};

} // namespace

void clear_lost_const(TranslationUnit& unit) {
  for (bool changed = true;
       changed;) { // a function passes pointers on to those that have kept their const so far
    changed = false;
    for (Function& function : unit.functions) {
      const auto is_const = [](const Parameter& parameter) {
        return parameter.is_pointer && parameter.is_const;
      };
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
  return preprocessed_text(unit, edits);
}

namespace {

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
        declared(*parameter.decl); // which may have no name
        if (is_constant_pointer(parameter) &&
            function.is_overloadable) { // the address space may choose the function
          found_.obstacles.insert(function.name_token);
        }
      }
      if (function.body) {
        each_statement(*function.statements, [this](const Stmt& stmt) { statement(stmt); });
      }
    }
    for (std::size_t i = 0; i < unit_.source.tokens.size(); ++i) {
      if (is_constant_word(i) && found_.words.contains(i) == stays_.contains(i)) {
        found_.obstacles.insert(i);
      }
    }
    return std::move(found_);
  }

private:
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
    if (element_of(*decl.type).is(Type::Kind::opaque)) {
      found_.obstacles.insert(decl.tokens.begin);
    }
  }

  void statement(const Stmt& stmt) {
    if (stmt.kind == Stmt::Kind::opaque) {
      found_.obstacles.insert(stmt.tokens.begin);
    }
    for (const Expr* const value : stmt.values) {
      if (value != nullptr) {
        use(*value);
      }
    }
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
    if (expr.kind == Kind::opaque || is_unknown || is_string || (makes_type && is_opaque) ||
        (is_address && is_place(*expr.operands[0])) ||
        (!selected && is_place(expr) && (is_opaque || expr.type->is(Type::Kind::array)))) {
      found_.obstacles.insert(expr.tokens.begin);
    }
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

MovedConstants constants_to_global(const TranslationUnit& unit) {
  return ConstantPointers(unit).find();
}

} // namespace tidegate::opencl_c
