#include "opencl_c/constant_expression.hpp"
#include "opencl_c/facts.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

class Returns {
public:
  Returns(const TranslationUnit& unit, const Function& kernel, const Stmt& body)
      : unit_(unit), kernel_(kernel), body_(body) {
    for (const std::size_t token : unit.facts->own(kernel).changed) {
      changed_.insert(unit.meaning(token));
    }
    for (const std::size_t token : unit.facts->own(kernel).functions) {
      const bool is_barrier = unit.meaning(token) == nullptr &&
                              (unit.is(token, "barrier") || unit.is(token, "work_group_barrier"));
      last_ = is_barrier ? token : last_;
    }
  }

  std::vector<EarlyReturn> find() {
    for (const Stmt* const stmt : body_.parts) { // statements of the outermost block alone
      if (stmt->kind != Stmt::Kind::if_else || stmt->tokens.begin > last_) {
        continue;
      }
      const Stmt* then = stmt->parts[0];
      then = then->kind == Stmt::Kind::block && !then->parts.empty() ? then->parts[0] : then;
      if (then->kind == Stmt::Kind::return_value && then->values.empty()) {
        parts(*stmt->values[0], then->tokens.begin);
      }
    }
    return std::move(found_);
  }

private:
  void parts(const Expr& condition, std::size_t token) {
    if (condition.kind == Expr::Kind::binary && unit_.is(condition.token, "||")) {
      parts(*condition.operands[0], token);
      parts(*condition.operands[1], token);
    } else if (auto part = comparison(condition)) {
      part->token = token;
      found_.push_back(*part);
    }
  }

  // "i >= n" or "get_global_id(0) >= 64".
  [[nodiscard]] std::optional<EarlyReturn> comparison(const Expr& part) const {
    if (part.kind != Expr::Kind::binary || !unit_.is(part.token, ">=")) {
      return {};
    }
    EarlyReturn found;
    const Expr* left = part.operands[0];
    const Name* const name = left->kind == Expr::Kind::name ? unit_.meaning(left->token) : nullptr;
    if (name != nullptr && name->kind == NameKind::variable && !changed_.contains(name)) {
      const Decl* const decl = unit_.tree->declaration(name->token);
      left = decl == nullptr || decl->value == nullptr ? left : decl->value;
    }
    const auto dimension = id_in(*left);
    const Expr& right = *part.operands[1];
    const Name* const bound = right.kind == Expr::Kind::name ? unit_.meaning(right.token) : nullptr;
    const auto parameter = bound == nullptr || changed_.contains(bound)
                               ? std::nullopt
                               : parameter_at(unit_, kernel_, right.token);
    if (parameter && !kernel_.parameters[*parameter].is_pointer) {
      found.parameter = parameter;
    }
    const auto number = right.kind == Expr::Kind::number ? value_of(unit_, right) : std::nullopt;
    if (!dimension || !(found.parameter || number.value_or(0) > 0)) {
      return {};
    }
    found.number = number ? static_cast<decltype(found.number)>(*number) : 0;
    found.dimension = *dimension;
    return found;
  }

  // "get_global_id(0)", also as "(int)get_global_id(0)".
  [[nodiscard]] std::optional<std::uint32_t> id_in(const Expr& expr) const {
    const Expr& call = expr.kind == Expr::Kind::cast ? *expr.operands[0] : expr;
    if (call.kind != Expr::Kind::call || call.operands.size() != 2 ||
        !unit_.is(call.operands[0]->token, "get_global_id")) {
      return {};
    }
    constexpr std::string_view dimensions = "012";
    const std::string& text = unit_.source.tokens[call.operands[1]->token].text;
    const std::size_t found = text.size() == 1 ? dimensions.find(text) : std::string_view::npos;
    return found == std::string_view::npos ? std::nullopt : std::optional(static_cast<std::uint32_t>(found));
  }

  const TranslationUnit& unit_;
  const Function& kernel_;
  const Stmt& body_;
  std::size_t last_ = 0; // barrier
  std::set<const Name*> changed_;
  std::vector<EarlyReturn> found_;
};

} // namespace

std::vector<EarlyReturn> returns_before_barrier(const TranslationUnit& unit, const Function& kernel) {
  const Stmt* const body = unit.tree->body(kernel);
  return body != nullptr ? Returns(unit, kernel, *body).find() : std::vector<EarlyReturn>();
}

} // namespace tidegate::opencl_c
