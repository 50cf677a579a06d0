#include "engine/strategy.hpp"

#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

using Candidates = std::vector<Candidate>;

// Returns the cheapest candidate that satisfies `may`.
template <class Condition>
std::size_t least(const Candidates& candidates, Condition may) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (may(candidates[i]) && (!best || candidates[i].cost.sum() < candidates[*best].cost.sum())) {
      best = i;
    }
  }
  return best.value_or(0);
}

auto of(Strategy strategy) {
  return [strategy](const Candidate& candidate) { return candidate.shape.strategy == strategy; };
}

bool is_persistent_one(const Candidate& candidate) {
  return is_persistent(candidate.shape.strategy);
}

// Lists the cheapest candidate of each strategy.
std::string estimates_text(const Candidates& candidates) {
  std::string text;
  for (std::size_t i = 0; i < strategy_names.size(); ++i) {
    const Candidate& best = candidates[least(candidates, of(static_cast<Strategy>(i)))];
    if (best.shape.strategy == static_cast<Strategy>(i)) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", strategy_names[i],
                          short_time_text(best.cost.sum()));
    }
  }
  return text;
}

// In one kernel every op uses the registers of the most demanding one. A small gain in starts and barriers is
// lost in the work, hence the margin on them.
std::size_t cheapest(const Candidates& candidates, std::string& reason) {
  constexpr double margin = 1.25;
  const std::size_t launch = least(candidates, std::not_fn(is_persistent_one));
  const std::size_t persistent = least(candidates, is_persistent_one);
  const device::CostParts& cost = candidates[persistent].cost;
  const bool pays = is_persistent_one(candidates[persistent]) &&
                    margin * (cost.sum() - cost.work) + cost.work < candidates[launch].cost.sum();
  const bool close = !pays && candidates[persistent].cost.sum() < candidates[launch].cost.sum();
  reason = "estimated: " + estimates_text(candidates);
  if (close) {
    reason += fmt::format("; starting and meeting count {:.3g} times", margin);
  }
  if (const std::size_t alone = candidates[persistent].plain_stages; alone != 0) {
    reason += fmt::format("; {} cannot share a launch", plural(alone, "wave"));
  }
  return pays ? persistent : launch;
}

void refuse_persistent(Candidates& candidates, std::string_view reason) {
  for (Candidate& candidate : candidates) {
    if (is_persistent_one(candidate)) {
      candidate.refused = reason;
    }
  }
}

} // namespace

std::vector<std::uint32_t> packings(const Job& program, std::uint32_t compute_units,
                                    const CompileOptions& options) {
  constexpr std::uint32_t most_work_items = 512; // of a work-group that runs tiles side by side
  const auto stated = options.side_by_side.value_or(options.tuning.side_by_side);
  if (stated != 0 || options.mode.value_or(Mode::jit) != Mode::jit) {
    return {std::max(stated, 1U)};
  }
  std::uint32_t tiles = 1;
  std::uint32_t size = 1;
  for (const ProgramWave& wave : program.waves) {
    if (wave.range.tiles() > tiles) {
      tiles = wave.range.tiles();
      size = wave.range.group_size();
    }
  }
  const std::uint32_t units = std::max(compute_units, 1U);
  const std::uint32_t most =
      std::bit_floor(std::clamp(most_work_items / size, 1U,
                                std::max(tiles / units + (tiles % units != 0 ? 1 : 0), 1U)));
  return most == 1 ? std::vector{1U} : std::vector{most, 1U};
}

