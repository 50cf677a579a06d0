// One walk over each function's statements, then a fixed point over the calls.
#include "opencl_c/call_graph.hpp"

#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

namespace tidegate::opencl_c {
namespace {

// Iterations of a loop: the bound in `for (…; i < 16; …)`, otherwise a guess.
double iterations_of(const TranslationUnit& unit, const Stmt& loop) {
  constexpr double most = 1024;
  const Expr* const condition = loop.kind == Stmt::Kind::for_loop ? loop.values[0] : nullptr;
  if (condition == nullptr || condition->kind != Expr::Kind::binary ||
      !(unit.is(condition->token, "<") || unit.is(condition->token, "<="))) {
    return iterations_of_a_loop;
  }
  const std::string& bound = unit.source.tokens[condition->operands[1]->token].text;
  double iterations = 0;
  const auto [stop, error] = std::from_chars(bound.data(), bound.data() + bound.size(), iterations);
  return error == std::errc() && condition->operands[1]->kind == Expr::Kind::number
             ? std::clamp(iterations, 1.0, most)
             : iterations_of_a_loop;
}

bool accesses_memory(const std::string& function) {
  constexpr std::array<std::string_view, 4> prefixes{"read_image", "write_image", "vload", "vstore"};
  return std::ranges::any_of(prefixes,
                             [&function](std::string_view prefix) { return function.starts_with(prefix); });
}

} // namespace

CallGraph::CallGraph(const TranslationUnit& unit) : unit_(unit) {
  for (const Function& function : unit.functions) {
    if (function.body) {
      look_at(function);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [name, own] : needs_) {
      const Needs before = own;
      for (const auto& [callee, times] : work_[name].calls) {
        const Function* const called = unit_.definition(callee);
        own.item |= called != nullptr && called->is_kernel; // outlined kernels always take one
        if (const auto found = needs_.find(callee); found != needs_.end()) {
          own.item |= found->second.item;
          own.whole_group |= found->second.whole_group;
          own.more_than_barriers |= found->second.more_than_barriers;
          own.orders_memory |= found->second.orders_memory;
          own.floats |= found->second.floats;
          own.loop_depth = std::max(own.loop_depth, found->second.loop_depth);
          own.divides |= found->second.divides;
          own.sub_group_functions.insert(found->second.sub_group_functions.begin(),
                                         found->second.sub_group_functions.end());
        }
      }
      changed |= own != before;
    }
  }
}

double CallGraph::accesses(const std::string& function) const {
  constexpr double most = 1e12;
  constexpr int deepest = 64;          // calls; deeper ones do not count, which bounds the recursion
  std::map<std::string, double> known; // 0 while being computed
  const std::function<double(const std::string&, int)> of = [&](const std::string& name, int depth) {
    const auto [entry, is_new] = known.emplace(name, 0);
    const auto work = work_.find(name);
    if (is_new && work != work_.end()) {
      double sum = work->second.accesses;
      for (const auto& [callee, times] : work->second.calls) {
        sum += depth == deepest ? 0 : times * of(callee, depth + 1);
      }
      known[name] = std::min(sum, most);
    }
    return known[name];
  };
  return of(function, 0);
}

// Reads a function's statements. What is opaque may call each function that it names.
class CallGraph::Reader {
public:
  Reader(const TranslationUnit& unit, Needs& own, Work& work) : unit_(unit), own_(own), work_(work) {}

  // `times`: executions of the statement; `depth`: loops around it.
  void statement(const Stmt& stmt, double times, std::uint32_t depth) {
    if (stmt.is_loop()) {
      times *= depth < most_loop_depth ? iterations_of(unit_, stmt) : 1;
      depth = std::min(depth + 1, most_loop_depth);
      own_.loop_depth = std::max(own_.loop_depth, depth);
    }
    if (stmt.kind == Stmt::Kind::opaque) {
      opaque(stmt.tokens, times);
    }
    each_value(stmt, [&](const Expr& value) {
      each_expression(value, [&](const Expr& expr) { expression(expr, times); });
    });
    for (const Stmt* const part : stmt.parts) {
      statement(*part, times, depth);
    }
  }

private:
  void expression(const Expr& expr, double times) {
    const bool row = expr.kind == Expr::Kind::subscript && expr.type->is(Type::Kind::array);
    work_.accesses += expr.kind == Expr::Kind::subscript && !row ? times : 0;
    if (expr.kind == Expr::Kind::name) {
      name(expr.token, times);
    } else if (expr.kind == Expr::Kind::opaque) {
      opaque(expr.tokens, times);
    }
  }

  void opaque(TokenRange range, double times) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (unit_.source.tokens[i].kind == TokenKind::identifier && !unit_.is_member(i)) {
        name(i, times);
      }
    }
  }

  void name(std::size_t token, double times) {
    const std::string& text = unit_.source.tokens[token].text;
    if (const Name* const meaning = unit_.meaning(token)) {
      if (meaning->kind == NameKind::function) {
        work_.calls[text] += times;
      }
      return;
    }
    if (!unit_.is(token + 1, "(") && !is_built_in_function(text)) {
      return; // true, M_PI
    }
    work_.accesses += accesses_memory(text) ? times : 0;
    own_.item |= is_work_item_function(text) || text == "barrier";
    own_.orders_memory |= !orders_nothing(text);
    own_.whole_group |= is_collective(text);
    own_.more_than_barriers |= is_collective(text) && text != "barrier";
    if (is_sub_group_function(text)) {
      own_.sub_group_functions.insert(text);
    }
    own_.divides |= !is_work_item_function(text) && !is_collective(text);
  }

  const TranslationUnit& unit_;
  Needs& own_;
  Work& work_;
};

void CallGraph::look_at(const Function& function) {
  Needs& own = needs_[function.name];
  for (std::size_t i = function.begin; i < function.end; ++i) {
    const Token& token = unit_.source.tokens[i];
    const Name* const name = unit_.meaning(i); // a typedef, maybe
    const auto type =
        arithmetic_type(name == nullptr || name->type == nullptr ? token.text : name->type->name);
    own.floats |= type && (type->scalar == "float" || type->scalar == "double" || type->scalar == "half");
    own.divides |= token.is("/") || token.is("/=");
    own.orders_memory |= token.is("volatile") || token.is("asm") || token.is("__asm__");
  }
  if (const Stmt* const body = unit_.tree->body(function)) {
    Reader(unit_, own, work_[function.name]).statement(*body, 1, 0);
  }
}

Needs CallGraph::needs(const std::string& function) const {
  const auto found = needs_.find(function);
  return found == needs_.end() ? Needs{} : found->second;
}

bool CallGraph::is_called(const std::string& function, const std::set<std::string>& by) const {
  return std::ranges::any_of(work_, [&](const auto& work) {
    return by.contains(work.first) && work.second.calls.contains(function);
  });
}

std::set<std::string> CallGraph::reachable(const std::set<std::string>& from) const {
  std::set<std::string> reached;
  std::vector<std::string> open(from.begin(), from.end());
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!reached.insert(name).second) {
      continue;
    }
    if (const auto found = work_.find(name); found != work_.end()) {
      for (const auto& [callee, times] : found->second.calls) {
        open.push_back(callee);
      }
    }
  }
  return reached;
}

} // namespace tidegate::opencl_c
