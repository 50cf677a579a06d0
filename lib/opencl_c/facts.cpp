// Two walks over each function: its statements say how often each runs, its tokens which functions and types it names.
#include "opencl_c/facts.hpp"

#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

using B = Builtin::Kind;

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

bool is_floating(std::string_view name) {
  const auto type = arithmetic_type(name);
  return type && is_one_of("float double half", type->scalar);
}

} // namespace

class Facts::Reader {
public:
  Reader(const TranslationUnit& unit, const Function& function, Own& own)
      : unit_(unit), tokens_(unit.source.tokens), own_(own), needs_(own.needs),
        declared_(function.name_token), begin_(function.begin), times_(function.end - function.begin) {
    statement(*function.statements, 1, 0);
    for (std::size_t i = function.begin; i < function.end; ++i) {
      token(i);
    }
    std::ranges::sort(own_.changed);
  }

private:
  // `times`: executions of the statement; `depth`: loops around it.
  void statement(const Stmt& stmt, double times, std::uint32_t depth) {
    if (stmt.is_loop()) {
      times *= depth < most_loop_depth ? iterations_of(unit_, stmt) : 1;
      depth = std::min(depth + 1, most_loop_depth);
      needs_.loop_depth = std::max(needs_.loop_depth, depth);
    }
    for (std::size_t i = stmt.tokens.begin; i < stmt.tokens.end; ++i) {
      times_[i - begin_] = times;
    }
    does_anything(stmt.kind == Stmt::Kind::opaque);
    each_value(stmt, [&](const Expr& value) {
      each_expression(value, [&](const Expr& expr) {
        const bool row = expr.kind == Expr::Kind::subscript && expr.type->is(Type::Kind::array);
        own_.accesses += expr.kind == Expr::Kind::subscript && !row ? times : 0;
        needs_.floats |= is_floating(expr.type->name);
        const bool has_no_meaning = expr.kind == Expr::Kind::name && unit_.meaning(expr.token) == nullptr &&
                                    !builtin(tokens_[expr.token].text);
        does_anything(expr.kind == Expr::Kind::opaque ||
                      (has_no_meaning && bracket_of_call(unit_, expr.token) < tokens_.size()));
        changed(expr);
      });
    });
    for (const Stmt* const part : stmt.parts) {
      statement(*part, times, depth);
    }
  }

  void does_anything(bool holds) {
    needs_.orders_memory |= holds;
    needs_.divides |= holds;
  }

  void changed(const Expr& expr) {
    if (!changes(unit_, expr) && !(expr.kind == Expr::Kind::unary && unit_.is(expr.token, "&"))) {
      return;
    }
    const Expr* target = expr.operands[0];
    const auto is_pointer = [](const Expr* part) { return part->type->is(Type::Kind::pointer); };
    for (; target->kind == Expr::Kind::member || target->kind == Expr::Kind::subscript ||
           target->kind == Expr::Kind::unary;
         target = target->operands[0]) {
      if (unit_.is(target->token, "*") || std::ranges::any_of(target->operands, is_pointer)) {
        return; // memory changes, but no variable by its name
      }
    }
    for (const auto& [token, name] : names_in(unit_, *target)) {
      own_.changed.push_back(token);
    }
  }

  void token(std::size_t i) {
    const Token& token = tokens_[i];
    const Decl* const name = unit_.meaning(i);
    needs_.divides |= token.is("/") || token.is("/=");
    needs_.orders_memory |= token.is("volatile") || token.is("asm") || token.is("__asm__");
    needs_.groups |= address_space(token.text) == AddressSpace::local;
    if (token.kind != TokenKind::identifier || unit_.is_member(i) || i == declared_ ||
        is_qualifier(token.text)) {
      return;
    }
    needs_.floats |= is_floating(name == nullptr ? token.text : name->type->name);
    if (name != nullptr && name->kind == Decl::Kind::function) {
      own_.functions.push_back(i);
      own_.calls[token.text] += times_[i - begin_];
    } else if (const auto known = name == nullptr ? builtin(token.text) : std::nullopt) {
      own_.functions.push_back(i);
      built_in(i, *known);
    }
  }

