#include <tidegate/planning/plan_error.hpp>

#include <fmt/format.h>

#include <cstddef>

namespace tidegate::planning {
namespace {

// "3 -> 5 -> 9 -> 3". A cycle of a million waves is named by its ends.
std::string cycle_text(const std::vector<std::uint32_t>& cycle) {
  constexpr std::size_t most_named = 16;
  constexpr std::size_t named_at_each_end = 7;
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle.size() > most_named && i == named_at_each_end) {
      i = cycle.size() - named_at_each_end;
      text += fmt::format("({} more) -> ", i - named_at_each_end);
    }
    text += fmt::format("{} -> ", cycle[i]);
  }
  if (!cycle.empty()) {
    text += fmt::format("{}", cycle.front());
  }
  return text;
}

} // namespace

std::string describe(const PlanError& error) {
  switch (error.code) {
  case PlanErrorCode::invalid_wave:
    return fmt::format("the dependency of wave {} on wave {} leaves the {} waves of the DAG", error.after,
                       error.before, error.wave_count);
  case PlanErrorCode::self_dependency: return fmt::format("wave {} depends on itself", error.wave);
  case PlanErrorCode::cycle:
    return fmt::format("the dependencies form a cycle, {}, and keep {} waves from running; without the "
                       "dependency of wave {} on wave {} this cycle is gone",
                       cycle_text(error.cycle), error.unscheduled_waves, error.after, error.before);
  case PlanErrorCode::group_over_budget:
    return fmt::format("the {} need {} bytes and {} bytes are left for them", error.field,
                       error.required_bytes, error.budget_bytes);
  case PlanErrorCode::byte_count_overflow: return fmt::format("the {} do not fit 64 bits", error.field);
  }
  return {};
}

} // namespace tidegate::planning
