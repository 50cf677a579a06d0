// Flow-insensitive analysis: a pointer's declaration changes to global memory if any value assigned to it may
// come from a constant argument.
#include "opencl_c/rewriting.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::opencl_c {
namespace {

// True for a type in constant memory, or one that points there.
bool in_constant(const Type& type) {
  return type.space == AddressSpace::constant ||
         ((type.is(Type::Kind::pointer) || type.is(Type::Kind::array)) && in_constant(*type.inner));
}

// The type of an element of an array, of another type itself.
const Type& element_of(const Type& type) {
  return type.is(Type::Kind::array) ? element_of(*type.inner) : type;
}

// True for a pointer into constant memory, and an array of such.
bool points_to_constant(const Type& type) {
  const Type& element = element_of(type);
  return element.is(Type::Kind::pointer) && in_constant(*element.inner);
}

// True for an address in constant memory.
bool is_address(const Type& type) {
  return (type.is(Type::Kind::pointer) || type.is(Type::Kind::array)) && in_constant(type);
}

// Queries about tokens of declarations.
class ConstantTypes {
public:
  explicit ConstantTypes(const TranslationUnit& unit) : unit_(unit), tokens_(unit.source.tokens) {}

  // True for the constant qualifier and for a type that has it.
  [[nodiscard]] bool is_constant(std::size_t i) const {
    const Name* const type = used_type(i);
    return address_space(tokens_[i].text) == AddressSpace::constant ||
           (type != nullptr && in_constant(*type->type));
  }

  // True for a function that returns a pointer into constant memory.
  [[nodiscard]] bool returns_constant(const Function& function) const {
    const Decl* const decl = unit_.tree->declaration(function.name_token);
    return decl != nullptr && decl->type->is(Type::Kind::function) && in_constant(*decl->type->inner);
  }

  // True for a structure that has members but no tag: it cannot be named again.
  [[nodiscard]] bool has_unnamed_members(const Name& name) const {
    for (std::size_t i = name.specifiers.begin + 1; i < name.specifiers.end; ++i) {
      if (tokens_[i].is("{")) {
        const Name* const tag = unit_.meaning(i - 1);
        return tag == nullptr || tag->kind != NameKind::tag;
      }
    }
    return false;
  }

  // The type that token `i` uses by name, or nullptr.
  [[nodiscard]] const Name* used_type(std::size_t i) const {
    const Name* const name = unit_.meaning(i);
    return name != nullptr && name->kind == NameKind::type && name->token != i ? name : nullptr;
  }

private:
  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
};

constexpr std::string_view global_qualifiers = "const global";
constexpr std::string_view typedef_prefix = "tg_typedef_";

// Name of the copy in global memory that add_global_typedefs() adds.
std::string global_typedef(std::string_view name) {
  return fmt::format("{}{}_global", typedef_prefix, name);
}

// Address spaces that a value may point into. No pointer can serve both.
struct Target {
  bool global = false;
  bool constant = false;

  void operator|=(const Target& other) {
    global |= other.global;
    constant |= other.constant;
  }
  friend bool operator==(const Target&, const Target&) = default;
};

bool moves(const Function& function, std::size_t parameter, ParameterSet moved) {
  return is_constant_pointer(function.parameters[parameter]) &&
         (parameter >= 64 || (moved >> parameter & 1) != 0);
}

// Finds the declarations of a function that must change where the parameters in `moved` point into global memory, from
// all assignments in any order. Declarators of one declaration share its address space and count as one.
class ConstantPointers {
public:
  ConstantPointers(const TranslationUnit& unit, const Function& function, ParameterSet moved, int depth = 0)
      : unit_(unit), tokens_(unit.source.tokens), types_(unit), function_(function), moved_(moved),
        depth_(depth) {
    for (const Name& name : unit.names) {
      if (name.token > function.name_token && name.token < function.end) {
        names_.push_back(&name);
      }
    }
    for (std::size_t p = 0; p < function.parameters.size(); ++p) {
      const Parameter& parameter = function.parameters[p];
      for (std::size_t i = parameter.tokens.begin; i < parameter.tokens.end; ++i) {
        const Name* const name = moves(function, p, moved) ? unit.meaning(i) : nullptr;
        if (name != nullptr && name->token == i) {
          targets_[name->specifiers.begin].global = true;
        }
      }
      for (std::size_t i = parameter.tokens.begin;
           i < parameter.tokens.end && is_constant_pointer(parameter) && !moves(function, p, moved); ++i) {
        const Name* const name = unit.meaning(i);
        if (name != nullptr && name->token == i) {
          targets_[name->specifiers.begin].constant = true;
        }
      }
    }
    if (const Stmt* const body = unit.tree->body(function)) {
      each_statement(*body, [this](const Stmt& stmt) { find_assignments(stmt); });
      for (bool changed = true; changed;) {
        changed = false;
        for (const Assignment& assignment : assignments_) {
          Target& target = targets_[assignment.declaration];
          const Target before = target;
          target |= target_of(*assignment.value);
          changed |= !(target == before);
        }
      }
    }
  }

