#include <tidegate/commands/plan.hpp>
#include <tidegate/core/bytes.hpp>
#include <tidegate/core/table.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::commands {
namespace {

// Thousands of groups are nothing to read; the ends of a long plan say the most.
constexpr std::size_t most_groups = 100;
constexpr std::size_t groups_at_the_end = 10;
constexpr std::size_t most_names = 6;

// Eight cells, filled by the share of the budget, in eighths of a cell.
std::string bar(std::uint64_t bytes, std::uint64_t budget) {
  constexpr int cells = 8;
  constexpr std::array<std::string_view, 8> parts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share = budget == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(budget);
  const int eighths = static_cast<int>(share * cells * 8);
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) {
    text += "█";
  }
  return text + std::string(parts[static_cast<std::size_t>(eighths % 8)]);
}

std::string wave_list(const NamedDag& named, std::span<const std::uint32_t> waves) {
  std::string text;
  const std::size_t shown = waves.size() <= most_names + 1 ? waves.size() : most_names;
  for (const std::uint32_t wave : waves.first(shown)) {
    text += (text.empty() ? "" : ", ") + named.wave_label(wave);
  }
  return shown == waves.size() ? text : fmt::format("{} and {} more", text, waves.size() - shown);
}

} // namespace

std::string plan_table(const PlannedDag& planned, const PlanOptions& options, bool colour) {
  const auto& [named, plan] = planned;
  const std::uint64_t budget = named.dag.budget_bytes - named.dag.resident_graph_bytes;
  const std::uint64_t shared = budget == no_limit ? 0 : budget; // nothing is a share of no limit
  const std::size_t groups = plan.group_count();
  const std::size_t skipped = groups > most_groups ? groups - most_groups : 0;

  std::vector<std::vector<std::string>> rows{
      {"group", "waves", "fused bytes", "of budget", "", "left", "which"}};
  for (std::size_t i = 0; i < groups; ++i) {
    if (skipped != 0 && i == most_groups - groups_at_the_end) {
      rows.push_back({"…", "", "", "", "", "", plural(skipped, "group") + " not shown"});
      i += skipped;
    }
    const std::uint64_t bytes = plan.group_fused_bytes[i];
    rows.push_back({std::to_string(i), std::to_string(plan.group(i).size()), bytes_text(bytes),
                    share_text(bytes, shared), bar(bytes, shared),
                    budget == no_limit ? "" : bytes_text(budget - bytes), wave_list(named, plan.group(i))});
  }
  align_right(rows, {0, 1, 2, 3, 5});

  const std::uint64_t largest =
      plan.group_fused_bytes.empty() ? 0 : *std::ranges::max_element(plan.group_fused_bytes);
  std::vector<std::vector<std::string>> figures;
  figures.push_back(
      {"budget of a group",
       budget == no_limit ? "no limit"
       : named.dag.resident_graph_bytes == 0
           ? bytes_text(budget)
           : fmt::format("{}: {} less the resident graph's {}", bytes_text(budget),
                         bytes_text(named.dag.budget_bytes), bytes_text(named.dag.resident_graph_bytes))});
  figures.push_back(
      {"largest group", fmt::format("{} {}", bytes_text(largest), share_text(largest, shared))});
  figures.push_back(
      {"peaks", fmt::format("{} frontier, {} scratch, {} output", bytes_text(plan.peak_frontier_bytes),
                            bytes_text(plan.peak_scratch_bytes), bytes_text(plan.peak_output_bytes))});
  figures.push_back({"readback", bytes_text(plan.amortized_readback_bytes)});
  figures.push_back({"widest group", plural(plan.max_group_width, "wave")});
  figures.push_back({"lower bound", plural(plan.lower_bound_groups, "group")});

  std::string text = bold(plan_headline(planned, options), colour) + "\n\n";
  if (groups != 0) {
    text += render_table(rows) + "\n";
  }
  return text + render_table(figures);
}

} // namespace tidegate::commands
