#include "tune/report.hpp"

namespace tidegate::tuning {

Duel judge(const std::vector<double>& ratios) {
  Duel duel{.rounds = ratios.size()};
  if (ratios.empty()) {
    return duel;
  }
  const RatioEstimate estimated = paired_ratio(ratios);
  duel.ratio = estimated.ratio;
  duel.ratio_low = estimated.low;
  duel.ratio_high = estimated.high;
  const auto faster =
      static_cast<std::uint64_t>(std::ranges::count_if(ratios, [](double r) { return r < 1; }));
  const auto slower =
      static_cast<std::uint64_t>(std::ranges::count_if(ratios, [](double r) { return r > 1; }));
  duel.confidence = faster + slower == 0 ? 0 : 1 - at_least(faster, faster + slower);
  return duel;
}

bool time_in_turns(const std::vector<std::size_t>& configurations, std::uint64_t most, const Timer& time,
                   const std::function<bool()>& ends, Rounds& times) {
  times.resize(configurations.size());
  for (std::size_t round = times.front().size(); round < most && !ends(); ++round) {
    std::vector<double> of_round(times.size());
    for (std::size_t turn = 0; turn < times.size(); ++turn) {
      const std::size_t way = (turn + round) % times.size();
      const auto ns = time(configurations[way]);
      if (!ns) {
        return false;
      }
      of_round[way] = *ns;
    }
    for (std::size_t way = 0; way < times.size(); ++way) {
      times[way].push_back(of_round[way]);
    }
  }
  return true;
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> found(a.size());
  std::ranges::transform(a, b, found.begin(), std::divides());
  return found;
}

Duel duel(std::size_t challenger, std::size_t incumbent, std::uint64_t rounds, const Timer& time,
          const TimeIsUp& time_is_up, std::uint64_t more_rounds) {
  Rounds times(2);
  const auto judged = [&] { return judge(ratios(times[1], times[0])); };
  const auto ends = [&] {
    return time_is_up() || (times[0].size() == clear_rounds && judged().clearly_slower());
  };
  if (!time_in_turns({incumbent, challenger}, rounds, time, ends, times)) {
    return {};
  }
  Duel found = judged();
  if (more_rounds == 0 || found.won() || found.ratio > required_ratio) {
    return found;
  }
  if (!time_in_turns({incumbent, challenger}, rounds + more_rounds, time, ends, times)) {
    return {};
  }
  found = judged();
  found.confidence = std::max(1 - 2 * (1 - found.confidence), 0.0); // chance had two turns
  return found;
}

} // namespace tidegate::tuning

namespace tidegate::documents {

using namespace tuning;

constexpr Field duel_fields[] = {
    required<&Duel::rounds>("pairs of consecutive runs"),
    required<&Duel::ratio>("new time divided by old time, median of the rounds"),
    required<&Duel::ratio_low>("lower bound of the true median with 95 % confidence"),
    required<&Duel::ratio_high>("upper bound; with fewer than six rounds the range of all of them"),
    required<&Duel::confidence>("confidence that the new one is faster, by the sign test"),
};
TIDEGATE_RECORD(Duel, duel_fields);

constexpr Field knob_fields[] = {
    required<&KnobReport::knob>("varied setting"),
    required<&KnobReport::before>("previous value"),
    required<&KnobReport::candidates>(
        "other values that change the run, in a few rounds against the previous one; the one taken is faster "
        "with at least 99 % confidence and by at least 1 %"),
    optional<&KnobReport::duel>("fresh rounds of the fastest of them against the previous value"),
};
TIDEGATE_RECORD(KnobReport, knob_fields);

constexpr Field tuning_report_fields[] = {
    required<&TuningReport::program>("measured program"),
    required<&TuningReport::device>("name of the device"),
    required<&TuningReport::driver_version>("version of the driver"),
    required<&TuningReport::budget_ns>("longest time that measuring may take"),
    required<&TuningReport::elapsed_ns>("time that measuring took"),
    required<&TuningReport::runs>("total dispatches of the program"),
    required<&TuningReport::before_ns>("median time of a dispatch before tuning"),
    required<&TuningReport::after_ns>("before_ns times the ratios of the values taken"),
    required<&TuningReport::knobs>("result of each knob, in the order of the measurements"),
    required<&TuningReport::profile>("device profile with the adopted settings"),
    required<&TuningReport::policy>("launch policy with the adopted settings"),
};
TIDEGATE_RECORD(TuningReport, tuning_report_fields);

TIDEGATE_DOCUMENT(TuningReport, "tuning_report",
                  "Measurements that tuned a program on a device, knob by knob", Direction::output);

} // namespace tidegate::documents
