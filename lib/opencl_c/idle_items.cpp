// Makes surplus work-items idle in a kernel whose work-items meet: the persistent kernel's work-groups may be
// larger than the kernel's, and the kernel's last one smaller. They run to every barrier that the others run
// to, and do nothing else.
//
//   float sum = in[i];                        float sum = 0; if (tg_in) sum = in[i];
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
#include "opencl_c/call_graph.hpp"
#include "opencl_c/rewriting.hpp"
#include "opencl_c/type_layout.hpp"
#include "opencl_c/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace tidegate::opencl_c {
namespace {

constexpr std::string_view guard = "if (tg_in) ";

template <std::size_t N>
bool is_listed(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

class IdleItems {
public:
  IdleItems(const TranslationUnit& unit, const CallGraph& graph, const Function& kernel, Edits& edits)
      : unit_(unit), graph_(graph), kernel_(kernel), edits_(edits), body_(*kernel.body) {}

  bool run() {
    static constexpr std::array<std::string_view, 5> refused{"goto", "asm", "__asm__", "do", "volatile"};
    for (std::size_t i = body_.begin; i < body_.end; ++i) {
      if (is_listed(refused, text(i)) || is_attribute(text(i))) {
        return false;
      }
      meeting_ = meets({.begin = i, .end = i + 1}) ? i : meeting_;
      if (unit_.is(i, "for") && meets({.begin = i, .end = after_statement(unit_, i, body_.end)})) {
        heads_.push_back(head_of(i));
      }
    }
    edits_[body_.begin].after += " const bool tg_in = tg_inside(tg_self);";
    return block({.begin = body_.begin + 1, .end = body_.end - 1}, false);
  }

private:
  [[nodiscard]] const std::string& text(std::size_t i) const { return unit_.source.tokens[i].text; }
  [[nodiscard]] TokenRange head_of(std::size_t loop) const {
    return {.begin = loop + 2, .end = unit_.counterpart(loop + 1)};
  }

  // Returns true if the work-items meet in the range.
  [[nodiscard]] bool meets(TokenRange range) const {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (unit_.is_call(i) &&
          (unit_.meaning(i) == nullptr ? is_collective(text(i)) : graph_.needs(text(i)).whole_group)) {
        return true;
      }
    }
    return false;
  }

  bool block(TokenRange range, bool in_loop) {
    for (std::size_t at = range.begin; at < range.end;) {
      std::size_t first = at;
      while (first < range.end && unit_.source.tokens[first].kind == TokenKind::pragma) {
        ++first;
      }
      const std::size_t end = after_statement(unit_, first, range.end);
      if (first < range.end && !statement(at, {.begin = first, .end = end}, in_loop)) {
        return false;
      }
      at = end;
    }
    return true;
  }

  // `start`: the first token of its pragmas.
  bool statement(std::size_t start, TokenRange range, bool in_loop) {
    const std::size_t first = range.begin;
    if (!meets(range)) {
      if (starts_type(first)) {
        return start == first && declaration(range);
      }
      for (std::size_t i = first; i < range.end; ++i) {
        const bool leaves = unit_.is(i, "return") || unit_.is(i, "break") || unit_.is(i, "continue");
        if (leaves && (in_loop || (unit_.is(i, "return") && i < meeting_))) {
          return false;
        }
      }
      edits_[start].before = fmt::format("{}{{ {}", guard, edits_[start].before);
      edits_[range.end - 1].after += " }";
      return true;
    }
    if (unit_.is(first, "{")) {
      return block({.begin = first + 1, .end = range.end - 1}, in_loop);
    }
    if (unit_.is(first, "for") && uniform(head_of(first))) {
      const std::size_t body = head_of(first).end + 1;
      return block({.begin = body, .end = range.end}, true);
    }
    const std::size_t close = unit_.counterpart(first + 1);
    return unit_.is(first, "barrier") && unit_.is_call(first) && close + 2 == range.end &&
           pure({.begin = first + 2, .end = close});
  }

  [[nodiscard]] bool starts_type(std::size_t i) const {
    static constexpr std::array<std::string_view, 4> others{"struct", "union", "enum", "typedef"};
    const Name* const name = unit_.meaning(i);
    return name == nullptr ? is_qualifier(text(i)) || is_type_word(text(i)) || is_listed(others, text(i))
                           : name->kind == NameKind::type;
  }

  // Idle work-items evaluate values that touch nothing; the others are assigned under a guard.
  bool declaration(TokenRange range) {
    const std::size_t last = range.end - 1; // its semicolon
    const bool single = unit_.find({.begin = range.begin, .end = last}, ",") == last;
    for (const TokenRange& declarator : unit_.split({.begin = range.begin, .end = last})) {
      const std::size_t equals = unit_.find(declarator, "=");
      if (equals < declarator.end && !pure({.begin = equals + 1, .end = declarator.end})) {
        return single && assigned_apart(declarator, equals);
      }
    }
    return true;
  }

  // `const T name = value;` becomes `T name = 0; if (…) name = value;`.
  bool assigned_apart(TokenRange declaration, std::size_t equals) {
    const std::size_t token = equals - 1;
    const Name* const name = unit_.meaning(token);
    if (name == nullptr || name->token != token || name->kind != NameKind::variable) {
      return false;
    }
    const bool pointer = unit_.contains({.begin = declaration.begin, .end = token}, "*");
    const auto type = layout_of(unit_, name->specifiers);
    if (unit_.contains({.begin = declaration.begin, .end = token}, "(") ||
        unit_.contains(name->specifiers, "static") ||
        (!pointer && !(type && type->kind == TypeLayout::Kind::arithmetic))) {
      return false;
    }
    // The pointee of a pointer may be const.
    std::size_t begin = declaration.begin;
    for (std::size_t i = declaration.begin; pointer && i < token; ++i) {
      begin = unit_.is(i, "*") ? i : begin;
    }
    for (std::size_t i = begin; i < token; ++i) {
      if (unit_.is(i, "const")) {
        edits_[i] = {.before = {}, .replaced = true, .text = {}, .after = {}};
      }
    }
    edits_[token].after += fmt::format(" = 0; {}{}", guard, text(token));
    return true;
  }

  // True for a scalar or vector variable or parameter, and for an enumerator.
  [[nodiscard]] bool is_number(const Name& name) const {
    for (const Parameter& parameter : kernel_.parameters) {
      if (parameter.tokens.begin <= name.token && name.token < parameter.tokens.end) {
        return !parameter.is_pointer && arithmetic_type(parameter.type).has_value();
      }
    }
    if (name.kind != NameKind::variable || (!name.is_file_scope && name.token < body_.begin)) {
      return name.kind == NameKind::enumerator;
    }
    const std::size_t equals = unit_.find(name.declarator, "=");
    const TokenRange declared{.begin = name.declarator.begin, .end = equals};
    const auto type = layout_of(unit_, name.specifiers);
    return !unit_.contains(declared, "*") && !unit_.contains(declared, "[") &&
           !unit_.contains(declared, "(") && type && type->kind != TypeLayout::Kind::structure;
  }

  // True for a token that may occur in an expression whose value all work-items may compute.
  [[nodiscard]] bool is_harmless(std::size_t i) const {
    static constexpr std::array<std::string_view, 24> operators{
        "(", ")", "+", "-", "*", "/",  "%",  "<",  ">",  "!",  "~",  "&",
        "|", "^", "?", ":", ",", "<=", ">=", "==", "!=", "&&", "||", "<<"};
    static constexpr std::array<std::string_view, 7> functions{"min",   "max",  "clamp", "mad24",
                                                               "mul24", "true", "false"};
    const Token& token = unit_.source.tokens[i];
    if (token.kind == TokenKind::number || token.kind == TokenKind::character) {
      return true;
    }
    if (token.kind != TokenKind::identifier) {
      return is_listed(operators, token.text) || token.is(">>");
    }
    if (const Name* const name = unit_.meaning(i)) {
      return name->kind == NameKind::type ? unit_.typedefs.contains(token.text) && !unit_.is(i + 1, "*")
                                          : is_number(*name);
    }
    return (is_type_word(token.text) && !unit_.is(i + 1, "*")) || is_work_item_function(token.text) ||
           is_listed(functions, token.text) || token.text.starts_with("convert_") ||
           token.text.starts_with("as_") || token.text.starts_with("CLK_");
  }

  // Returns true if an idle work-item may evaluate the expression, whatever its variables hold: it reads no memory, has
  // no effect and does not divide by what may be 0.
  [[nodiscard]] bool pure(TokenRange range) const {
    static constexpr std::array<std::string_view, 2> counts{"get_local_size", "get_num_groups"};
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const bool member = unit_.is(i, ".") || unit_.is_member(i);
      const bool list = unit_.is(i, "{") || unit_.is(i, "}");
      if (unit_.is_member(i) ? !unit_.is(i - 1, ".") : !member && !list && !is_harmless(i)) {
        return false;
      }
      if ((unit_.is(i, "/") || unit_.is(i, "%")) && !is_listed(counts, text(i + 1)) &&
          !(unit_.source.tokens[i + 1].kind == TokenKind::number &&
            text(i + 1).find_first_of("123456789") != std::string::npos)) {
        return false;
      }
    }
    return true;
  }

