#include "engine/proof.hpp"

#include "core/interrupt.hpp"

namespace tidegate::engine {
namespace {

// Returns the units in the last place between two finite floats; nullopt for other values. Floats map to integers of the
// same order: their bits increase with their absolute value.
std::optional<std::uint64_t> units_between(ElementType type, const std::byte* a, const std::byte* b) {
  const std::size_t exponent = type == ElementType::f16   ? 5
                               : type == ElementType::f32 ? 8
                               : type == ElementType::f64 ? 11
                                                          : 0;
  if (exponent == 0) {
    return {};
  }
  const std::size_t magnitude = 8 * element_bytes(type) - 1; // bits without the sign
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent) - 1) << (magnitude - exponent);
  const auto place = [&](const std::byte* at) -> std::optional<std::int64_t> {
    std::uint64_t value = 0; // the low bytes come first
    std::memcpy(&value, at, element_bytes(type));
    const std::uint64_t size = value & ((std::uint64_t{1} << magnitude) - 1);
    const auto distance = static_cast<std::int64_t>(size); // from 0; below 2^63
    return size >= infinity ? std::nullopt : std::optional(size == value ? distance : -distance);
  };
  const auto first = place(a);
  const auto second = place(b);
  if (!first || !second) {
    return {};
  }
  const auto [low, high] = std::minmax(*first, *second);
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

} // namespace

OutputParity compare_outputs(const Job& program, const HostContents& expected, const HostContents& found) {
  OutputParity parity{.equal = true};
  bool floats = true;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (!program.buffers[i].is_result()) {
      continue;
    }
    ++parity.checked;
    if (same_bytes(expected[i], found[i])) {
      continue;
    }
    if (program.buffers[i].is_unordered()) {
      const UnorderedDifference difference = program.buffers[i].compare(expected[i], found[i]);
      parity.differing_elements += difference.elements;
      floats = floats && difference.elements == 0;
      if (!parity.first_difference && difference.elements != 0) {
        parity.first_difference = Difference{.buffer = program.buffers[i].name,
                                             .element = difference.first,
                                             .expected = difference.expected,
                                             .found = difference.found};
      }
      continue;
    }
    const ElementType type = program.buffers[i].type;
    const std::size_t size = element_bytes(type);
    for (std::size_t at = 0; at < expected[i].size(); at += size) {
      const std::byte* const a = expected[i].data() + at;
      const std::byte* const b = found[i].data() + at;
      if (std::memcmp(a, b, size) == 0) {
        continue;
      }
      ++parity.differing_elements;
      const auto units = units_between(type, a, b);
      floats = floats && units.has_value();
      largest = std::max(largest, units.value_or(0));
      if (!parity.first_difference) {
        parity.first_difference = Difference{.buffer = program.buffers[i].name,
                                             .element = at / size,
                                             .expected = element_text(type, a),
                                             .found = element_text(type, b)};
      }
    }
  }
  parity.equal = parity.differing_elements == 0;
  if (!parity.equal && floats) {
    parity.largest_difference_ulp = largest;
  }
  return parity;
}

ExpectedReport compare_expected(const ProgramBuffer& buffer, std::span<const std::byte> expected,
                                std::span<const std::byte> found) {
  const ExpectedOutput& tolerance = *buffer.expected;
  ExpectedReport report{.buffer = buffer.name,
                        .file = tolerance.file,
                        .rtol = tolerance.rtol,
                        .atol = tolerance.atol,
                        .elements = buffer.count,
                        .worst = {}};
  with_type(buffer.type, [&]<class T>(T) {
    using Value = long double; // holds integers of 64 bits exactly
    const auto value_at = [](std::span<const std::byte> contents, std::size_t at) -> Value {
      T element{};
      std::memcpy(&element, contents.data() + at, sizeof element);
      if constexpr (std::is_integral_v<T>) {
        return static_cast<Value>(element);
      } else {
        return to_double(element);
      }
    };
    Value most = -std::numeric_limits<Value>::infinity(); // beyond the tolerance
    for (std::size_t at = 0; at < expected.size(); at += sizeof(T)) {
      const Value right = value_at(expected, at);
      const Value value = value_at(found, at);
      if (value == right || (std::isnan(value) && std::isnan(right))) {
        continue;
      }
      const Value allowed = tolerance.atol + tolerance.rtol * std::abs(right);
      const Value excess = std::isfinite(value) && std::isfinite(right)
                               ? std::abs(value - right) - allowed
                               : std::numeric_limits<Value>::infinity();
      report.outside += excess > 0 ? 1 : 0;
      if (excess > most) {
        most = excess;
        report.worst = Difference{.buffer = buffer.name,
                                  .element = at / sizeof(T),
                                  .expected = element_text(buffer.type, expected.data() + at),
                                  .found = element_text(buffer.type, found.data() + at)};
      }
    }
  });
  report.equal = report.outside == 0;
  return report;
}

