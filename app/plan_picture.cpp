// Pictures of plans. Waves are alike when their names differ in a number at the end (mProject_ID0000001,
// mProject_ID0000002), or when they have no names and need the same bytes. A dependency that others imply is left
// out: between groups that stand in order the direct ones say it all, and long ones across the whole page say
// nothing.
#include "app/plan.hpp"
#include <tidegate/core/text.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tidegate::app {
namespace {

using Edge = std::array<std::uint32_t, 2>;

// Beyond this size reachability takes too much memory, and single lines cannot be made out.
constexpr std::size_t most_reduced = 4096;

std::uint64_t bytes_of(const NamedDag& named, std::uint32_t wave) {
  return *planning::fused_bytes(named.dag.waves[wave]);
}

std::string bytes_of_all(const NamedDag& named, const std::vector<std::uint32_t>& waves) {
  const auto [least, most] =
      std::ranges::minmax(waves, {}, [&named](std::uint32_t wave) { return bytes_of(named, wave); });
  const std::string from = bytes_text(bytes_of(named, least));
  const std::string to = bytes_text(bytes_of(named, most));
  return waves.size() == 1 ? from : from == to ? from + " each" : fmt::format("{} to {}", from, to);
}

void add_boxes(const PlannedDag& planned, std::uint32_t group, bool each_wave, std::vector<PlanBox>& boxes) {
  const NamedDag& named = planned.named;
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> known;
  for (const std::uint32_t wave : planned.plan.group(group)) {
    const std::string name = named.names.empty() ? "" : named.names[wave];
    const auto key = std::pair(common_name(name), name.empty() ? bytes_of(named, wave) : 0);
    const auto [found, is_new] = known.try_emplace(key, boxes.size());
    if (is_new || each_wave) {
      boxes.push_back({.group = group, .waves = {wave}, .name = key.first, .bytes = {}});
    } else {
      boxes[found->second].waves.push_back(wave);
    }
  }
}

// The edges that no way over other edges implies: a box reaches the direct successors in front of it and all
// that they reach. Boxes are in the order of their groups, so that edges lead to later ones.
std::vector<Edge> without_implied(const std::vector<Edge>& edges, std::size_t box_count) {
  const std::size_t words = (box_count + 63) / 64;
  std::vector<std::vector<std::uint64_t>> reached(box_count);
  std::vector<Edge> direct;
  auto end = edges.rbegin();
  for (auto box = static_cast<std::uint32_t>(box_count); box-- != 0;) {
    std::vector<std::uint64_t>& mine = reached[box];
    mine.resize(words);
    const auto begin = end;
    while (end != edges.rend() && (*end)[0] == box) {
      ++end;
    }
    // The nearest successors first: what they reach is implied.
    std::vector<Edge> from_here(begin, end);
    std::ranges::reverse(from_here);
    for (const Edge& edge : from_here) {
      if ((mine[edge[1] / 64] >> edge[1] % 64 & 1U) == 0) {
        direct.push_back(edge);
        mine[edge[1] / 64] |= std::uint64_t{1} << edge[1] % 64;
        for (std::size_t word = 0; word < words; ++word) {
          mine[word] |= reached[edge[1]][word];
        }
      }
    }
  }
  return direct;
}

} // namespace

std::string common_name(const std::string& name) {
  constexpr std::string_view digits = "0123456789";
  constexpr std::string_view separators = "_-.:# ";
  const std::size_t number = name.find_last_not_of(digits) + 1; // npos + 1 is 0
  if (number == name.size() || number == 0) {
    return name;
  }
  // The whole last word goes with its number, if that leaves anything.
  const std::size_t word = name.find_last_of(separators, number - 1);
  const std::size_t end = word == std::string::npos ? number : word;
  const std::size_t last = name.find_last_not_of(separators, end - (end == 0 ? 0 : 1));
  return last == std::string::npos ? name.substr(0, number) : name.substr(0, last + 1);
}