std::vector<Candidate> find_candidates(const Job& program, const OutlinedOps& ops, const Schedules& schedules,
                                       const MemoryLayout& memory, const CompileOptions& options,
                                       const DeviceModel& model) {
  Candidates candidates;
  const auto add = [&](Strategy strategy, std::size_t index) {
    const Schedule& schedule = schedules.all[index];
    Candidate candidate{.shape = {.strategy = strategy},
                        .schedule = index,
                        .waits = synchronize(program, schedule, memory, strategy)};
    candidate.load = load_of(program, ops, schedule, candidate.waits,
                             options.mode.value_or(Mode::jit) != Mode::jit);
    const ProgramLoad& load = candidate.load;
    if (is_persistent(strategy)) {
      const auto resident = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
          model.resident_work_items / load.group_size, 1, std::numeric_limits<std::int32_t>::max()));
      const std::optional<TileMapping> stated = options.mapping ? options.mapping : options.tuning.mapping;
      TileMapping mapping = stated.value_or(best_mapping(load, strategy, model));
      if (strategy == Strategy::counters && mapping == TileMapping::strided) {
        mapping = TileMapping::blocked; // groups wait for consecutive tiles
      }
      const std::uint32_t workers = options.workers.value_or(options.tuning.workers);
      candidate.shape = {.strategy = strategy,
                         .mapping = mapping,
                         .workers = best_workers(load, strategy, mapping, model, resident,
                                                 workers == 0 ? std::nullopt : std::optional(workers))};
      candidate.waits.mapping = mapping;
      candidate.plain_stages =
          static_cast<std::size_t>(std::ranges::count_if(load.stages, &StageLoad::plain));
      candidate.side_by_side =
          schedule.tiles_per_pack.empty() ? 1 : std::ranges::max(schedule.tiles_per_pack);
    }
    candidate.cost = estimate(load, candidate.shape, model);
    candidate.estimated_ns = candidate.cost.sum();
    candidates.push_back(std::move(candidate));
  };
  add(Strategy::launch, Schedules::launch);
  for (const Strategy strategy : {Strategy::barrier, Strategy::counters}) {
    for (std::size_t i = Schedules::first_persistent; i < schedules.all.size(); ++i) {
      add(strategy, i);
    }
  }
  // If launches share no waves, they are plain already.
  if (schedules.all[Schedules::plain].stages.size() != schedules.all[Schedules::launch].stages.size() ||
      options.wanted() == Strategy::plain) {
    add(Strategy::plain, Schedules::plain);
  }
  return candidates;
}

StrategyChoice choose_strategy(const CompileOptions& options, const device::DeviceInfo* device,
                               std::vector<Candidate> candidates) {
  StrategyChoice choice;
  const auto take = [&](std::size_t taken, std::string reason) {
    choice.strategy = candidates[taken].shape.strategy;
    choice.reason = std::move(reason);
    choice.taken = taken;
    candidates[taken].taken = true;
    choice.candidates = std::move(candidates);
    return std::move(choice);
  };
  const bool unknown = device == nullptr || !device->profile;
  const std::optional<Strategy> wanted = options.wanted();
  const std::string why = options.strategy ? "requested" : options.why;
  if (!(options.dry_run && unknown) && (unknown || !device->profile->ordering)) {
    refuse_persistent(
        candidates, unknown ? "the device's self-test has not run here, and nothing may wait inside a launch "
                              "before: a persistent --strategy or `tidegate devices --probe` runs it"
                            : "the device has not passed the self-test: no memory ordering between "
                              "work-groups is proved, so nothing may wait inside a launch");
    const bool launches = wanted && !is_persistent(*wanted);
    const auto refused = std::ranges::find_if(candidates, is_persistent_one);
    return take(launches ? least(candidates, of(*wanted)) : 0, launches ? why : *refused->refused);
  }
  if (wanted && (options.strategy || !unknown)) {
    return take(least(candidates, of(*wanted)), why);
  }
  if (unknown) {
    return take(least(candidates, is_persistent_one),
                "planned for a device whose self-test passes: " + estimates_text(candidates) +
                    " by the costs of an H200");
  }
  if (device->type == device::DeviceType::cpu) {
    refuse_persistent(candidates,
                      "on a CPU a wait for a work-group whose core is busy costs more than a launch");
    return take(0, std::ranges::find_if(candidates, is_persistent_one)->refused.value());
  }
  std::string reason;
  const std::size_t taken = cheapest(candidates, reason);
  return take(taken, std::move(reason));
}

} // namespace tidegate::engine
