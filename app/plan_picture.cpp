// Pictures of plans and arenas, and what all pictures share. A dependency that other dependencies imply is left out: groups are drawn
// in order, so the direct ones suffice, and long arrows across the page are hard to follow.
#include "app/plan.hpp"

#include <bitset>

namespace tidegate::app {

std::string xml_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    safe += c == '&'   ? "&amp;"
            : c == '<' ? "&lt;"
            : c == '>' ? "&gt;"
            : c == '"' ? "&quot;"
                       : std::string(1, c);
  }
  return safe;
}

// A short form of the styles of the --html page (report_page.html), which has such pictures in it.
constexpr std::string_view svg_style = R"(
  .picture { --page: #f4f6f8; --card: #ffffff; --ink: #18212c; --soft: #55626f; --line: #dce2e8; --accent: #1a69aa; --bad: #b3261e; }
  @media (prefers-color-scheme: dark) {
    .picture { --page: #0e1318; --card: #161c23; --ink: #e5eaf0; --soft: #9eabb8; --line: #2b353f; --accent: #70b5ee; --bad: #ff8f85; }
  }
  .picture text { fill: var(--ink); font-size: 13px; font-family: system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
  .picture .soft { fill: var(--soft); font-size: 11px; }
  .picture .head { font-weight: 600; }
  .picture .page { fill: var(--page); }
  .picture .group { fill: var(--card); stroke: var(--line); }
  .picture .full { fill: var(--accent); }
  .picture .box { fill: var(--page); stroke: var(--line); }
  .picture .edge { fill: none; stroke: var(--soft); stroke-width: 1.2; opacity: 0.6; }
  .picture .repeats { fill: none; stroke: var(--soft); }
  .picture .arrow { fill: var(--soft); }
  .picture .bound { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 6 4; }
)";

void Drawing::begin(double width, double height) {
  add(R"(<svg class="picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}">
<style>{2}</style>
<rect class="page" width="100%" height="100%"/>
)",
      width, height, svg_style);
}

void Drawing::add_text(double x, double y, std::string_view style, std::string_view text,
                       std::string_view anchor) {
  add("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", style, x, y, anchor,
      xml_text(text));
}