  // Returns true if all work-items of a work-group, idle ones included, compute the same.
  bool uniform(TokenRange range) {
    static constexpr std::array<std::string_view, 14> more{
        ";", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
    static constexpr std::array<std::string_view, 4> differing{"get_global_id", "get_local_id",
                                                               "get_global_linear_id", "get_local_linear_id"};
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Name* const name = unit_.meaning(i);
      const bool allowed = is_listed(more, text(i)) || (is_harmless(i) && !is_listed(differing, text(i)));
      if (!allowed || unit_.is_member(i) ||
          (name != nullptr && name->kind == NameKind::variable && !uniform(*name))) {
        return false;
      }
    }
    return true;
  }

  // A variable is uniform if only loop heads and its declaration assign to it, and only uniform values.
  bool uniform(const Name& name) {
    if (name.is_file_scope || !seen_.insert(&name).second) {
      return true; // a constant, or seen before: one that is not uniform refuses the kernel
    }
    if (name.token >= body_.begin) {
      const TokenRange value{.begin = unit_.find(name.declarator, "="), .end = name.declarator.end};
      const TokenRange tokens{.begin = std::min(value.begin + 1, value.end), .end = value.end};
      if (!pure(tokens) || !uniform(tokens)) {
        return false;
      }
    }
    for (std::size_t i = body_.begin; i < body_.end; ++i) {
      const bool in_head = std::ranges::any_of(
          heads_, [i](const TokenRange& head) { return head.begin <= i && i < head.end; });
      if (i != name.token && unit_.meaning(i) == &name && !in_head && may_change(i)) {
        return false;
      }
    }
    return true;
  }

  // Returns true if the variable at this token may change: `s = 1`, `(s)++`, `s.x = 1` or `&s`, not `s`.
  [[nodiscard]] bool may_change(std::size_t i) const {
    static constexpr std::array<std::string_view, 14> after{
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "."};
    std::size_t next = i + 1;
    std::size_t before = i - 1;
    while (unit_.is(next, ")")) {
      ++next;
    }
    while (unit_.is(before, "(")) {
      --before;
    }
    return is_listed(after, text(next)) || unit_.is(next, "[") || unit_.is(before, "++") ||
           unit_.is(before, "--") || unit_.is(before, "&");
  }

  const TranslationUnit& unit_;
  const CallGraph& graph_;
  const Function& kernel_;
  Edits& edits_;
  const TokenRange body_;
  std::size_t meeting_ = 0;       // the last call at which work-items meet
  std::vector<TokenRange> heads_; // of loops with barriers
  std::set<const Name*> seen_;
};

} // namespace

bool let_items_idle(const TranslationUnit& unit, const CallGraph& graph, const Function& kernel,
                    Edits& edits) {
  return IdleItems(unit, graph, kernel, edits).run();
}

} // namespace tidegate::opencl_c
