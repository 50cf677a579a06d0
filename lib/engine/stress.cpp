// Runs of a program under stress: what a missing dependency, a halo that is too small or a race leaves to chance is
// made to come out differently, in runs that a seed repeats.
//
//   seed % 4 = 1   plain launches of the waves in another order that the dependencies allow: in reverse (seed % 8 = 1) or
//                  shuffled
//              2   one launch with barriers, whose work-groups (of another number, with another tile mapping) run
//                  their tiles of a stage in another order and pause before some of them
//              3   likewise with counters
//              0   a launch per group of waves, with its tiles in another order
//
// A kind that the program or the device does not admit is replaced by the next one.
#include "core/interrupt.hpp"
#include "engine/execute.hpp"

namespace tidegate::engine {
namespace {

using Clock = std::chrono::steady_clock;
using Order = std::vector<std::uint32_t>; // of waves

// A run under stress, its outputs, and of wave_order its order.
struct Trial {
  StressFailure run;
  HostContents outputs;
  Order order = {};
};

// The waves that write a buffer, at most eight.
std::vector<std::string> writers(const Job& program, const std::string& buffer) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (std::uint32_t wave = 0; wave < program.waves.size() && names.size() < most; ++wave) {
    if (std::ranges::any_of(program.waves[wave].arguments, [&](const ProgramArgument& argument) {
          return argument.writes() && program.buffers[argument.buffer].name == buffer;
        })) {
      names.push_back(program.wave_text(wave));
    }
  }
  return names;
}

class Stress {
public:
  Stress(const RunContext& run, const HostContents& first, Reference& reference, Clock::time_point deadline)
      : context_(run), program_(run.compiled.written), first_(first), reference_(reference),
        deadline_(deadline), options_(run.options), monitor_(run.monitor), usual_(program_order(program_)) {}

  StressReport run() {
    StressReport report{.runs = options_.stress_runs};
    for (std::uint64_t seed = options_.stress_seed; report.completed.size() < report.runs && !report.failure;
         ++seed) {
      Trial trial = run_one(seed);
      if (trial.run.status == RunStatus::deadline || trial.run.status == RunStatus::interrupted) {
        report.in_time = false;
        break;
      }
      report.completed.push_back(trial.run.kind);
      report.failure = failure_of(std::move(trial));
    }
    monitor_.deadline = deadline_;
    if (last_ != nullptr && !options_.emit_kernel.empty()) {
      or_refuse(write_file(options_.emit_kernel, last_->compiled.source.source, ""));
    }
    return report;
  }

private:
  Trial run_one(std::uint64_t seed) {
    constexpr std::array strategies{Strategy::launch, Strategy::barrier, Strategy::barrier,
                                    Strategy::counters};
    Order order = order_of(seed);
    if (seed % 4 != 1 || order == usual_) { // there may be no other order
      for (const Strategy strategy : {strategies[seed % 4], Strategy::barrier, Strategy::launch}) {
        if (Prepared* const variant = variant_of(strategy)) {
          return run_variant(*variant, strategy, seed);
        }
      }
    }
    monitor_.begin(Activity::proving);
    PlainRun plain = reference_.run(deadline_, {.order = order});
    return {.run = {.seed = seed,
                    .variation = fmt::format("plain launches in {} order, seed {}",
                                             order == usual_ ? "the program's"
                                             : seed % 8 == 1 ? "reverse"
                                                             : "shuffled",
                                             seed),
                    .status = plain.in_time                   ? RunStatus::done
                              : InterruptWatch::interrupted() ? RunStatus::interrupted
                                                              : RunStatus::deadline},
            .outputs = std::move(plain.outputs),
            .order = std::move(order)};
  }

  [[nodiscard]] Order order_of(std::uint64_t seed) const {
    const RandomNumbers numbers(seed);
    std::vector<std::uint64_t> ranks(program_.waves.size());
    for (std::size_t wave = 0; wave < ranks.size(); ++wave) {
      ranks[wave] = seed % 8 == 1 ? ranks.size() - wave : numbers.bits(wave);
    }
    return program_order(program_, ranks);
  }

  // Returns the strategy's kernel, whose order of tiles follows from a seed; null if there is none for this program on this
  // device.
  Prepared* variant_of(Strategy strategy) {
    const auto [found, added] = variants_.try_emplace(strategy);
    if (added) {
      const auto start = Clock::now();
      monitor_.begin(Activity::building);
      monitor_.deadline = start + build_limit;
      found->second = make_variant(strategy);
      deadline_ += Clock::now() - start; // the wall time is that of the waves
      monitor_.deadline = deadline_;
    }
    return found->second.get();
  }

  [[nodiscard]] std::unique_ptr<Prepared> make_variant(Strategy strategy) const {
    CompileOptions options = options_.compile;
    options.strategy = strategy;
    options.stress = true;
    options.trace = false;
    options.workers.reset();
    options.mapping.reset();
    auto compiled = compile(program_, &context_.device, options);
    if (!compiled || compiled->strategy.strategy != strategy || compiled->tables.cases.empty()) {
      return {};
    }
    auto variant = std::make_unique<Prepared>(std::move(*compiled));
    const auto& [session, device] = std::tie(context_.session, context_.device);
    try {
      BuiltProgram& built =
          variant->built.emplace(build(session, device, variant->compiled, options_.cache_folder));
      variant->residency = find_residency(session, device, variant->compiled, built, std::nullopt);
    } catch (const device::Refused& refused) {
      if (refused.error.code != ErrorCode::kernel_does_not_fit) {
        throw;
      }
      return {};
    }
    return variant;
  }

