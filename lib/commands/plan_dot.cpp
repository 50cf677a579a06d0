// The picture of a plan: groups as columns from left to right, waves from top to bottom.
#include <tidegate/commands/plan.hpp>
#include <tidegate/core/bytes.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/planning/layered.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <unordered_set>
#include <vector>

namespace tidegate::commands {
namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
constexpr std::size_t edges_per_wave = 3;

// Lines as a quoted Graphviz string; each ends with `line_end`, which says how it is aligned. Pictures are
// looked at on terminals too: names are made printable here.
std::string dot_quoted(const std::vector<std::string>& lines, std::string_view line_end = "") {
  std::string quoted = "\"";
  for (const std::string& line : lines) {
    quoted += line_end.empty() && quoted.size() > 1 ? "\\n" : "";
    for (const char c : printable(line)) {
      if (c == '&') { // Graphviz reads HTML entities in labels
        quoted += "&amp;";
        continue;
      }
      if (c == '"' || c == '\\') {
        quoted += '\\';
      }
      quoted += c;
    }
    quoted += line_end;
  }
  // U+FFFE and U+FFFF are in no XML, nor in an SVG: the replacement character stands for them.
  for (const std::string_view forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    for (std::size_t at = quoted.find(forbidden); at != std::string::npos; at = quoted.find(forbidden, at)) {
      quoted.replace(at, forbidden.size(), "\xef\xbf\xbd");
    }
  }
  return quoted + "\"";
}

// From near white at nothing to a middling blue at the whole budget, on which black text still reads well.
std::string colour_of(std::uint64_t bytes, std::uint64_t budget) {
  const double share = budget == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(budget);
  const auto mix = [share](int empty, int full) {
    return static_cast<int>(std::lround(empty + (full - empty) * share));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0xf4, 0x7f), mix(0xf8, 0xb2), mix(0xfc, 0xdd));
}

// One longest chain of dependencies, by waves, from its first wave to its last. Groups are in the order of
// the dependencies, so one walk over the plan finds it.
std::vector<std::uint32_t> critical_path(const PlannedDag& planned) {
  const std::vector<planning::Dependency>& dependencies = planned.named.dag.dependencies;
  const planning::MemoryPlan& plan = planned.plan;
  std::vector<std::uint32_t> group_of(plan.order.size());
  for (std::uint32_t group = 0; group < plan.group_count(); ++group) {
    for (const std::uint32_t wave : plan.group(group)) {
      group_of[wave] = group;
    }
  }
  std::vector<std::uint32_t> edges(dependencies.size());
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    edges[i] = i;
  }
  std::ranges::stable_sort(edges, {},
                           [&](std::uint32_t edge) { return group_of[dependencies[edge].before]; });
  std::vector<std::uint32_t> length(plan.order.size(), 1);
  std::vector<std::uint32_t> previous(plan.order.size(), none);
  for (const std::uint32_t edge : edges) {
    const auto [before, after] = dependencies[edge];
    if (length[before] + 1 > length[after]) {
      length[after] = length[before] + 1;
      previous[after] = before;
    }
  }
  std::vector<std::uint32_t> path;
  if (!length.empty()) {
    auto wave = static_cast<std::uint32_t>(std::ranges::max_element(length) - length.begin());
    for (; wave != none; wave = previous[wave]) {
      path.push_back(wave);
    }
  }
  std::ranges::reverse(path);
  return path;
}

class Picture {
public:
  Picture(const PlannedDag& planned, std::size_t most_waves)
      : named_(planned.named), plan_(planned.plan),
        budget_(named_.dag.budget_bytes - named_.dag.resident_graph_bytes), most_waves_(most_waves),
        path_(critical_path(planned)), next_on_path_(plan_.order.size(), none),
        on_path_(plan_.order.size(), false), drawn_(plan_.order.size(), false),
        most_edges_(most_waves > everything / edges_per_wave ? everything : most_waves * edges_per_wave) {
    for (std::size_t i = 0; i < path_.size(); ++i) {
      on_path_[path_[i]] = true;
      next_on_path_[path_[i]] = i + 1 < path_.size() ? path_[i + 1] : none;
    }
  }