DifferenceCause likely_cause(const OutputParity& parity, bool plain_repeats, bool run_repeats,
                             bool publishes) {
  constexpr std::uint64_t rounding_ulp = 4096; // accumulated roundings
  if (!plain_repeats) {
    return DifferenceCause::race;
  }
  if (publishes) {
    return DifferenceCause::item_order;
  }
  if (!run_repeats) {
    return DifferenceCause::order;
  }
  return parity.largest_difference_ulp && *parity.largest_difference_ulp <= rounding_ulp
             ? DifferenceCause::rounding
             : DifferenceCause::unknown;
}

namespace {

using Clock = std::chrono::steady_clock;

// Rounds end when time is up.
std::optional<Comparison> compare(const RunContext& context, const HostContents& first, Reference& reference,
                                  const DispatchLimits& limits) {
  return compare_ways(
      context.options.compare_rounds, !context.built.kernel,
      [&]() -> std::optional<std::uint64_t> {
        context.monitor.begin(Activity::comparing);
        const PlainRun plain = reference.run(limits.deadline);
        return plain.in_time ? std::optional(plain.dispatch_ns) : std::nullopt;
      },
      [&]() -> std::optional<std::uint64_t> {
        context.monitor.begin(Activity::comparing);
        const ArenaRun run = run_in_arena(context, first, limits);
        return run.outcome.status == RunStatus::done ? std::optional(run.outcome.dispatch_ns) : std::nullopt;
      });
}

} // namespace

Reference::Reference(const device::Session& session, const Job& program,
                     const std::vector<std::vector<std::uint32_t>>& storage, const HostContents& first)
    : session_(session), program_(program), storage_(storage), first_(first),
      programs_(session, program, program_order(program)) {}