  Trial run_variant(Prepared& variant, Strategy strategy, std::uint64_t seed) {
    const RandomNumbers numbers(seed);
    last_ = &variant;
    CompiledProgram& compiled = variant.compiled;
    compiled.tables.words.back() = numbers.bits(0);
    Residency& residency = variant.residency;
    std::string how = fmt::format("{}, tiles in another order, seed {}",
                                  strategy_names[static_cast<std::size_t>(strategy)], seed);
    if (is_persistent(strategy)) {
      const bool counters = strategy == Strategy::counters; // groups wait for runs of tiles
      compiled.synchronization.mapping =
          static_cast<TileMapping>(counters ? 1 + numbers.bits(1) % 2 : numbers.bits(1) % 3);
      const std::uint32_t most =
          std::max(std::ranges::max(compiled.tables.stages, {}, &StageRow::tiles).tiles, 1U);
      residency.workers =
          static_cast<std::uint32_t>(1 + numbers.bits(2) % std::min(most, residency.resident));
      how = fmt::format("{}, {} and {}", how,
                        tile_mapping_names[static_cast<std::size_t>(compiled.synchronization.mapping)],
                        plural(residency.workers, "work-group"));
    }
    or_refuse(check_schedule(compiled, residency, context_.device));
    DispatchLimits limits = dispatch_limits(compiled, context_.device, options_, residency);
    limits.deadline = deadline_;
    ArenaRun run = run_in_arena(
        {context_.session, context_.device, compiled, *variant.built, monitor_, options_}, first_, limits);
    return {.run = {.seed = seed,
                    .kind = strategy == Strategy::launch    ? StressKind::launch
                            : strategy == Strategy::barrier ? StressKind::barrier
                                                            : StressKind::counters,
                    .variation = std::move(how),
                    .status = run.outcome.status},
            .outputs = std::move(run.outputs)};
  }

  std::optional<StressFailure> failure_of(Trial trial) {
    StressFailure& failure = trial.run;
    if (failure.status != RunStatus::done) {
      return failure;
    }
    failure.difference = reference_.compare(trial.outputs);
    if (failure.difference->equal) {
      return {};
    }
    failure.status = RunStatus::outputs_differ;
    if (failure.kind == StressKind::wave_order) {
      failure.waves = deciding_waves(trial.order);
      failure.order_decides = !failure.waves.empty();
    }
    if (failure.waves.empty()) {
      failure.waves = writers(program_, failure.difference->first_difference->buffer);
    }
    return failure;
  }

  // The two waves whose order decides: bisects the swaps of neighbours that lead from the program's order, whose
  // outputs are the expected ones, to one whose outputs differ. Empty if the outputs of one order do not repeat, or
  // time is up.
  std::vector<std::string> deciding_waves(const Order& differing) {
    std::vector<std::uint32_t> swaps; // the first places, of waves that no dependency orders
    Order order = usual_;
    for (std::size_t placed = 0; placed < order.size(); ++placed) {
      for (auto at = static_cast<std::size_t>(std::ranges::find(order, differing[placed]) - order.begin());
           at > placed; --at) {
        std::swap(order[at - 1], order[at]);
        swaps.push_back(static_cast<std::uint32_t>(at - 1));
      }
    }
    const auto after = [&](std::size_t count) {
      Order made = usual_;
      for (const std::uint32_t at : std::span(swaps).first(count)) {
        std::swap(made[at], made[at + 1]);
      }
      return made;
    };
    std::size_t equal = 0;
    std::size_t differs = swaps.size();
    while (differs - equal > 1) {
      const std::size_t middle = equal + (differs - equal) / 2;
      (equal_in(after(middle)) ? equal : differs) = middle;
    }
    const Order last = after(equal);
    const bool repeats = differs != 0 && equal_in(last) && !equal_in(after(differs));
    if (!repeats || Clock::now() >= deadline_ || InterruptWatch::interrupted()) {
      return {};
    }
    return {program_.wave_text(last[swaps[equal]]), program_.wave_text(last[swaps[equal] + 1])};
  }

  bool equal_in(const Order& order) {
    const PlainRun plain = reference_.run(deadline_, {.order = order});
    return plain.in_time && reference_.compare(plain.outputs).equal;
  }

  const RunContext& context_;
  const Job& program_;
  const HostContents& first_;
  Reference& reference_;
  Clock::time_point deadline_;
  const RunOptions& options_;
  Monitor& monitor_;
  const Order usual_;
  std::map<Strategy, std::unique_ptr<Prepared>> variants_;
  const Prepared* last_ = nullptr; // that ran, as --emit-kernel writes it
};

} // namespace

StressReport run_under_stress(const RunContext& run, const HostContents& first, Reference& reference,
                              Clock::time_point deadline) {
  return Stress(run, first, reference, deadline).run();
}

} // namespace tidegate::engine
