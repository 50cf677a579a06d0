// What kernels do around their barriers: statements that may run before a wait for other work-groups, and surplus
// work-items that idle.
#include "opencl_c/facts.hpp"
#include "opencl_c/outline.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

// Makes surplus work-items idle in a kernel whose work-items meet: the persistent kernel's work-groups may be
// larger than the kernel's, and the kernel's last one smaller. They run to every barrier that the others run
// to, and do nothing else.
//
//   const float own = in[i];                  const float own = tg_in ? (in[i]) : 0;
//   barrier(CLK_LOCAL_MEM_FENCE);             barrier(CLK_LOCAL_MEM_FENCE);
//   for (int s = 32; s > 0; s /= 2) {         for (int s = 32; s > 0; s /= 2) {
//     if (l < s) t[l] += t[l + s];              if (tg_in) { if (l < s) t[l] += t[l + s]; }
//     barrier(CLK_LOCAL_MEM_FENCE);             barrier(CLK_LOCAL_MEM_FENCE);
//   }                                         }
//
// The way to a barrier has to be the same for all work-items, idle ones included. So barriers stand in the
// body itself, in blocks and in loops whose heads all work-items compute alike; nothing leaves before the
// last barrier. Declarations without a guard read no memory. A list says what heads and these declarations
// may contain.
class IdleItems {
public:
  IdleItems(const TranslationUnit& unit, const Function& kernel, Edits& edits)
      : unit_(unit), kernel_(kernel), edits_(edits), body_(*kernel.body) {}

  bool run() {
    bool known = std::ranges::none_of(unit_.tokens(body_), [](const Token& token) {
      return token.is("volatile") || is_attribute(token.text);
    });
    for (const std::size_t i : unit_.facts->own(kernel_.name).functions) {
      if (unit_.meaning(i) == nullptr ? is_collective(text(i)) : unit_.facts->needs(text(i)).whole_group) {
        meetings_.insert(i);
      }
    }
    each_statement(*kernel_.statements, [&](const Stmt& stmt) {
      known = known && stmt.kind != Stmt::Kind::opaque && stmt.kind != Stmt::Kind::goto_label &&
              stmt.kind != Stmt::Kind::do_loop;
      if (stmt.kind == Stmt::Kind::for_loop && meets(stmt)) {
        heads_.push_back({.begin = stmt.tokens.begin, .end = unit_.counterpart(stmt.tokens.begin + 1)});
      }
    });
    each_expression(*kernel_.statements,
                    [&](const Expr& expr) { known = known && expr.kind != Expr::Kind::opaque; });
    edits_[body_.begin].after += " const bool tg_in = tg_inside(tg_self);";
    return known && statement(*kernel_.statements, false);
  }

private:
  [[nodiscard]] const std::string& text(std::size_t i) const { return unit_.source.tokens[i].text; }

  // Returns true if the work-items meet in the statement.
  [[nodiscard]] bool meets(const Stmt& stmt) const {
    const auto first = meetings_.lower_bound(stmt.tokens.begin);
    return first != meetings_.end() && *first < stmt.tokens.end;
  }

  bool statement(const Stmt& stmt, bool in_loop) {
    if (stmt.kind == Stmt::Kind::block && (meets(stmt) || &stmt == kernel_.statements)) {
      return std::ranges::all_of(stmt.parts, [&](const Stmt* part) { return statement(*part, in_loop); });
    }
    if (!meets(stmt)) {
      return stmt.kind == Stmt::Kind::declaration ? declaration(stmt) : guarded(stmt, in_loop);
    }
    if (stmt.kind == Stmt::Kind::for_loop) {
      return uniform_head(stmt) && statement(*stmt.parts[1], true);
    }
    const Expr* const call = stmt.kind == Stmt::Kind::expression ? stmt.values[0] : nullptr;
    return call != nullptr && call->kind == Expr::Kind::call && unit_.is(stmt.tokens.begin, "barrier") &&
           call->operands[0]->token == stmt.tokens.begin && all_pure(call->operands.subspan(1));
  }

  bool guarded(const Stmt& stmt, bool in_loop) {
    bool stays = true;
    each_statement(stmt, [&](const Stmt& part) {
      const bool returns = part.kind == Stmt::Kind::return_value;
      const bool leaves =
          returns || part.kind == Stmt::Kind::break_out || part.kind == Stmt::Kind::continue_loop;
      stays =
          stays &&
          !(leaves && (in_loop || (returns && meetings_.upper_bound(part.tokens.begin) != meetings_.end())));
    });
    std::size_t begin = stmt.tokens.begin;
    while (unit_.source.tokens[begin - 1].kind == TokenKind::pragma) {
      --begin;
    }
    std::string& before = edits_[begin].before;
    before = "if (tg_in) { " + before;
    edits_[stmt.tokens.end - 1].after += " }";
    return stays;
  }

