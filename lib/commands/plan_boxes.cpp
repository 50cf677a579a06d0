#include <tidegate/commands/plan_boxes.hpp>
#include <tidegate/core/bytes.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tidegate::commands {
namespace {

using Edge = std::array<std::uint32_t, 2>;

// Beyond, who reaches whom takes too much room, and nobody looks for a single line either.
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

} // namespace tidegate::commands
