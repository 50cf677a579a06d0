#include <tidegate/run/dispatch.hpp>
#include <tidegate/run/wave_by_wave.hpp>

#include <algorithm>

namespace tidegate::run {

void run_wave_by_wave(const ResolvedProgram& program, const std::vector<std::vector<std::uint32_t>>& places,
                      Monitor& monitor, const WaveByWave& how) {
  const std::vector<std::uint32_t> order = program_order(program);
  std::uint32_t iteration = 0;
  const auto run_phase = [&](WavePhase phase) {
    return std::ranges::all_of(order, [&](std::uint32_t wave) {
      return program.waves[wave].phase != phase || how.run(wave, iteration);
    });
  };
  bool goes_on = run_phase(WavePhase::before);
  bool finished = false;
  while (goes_on && !finished && iteration < program.iterations) {
    goes_on = run_phase(WavePhase::each);
    monitor.iterations = ++iteration;
    if (program.until) {
      std::vector<std::byte> value(program.until->value.size());
      how.read(places[iteration % places.size()][program.until->buffer], value);
      finished = same_value(program, value);
    }
  }
  if (goes_on) {
    run_phase(WavePhase::after);
  }
}

} // namespace tidegate::run