  void built_in(std::size_t i, const Builtin& known) {
    const std::string& text = tokens_[i].text;
    const bool is_id = known.kind == B::id;
    const bool meets = is_collective(text);
    const bool moves = known.kind == B::image || (known.kind == B::memory && text != "prefetch");
    own_.accesses += moves ? times_[i - begin_] : 0;
    needs_.item |= is_id || known.kind == B::barrier;
    needs_.whole_group |= meets;
    needs_.more_than_barriers |= meets && known.kind != B::barrier;
    needs_.groups |=
        meets || text.starts_with("get_local_") || text == "get_group_id" || text == "get_num_groups";
    needs_.orders_memory |= !orders_nothing(text);
    needs_.divides |= !is_id && !meets;
    if (known.kind == B::sub_group || known.kind == B::image) {
      needs_.special.insert(text);
    }
    const std::size_t argument = bracket_of_call(unit_, i) + 1;
    needs_.dimensions = std::max(needs_.dimensions, !is_id                    ? 1U
                                                    : unit_.is(argument, "2") ? 3U
                                                    : unit_.is(argument, "1") ? 2U
                                                                              : 1U);
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  Own& own_;
  Needs& needs_;
  const std::size_t declared_; // the function's name
  const std::size_t begin_;
  std::vector<double> times_; // executions, by token
};

Facts::Facts(const TranslationUnit& unit) {
  for (const Function& function : unit.functions) {
    if (function.body) {
      Reader(unit, function, functions_[function.name]);
    }
  }
  for (auto& [name, facts] : functions_) {
    Needs& needs = facts.needs;
    std::set<std::string> called = reachable({name});
    called.erase(name);
    for (const std::string& callee : called) {
      const Function* const function = unit.definition(callee);
      needs.item |= function != nullptr && function->is_kernel; // outlined kernels always take one
      const Needs& inner = own(callee).needs;
      for (const auto need : {&Needs::item, &Needs::whole_group, &Needs::more_than_barriers, &Needs::groups,
                              &Needs::orders_memory, &Needs::floats, &Needs::divides}) {
        needs.*need |= inner.*need;
      }
      needs.loop_depth = std::max(needs.loop_depth, inner.loop_depth);
      needs.dimensions = std::max(needs.dimensions, inner.dimensions);
      needs.special.insert(inner.special.begin(), inner.special.end());
    }
  }
}

const Facts::Own& Facts::own(const std::string& function) const {
  static const Own none;
  const auto found = functions_.find(function);
  return found == functions_.end() ? none : found->second;
}

double Facts::accesses(const std::string& function) const {
  constexpr double most = 1e12;
  constexpr int deepest = 64;          // calls; deeper ones do not count, which bounds the recursion
  std::map<std::string, double> known; // 0 while being computed
  const std::function<double(const std::string&, int)> of = [&](const std::string& name, int depth) {
    const auto [entry, is_new] = known.emplace(name, 0);
    if (is_new) {
      double sum = own(name).accesses;
      for (const auto& [callee, times] : own(name).calls) {
        sum += depth == deepest ? 0 : times * of(callee, depth + 1);
      }
      entry->second = std::min(sum, most);
    }
    return entry->second;
  };
  return of(function, 0);
}

bool Facts::is_called(const std::string& function, const std::set<std::string>* by) const {
  return std::ranges::any_of(functions_, [&](const auto& one) {
    return (by == nullptr || by->contains(one.first)) && one.second.calls.contains(function);
  });
}

std::set<std::string> Facts::reachable(const std::set<std::string>& from) const {
  std::set<std::string> reached = from;
  std::vector<std::string> open(from.begin(), from.end());
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    for (const auto& [callee, times] : own(name).calls) {
      if (reached.insert(callee).second) {
        open.push_back(callee);
      }
    }
  }
  return reached;
}

std::size_t bracket_of_call(const TranslationUnit& unit, std::size_t name) {
  const auto call = unit.tree->calls.find(name);
  return call != unit.tree->calls.end() ? call->second->token
         : unit.is(name + 1, "(")       ? name + 1
                                        : unit.source.tokens.size();
}

std::vector<NamedCall> calls_of(const TranslationUnit& unit, const std::set<std::string_view>& names) {
  std::vector<NamedCall> found;
  for (const Function& function : unit.functions) {
    for (std::size_t i = function.begin; function.body && i < function.end; ++i) {
      const std::string_view name = unit.source.tokens[i].text;
      const auto call = names.contains(name) ? unit.tree->calls.find(i) : unit.tree->calls.end();
      if (call != unit.tree->calls.end()) {
        found.push_back({i, name, &function, call->second->operands.subspan(1)});
      }
    }
  }
  return found;
}

std::vector<std::pair<std::size_t, std::string_view>> names_in(const TranslationUnit& unit,
                                                               const Expr& expr) {
  std::vector<std::pair<std::size_t, std::string_view>> found;
  each_expression(expr, [&](const Expr& part) {
    if (part.kind == Expr::Kind::name) {
      found.emplace_back(part.token, unit.source.tokens[part.token].text);
    }
  });
  return found;
}

bool mentions(const TranslationUnit& unit, const std::set<std::string>& functions, std::string_view word) {
  const std::set<std::string> reached = unit.facts->reachable(functions);
  return std::ranges::any_of(unit.functions, [&](const Function& function) {
    return function.body && reached.contains(function.name) && unit.contains(*function.body, word);
  });
}

std::string launch_function(const TranslationUnit& unit, const Function& kernel, std::uint32_t outermost) {
  for (const std::string& called : unit.facts->reachable({kernel.name})) {
    for (const std::size_t i : unit.facts->own(called).functions) {
      const std::string& name = unit.source.tokens[i].text;
      const std::size_t argument = bracket_of_call(unit, i) + 1;
      const bool of_inner = unit.is(argument + 1, ")") && ((unit.is(argument, "0") && outermost > 0) ||
                                                           (unit.is(argument, "1") && outermost > 1));
      if (unit.meaning(i) == nullptr && builtin(name)->of_launch && !of_inner) {
        return name;
      }
    }
  }
  return {};
}

} // namespace tidegate::opencl_c