  [[nodiscard]] bool returns_global() const {
    const auto found = targets_.find(function_.begin);
    return found != targets_.end() && found->second.global;
  }

  // Adds which parameters of other functions get addresses in global memory.
  Result<void> find_calls(std::set<std::pair<std::string, ParameterSet>>& calls) const {
    for (const Expr* const call : calls_) {
      const Function* const called = with_constants(*call);
      if (called == nullptr) {
        continue;
      }
      const auto values = call->operands.subspan(1);
      for (std::size_t p = 0; p < std::min(values.size(), called->parameters.size()); ++p) {
        const Target target = is_constant_pointer(called->parameters[p]) ? target_of(*values[p]) : Target{};
        if (target.global && target.constant) {
          return tl::unexpected(error_at(
              unit_, values[p]->tokens.begin, ErrorCode::unsupported_kernel,
              "this argument may point into constant memory or to a constant argument, which is in global "
              "memory in a persistent kernel",
              "use a separate call for each"));
        }
      }
      calls.emplace(called->name, global_arguments(*called, *call));
    }
    return {};
  }

  Result<void> edit(Edits& edits) const {
    for (const Assignment& assignment : assignments_) {
      const Target target = targets_.at(assignment.declaration);
      if (target.global && target.constant && target_of(*assignment.value).constant) {
        return tl::unexpected(error_at(
            unit_, assignment.value->tokens.begin, ErrorCode::unsupported_kernel,
            "this pointer gets addresses of constant memory here and those of a constant argument elsewhere, "
            "which is in global memory in a persistent kernel",
            "use a separate pointer for each"));
      }
    }
    if (const auto lost = find_lost()) {
      return tl::unexpected(error_at(
          unit_, *lost, ErrorCode::unsupported_kernel,
          "an address from a constant argument, which is in global memory in a persistent kernel, meets "
          "here what may be a pointer into constant memory",
          "keep such addresses in variables of their own, which get no other address"));
    }
    std::vector<TokenRange> changed;
    for (const Name* const name : names_) {
      const auto found = targets_.find(name->specifiers.begin);
      if (name->token >= function_.parameter_list.end && name->kind == NameKind::variable &&
          found != targets_.end() && found->second.global) {
        changed.push_back(name->specifiers);
      }
    }
    for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
      if (moves(function_, i, moved_)) {
        changed.push_back(function_.parameters[i].tokens); // its name may be missing
      }
    }
    for (const Expr* const cast : casts_) {
      if (target_of(*cast->operands[0]).global) {
        changed.push_back({.begin = cast->token + 1, .end = unit_.counterpart(cast->token)});
      }
    }
    for (const TokenRange& range : changed) {
      TIDEGATE_CHECK(replace(range, edits));
    }
    return {};
  }

  Result<void> replace(TokenRange range, Edits& edits) const {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (is(i, "{") || !types_.is_constant(i)) {
        i = is(i, "{") ? unit_.counterpart(i) : i;
        continue;
      }
      Edit& edit = edits[i];
      const Name* const type = types_.used_type(i);
      if (type == nullptr) {
        edit.text = global_qualifiers;
      } else if (types_.has_unnamed_members(*type)) {
        return tl::unexpected(error_at(
            unit_, i, ErrorCode::unsupported_kernel,
            fmt::format("{} points to a structure without a name in constant memory, and arguments are in "
                        "global memory in a persistent kernel",
                        in_quotes(tokens_[i].text)),
            "give the structure a name"));
      } else if (!edit.text.starts_with(typedef_prefix)) {
        edit.text = global_typedef(edit.replaced ? edit.text : tokens_[i].text);
      }
      edit.replaced = true;
    }
    return {};
  }

