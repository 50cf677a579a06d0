// Pictures of plans. Waves are alike when their names differ in a number at the end (mProject_ID0000001,
// mProject_ID0000002), or when they have no names and need the same bytes. A dependency that other dependencies imply
// is left out: groups are drawn in order, so the direct ones suffice, and long arrows across the page are hard to
// follow.
#include "app/plan.hpp"

namespace tidegate::app {
namespace {

using Edge = std::array<std::uint32_t, 2>;

// With more boxes, reachability takes too much memory, and a reader cannot tell single lines apart.
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

void add_boxes(const PlannedDag& planned, std::uint32_t group, std::vector<PlanBox>& boxes) {
  const NamedDag& named = planned.named;
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> known;
  for (const std::uint32_t wave : planned.plan.group(group)) {
    const std::string name = named.names.empty() ? "" : named.names[wave];
    const auto key = std::pair(common_name(name), name.empty() ? bytes_of(named, wave) : 0);
    const auto [found, is_new] = known.try_emplace(key, boxes.size());
    if (is_new) {
      boxes.push_back({.group = group, .waves = {wave}, .name = key.first, .bytes = {}});
    } else {
      boxes[found->second].waves.push_back(wave);
    }
  }
}

// Returns the transitive reduction: the edges that no path over other edges implies. Boxes are in the order of their
// groups, so every edge leads to a later box, and the walk from the last box to the first knows what each successor
// reaches.
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
    // Visits the nearest successors first: an edge to a box that they reach is implied.
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
  // Removes the last word with its number; removes only the number if nothing else would be left.
  const std::size_t word = name.find_last_of(separators, number - 1);
  const std::size_t end = word == std::string::npos ? number : word;
  const std::size_t last = name.find_last_not_of(separators, end - (end == 0 ? 0 : 1));
  return last == std::string::npos ? name.substr(0, number) : name.substr(0, last + 1);
}

BoxedPlan box_plan(const PlannedDag& planned, const std::vector<std::uint32_t>& kept_path) {
  const NamedDag& named = planned.named;
  BoxedPlan plan;
  for (std::uint32_t group = 0; group < planned.plan.group_count(); ++group) {
    add_boxes(planned, group, plan.boxes);
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

// Draws a plan: groups from top to bottom, the boxes of a group from left to right, in rows that wrap.

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t most_boxes = 300; // a picture of more is hard to read
constexpr std::size_t edges_per_box = 3;

constexpr std::size_t most_characters = 32; // of a name

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

class Picture : Drawing {
public:
  Picture(const PlannedDag& planned, std::vector<std::size_t> colours)
      : planned_(planned), plan_(planned.plan), dag_(planned.named.dag),
        budget_(dag_.budget_bytes - dag_.resident_graph_bytes), shared_(budget_ == no_limit ? 0 : budget_),
        wave_colours_(std::move(colours)), path_(critical_path(planned)), boxed_(box_plan(planned, path_)),
        on_path_(boxed_.boxes.size(), false), places_(boxed_.boxes.size()) {
    for (std::size_t i = 0; i < path_.size(); ++i) {
      on_path_[boxed_.box_of[path_[i]]] = true;
      if (i != 0) {
        path_edges_.insert({boxed_.box_of[path_[i - 1]], boxed_.box_of[path_[i]]});
      }
    }
  }

  // Draws the boxes of each group in rows, near the boxes that they depend on. The picture states what it leaves out.
  std::string draw(const std::string& headline) {
    std::uint32_t groups = 0;
    std::string frames;
    for (; groups < plan_.group_count() && drawn_ < most_boxes; ++groups) {
      frames += svg_group(groups);
    }
    if (groups < plan_.group_count()) {
      add_text(margin, y_ + 14, "soft", plural(plan_.group_count() - groups, "group") + " more");
      y_ += row_gap + box_height;
    }
    const std::string boxes = take();
    std::vector<Edge> path; // on top of the others
    each_edge(
        [&](const Edge& edge, bool critical) { critical ? path.push_back(edge) : svg_edge(edge, false); });
    for (const Edge& edge : path) {
      svg_edge(edge, true);
    }
    const std::string lines = take();
    svg_repetition(groups);
    const std::string repetition = take();
    double top = margin;
    for (const std::string& text : title(headline)) {
      top += 18;
      add_text(margin, top, top < 2 * margin ? "head" : "soft", text);
    }
    top = svg_overview(top + 14, groups);
    return fmt::format(
        R"svg({0}<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path class="arrow" d="M0 0 L8 4 L0 8 z"/></marker></defs>
<rect class="page" width="100%" height="100%"/>
{1}<g transform="translate(0 {2:.0f})">
{3}{4}{5}{6}</g>
</svg>
)svg",
        svg_head(page_width, top + y_ + margin), take(), top, frames, lines, boxes, repetition);
  }

private:
  // Adds the boxes of a group, and returns its frame.
  std::string svg_group(std::uint32_t group) {
    std::vector<std::uint32_t> order;
    while (next_ < boxed_.boxes.size() && boxed_.boxes[next_].group == group) {
      order.push_back(static_cast<std::uint32_t>(next_++));
    }
    // Draws the first boxes by index, so that edges can tell a drawn box by its index (each_edge()).
    const std::size_t shown = std::min(order.size(), most_boxes - drawn_);
    const std::size_t left_out = order.size() - shown;
    order.resize(shown);
    std::ranges::stable_sort(order, {}, [this](std::uint32_t box) { return mean_x(box); });
    const double top = y_;
    double x = boxes_left;
    double y = top + pad;
    const auto flow = [&](double width) {
      if (x > boxes_left && x + width > page_width - margin - pad) {
        x = boxes_left;
        y += box_height + row_gap;
      }
      return std::exchange(x, x + width + row_gap);
    };
    std::size_t waves = 0;
    for (const std::uint32_t box : order) {
      const std::string name = shortened_middle(boxed_.boxes[box].name, most_characters);
      const double width = 28 + std::max(7.8 * static_cast<double>(character_count(name)),
                                         6.4 * static_cast<double>(character_count(boxed_.boxes[box].bytes)));
      const double at = flow(width);
      places_[box] = {at, y, width};
      svg_box(box, name);
      waves += boxed_.boxes[box].waves.size();
    }
    drawn_ += shown;
    drawn_waves_ += waves;
    if (left_out != 0) {
      add_text(flow(120), y + 24, "soft", plural(plan_.group(group).size() - waves, "wave") + " more");
    }
    const double height = std::max(y + box_height + pad - top, 2 * pad + box_height);
    y_ = top + height + group_gap;
    group_tops_.push_back(top);
    const std::uint64_t bytes = plan_.group_fused_bytes[group];
    const std::string share = share_text(bytes, shared_);
    const std::string heads = take();
    const double full = shared_ == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(shared_);
    add(R"(<rect class="group" x="{0}" y="{1:.1f}" width="{2}" height="{3:.1f}" rx="8"/><rect class="full" fill-opacity="{4:.3f}" x="{0}" y="{1:.1f}" width="{2}" height="{3:.1f}" rx="8"/>)"
        "\n",
        margin, top, page_width - 2 * margin, height, 0.3 * full);
    add_text(margin + pad, top + pad + 14, "head", fmt::format("group {}", group));
    add_text(margin + pad, top + pad + 31, "soft", bytes_text(bytes) + (share.empty() ? "" : ", ") + share);
    return std::exchange(body_, heads);
  }

  void svg_box(std::uint32_t index, const std::string& name) {
    const PlanBox& box = boxed_.boxes[index];
    const auto [x, y, width] = places_[index];
    constexpr std::size_t most_of_box = 20;
    std::string all;
    for (std::size_t i = 0; i < std::min(box.waves.size(), most_of_box); ++i) {
      all += (i == 0 ? "" : ", ") + planned_.named.wave_label(box.waves[i]);
    }
    const std::uint32_t wave = box.waves.front();
    const std::size_t colour =
        wave_colours_.empty()
            ? colours_.emplace(common_name(planned_.named.wave_label(wave)), colours_.size()).first->second
            : wave_colours_[wave];
    add("<g><title>{}{}: {}</title>", xml_text(all), box.waves.size() > most_of_box ? ", …" : "", box.bytes);
    add(R"(<rect class="box{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" rx="5"/><rect x="{:.1f}" y="{:.1f}" width="4" height="{}" rx="2" fill="{}"/>)",
        on_path_[index] ? " critical" : "", x, y, width, box_height, x + 4, y + 6, box_height - 12,
        picture_colours[colour % picture_colours.size()]);
    add_text(x + 15, y + 17, "name", name);
    add_text(x + 15, y + 32, "soft", box.bytes);
    body_ += "</g>\n";
  }

  // The mean position of the boxes that a box depends on; 0 without any.
  [[nodiscard]] double mean_x(std::uint32_t box) {
    if (before_.empty()) {
      for (const Edge& edge : boxed_.edges) {
        before_[edge[1]].push_back(edge[0]);
      }
    }
    double sum = 0;
    const auto& from = before_[box];
    for (const std::uint32_t other : from) {
      sum += places_[other].x + places_[other].width / 2;
    }
    return from.empty() ? 0 : sum / static_cast<double>(from.size());
  }

  void svg_edge(const Edge& edge, bool critical) {
    const Place& from = places_[edge[0]];
    const Place& to = places_[edge[1]];
    const double x1 = from.x + from.width / 2;
    const double y1 = from.y + box_height;
    const double x2 = to.x + to.width / 2;
    const double bend = std::max(18.0, (to.y - y1) * 0.45);
    add("<path class=\"edge{}\" marker-end=\"url(#tip)\" d=\"M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>\n",
        critical ? " critical" : "", x1, y1, x1, y1 + bend, x2, to.y - bend, x2, to.y);
  }

  // A bracket next to the groups that repeat.
  void svg_repetition(std::uint32_t groups) {
    const std::vector<engine::Section>& sections = planned_.named.sections;
    std::optional<double> begin;
    double end = 0;
    for (std::uint32_t group = 0; group < groups && !sections.empty() && planned_.named.iterations > 1;
         ++group) {
      if (sections[plan_.group(group).front()] == engine::Section::each) {
        begin = begin.value_or(group_tops_[group]);
        end = (group + 1 < groups ? group_tops_[group + 1] : y_) - group_gap;
      }
    }
    if (begin) {
      add("<path class=\"repeats\" d=\"M{0} {1:.1f} h-6 V{2:.1f} h6\"/>\n", margin - 3, *begin, end);
      add("<text class=\"soft\" transform=\"translate({} {:.1f}) rotate(-90)\">{}</text>\n", margin - 13, end,
          plural(planned_.named.iterations, "iteration"));
    }
  }

  // If there are many groups, draws one bar for each, in colour if the group is drawn below. Returns the y of the end.
  double svg_overview(double top, std::uint32_t drawn_groups) {
    constexpr std::size_t few = 12;
    constexpr double height = 44;
    const std::size_t count = plan_.group_count();
    if (count <= few) {
      return top;
    }
    const std::uint64_t most = std::max<std::uint64_t>(std::ranges::max(plan_.group_fused_bytes), 1);
    const auto bars = std::min<std::size_t>(count, 400);
    const double each = (page_width - 2 * margin) / static_cast<double>(bars);
    for (std::size_t bar = 0; bar < bars; ++bar) { // shows the largest of its groups
      const std::size_t first = bar * count / bars;
      const auto part = std::span(plan_.group_fused_bytes).subspan(first, (bar + 1) * count / bars - first);
      const std::size_t group =
          first + static_cast<std::size_t>(std::ranges::max_element(part) - part.begin());
      const double high = std::max(1.0, height * static_cast<double>(plan_.group_fused_bytes[group]) /
                                            static_cast<double>(most));
      add("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>group {}: {}</title></rect>\n",
          group < drawn_groups ? "full" : "soft", margin + each * static_cast<double>(bar),
          top + height - high, std::max(1.0, each - 1), high, group,
          bytes_text(plan_.group_fused_bytes[group]));
    }
    add_text(margin, top + height + 16, "soft",
             fmt::format("all {} groups, the largest of {}", count, bytes_text(most)));
    return top + height + 34;
  }

  [[nodiscard]] std::vector<std::string> title(const std::string& headline) const {
    std::vector<std::string> lines{
        headline,
        fmt::format("{}, critical path of {} in red",
                    shared_ == 0 && budget_ != 0 ? "no budget" : "budget of a group " + bytes_text(budget_),
                    plural(path_.size(), "wave"))};
    if (drawn_waves_ != plan_.order.size()) {
      lines.push_back(fmt::format("{} of {} waves are drawn", drawn_waves_, plan_.order.size()));
    }
    if (boxed_.boxes.size() != plan_.order.size()) {
      lines.emplace_back("×: number of similar waves");
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

  // Calls `draw` for edges between drawn boxes. Draws a limited number, because a picture of very many shows nothing; edges
  // of the critical path are always drawn.
  template <class Draw>
  void each_edge(const Draw& draw) {
    constexpr std::size_t most = most_boxes * edges_per_box;
    for (const auto& edge : boxed_.edges) {
      if (std::max(edge[0], edge[1]) >= drawn_) {
        continue;
      }
      const bool critical = path_edges_.contains(edge);
      if (drawn_edges_ < most || critical) {
        draw(edge, critical);
        ++drawn_edges_;
      } else {
        ++missing_edges_;
      }
    }
  }

  struct Place { // of a box
    double x = 0, y = 0, width = 0;
  };

  static constexpr double page_width = 960, margin = 34, pad = 10, box_height = 40, row_gap = 10,
                          group_gap = 26;
  static constexpr double boxes_left = 180;

  const PlannedDag& planned_;
  const planning::MemoryPlan& plan_;
  const planning::WaveDag& dag_;
  const std::uint64_t budget_;
  const std::uint64_t shared_; // the budget that shares refer to; 0 where there is no limit
  const std::vector<std::size_t> wave_colours_;
  const std::vector<std::uint32_t> path_;
  const BoxedPlan boxed_;
  std::vector<bool> on_path_; // by box
  std::set<std::array<std::uint32_t, 2>> path_edges_;
  std::size_t next_ = 0;  // box
  std::size_t drawn_ = 0; // boxes, from the first
  std::size_t drawn_waves_ = 0;
  std::size_t drawn_edges_ = 0, missing_edges_ = 0;
  std::vector<Place> places_; // by box
  std::map<std::uint32_t, std::vector<std::uint32_t>> before_;
  std::map<std::string, std::size_t> colours_; // by common name
  std::vector<double> group_tops_;
  double y_ = 0; // end of what is drawn
};

} // namespace

std::string plan_svg(const PlannedDag& planned, const PlanOptions& options,
                     std::vector<std::size_t> colours) {
  return Picture(planned, std::move(colours)).draw(plan_headline(planned, options));
}

} // namespace tidegate::app