PlainRun Reference::run(Clock::time_point deadline, const PlainWay& way) {
  const auto begin = Clock::now();
  std::optional<Arena> own;
  if (way.memory == nullptr) {
    own.emplace(allocate_apart(session_, program_));
  }
  const Arena& arena = own ? *own : *way.memory;
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    write_first(session_, program_.buffers[i], first_[i], arena.parts[i]);
  }
  PlainWaves waves(programs_, {storage_, arena}, way.queues);
  session_.finish();

  PlainRun result;
  constexpr std::uint64_t launches_between_looks = 4096;
  std::uint64_t launches = 0;
  std::uint32_t iteration = 0;
  const auto look = [&] {
    result.in_time = result.in_time &&
                     Clock::now() < deadline + std::chrono::nanoseconds(waves.compile_ns()) &&
                     !InterruptWatch::interrupted();
  };
  const auto run_wave = [&](std::uint32_t wave) {
    const bool alone = way.after || (monitor_ != nullptr && iteration == 0);
    if (alone && monitor_ != nullptr) {
      monitor_->iterations = iteration;
      monitor_->wave = wave;
      monitor_->in_flight = 1;
    }
    if (way.before) {
      way.before(wave, iteration);
    }
    result.in_time = result.in_time && waves.launch(wave, iteration, deadline);
    if (alone || ++launches % launches_between_looks == 0) {
      device::doing(alone ? "running " + program_.wave_text(wave) : "running the plain launches",
                    [&] { session_.finish(); });
      look();
    }
    if (alone && monitor_ != nullptr) {
      monitor_->wave = Monitor::no_wave;
      monitor_->in_flight = 0;
    }
    return (!way.after || way.after(wave, iteration)) && result.in_time;
  };
  const std::span<const std::uint32_t> order = way.order.empty() ? std::span(programs_.waves) : way.order;
  const auto run_section = [&](Section section) {
    return std::ranges::all_of(
        order, [&](std::uint32_t wave) { return program_.waves[wave].section != section || run_wave(wave); });
  };
  const auto start = Clock::now();
  bool goes_on = run_section(Section::before);
  bool finished = false;
  while (goes_on && !finished && iteration < program_.iterations) {
    goes_on = run_section(Section::each);
    ++iteration;
    if (program_.until) {
      std::vector<std::byte> value(program_.until->value.size());
      const DevicePart& tested = arena.parts[storage_[iteration % storage_.size()][program_.until->buffer]];
      session_.read(tested.memory, tested.offset, value);
      look();
      finished = same_value(program_, value);
    }
  }
  if (goes_on) {
    run_section(Section::after);
  }
  session_.finish();
  const std::uint64_t elapsed = elapsed_ns(start);
  result.dispatch_ns = elapsed - std::min(elapsed, waves.compile_ns());

  result.outputs = output_room(session_, program_, 0);
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    if (program_.buffers[i].is_result()) {
      read_contents(session_, program_.buffers[i], arena.parts[storage_[iteration % storage_.size()][i]],
                    result.outputs[i]);
    }
  }
  const std::uint64_t all = elapsed_ns(begin);
  result.elapsed_ns = all - std::min(all, waves.compile_ns());
  return result;
}

OutputParity Reference::compare(const HostContents& found) const {
  return compare_outputs(program_, expected, found);
}

void Reference::find_cause(OutputParity& parity, const HostContents& found, const RunContext& context,
                           const DispatchLimits& limits) {
  const PlainRun again = run(limits.deadline);
  const ArenaRun rerun = run_in_arena(context, first_, limits);
  if (again.in_time && rerun.outcome.status == RunStatus::done) {
    parity.likely_cause =
        likely_cause(parity, compare(again.outputs).equal,
                     compare_outputs(program_, found, rerun.outputs).equal, program_.publishes());
  }
}

Proof prove(const RunContext& context, const HostContents& first, const HostContents& outputs,
            const DispatchLimits& limits) {
  const CompiledProgram& compiled = context.compiled;
  context.monitor.begin(Activity::proving);
  Reference reference(context.session, compiled.written, compiled.schedule.storage, first);
  PlainRun plain = reference.run(limits.deadline);
  if (!plain.in_time) {
    return {.in_time = false};
  }
  reference.expected = std::move(plain.outputs);
  Proof proof{.parity = reference.compare(outputs)};
  if (!proof.parity.equal) {
    reference.find_cause(proof.parity, outputs, context, limits);
    return proof;
  }
  if (std::ranges::any_of(compiled.written.waves,
                          [](const ProgramWave& wave) { return wave.listed_items.has_value(); })) {
    // Both may have run the items in one order, as work-groups do with the items of a short round.
    const PlainRun reversed = reference.run(limits.deadline, {.queues = QueueWay::reversed});
    if (!reversed.in_time) {
      return {.in_time = false};
    }
    proof.parity = reference.compare(reversed.outputs);
    if (!proof.parity.equal) {
      proof.parity.likely_cause = DifferenceCause::item_order;
      proof.parity.items_reversed = true;
      return proof;
    }
  }
  if (context.options.stress_runs != 0) {
    proof.stress = run_under_stress(context, first, reference, limits.deadline);
  }
  if (proof.holds()) {
    proof.comparison = compare(context, first, reference, limits);
  }
  return proof;
}

} // namespace tidegate::engine