private:
  [[nodiscard]] bool is(std::size_t i, const char* text) const { return unit_.is(i, text); }

  struct Assignment {
    std::size_t declaration = 0; // first token of the specifiers
    const Expr* value = nullptr;
  };

  // Notes what the statement assigns to pointers into constant memory, its casts and its calls.
  void find_assignments(const Stmt& stmt) {
    unknown_ = stmt.kind == Stmt::Kind::opaque ? stmt.tokens.begin : unknown_;
    for (const Decl* const decl : stmt.declared) {
      if (decl->value != nullptr && decl->name != no_name && points_to_constant(*decl->type)) {
        add(unit_.names[decl->name], *decl->value);
      } else if (decl->value != nullptr) {
        elsewhere_.push_back(decl->value);
      }
    }
    if (stmt.kind == Stmt::Kind::return_value && !stmt.values.empty()) {
      if (types_.returns_constant(function_)) {
        assignments_.push_back({.declaration = function_.begin, .value = stmt.values[0]});
      } else {
        elsewhere_.push_back(stmt.values[0]);
      }
    }
    each_value(stmt, [this](const Expr& value) {
      each_expression(value, [this](const Expr& expr) { find_assignments(expr); });
    });
  }

  void find_assignments(const Expr& expr) {
    expressions_.push_back(&expr);
    if (expr.kind == Expr::Kind::call) {
      calls_.push_back(&expr);
    } else if (expr.kind == Expr::Kind::cast) {
      if (points_to_constant(*expr.type)) {
        casts_.push_back(&expr);
      } else if (!expr.type->is(Type::Kind::nothing)) {
        elsewhere_.push_back(expr.operands[0]);
      }
    } else if (expr.kind == Expr::Kind::compound) {
      elsewhere_.push_back(&expr);
    } else if (expr.kind == Expr::Kind::assignment && unit_.is(expr.token, "=") &&
               points_to_constant(*expr.type)) {
      const Expr* target = expr.operands[0];
      while (target->kind == Expr::Kind::subscript || target->kind == Expr::Kind::unary) {
        target = target->operands[0]; // an array of pointers
      }
      const Name* const name = target->kind == Expr::Kind::name ? unit_.meaning(target->token) : nullptr;
      if (name != nullptr) {
        add(*name, *expr.operands[1]);
      } else {
        elsewhere_.push_back(expr.operands[1]);
      }
    } else if (expr.kind == Expr::Kind::assignment && unit_.is(expr.token, "=")) {
      elsewhere_.push_back(expr.operands[1]);
    }
  }

  // True for an address, or a list with one, from a constant argument.
  [[nodiscard]] bool is_global(const Expr& value) const {
    if (value.kind == Expr::Kind::list || value.kind == Expr::Kind::designated ||
        value.kind == Expr::Kind::compound) {
      return std::ranges::any_of(value.operands, [this](const Expr* part) { return is_global(*part); });
    }
    return is_address(*value.type) && target_of(value).global;
  }

  // Returns false if one is an address from a constant argument, and the other one that may not be.
  [[nodiscard]] bool meet(const Expr& a, const Expr& b) const {
    return !is_address(*a.type) || !is_address(*b.type) || target_of(a) == target_of(b) ||
           !(target_of(a).global || target_of(b).global);
  }

  // Returns where the address space of an argument would be lost, or what the parser does not know. Such an address may only
  // go to variables and parameters that point into constant memory here and get no other address, and be read, compared and
  // chosen from among its like.
  [[nodiscard]] std::optional<std::size_t> find_lost() const {
    for (const Assignment& assignment : assignments_) {
      const bool is_list = assignment.value->kind == Expr::Kind::list;
      if (targets_.at(assignment.declaration).global &&
          !(is_list ? all_global(*assignment.value) : is_global_or_null(*assignment.value))) {
        return assignment.value->tokens.begin;
      }
    }
    const auto lost =
        std::ranges::find_if(elsewhere_, [this](const Expr* value) { return is_global(*value); });
    if (lost != elsewhere_.end()) {
      return (*lost)->tokens.begin;
    }
    for (const Expr* const expr : expressions_) {
      if (expr->kind == Expr::Kind::opaque ||
          (expr->kind == Expr::Kind::conditional && !meet(*expr->operands[1], *expr->operands[2])) ||
          (expr->kind == Expr::Kind::binary && !meet(*expr->operands[0], *expr->operands[1]))) {
        return expr->tokens.begin;
      }
      for (std::size_t i = 1; expr->kind == Expr::Kind::call && i < expr->operands.size(); ++i) {
        if (is_global(*expr->operands[i]) && !may_take(*expr, i - 1)) {
          return expr->operands[i]->tokens.begin;
        }
      }
    }
    return unknown_;
  }

  // Returns true if the function that is called keeps the address space of this argument.
  [[nodiscard]] bool may_take(const Expr& call, std::size_t argument) const {
    const Expr& callee = *call.operands[0];
    if (callee.kind == Expr::Kind::name && unit_.meaning(callee.token) == nullptr) { // OpenCL's own
      return !call.operands[argument + 1]->type->inner->is(Type::Kind::pointer);
    }
    const Function* const called = with_constants(call);
    return called != nullptr && argument < called->parameters.size() &&
           is_constant_pointer(called->parameters[argument]);
  }

  // A number is a null pointer.
  [[nodiscard]] bool is_global_or_null(const Expr& value) const {
    return !is_address(*value.type) || target_of(value).global;
  }
  [[nodiscard]] bool all_global(const Expr& list) const {
    return std::ranges::all_of(list.operands, [this](const Expr* part) {
      return part->kind == Expr::Kind::list || part->kind == Expr::Kind::designated
                 ? all_global(*part)
                 : is_global_or_null(*part);
    });
  }

  void add(const Name& name, const Expr& value) {
    assignments_.push_back({.declaration = name.specifiers.begin, .value = &value});
  }

  // Address spaces of a value, by the addresses that it is computed from. What was read from memory points where that
  // memory is.
  [[nodiscard]] Target target_of(const Expr& expr) const {
    Target target;
    switch (expr.kind) {
    case Expr::Kind::text: return {.constant = expr.type->is(Type::Kind::pointer)};
    case Expr::Kind::call: return target_of_call(expr);
    case Expr::Kind::name:
    case Expr::Kind::subscript:
    case Expr::Kind::member: return memory_of(expr);
    case Expr::Kind::unary:
      return unit_.is(expr.token, "&")   ? memory_of(*expr.operands[0])
             : unit_.is(expr.token, "*") ? memory_of(expr)
                                         : target_of(*expr.operands[0]);
    case Expr::Kind::cast:
    case Expr::Kind::postfix: return target_of(*expr.operands[0]);
    case Expr::Kind::assignment:
    case Expr::Kind::comma: return target_of(*expr.operands[1]);
    case Expr::Kind::conditional:
      target = target_of(*expr.operands[1]);
      target |= target_of(*expr.operands[2]);
      return target;
    case Expr::Kind::binary:
      if (!expr.type->is(Type::Kind::pointer)) {
        return {};
      }
      [[fallthrough]];
    case Expr::Kind::list:
    case Expr::Kind::designated:
    case Expr::Kind::compound:
      for (const Expr* const part : expr.operands) {
        target |= part->type->is_arithmetic() ? Target{} : target_of(*part);
      }
      return target;
    default: return {};
    }
  }

  // Address spaces of the memory where an object is; of a pointer, those that it points into.
  [[nodiscard]] Target memory_of(const Expr& expr) const {
    if (expr.kind != Expr::Kind::name) {
      const bool reads = expr.kind == Expr::Kind::subscript || expr.kind == Expr::Kind::member ||
                         (expr.kind == Expr::Kind::unary && unit_.is(expr.token, "*"));
      return !reads ? target_of(expr)
             : expr.operands[0]->type->is_arithmetic() && expr.operands.size() > 1
                 ? memory_of(*expr.operands[expr.operands[1]->type->is_arithmetic() ? 0 : 1])
                 : memory_of(*expr.operands[0]);
    }
    const Name* const name = unit_.meaning(expr.token);
    if (name == nullptr || name->kind != NameKind::variable || !in_constant(*name->type)) {
      return {};
    }
    if (!element_of(*name->type).is(Type::Kind::pointer)) { // a table or a single value
      return {.constant = true};
    }
    const auto found = targets_.find(name->specifiers.begin);
    return found == targets_.end() ? Target{.constant = name->is_file_scope} : found->second;
  }

  // A function that returns such a pointer has versions, chosen by its arguments.
  [[nodiscard]] Target target_of_call(const Expr& call) const {
    const Function* called = with_constants(call);
    if (called == nullptr || !types_.returns_constant(*called)) {
      return {.constant = called == nullptr && in_constant(*call.type)};
    }
    called = unit_.definition(called->name) == nullptr ? called : unit_.definition(called->name);
    const ParameterSet moved = global_arguments(*called, call);
    constexpr int most_calls = 8; // a function might call itself
    const bool global = moved != 0 && (depth_ == most_calls || !called->body ||
                                       ConstantPointers(unit_, *called, moved, depth_ + 1).returns_global());
    return {.global = global, .constant = !global};
  }

  // The function with pointers into constant memory that is called, or nullptr.
  [[nodiscard]] const Function* with_constants(const Expr& call) const {
    const auto called = std::ranges::find_if(unit_.functions, [&](const Function& function) {
      return function.name == tokens_[call.operands[0]->token].text &&
             std::ranges::any_of(function.parameters, is_constant_pointer);
    });
    return called == unit_.functions.end() || call.operands[0]->kind != Expr::Kind::name ? nullptr : &*called;
  }

  // The parameters that get addresses in global memory from a call.
  [[nodiscard]] ParameterSet global_arguments(const Function& called, const Expr& call) const {
    ParameterSet moved = 0;
    const auto values = call.operands.subspan(1);
    for (std::size_t i = 0; i < std::min<std::size_t>({values.size(), called.parameters.size(), 64}); ++i) {
      const bool moves = is_constant_pointer(called.parameters[i]) && target_of(*values[i]).global;
      moved |= ParameterSet{moves} << i;
    }
    return moved;
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  const ConstantTypes types_;
  const Function& function_;
  const ParameterSet moved_;
  const int depth_;                      // of calls that are looked into
  std::vector<const Name*> names_;       // declared by the function
  std::vector<Assignment> assignments_;  // to pointers into constant memory, and returned ones
  std::vector<const Expr*> elsewhere_;   // values that go elsewhere: to members, numbers, other pointers
  std::vector<const Expr*> expressions_; // all
  std::optional<std::size_t> unknown_;   // the first token of a statement that the parser does not know
  std::vector<const Expr*> casts_;       // to such pointers
  std::vector<const Expr*> calls_;
  std::map<std::size_t, Target> targets_; // by first token of the specifiers
};

} // namespace