  std::string draw(const std::string& headline) {
    std::size_t groups = 0;
    for (; groups < plan_.group_count() && drawn_waves_ < most_waves_; ++groups) {
      cluster(groups);
    }
    const std::size_t missing = plan_.order.size() - drawn_waves_;
    if (groups < plan_.group_count()) {
      line("  more [shape=note, style=filled, fillcolor=\"#fff7d6\", label={}]",
           dot_quoted({fmt::format("{} more", plural(plan_.group_count() - groups, "group"))}));
      anchors_.emplace_back("more");
    }
    // Columns stay in the order of the groups, also where no dependency says so.
    for (std::size_t i = 1; i < anchors_.size(); ++i) {
      line("  {} -> {} [style=invis, weight=0]", anchors_[i - 1], anchors_[i]);
    }
    edges();

    std::vector<std::string> title{headline, fmt::format("budget of a group {}, critical path of {} in red",
                                                         bytes_text(budget_), plural(path_.size(), "wave"))};
    if (missing != 0) {
      title.push_back(
          fmt::format("{} of {} waves are drawn; --most-waves draws more", drawn_waves_, plan_.order.size()));
    }
    if (missing_edges_ != 0) {
      title.push_back(fmt::format("{} of {} dependencies between them are drawn", drawn_edges_,
                                  drawn_edges_ + missing_edges_));
    }
    return fmt::format(R"(digraph tidegate {{
  rankdir=LR; newrank=true; ranksep=0.9; nodesep=0.12; compound=true;
  label={}; labelloc=t; labeljust=l;
  fontname="Helvetica"; fontsize=16;
  node [fontname="Helvetica", fontsize=11, shape=box, style="rounded,filled", fillcolor=white, color="#5b6b7b"];
  edge [color="#7a8a9a", arrowsize=0.6];
{}}}
)",
                       dot_quoted(title, "\\l"), body_);
  }

private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(body_), text, std::forward<Arguments>(arguments)...);
    body_ += ";\n";
  }

  void cluster(std::size_t group) {
    const auto waves = plan_.group(group);
    const std::uint64_t bytes = plan_.group_fused_bytes[group];
    const std::vector<std::string> label{
        fmt::format("group {}", group), fmt::format("{}, {}", bytes_text(bytes), share_text(bytes, budget_))};
    body_ += fmt::format("  subgraph cluster_{} {{\n", group);
    line(
        "    label={}; fontsize=12; style=\"rounded,filled\"; color=\"#b5c3d1\"; fillcolor=\"{}\"; rank=same",
        dot_quoted(label, "\\l"), colour_of(bytes, budget_));
    anchors_.push_back(fmt::format("w{}", waves.front()));
    const std::size_t shown = std::min(waves.size(), most_waves_ - drawn_waves_);
    for (const std::uint32_t wave : waves.first(shown)) {
      const std::vector<std::string> text{named_.wave_label(wave),
                                          bytes_text(*planning::fused_bytes(named_.dag.waves[wave]))};
      line("    w{} [label={}{}]", wave, dot_quoted(text),
           on_path_[wave] ? ", color=\"#c0392b\", penwidth=2" : "");
      drawn_[wave] = true;
    }
    drawn_waves_ += shown;
    if (shown < waves.size()) {
      line("    more_of_{} [shape=note, style=filled, fillcolor=\"#fff7d6\", label={}]", group,
           dot_quoted({fmt::format("{} more", plural(waves.size() - shown, "wave"))}));
    }
    body_ += "  }\n";
  }

  // Between drawn waves, each once. A picture of very many takes minutes to lay out and shows nothing; the
  // critical path is always in it.
  void edges() {
    std::unordered_set<std::uint64_t> seen; // a dependency may be given twice
    for (const auto& [before, after] : named_.dag.dependencies) {
      if (!drawn_[before] || !drawn_[after] || !seen.insert(std::uint64_t{before} << 32U | after).second) {
        continue;
      }
      const bool critical = next_on_path_[before] == after;
      if (drawn_edges_ < most_edges_ || critical) {
        line("  w{} -> w{}{}", before, after, critical ? " [color=\"#c0392b\", penwidth=2.2]" : "");
        ++drawn_edges_;
      }
    }
    missing_edges_ = seen.size() - drawn_edges_;
  }

  const NamedDag& named_;
  const planning::MemoryPlan& plan_;
  const std::uint64_t budget_;
  const std::size_t most_waves_;
  const std::vector<std::uint32_t> path_;
  std::vector<std::uint32_t> next_on_path_;
  std::vector<bool> on_path_;
  std::vector<bool> drawn_;
  std::size_t drawn_waves_ = 0;
  std::size_t most_edges_;
  std::size_t drawn_edges_ = 0;
  std::size_t missing_edges_ = 0;
  std::vector<std::string> anchors_; // a node in each column
  std::string body_;
};

} // namespace

std::string plan_dot(const PlannedDag& planned, const PlanOptions& options, std::size_t most_waves) {
  return Picture(planned, most_waves == 0 ? everything : most_waves).draw(plan_headline(planned, options));
}

} // namespace tidegate::commands