namespace {

constexpr std::size_t most_boxes = 300; // a picture of more is hard to read

// A box for similar waves of a group: those whose names differ in a number at the end, or that have none and need the same
// bytes.
struct PlanBox {
  std::uint32_t group = 0;
  std::vector<std::uint32_t> waves{}; // at least one
  std::string name{};                 // "mProject ×28"
  std::string bytes{};                // "9.1 MiB", or "9 MiB to 9.3 MiB" from the smallest to the largest
  double x = 0, y = 0, width = 0;
};

using PlanEdge = std::array<std::uint32_t, 2>;
struct BoxedPlan {
  std::vector<PlanBox> boxes; // by group, within one in the order of their first waves
  std::size_t waves = 0;      // in the boxes
  std::set<PlanEdge> edges;   // between boxes, without those that others imply
  std::size_t implied = 0;
};

std::string bytes_of_all(const NamedDag& named, const std::vector<std::uint32_t>& waves) {
  const auto bytes_of = [&named](std::uint32_t wave) {
    return *planning::fused_bytes(named.dag.waves[wave]);
  };
  const auto [least, most] = std::ranges::minmax(waves, {}, bytes_of);
  const std::string from = bytes_text(bytes_of(least)), to = bytes_text(bytes_of(most));
  return waves.size() == 1 ? from : from == to ? from + " each" : fmt::format("{} to {}", from, to);
}

// Returns the transitive reduction: the edges that no path over other edges implies. Every edge leads to a later box, so the
// walk from the last box to the first knows what each successor reaches; the nearest successors come first.
std::set<PlanEdge> without_implied(const std::set<PlanEdge>& edges, std::size_t box_count) {
  std::vector<std::bitset<most_boxes>> reached(box_count);
  std::set<PlanEdge> direct;
  for (auto box = static_cast<std::uint32_t>(box_count); box-- != 0;) {
    for (auto edge = edges.lower_bound({box, 0}); edge != edges.end() && (*edge)[0] == box; ++edge) {
      const std::uint32_t next = (*edge)[1];
      if (!reached[box][next]) {
        reached[box].set(next) |= reached[next];
        direct.insert(*edge);
      }
    }
  }
  return direct;
}

// Returns the common part of the names of similar waves: "mProject_ID0000001" -> "mProject".
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

// Collects the first waves of a plan in boxes.
BoxedPlan box_plan(const PlannedDag& planned) {
  const NamedDag& named = planned.named;
  BoxedPlan plan;
  std::map<std::uint32_t, std::uint32_t> box_of; // by wave
  for (std::uint32_t group = 0; group < planned.plan.group_count(); ++group) {
    std::map<std::pair<std::string, std::uint64_t>, std::uint32_t> known; // by common name, or bytes
    for (const std::uint32_t wave : planned.plan.group(group)) {
      const std::string name = named.names.empty() ? "" : common_name(named.names[wave]);
      const std::uint64_t bytes = name.empty() ? *planning::fused_bytes(named.dag.waves[wave]) : 0;
      const auto [found, is_new] = known.try_emplace({name, bytes}, plan.boxes.size());
      if (is_new && plan.boxes.size() < most_boxes) {
        plan.boxes.push_back({.group = group, .name = name});
      }
      if (found->second < plan.boxes.size()) {
        plan.boxes[found->second].waves.push_back(wave);
        box_of[wave] = found->second;
      }
    }
  }
  plan.waves = box_of.size();
  for (PlanBox& box : plan.boxes) {
    box.bytes = bytes_of_all(named, box.waves);
    box.name = box.waves.size() == 1
                   ? named.wave_label(box.waves[0])
                   : fmt::format("{} ×{}", box.name.empty() ? "waves" : box.name, box.waves.size());
  }
  std::set<PlanEdge> all; // a dependency may be given twice
  for (const auto& [before, after] : named.dag.dependencies) {
    if (box_of.contains(before) && box_of.contains(after)) {
      all.insert({box_of[before], box_of[after]});
    }
  }
  plan.edges = without_implied(all, plan.boxes.size());
  plan.implied = all.size() - plan.edges.size();
  return plan;
}

constexpr double page_width = 960, margin = 34, pad = 10, box_height = 40, row_gap = 10, group_gap = 26;
constexpr double boxes_left = 180;

// A group whose boxes are drawn.
struct GroupFrame {
  double top = 0, height = 0;
};

// Places the boxes of each group in rows that wrap, near the boxes that they depend on. Returns the frames of the groups.
std::vector<GroupFrame> place_boxes(BoxedPlan& boxed) {
  std::vector<GroupFrame> frames;
  double top = 0;
  for (std::size_t first = 0; first < boxed.boxes.size();) {
    std::vector<std::pair<double, PlanBox*>> row; // with the mean position of what each box depends on
    double x = boxes_left, y = top + pad;         // of the next box
    for (; first < boxed.boxes.size() && boxed.boxes[first].group == frames.size(); ++first) {
      double sum = 0, count = 0;
      for (const auto& [before, after] : boxed.edges) {
        if (after == first) {
          sum += boxed.boxes[before].x + boxed.boxes[before].width / 2;
          ++count;
        }
      }
      row.emplace_back(count == 0 ? 0 : sum / count, &boxed.boxes[first]);
    }
    std::ranges::stable_sort(row, {}, &std::pair<double, PlanBox*>::first);
    for (const auto& [at, box] : row) {
      constexpr std::size_t most_characters = 32;
      box->name = shortened_middle(box->name, most_characters);
      box->width = 28 + std::max(7.8 * static_cast<double>(character_count(box->name)),
                                 6.4 * static_cast<double>(character_count(box->bytes)));
      if (x > boxes_left && x + box->width > page_width - margin - pad) {
        x = boxes_left;
        y += box_height + row_gap;
      }
      box->x = std::exchange(x, x + box->width + row_gap);
      box->y = y;
    }
    frames.push_back({.top = top, .height = y + box_height + pad - top});
    top += frames.back().height + group_gap;
  }
  return frames;
}

void draw_frame(const planning::MemoryPlan& plan, std::size_t group, const GroupFrame& frame,
                std::uint64_t budget, Drawing& picture) {
  const std::uint64_t bytes = plan.group_fused_bytes[group];
  const std::string share = share_text(bytes, budget);
  picture.add(
      R"(<rect class="group" x="{0}" y="{1:.1f}" width="{2}" height="{3:.1f}" rx="8"/><rect class="full" fill-opacity="{4:.3f}" x="{0}" y="{1:.1f}" width="{2}" height="{3:.1f}" rx="8"/>)",
      margin, frame.top, page_width - 2 * margin, frame.height,
      budget == 0 ? 0 : 0.3 * static_cast<double>(bytes) / static_cast<double>(budget));
  picture.add_text(margin + pad, frame.top + pad + 14, "head", fmt::format("group {}", group));
  picture.add_text(margin + pad, frame.top + pad + 31, "soft",
                   bytes_text(bytes) + (share.empty() ? "" : ", ") + share);
}

void draw_edge(const PlanBox& from, const PlanBox& to, Drawing& picture) {
  const double x1 = from.x + from.width / 2, y1 = from.y + box_height, x2 = to.x + to.width / 2;
  const double bend = std::max(18.0, (to.y - y1) * 0.45);
  picture.add(
      "<path class=\"edge\" marker-end=\"url(#tip)\" d=\"M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>\n",
      x1, y1, x1, y1 + bend, x2, to.y - bend, x2, to.y);
}

void draw_box(const NamedDag& named, const PlanBox& box, std::string_view colour, Drawing& picture) {
  constexpr std::size_t most_waves = 20;
  std::string all;
  for (std::size_t i = 0; i < std::min(box.waves.size(), most_waves); ++i) {
    all += (i == 0 ? "" : ", ") + named.wave_label(box.waves[i]);
  }
  picture.add(
      R"(<g><title>{}{}: {}</title><rect class="box" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" rx="5"/><rect x="{:.1f}" y="{:.1f}" width="4" height="{}" rx="2" fill="{}"/>)",
      xml_text(all), box.waves.size() > most_waves ? ", …" : "", box.bytes, box.x, box.y, box.width,
      box_height, box.x + 4, box.y + 6, box_height - 12, colour);
  picture.add_text(box.x + 15, box.y + 17, "name", box.name);
  picture.add_text(box.x + 15, box.y + 32, "soft", box.bytes);
  picture.add("</g>\n");
}

