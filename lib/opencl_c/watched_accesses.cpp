// Wraps subscripts in tg_touch(), and passes watches on through calls of helper functions.
#include "opencl_c/accesses.hpp"
#include "opencl_c/call_graph.hpp"
#include "opencl_c/rewriting.hpp"
#include "opencl_c/type_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::opencl_c {
namespace {

constexpr std::string_view parameters =
    "global const ulong* tg_rows, uint tg_row_count, global uint* tg_shadow, global uint* tg_verdict";

class Watcher {
public:
  explicit Watcher(const TranslationUnit& unit) : unit_(unit), tokens_(unit.source.tokens) {}

  WatchedUnit run(const std::map<std::string, std::set<std::size_t>>& watched) {
    std::set<std::string> all;
    for (const Function& function : unit_.functions) {
      all.insert(function.name);
    }
    const CallGraph graph(unit_);
    for (const Function& function : unit_.functions) {
      const auto found = watched.find(function.name);
      if (!function.is_kernel || found == watched.end()) {
        continue;
      }
      const bool called = graph.is_called(function.name, all);
      if (!called) {
        result_.kernels.insert(function.name);
        edits_[function.parameter_list.end - 1].after = ", " + std::string(parameters);
      }
      for (const std::size_t parameter : function.body ? found->second : std::set<std::size_t>()) {
        watch(function, parameter, called,
              fmt::format("tg_watching(tg_rows, tg_row_count, tg_shadow, tg_verdict, {}u)", parameter));
      }
    }
    for (std::size_t i = 0; i < helpers_.size(); ++i) { // watching a helper may add others
      const auto& [function, parameter] = helpers_[i];
      watch(*function, parameter, false, fmt::format("tg_watch{}", parameter));
    }
    for (const auto& [function, parameter] : helpers_) {
      hand_over(*function, parameter);
    }
    TokenWriter(unit_, result_.text).write({.begin = 0, .end = tokens_.size()}, edits_);
    result_.text += '\n';
    return std::move(result_);
  }

private:
  using Helper = std::pair<const Function*, std::size_t>; // with the index of its parameter

  // `watch_of` is the expression that describes the watched elements.
  void watch(const Function& function, std::size_t index, bool called, const std::string& watch_of) {
    const Parameter& parameter = function.parameters[index];
    const PointerUses pointer = pointer_uses(unit_, function)[index];
    // An array that is read as a whole is an address.
    const bool may_be_array = !layout_of_pointee(unit_, parameter.tokens);
    for (const PointerUse& use : pointer.uses) {
      using Kind = PointerUse::Kind;
      const bool escapes =
          use.subscript.begin == use.subscript.end || (use.kind == Kind::reads && may_be_array);
      const auto helper = called || !escapes ? std::nullopt : handed_to(use.token);
      if (helper) {
        handed_over_[use.token] = watch_of;
        if (std::ranges::find(helpers_, *helper) == helpers_.end()) {
          helpers_.push_back(*helper);
        }
      } else if (called || escapes) {
        result_.unwatched.push_back({.kernel = function.name,
                                     .parameter = parameter.name,
                                     .file = unit_.source.files[tokens_[use.token].file],
                                     .line = tokens_[use.token].line});
      } else {
        const std::string_view kind = parameter.is_const || use.kind == Kind::reads ? "TG_READS"
                                      : use.kind == Kind::writes                    ? "TG_WRITES"
                                                                                    : "TG_READS | TG_WRITES";
        std::string& before = edits_[use.subscript.begin - 1].after;
        before = fmt::format("tg_touch({}, {}, sizeof(*{}), (", watch_of, kind, parameter.name) + before;
        edits_[use.subscript.end].before += "))";
      }
    }
  }

  // The function of this file that receives the pointer at `at` unchanged, and the index of the parameter.
  [[nodiscard]] std::optional<Helper> handed_to(std::size_t at) const {
    const auto argument = unit_.argument(at);
    const Name* const name = argument ? unit_.meaning(argument->function) : nullptr;
    const Function* const function = name != nullptr && name->kind == NameKind::function
                                         ? unit_.definition(tokens_[argument->function].text)
                                         : nullptr;
    const bool takes = function != nullptr && !function->is_kernel && !function->is_overloadable &&
                       argument->index < function->parameters.size() &&
                       function->parameters[argument->index].space == AddressSpace::global &&
                       !function->parameters[argument->index].name.empty();
    return takes ? std::optional(Helper(function, argument->index)) : std::nullopt;
  }

  // Passes the watch before the pointer in every declaration and call of the function.
  void hand_over(const Function& function, std::size_t index) {
    for (const Function& declaration : unit_.functions) {
      if (declaration.name == function.name) {
        Edit& edit = edits_[declaration.parameters[index].tokens.begin];
        edit.before = fmt::format("tg_watch tg_watch{}, ", index) + edit.before;
      }
    }
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      const Name* const name = unit_.meaning(i);
      if (!tokens_[i].is(function.name.c_str()) || name == nullptr || name->kind != NameKind::function ||
          !tokens_[i + 1].is("(") ||
          std::ranges::find(unit_.functions, i, &Function::name_token) != unit_.functions.end()) {
        continue;
      }
      const std::size_t first = unit_.split({.begin = i + 2, .end = unit_.counterpart(i + 1)})[index].begin;
      const auto found = handed_over_.find(first);
      edits_[first].before =
          (found == handed_over_.end() ? "tg_unwatched()" : found->second) + ", " + edits_[first].before;
    }
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  Edits edits_;
  std::vector<Helper> helpers_;                    // functions that receive watched pointers
  std::map<std::size_t, std::string> handed_over_; // by the argument's token: the watch to pass
  WatchedUnit result_;
};

} // namespace

WatchedUnit watch_accesses(const TranslationUnit& unit,
                           const std::map<std::string, std::set<std::size_t>>& watched) {
  return Watcher(unit).run(watched);
}

} // namespace tidegate::opencl_c
