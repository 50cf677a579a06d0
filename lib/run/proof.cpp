#include <tidegate/core/elapsed.hpp>
#include <tidegate/core/interrupt.hpp>
#include <tidegate/run/dispatch.hpp>
#include <tidegate/run/parity.hpp>
#include <tidegate/run/proof.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace tidegate::run {
namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::pair<double, double> extremes(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return {least, most};
}

// Both ways, one after the other in each round; what was measured when time is up is told.
std::optional<Comparison> compare(const device::Session& session, const CompiledProgram& compiled,
                                  BuiltProgram& built, const HostContents& first, Reference& reference,
                                  const DispatchLimits& limits, std::uint64_t rounds, Monitor& monitor) {
  Comparison comparison;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    monitor.begin(Activity::comparing);
    const PlainRun plain = reference.run(limits.deadline);
    const ArenaRun run = run_in_arena(session, compiled, built, first, limits, monitor);
    if (!plain.in_time || run.outcome.status != RunStatus::done) {
      break;
    }
    comparison.plain_rounds_ns.push_back(static_cast<double>(plain.dispatch_ns));
    comparison.run_rounds_ns.push_back(static_cast<double>(run.outcome.dispatch_ns));
  }
  comparison.rounds = comparison.run_rounds_ns.size();
  if (comparison.rounds == 0) {
    return {};
  }
  comparison.plain_ns = median(comparison.plain_rounds_ns);
  comparison.run_ns = median(comparison.run_rounds_ns);
  std::tie(comparison.plain_min_ns, comparison.plain_max_ns) = extremes(comparison.plain_rounds_ns);
  std::tie(comparison.run_min_ns, comparison.run_max_ns) = extremes(comparison.run_rounds_ns);
  comparison.speedup = comparison.plain_ns / comparison.run_ns;
  return comparison;
}

} // namespace

Reference::Reference(const device::Session& session, const ResolvedProgram& program,
                     const std::vector<std::vector<std::uint32_t>>& places, const HostContents& first)
    : session_(session), program_(program), places_(places), first_(first), waves_(program_order(program)),
      programs_(session, program, waves_) {}

PlainRun Reference::run(Clock::time_point deadline) {
  std::vector<cl::Buffer> memory = allocate_apart(session_, program_);
  const DeviceImages images = allocate_images(session_, program_);
  fill_images(session_, program_, first_, images);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (program_.buffers[i].image) {
      continue;
    }
    if (!first_[i].empty()) {
      upload(session_, memory[i], 0, first_[i]);
    } else {
      clear(session_, memory[i], 0, program_.buffers[i].bytes);
    }
  }
  PlainWaves waves(session_, programs_, program_, waves_, places_, memory, images);
  device::require(session_.queue.finish(), "clearing the buffers");

  PlainRun result;
  constexpr std::uint64_t launches_between_looks = 4096;
  std::uint64_t launches = 0;
  std::uint32_t iteration = 0;
  const auto run_phase = [&](WavePhase phase) {
    for (const std::uint32_t wave : waves_) {
      if (program_.waves[wave].phase != phase || !result.in_time) {
        continue;
      }
      result.in_time = waves.launch(wave, iteration, deadline);
      if (++launches % launches_between_looks == 0) {
        device::require(session_.queue.finish(), "running the plain launches");
        result.in_time = Clock::now() < deadline && !InterruptWatch::interrupted();
      }
    }
  };
  bool finished = false;
  const auto start = Clock::now();
  run_phase(WavePhase::before);
  while (iteration < program_.iterations && !finished && result.in_time) {
    run_phase(WavePhase::each);
    ++iteration;
    if (program_.until) {
      std::vector<std::byte> value(program_.until->value.size());
      download(session_, memory[places_[iteration % places_.size()][program_.until->buffer]], 0, value);
      finished = same_value(program_, value);
      result.in_time &= Clock::now() < deadline && !InterruptWatch::interrupted();
    }
  }
  run_phase(WavePhase::after);
  device::require(session_.queue.finish(), "running the plain launches");
  result.dispatch_ns = elapsed_ns(start) - waves.compile_ns();

  result.outputs = output_room(session_, program_, 0);
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    if (program_.buffers[i].spec.output) {
      const std::uint32_t place = places_[iteration % places_.size()][i];
      if (program_.buffers[i].image) {
        download_image(session_, images[place], *program_.buffers[i].image, result.outputs[i]);
      } else {
        download(session_, memory[place], 0, result.outputs[i]);
      }
    }
  }
  return result;
}

Proof prove(const device::Session& session, const CompiledProgram& compiled, BuiltProgram& built,
            const HostContents& first, const HostContents& outputs, const DispatchLimits& limits,
            std::uint64_t rounds, Monitor& monitor) {
  monitor.begin(Activity::proving);
  Reference reference(session, compiled.written, compiled.schedule.places, first);
  const PlainRun plain = reference.run(limits.deadline);
  if (!plain.in_time) {
    return {.in_time = false};
  }
  Proof proof{.parity = compare_outputs(compiled.written, plain.outputs, outputs)};
  if (proof.parity.equal) {
    proof.comparison = compare(session, compiled, built, first, reference, limits, rounds, monitor);
    return proof;
  }
  // Each way once more: what does not repeat itself is a race.
  const PlainRun again = reference.run(limits.deadline);
  const ArenaRun rerun = run_in_arena(session, compiled, built, first, limits, monitor);
  if (again.in_time && rerun.outcome.status == RunStatus::done) {
    proof.parity.likely_cause =
        likely_cause(proof.parity, again.outputs == plain.outputs, rerun.outputs == outputs);
  }
  return proof;
}

void spoil(HostContents& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].empty()) {
      outputs[i].back() ^= std::byte{1};
      return;
    }
  }
}

} // namespace tidegate::run