  // Idle work-items evaluate values that touch nothing; others are 0 there.
  bool declaration(const Stmt& stmt) {
    for (const Decl* const decl : stmt.declared) {
      if (decl->value == nullptr || pure(*decl->value)) {
        continue;
      }
      const auto type = decl->type->is_arithmetic() ? arithmetic_type(decl->type->name) : std::nullopt;
      if (decl->kind != Decl::Kind::variable || decl->value->kind == Expr::Kind::list ||
          !(type || decl->type->is(Type::Kind::pointer))) {
        return false;
      }
      std::string& before = edits_[decl->value->tokens.begin].before;
      before = "tg_in ? (" + before;
      edits_[decl->value->tokens.end - 1].after +=
          type && type->width > 1 ? fmt::format(") : ({})(0)", decl->type->name) : ") : 0";
    }
    return true;
  }

  [[nodiscard]] bool all_pure(std::span<const Expr* const> parts) const {
    return std::ranges::all_of(parts, [this](const Expr* part) { return pure(*part); });
  }

  // Returns true if an idle work-item may evaluate the expression, whatever its variables hold: it reads no memory, has
  // no effect and does not divide by what may be 0.
  [[nodiscard]] bool pure(const Expr& expr) const {
    using E = Expr::Kind;
    static constexpr std::array<E, 6> values{E::number, E::conditional, E::comma,
                                             E::vector, E::list,        E::designated};
    const auto is = [&](auto... signs) { return (unit_.is(expr.token, signs) || ...); };
    const bool known = expr.kind == E::text     ? !expr.type->is(Type::Kind::pointer)
                       : expr.kind == E::name   ? is_number(expr)
                       : expr.kind == E::call   ? computes(*expr.operands[0])
                       : expr.kind == E::member ? unit_.is(expr.token - 1, ".")
                       : expr.kind == E::unary  ? is("+", "-", "~", "!")
                       : expr.kind == E::binary ? !is("/", "%") || is_positive(*expr.operands[1])
                       : expr.kind == E::cast   ? expr.type->is_arithmetic()
                                                : std::ranges::find(values, expr.kind) != values.end();
    return known && all_pure(expr.operands.subspan(expr.kind == E::call ? 1 : 0));
  }

  // True for a function of the language whose result depends on its arguments and the ids alone.
  [[nodiscard]] bool computes(const Expr& callee) const {
    return callee.kind == Expr::Kind::name && unit_.meaning(callee.token) == nullptr &&
           is_builtin(text(callee.token), Builtin::Kind::id, Builtin::Kind::arithmetic,
                      Builtin::Kind::conversion);
  }

  [[nodiscard]] bool is_positive(const Expr& divisor) const {
    return divisor.kind == Expr::Kind::number
               ? text(divisor.token).find_first_of("123456789") != std::string::npos
               : divisor.kind == Expr::Kind::call &&
                     (unit_.is(divisor.operands[0]->token, "get_local_size") ||
                      unit_.is(divisor.operands[0]->token, "get_num_groups"));
  }

  // True for a scalar or vector variable or parameter, an enumerator, and a constant of the language.
  [[nodiscard]] bool is_number(const Expr& expr) const {
    const Decl* const name = unit_.meaning(expr.token);
    if (name == nullptr) {
      return unit_.is(expr.token, "true") || unit_.is(expr.token, "false") ||
             text(expr.token).starts_with("CLK_");
    }
    return name->kind == Decl::Kind::enumerator ||
           (name->kind == Decl::Kind::variable && name->type->is_arithmetic() &&
            (name->type->record != nullptr || arithmetic_type(name->type->name)));
  }

  // Returns true if all work-items of a work-group, idle ones included, compute the same head.
  bool uniform_head(const Stmt& loop) {
    const Stmt& first = *loop.parts[0];
    bool same = first.kind == Stmt::Kind::expression || first.kind == Stmt::Kind::declaration ||
                first.kind == Stmt::Kind::nothing;
    for (const Decl* const decl : first.declared) {
      same = same && decl->token != no_token && decl->type->is_arithmetic() && decl->value != nullptr &&
             uniform(*decl);
    }
    for (const Stmt* const part : {&first, &loop}) {
      each_value(*part, [&](const Expr& value) { same = same && uniform(value); });
    }
    return same;
  }