BoxedPlan box_plan(const PlannedDag& planned, bool each_wave, const std::vector<std::uint32_t>& kept_path) {
  const NamedDag& named = planned.named;
  BoxedPlan plan;
  for (std::uint32_t group = 0; group < planned.plan.group_count(); ++group) {
    add_boxes(planned, group, each_wave, plan.boxes);
  }
  plan.box_of.resize(named.dag.waves.size());
  for (std::uint32_t i = 0; i < plan.boxes.size(); ++i) {
    PlanBox& box = plan.boxes[i];
    const std::size_t count = box.waves.size();
    box.name = count == 1         ? named.wave_label(box.waves.front())
               : box.name.empty() ? fmt::format("waves ×{}", count)
                                  : fmt::format("{} ×{}", box.name, count);
    box.bytes = bytes_of_all(named, box.waves);
    for (const std::uint32_t wave : box.waves) {
      plan.box_of[wave] = i;
    }
  }
  std::set<Edge> all; // a dependency may be given twice
  for (const auto& [before, after] : named.dag.dependencies) {
    all.insert({plan.box_of[before], plan.box_of[after]});
  }
  plan.edges.assign(all.begin(), all.end());
  if (plan.boxes.size() <= most_reduced) {
    plan.edges = without_implied(plan.edges, plan.boxes.size());
    for (std::size_t i = 1; i < kept_path.size(); ++i) {
      plan.edges.push_back({plan.box_of[kept_path[i - 1]], plan.box_of[kept_path[i]]});
    }
    std::ranges::sort(plan.edges);
    plan.edges.erase(std::unique(plan.edges.begin(), plan.edges.end()), plan.edges.end());
  }
  plan.implied = all.size() - plan.edges.size();
  return plan;
}

// The picture of a plan: groups from top to bottom, the boxes of a group from left to right, in rows that
// wrap.

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
constexpr std::size_t edges_per_box = 3;

// As wide as a page on which the text can still be read.
constexpr std::size_t characters_across = 100;
constexpr std::size_t blanks_between = 5;
constexpr std::size_t most_characters = 32; // of a name

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
  Picture(const PlannedDag& planned, std::size_t most_boxes, bool each_wave)
      : plan_(planned.plan), dag_(planned.named.dag), budget_(dag_.budget_bytes - dag_.resident_graph_bytes),
        shared_(budget_ == no_limit ? 0 : budget_), most_boxes_(most_boxes), path_(critical_path(planned)),
        boxed_(box_plan(planned, each_wave, path_)), on_path_(boxed_.boxes.size(), false) {
    for (std::size_t i = 0; i < path_.size(); ++i) {
      on_path_[boxed_.box_of[path_[i]]] = true;
      if (i != 0) {
        path_edges_.insert({boxed_.box_of[path_[i - 1]], boxed_.box_of[path_[i]]});
      }
    }
  }

  std::string draw(const std::string& headline) {
    std::uint32_t groups = 0;
    for (; groups < plan_.group_count() && drawn_ < most_boxes_; ++groups) {
      cluster(groups);
    }
    if (groups < plan_.group_count()) {
      line("  more [{}, label={}]", note,
           dot_quoted({plural(plan_.group_count() - groups, "group") + " more"}));
      rows_.emplace_back("more");
    }
    // Rows stay in their order, also where no dependency says so, and the names of the groups in a column.
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      line("  {} -> {} [style=invis, weight={}]", rows_[i - 1], rows_[i], rows_[i][0] == 'g' ? 100 : 1);
    }
    edges();
    return fmt::format(R"(digraph tidegate {{
  rankdir=TB; newrank=true; ranksep=0.35; nodesep=0.15;
  label={}; labelloc=t; labeljust=l;
  fontname="Helvetica"; fontsize=14;
  node [fontname="Helvetica", fontsize=11, shape=box, style="rounded,filled", fillcolor=white, color="#5b6b7b", height=0.4, margin="0.1,0.05"];
  edge [color="#7a8a9a", arrowsize=0.6];
{}}}
)",
                       dot_quoted(title(headline), "\\l"), body_);
  }

