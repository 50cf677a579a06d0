// One scan over each function's tokens, then a fixed point over the calls.
#include "opencl_c/call_graph.hpp"

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

bool is_loop(const Token& token) {
  return token.is("for") || token.is("while") || token.is("do");
}

// True for an access to an element of an array or vector. Further subscripts belong to the same access;
// declarations make none.
bool is_access(const std::vector<Token>& tokens, std::size_t i) {
  if (!tokens[i].is("[") || i < 2 || tokens[i - 1].is("]")) {
    return false;
  }
  const bool declared = tokens[i - 1].kind == TokenKind::identifier &&
                        (tokens[i - 2].kind == TokenKind::identifier || tokens[i - 2].is("*")) &&
                        !tokens[i - 2].is("return") && !tokens[i - 2].is("else");
  return !declared;
}

// Iterations of the loop at `i`: the bound in `for (…; i < 16; …)`, otherwise a guess.
double iterations_of(const TranslationUnit& unit, std::size_t i) {
  constexpr double most = 1024;
  const std::vector<Token>& tokens = unit.source.tokens;
  if (!tokens[i].is("for")) {
    return iterations_of_a_loop;
  }
  const std::size_t end = unit.counterpart(i + 1);
  i = unit.find({.begin = i + 2, .end = end}, ";");
  const bool says = i + 4 < end && (tokens[i + 2].is("<") || tokens[i + 2].is("<=")) && tokens[i + 4].is(";");
  const std::string bound = says ? tokens[i + 3].text : "";
  double iterations = 0;
  const auto [stop, error] = std::from_chars(bound.data(), bound.data() + bound.size(), iterations);
  return error == std::errc() ? std::clamp(iterations, 1.0, most) : iterations_of_a_loop;
}

bool accesses_memory(const std::string& function) {
  constexpr std::array<std::string_view, 4> prefixes{"read_image", "write_image", "vload", "vstore"};
  return std::ranges::any_of(prefixes,
                             [&function](std::string_view prefix) { return function.starts_with(prefix); });
}

} // namespace

std::size_t after_statement(const TranslationUnit& unit, std::size_t i, std::size_t end) {
  while (i < end) {
    const Token& first = unit.source.tokens[i];
    if (first.is("do") || first.is("else")) {
      ++i; // its statement follows
      continue;
    }
    if (is_loop(first) || first.is("if") || first.is("switch")) {
      i = unit.counterpart(i + 1) + 1;
      continue;
    }
    i = (first.is("{") ? unit.counterpart(i) : unit.find({.begin = i, .end = end}, ";")) + 1;
    if (!unit.is(i, "else")) {
      break;
    }
  }
  return std::min(i, end);
}

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

void CallGraph::look_at(const Function& function) {
  const std::vector<Token>& tokens = unit_.source.tokens;
  Needs& own = needs_[function.name];
  Work& work = work_[function.name];
  std::vector<std::size_t> loop_ends; // of the loops around the token
  std::vector<double> times{1};       // executions of each of their bodies, the innermost last
  for (std::size_t i = function.begin; i < function.end; ++i) {
    const std::string& name = tokens[i].text;
    while (!loop_ends.empty() && loop_ends.back() <= i) {
      loop_ends.pop_back();
      times.pop_back();
    }
    if (is_loop(tokens[i]) && loop_ends.size() < most_loop_depth) {
      loop_ends.push_back(after_statement(unit_, i, function.end));
      times.push_back(times.back() * iterations_of(unit_, i));
      own.loop_depth = std::max(own.loop_depth, static_cast<std::uint32_t>(loop_ends.size()));
    }
    work.accesses += i >= function.body->begin && is_access(tokens, i) ? times.back() : 0;
    own.floats |= is_floating(name);
    own.divides |= name == "/" || name == "/=";
    own.orders_memory |= name == "volatile" || name == "asm" || name == "__asm__";
    if (i < function.body->begin || !unit_.is_call(i)) {
      continue;
    }
    if (unit_.meaning(i) != nullptr) {
      work.calls[name] += times.back();
    } else {
      work.accesses += accesses_memory(name) ? times.back() : 0;
      own.item |= is_work_item_function(name) || name == "barrier";
      own.orders_memory |= !orders_nothing(name);
      own.whole_group |= is_collective(name);
      own.more_than_barriers |= is_collective(name) && name != "barrier";
      if (is_sub_group_function(name)) {
        own.sub_group_functions.insert(name);
      }
      own.divides |= !is_work_item_function(name) && !is_collective(name);
    }
  }
}

// True for a floating-point type or a typedef of one.
bool CallGraph::is_floating(const std::string& word) const {
  const auto named = unit_.typedefs.find(word);
  const auto type = arithmetic_type(named == unit_.typedefs.end() ? word : named->second);
  return type && (type->scalar == "float" || type->scalar == "double" || type->scalar == "half");
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