  bool uniform(const Expr& expr) {
    const bool is_change = changes(unit_, expr);
    if (is_change || expr.kind == Expr::Kind::comma || expr.kind == Expr::Kind::binary) {
      return (!is_change || expr.operands[0]->kind == Expr::Kind::name) &&
             std::ranges::all_of(expr.operands, [this](const Expr* part) { return uniform(*part); });
    }
    bool same = pure(expr);
    each_expression(expr, [&](const Expr& part) {
      const Decl* const name = named_by(unit_, part);
      const auto known = part.kind == Expr::Kind::name ? builtin(text(part.token)) : std::nullopt;
      same = same && part.kind != Expr::Kind::member && !(known && known->differs) &&
             (name == nullptr || name->kind != Decl::Kind::variable || uniform(*name));
    });
    return same;
  }

  // A variable is uniform if only loop heads and its declaration assign to it, and only uniform values.
  bool uniform(const Decl& name) {
    if (name.is_file_scope || !seen_.insert(&name).second) {
      return true; // a constant, or seen before: one that is not uniform refuses the kernel
    }
    if (name.token >= body_.begin && name.value != nullptr && !(pure(*name.value) && uniform(*name.value))) {
      return false;
    }
    return std::ranges::none_of(unit_.facts->own(kernel_.name).changed, [&](std::size_t i) {
      const bool in_head = std::ranges::any_of(
          heads_, [i](const TokenRange& head) { return head.begin <= i && i < head.end; });
      return unit_.meaning(i) == &name && !in_head;
    });
  }

  const TranslationUnit& unit_;
  const Function& kernel_;
  Edits& edits_;
  const TokenRange body_;
  std::set<std::size_t> meetings_; // tokens of the functions at which work-items meet
  std::vector<TokenRange> heads_;  // of loops with barriers
  std::set<const Decl*> seen_;
};

} // namespace

// A list holds everything that early statements may contain: types, variables of the body, values, pointers to memory that no wave
// writes, some functions.
std::size_t end_of_early_statements(const TranslationUnit& unit, const Function& kernel,
                                    const std::set<std::size_t>& steady) {
  // True for a name that leaves nothing, meets no other work-items and reaches no memory that changes.
  const auto is_harmless = [&](std::size_t token) {
    const std::string& text = unit.source.tokens[token].text;
    const Decl* const name = unit.meaning(token);
    if (name == nullptr) {
      return is_builtin(text, Builtin::Kind::id, Builtin::Kind::arithmetic, Builtin::Kind::conversion) ||
             text.starts_with("vload");
    }
    if (name->kind == Decl::Kind::function) { // it has no memory but what the kernel passes
      const Function* const function = unit.definition(text);
      const Needs& needs = unit.facts->needs(text);
      return function != nullptr && !function->is_kernel && !needs.orders_memory && !needs.whole_group;
    }
    const auto index = parameter_at(unit, kernel, token);
    if (!index) {
      return true; // a variable of the body, a constant
    }
    const Parameter& parameter = kernel.parameters[*index];
    return parameter.is_pointer ? steady.contains(*index) && !unit.contains(parameter.tokens, "volatile")
                                : arithmetic_type(parameter.type).has_value();
  };
  std::size_t end = kernel.body->begin + 1;
  for (const Stmt* const stmt : kernel.statements->parts) {
    bool known = stmt->kind != Stmt::Kind::block;
    each_statement(*stmt, [&](const Stmt& part) {
      using S = Stmt::Kind;
      static constexpr std::array<S, 7> kinds{S::nothing,  S::expression, S::declaration,  S::block,
                                              S::for_loop, S::break_out,  S::continue_loop};
      known = known && !part.has_attributes && std::ranges::find(kinds, part.kind) != kinds.end() &&
              std::ranges::none_of(part.declared,
                                   [](const Decl* decl) { return decl->type->is(Type::Kind::opaque); });
    });
    each_expression(*stmt, [&](const Expr& expr) {
      using E = Expr::Kind;
      known = known && expr.kind != E::opaque && (expr.kind != E::name || is_harmless(expr.token)) &&
              (expr.kind != E::call || expr.operands[0]->kind == E::name) &&
              (expr.kind != E::cast || !expr.type->is(Type::Kind::opaque));
    });
    if (!known) {
      break;
    }
    end = stmt->tokens.end;
  }
  return end;
}

bool let_items_idle(const TranslationUnit& unit, const Function& kernel, Edits& edits) {
  return IdleItems(unit, kernel, edits).run();
}

} // namespace tidegate::opencl_c
