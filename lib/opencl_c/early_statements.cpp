// The first statements of a kernel that may run before a work-group waits for other work-groups. What may occur in them
// is on a list: types, variables of the body, values, pointers to memory that no wave writes, some functions.
#include "opencl_c/outline.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

class EarlyStatements {
public:
  EarlyStatements(const TranslationUnit& unit, const Function& kernel, const std::set<std::size_t>& steady)
      : unit_(unit), kernel_(kernel), steady_(steady) {}

  // Returns the token after the early statements.
  std::size_t end() {
    const Stmt* const body = unit_.tree->body(kernel_);
    std::size_t end = kernel_.body->begin + 1;
    for (const Stmt* const stmt : body == nullptr ? std::span<const Stmt* const>() : body->parts) {
      if (stmt->kind == Stmt::Kind::block || !harmless(*stmt, false)) {
        break;
      }
      end = stmt->tokens.end;
    }
    return end;
  }

private:
  // True if nothing in the statement leaves the kernel, meets other work-items or reaches memory that changes.
  bool harmless(const Stmt& stmt, bool in_helper) {
    using S = Stmt::Kind;
    static constexpr std::array<S, 7> anywhere{S::nothing,  S::expression, S::declaration,  S::block,
                                               S::for_loop, S::break_out,  S::continue_loop};
    static constexpr std::array<S, 7> in_helpers{S::if_else,      S::while_loop, S::do_loop,
                                                 S::switch_block, S::case_label, S::default_label,
                                                 S::return_value};
    bool known =
        !stmt.has_attributes && (std::ranges::find(anywhere, stmt.kind) != anywhere.end() ||
                                 (in_helper && std::ranges::find(in_helpers, stmt.kind) != in_helpers.end()));
    for (const Decl* const decl : stmt.declared) {
      known = known && !decl->type->is(Type::Kind::opaque);
    }
    each_value(stmt, [&](const Expr& value) {
      each_expression(value, [&](const Expr& expr) { known = known && harmless(expr, in_helper); });
    });
    return known &&
           std::ranges::all_of(stmt.parts, [&](const Stmt* part) { return harmless(*part, in_helper); });
  }

  bool harmless(const Expr& expr, bool in_helper) {
    if (expr.kind == Expr::Kind::call) {
      return expr.operands[0]->kind == Expr::Kind::name;
    }
    if (expr.kind != Expr::Kind::name) {
      return expr.kind != Expr::Kind::opaque &&
             (expr.kind != Expr::Kind::cast || !expr.type->is(Type::Kind::opaque));
    }
    if (const Name* const name = unit_.meaning(expr.token)) {
      return name->kind == NameKind::function ? harmless_function(expr.token)
                                              : in_helper || harmless_name(expr.token);
    }
    const std::string& text = unit_.source.tokens[expr.token].text;
    return is_builtin(text, Builtin::Kind::id, Builtin::Kind::arithmetic, Builtin::Kind::conversion) ||
           text.starts_with("vload");
  }

  // Helpers receive only what the kernel passes them; they have no other memory.
  bool harmless_function(std::size_t token) {
    const Function* const function = unit_.definition(unit_.source.tokens[token].text);
    const Stmt* const body = function == nullptr ? nullptr : unit_.tree->body(*function);
    if (body == nullptr || function->is_kernel) {
      return false;
    }
    return !seen_.insert(function->name).second || harmless(*body, true);
  }

  [[nodiscard]] bool harmless_name(std::size_t token) const {
    const auto index = parameter_at(unit_, kernel_, token);
    if (!index) {
      return true; // a variable of the body, a constant
    }
    const Parameter& parameter = kernel_.parameters[*index];
    return parameter.is_pointer ? steady_.contains(*index) && !unit_.contains(parameter.tokens, "volatile")
                                : arithmetic_type(parameter.type).has_value();
  }

  const TranslationUnit& unit_;
  const Function& kernel_;
  const std::set<std::size_t>& steady_;
  std::set<std::string> seen_; // functions; one that does harm ends the search
};

} // namespace

std::size_t end_of_early_statements(const TranslationUnit& unit, const Function& kernel,
                                    const std::set<std::size_t>& steady) {
  return EarlyStatements(unit, kernel, steady).end();
}

} // namespace tidegate::opencl_c