// The number, or the name, which has quotes when it could be taken for a number.
std::string arena_label(const Identifier& id) {
  if (id.name() == nullptr) {
    return std::to_string(id.number());
  }
  return id.name()->find_first_not_of("0123456789") == std::string::npos ? in_quotes(*id.name())
                                                                         : shortened(*id.name());
}

} // namespace

std::string_view Palette::operator()(const std::string& name) {
  return picture_colours[places_.emplace(common_name(name), places_.size()).first->second %
                         picture_colours.size()];
}

std::string plan_svg(const PlannedDag& planned, const PlanOptions& options, Palette palette) {
  const planning::MemoryPlan& plan = planned.plan;
  const std::uint64_t budget = planned.named.dag.budget_bytes - planned.named.dag.resident_graph_bytes;
  const std::uint64_t shared = budget == no_limit ? 0 : budget; // nothing is a share of no limit
  BoxedPlan boxed = box_plan(planned);
  const std::vector<GroupFrame> frames = place_boxes(boxed);

  std::vector<std::string> title{plan_headline(planned, options), budget_text(planned)};
  if (planned.named.iterations > 1) {
    title[0] += ", " + plural(planned.named.iterations, "iteration");
  }
  if (boxed.waves != plan.order.size()) {
    title.push_back(fmt::format("{} of {} waves are drawn, {} of {}", boxed.waves, plan.order.size(),
                                frames.size(), plural(plan.group_count(), "group")));
  }
  if (boxed.boxes.size() != boxed.waves) {
    title.emplace_back("×: number of similar waves");
  }
  if (boxed.implied != 0) {
    title.push_back(plural(boxed.implied, "arrow") + " that others imply left out");
  }
  Drawing head;
  double top = margin;
  for (const std::string& text : title) {
    top += 18;
    head.add_text(margin, top, top < 2 * margin ? "head" : "soft", text);
  }
  top += 14;

  Drawing picture;
  picture.begin(page_width,
                top + margin + (frames.empty() ? 0 : frames.back().top + frames.back().height + group_gap));
  picture.add(
      R"svg(<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path class="arrow" d="M0 0 L8 4 L0 8 z"/></marker></defs>
{}<g transform="translate(0 {:.0f})">
)svg",
      head.svg, top);
  for (std::size_t group = 0; group < frames.size(); ++group) {
    draw_frame(plan, group, frames[group], shared, picture);
  }
  for (const auto& [from, to] : boxed.edges) {
    draw_edge(boxed.boxes[from], boxed.boxes[to], picture);
  }
  for (const PlanBox& box : boxed.boxes) {
    draw_box(planned.named, box, palette(planned.named.wave_label(box.waves.front())), picture);
  }
  picture.add("</g>\n</svg>\n");
  return picture.svg;
}

