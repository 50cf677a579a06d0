#include <tidegate/planning/plan_error.hpp>

#include <fmt/format.h>

#include <cstddef>

namespace tidegate::planning {
namespace {

// "wave 3 -> wave 5 -> wave 9 -> wave 3". A cycle of a million waves is named by its ends.
std::string cycle_text(const std::vector<std::uint32_t>& cycle, const WaveText& wave) {
  constexpr std::size_t most_named = 16;
  constexpr std::size_t named_at_each_end = 7;
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle.size() > most_named && i == named_at_each_end) {
      i = cycle.size() - named_at_each_end;
      text += fmt::format("({} more) -> ", i - named_at_each_end);
    }
    text += fmt::format("{} -> ", wave(cycle[i]));
  }
  return cycle.empty() ? text : text + wave(cycle.front());
}

} // namespace

std::string describe(const PlanError& error, const WaveText& wave_text) {
  const WaveText wave =
      wave_text ? wave_text : [](std::uint64_t index) { return fmt::format("wave {}", index); };
  switch (error.code) {
  case PlanErrorCode::invalid_wave:
    return fmt::format("the dependency of {} on {} leaves the {} waves of the DAG", wave(error.after),
                       wave(error.before), error.wave_count);
  case PlanErrorCode::self_dependency: return fmt::format("{} depends on itself", wave(error.wave));
  case PlanErrorCode::cycle:
    return fmt::format("the dependencies form a cycle, {}, and keep {} waves from running; without the "
                       "dependency of {} on {} this cycle is gone",
                       cycle_text(error.cycle, wave), error.unscheduled_waves, wave(error.after),
                       wave(error.before));
  case PlanErrorCode::group_over_budget:
    return error.field == single_wave_bytes
               ? fmt::format("{} alone needs {} bytes and a group may have {}", wave(error.wave),
                             error.required_bytes, error.budget_bytes)
               : fmt::format("the {} are {} and the budget is {} bytes", error.field, error.required_bytes,
                             error.budget_bytes);
  case PlanErrorCode::byte_count_overflow:
    return fmt::format("the {} do not fit 64 bits once {} is counted", error.field, wave(error.wave));
  }
  return {};
}

} // namespace tidegate::planning
