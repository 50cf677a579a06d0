#include <tidegate/opencl_c/call_graph.hpp>
#include <tidegate/opencl_c/token_writer.hpp>
#include <tidegate/opencl_c/watched_accesses.hpp>

#include <fmt/format.h>

#include <string_view>
#include <utility>

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
        watch(function, parameter, called);
      }
    }
    TokenWriter(unit_, result_.text).write({.begin = 0, .end = tokens_.size()}, edits_);
    result_.text += '\n';
    return std::move(result_);
  }

private:
  void watch(const Function& kernel, std::size_t index, bool called) {
    const Parameter& parameter = kernel.parameters[index];
    for (std::size_t i = kernel.body->begin; i < kernel.body->end; ++i) {
      const Name* const name = unit_.meaning(i);
      if (name == nullptr || name->token < parameter.tokens.begin || name->token >= parameter.tokens.end) {
        continue;
      }
      const std::size_t end = tokens_[i + 1].is("[") ? closing(tokens_, i + 1) : tokens_.size();
      if (called || end == tokens_.size()) {
        result_.unwatched.push_back({.kernel = kernel.name,
                                     .parameter = parameter.name,
                                     .file = unit_.source.files[tokens_[i].file],
                                     .line = tokens_[i].line});
        continue;
      }
      edits_[i + 1].after =
          fmt::format("tg_touch(tg_rows, tg_row_count, tg_shadow, tg_verdict, {}u, {}, sizeof(*{}), (", index,
                      kind(parameter, i, end), parameter.name) +
          edits_[i + 1].after;
      edits_[end].before += "))";
    }
  }

  // Of the use at `at`, whose bracket closes at `end`.
  [[nodiscard]] std::string_view kind(const Parameter& parameter, std::size_t at, std::size_t end) const {
    const std::string& next = tokens_[end + 1].text;
    const std::string& before = tokens_[at - 1].text;
    const bool compound =
        next.size() > 1 && next.back() == '=' && next != "==" && next != "<=" && next != ">=" && next != "!=";
    const bool unclear = compound || next == "++" || next == "--" || next == "." || next == "->" ||
                         next == "[" || before == "++" || before == "--" || before == "&";
    return parameter.is_const ? "TG_READS"
           : next == "="      ? "TG_WRITES"
           : unclear          ? "TG_READS | TG_WRITES"
                              : "TG_READS";
  }

  const TranslationUnit& unit_;
  const std::vector<Token>& tokens_;
  Edits edits_;
  WatchedUnit result_;
};

} // namespace

WatchedUnit watch_accesses(const TranslationUnit& unit,
                           const std::map<std::string, std::set<std::size_t>>& watched) {
  return Watcher(unit).run(watched);
}

} // namespace tidegate::opencl_c