std::string arena_svg(const PlannedArena& planned, const std::string& headline) {
  constexpr double left = 80, top = 70, width = 860, height = 490; // pixels of the arena
  const documents::BufferLifetimes& lifetimes = planned.lifetimes;
  const planning::ArenaPlan& plan = planned.plan;
  std::uint64_t begin = ~std::uint64_t{0}, end = 0; // of time
  for (const auto& [id, lifetime] : lifetimes.buffers) {
    begin = std::min(begin, lifetime.lower);
    end = std::max(end, lifetime.upper);
  }
  begin = std::min(begin, end);
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const auto x = [&](std::uint64_t time) { return left + width * share(time - begin, end - begin); };
  const auto y = [&](std::uint64_t offset) { return top + height * (1 - share(offset, plan.height_bytes)); };
  Drawing picture;
  picture.begin(left + width + 20, top + height + 40);
  picture.add_text(left, 26, "head", headline);
  picture.add_text(
      left, 46, "soft",
      fmt::format("lower bound {}{}", bytes_text(plan.lower_bound_bytes),
                  lifetimes.capacity_bytes ? ", capacity " + bytes_text(*lifetimes.capacity_bytes) : ""));
  const auto step_of = [](std::uint64_t whole) { // a power of two, so that there are 3 to 6
    return std::bit_ceil(std::max<std::uint64_t>(whole / 5, 1));
  };
  const std::uint64_t bytes_step = step_of(plan.height_bytes), time_step = step_of(end - begin);
  for (std::uint64_t step = 0; step <= plan.height_bytes / bytes_step; ++step) {
    const double at = y(step * bytes_step);
    picture.add("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" class=\"group\"/>\n", left,
                left + width, at, at);
    picture.add_text(left - 8, at + 4, "soft", bytes_text(step * bytes_step), "end");
  }
  for (std::uint64_t step = (begin + time_step - 1) / time_step; step <= end / time_step; ++step) {
    picture.add_text(x(step * time_step), top + height + 18, "soft", std::to_string(step * time_step),
                     "middle");
  }
  picture.add_text(left + width / 2, top + height + 34, "soft", "time", "middle");
  for (std::size_t i = 0; i < lifetimes.buffers.size(); ++i) {
    const auto& [id, lifetime] = lifetimes.buffers[i];
    if (lifetime.size == 0) {
      continue; // takes no room
    }
    const std::string name = arena_label(id), size = bytes_text(lifetime.size);
    const double from = x(lifetime.lower), upper = y(plan.offsets[i] + lifetime.size);
    const double across = x(lifetime.upper) - from, high = y(plan.offsets[i]) - upper;
    picture.add(
        R"(<g><title>{}: {} at {}, alive in [{}, {})</title><rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" fill-opacity="0.4" stroke="{}"/>)",
        xml_text(name), size, plan.offsets[i], lifetime.lower, lifetime.upper, from, upper, across, high,
        picture_colours[i % picture_colours.size()], picture_colours[i % picture_colours.size()]);
    // The label is as much of the name and the size as there is room for.
    const auto fits = [across](std::string_view label) {
      constexpr double character = 6.6;
      return static_cast<double>(character_count(label)) * character < across - 4;
    };
    constexpr double line_height = 13;
    const std::string both = name + "  " + size;
    if (const std::string label = fits(both)   ? both
                                  : fits(name) ? name
                                               : "";
        !label.empty() && high >= line_height) {
      picture.add_text(from + across / 2, upper + high / 2 + 4, "name", label, "middle");
    }
    picture.add("</g>\n");
  }
  picture.add(
      "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"bound\"><title>lower bound</title></line>\n</svg>\n",
      left, left + width, y(plan.lower_bound_bytes));
  return picture.svg;
}

} // namespace tidegate::app