private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(body_), text, std::forward<Arguments>(arguments)...);
    body_ += ";\n";
  }

  [[nodiscard]] std::vector<std::string> title(const std::string& headline) const {
    std::vector<std::string> lines{
        headline,
        fmt::format("{}, critical path of {} in red",
                    shared_ == 0 && budget_ != 0 ? "no budget" : "budget of a group " + bytes_text(budget_),
                    plural(path_.size(), "wave"))};
    if (drawn_waves_ != plan_.order.size()) {
      lines.push_back(
          fmt::format("{} of {} waves are drawn; --most-waves draws more", drawn_waves_, plan_.order.size()));
    }
    if (boxed_.boxes.size() != plan_.order.size()) {
      lines.emplace_back("×: number of similar waves; --each-wave draws them one by one");
    }
    if (boxed_.implied != 0) {
      lines.push_back(plural(boxed_.implied, "arrow") + " that others imply left out");
    }
    if (missing_edges_ != 0) {
      lines.push_back(fmt::format("{} of {} dependencies between them are drawn", drawn_edges_,
                                  drawn_edges_ + missing_edges_));
    }
    return lines;
  }

  void cluster(std::uint32_t group) {
    const std::uint64_t bytes = plan_.group_fused_bytes[group];
    const std::string share = share_text(bytes, shared_);
    body_ += fmt::format("  subgraph cluster_{} {{\n", group);
    line(R"(    label=""; style="rounded,filled"; color="#b5c3d1"; fillcolor="{}")",
         colour_of(bytes, shared_));
    line(R"(    g{} [shape=plaintext, style="", label={}])", group,
         dot_quoted({fmt::format("group {}", group), bytes_text(bytes) + (share.empty() ? "" : ", ") + share},
                    "\\l"));
    rows_.push_back(fmt::format("g{}", group));
    std::string row = rows_.back(); // what stands in it
    std::size_t width = 0;
    const auto add = [&](const std::string& node, const std::vector<std::string>& label) {
      const std::size_t needed =
          std::max(character_count(label.front()), character_count(label.back())) + blanks_between;
      if (width != 0 && width + needed > characters_across) {
        line("    {{rank=same; {}}}", row);
        row.clear();
        rows_.push_back(node);
        width = 0;
      }
      row += (row.empty() ? "" : "; ") + node;
      width += needed;
    };
    for (; next_ < boxed_.boxes.size() && boxed_.boxes[next_].group == group; ++next_) {
      const PlanBox& box = boxed_.boxes[next_];
      if (drawn_ == most_boxes_) {
        const std::string node = fmt::format("more_of_{}", group);
        const std::size_t left = plan_.group(group).size() - drawn_of_group_;
        add(node, {plural(left, "wave") + " more"});
        line("    {} [{}, label={}]", node, note, dot_quoted({plural(left, "wave") + " more"}));
        break;
      }
      const std::string node = fmt::format("w{}", box.waves.front());
      const std::vector<std::string> label{shortened_middle(box.name, most_characters), box.bytes};
      add(node, label);
      line("    {} [label={}{}]", node, dot_quoted(label),
           on_path_[next_] ? ", color=\"#c0392b\", penwidth=2" : "");
      ++drawn_;
      drawn_of_group_ += box.waves.size();
    }
    line("    {{rank=same; {}}}", row);
    body_ += "  }\n";
    drawn_waves_ += drawn_of_group_;
    drawn_of_group_ = 0;
  }

  // Between drawn boxes. A picture of very many takes minutes to lay out and shows nothing; the critical path
  // is always in it.
  void edges() {
    const std::size_t most =
        most_boxes_ > everything / edges_per_box ? everything : most_boxes_ * edges_per_box;
    for (const auto& edge : boxed_.edges) {
      if (std::max(edge[0], edge[1]) >= drawn_) {
        continue;
      }
      const bool critical = path_edges_.contains(edge);
      if (drawn_edges_ < most || critical) {
        line("  w{} -> w{}{}", boxed_.boxes[edge[0]].waves.front(), boxed_.boxes[edge[1]].waves.front(),
             critical ? " [color=\"#c0392b\", penwidth=2.2]" : "");
        ++drawn_edges_;
      } else {
        ++missing_edges_;
      }
    }
  }

  static constexpr std::string_view note = "shape=note, style=filled, fillcolor=\"#fff7d6\"";

  const planning::MemoryPlan& plan_;
  const planning::WaveDag& dag_;
  const std::uint64_t budget_;
  const std::uint64_t shared_; // the budget that shares refer to; 0 where there is no limit
  const std::size_t most_boxes_;
  const std::vector<std::uint32_t> path_;
  const BoxedPlan boxed_;
  std::vector<bool> on_path_; // by box
  std::set<std::array<std::uint32_t, 2>> path_edges_;
  std::size_t next_ = 0;  // box
  std::size_t drawn_ = 0; // boxes, from the first
  std::size_t drawn_of_group_ = 0, drawn_waves_ = 0;
  std::size_t drawn_edges_ = 0, missing_edges_ = 0;
  std::vector<std::string> rows_; // a node in each
  std::string body_;
};

} // namespace

std::string plan_dot(const PlannedDag& planned, const PlanOptions& options, const PictureOptions& picture) {
  const std::size_t most = picture.most_boxes == 0 ? everything : picture.most_boxes;
  return Picture(planned, most, picture.each_wave).draw(plan_headline(planned, options));
}

} // namespace tidegate::app