Result<void> constants_to_global(const TranslationUnit& unit, const Function& function, ParameterSet moved,
                                 Edits& edits) {
  if (moved == 0 || std::ranges::none_of(function.parameters, is_constant_pointer)) {
    return {};
  }
  if (function.body) {
    add_global_typedefs(unit, *function.body, edits);
  }
  const ConstantPointers pointers(unit, function, moved);
  TIDEGATE_CHECK(pointers.edit(edits));
  // Only the definition shows what a prototype returns.
  const Function* const definition = function.body ? nullptr : unit.definition(function.name);
  const bool returns_global = definition == nullptr
                                  ? pointers.returns_global()
                                  : ConstantPointers(unit, *definition, moved).returns_global();
  return returns_global ? pointers.replace({.begin = function.begin, .end = function.name_token}, edits)
                        : Result<void>();
}

Result<std::set<std::pair<std::string, ParameterSet>>> global_versions(const TranslationUnit& unit,
                                                                       const std::set<std::string>& kernels) {
  std::set<std::pair<std::string, ParameterSet>> found;
  std::set<std::pair<std::string, ParameterSet>> left;
  for (const std::string& kernel : kernels) {
    left.emplace(kernel, all_parameters);
  }
  while (!left.empty()) {
    const auto [name, moved] = *left.begin();
    left.erase(left.begin());
    if (!found.emplace(name, moved).second) {
      continue;
    }
    for (const Function& function : unit.functions) { // an overloaded one has several
      if (function.name == name && function.body) {
        TIDEGATE_CHECK(ConstantPointers(unit, function, moved).find_calls(left));
      }
    }
  }
  return found;
}

void add_global_typedefs(const TranslationUnit& unit, TokenRange range, Edits& edits) {
  const std::vector<Token>& tokens = unit.source.tokens;
  const ConstantTypes types(unit);
  for (const Name& name : unit.names) {
    if (name.kind != NameKind::type || name.token < range.begin || name.token >= range.end ||
        !in_constant(*name.type) || types.has_unnamed_members(name)) {
      continue;
    }
    std::string text;
    for (const TokenRange part : {name.specifiers, name.declarator}) {
      for (std::size_t i = part.begin; i < part.end; ++i) {
        const auto edit = edits.find(i);
        const bool edited = edit != edits.end() && edit->second.replaced;
        const std::string& word = edited ? edit->second.text : tokens[i].text;
        if (tokens[i].is("{")) { // the original typedef declares the members
          i = unit.counterpart(i);
        } else if (address_space(word) == AddressSpace::constant) {
          text += fmt::format(" {}", global_qualifiers);
        } else {
          const bool of_type = i == name.token || types.is_constant(i);
          text += " " + (of_type ? global_typedef(word) : word);
        }
      }
    }
    edits[unit.find({.begin = name.declarator.end, .end = range.end}, ";")].after += text + ";";
  }
}

} // namespace tidegate::opencl_c
