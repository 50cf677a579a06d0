// Knobs, configurations that are timed in pairs, and the document tuning_report, which has what `tidegate tune measure` found.
#pragma once
#include "engine/proof.hpp"
#include <tidegate/policy/documents.hpp>

namespace tidegate::tuning {

enum class Knob : std::uint8_t {
  workgroup_size,
  strategy,
  route,
  side_by_side,
  work_items_per_unit,
  workers,
  mapping,
  alone_up_to,
  switch_rule
};
inline constexpr std::array<std::string_view, 9> knob_names{
    "workgroup_size", "strategy", "route",       "side_by_side", "work_items_per_unit",
    "workers",        "order",    "alone_up_to", "switch_rule"};

// In measuring order: the knobs with the largest effect come first.
inline constexpr std::array wave_program_knobs{
    Knob::workgroup_size, Knob::strategy, Knob::route,  Knob::work_items_per_unit,
    Knob::side_by_side,   Knob::workers,  Knob::mapping};
// Knobs of first runs, whose time is short: the cost model is most often wrong about these.
inline constexpr std::array first_run_knobs{Knob::strategy, Knob::work_items_per_unit};
inline constexpr std::array frontier_program_knobs{Knob::strategy, Knob::workers, Knob::alone_up_to,
                                                   Knob::switch_rule};

// Everything that a run takes from a profile and a policy. Configurations differ in these, so the settings that are
// written are the ones that were measured.
struct Settings {
  device::Tuning tuning;              // for wave programs
  device::TraversalProfile traversal; // for frontier programs
  policy::LaunchPolicy policy;
};

// A round runs both configurations consecutively, in alternating order, so that disturbances of the machine affect both;
// each yields the ratio of its two times.

// Returns the nanoseconds of one run of a configuration; nullopt if it did not finish.
using Timer = std::function<std::optional<double>(std::size_t configuration)>;
using TimeIsUp = std::function<bool()>;

// A configuration counts as faster only with this confidence and by this ratio. A program has seven knobs; 99
// % for each means at least 93 % that none of them changed by chance.
inline constexpr double required_confidence = 0.99;
inline constexpr double required_ratio = 0.99; // of the times

inline constexpr std::uint64_t clear_rounds = 3;

struct Duel {
  std::uint64_t rounds = 0;
  double ratio = 1;      // challenger's time divided by the incumbent's, median of the rounds
  double ratio_low = 1;  // bounds of the true median with at least 95 % confidence;
  double ratio_high = 1; // the range of all ratios if there are few rounds
  double confidence = 0; // that the challenger is faster

  [[nodiscard]] bool won() const { return confidence >= required_confidence && ratio <= required_ratio; }

  // All rounds say so, by more than a tenth: a few are enough.
  [[nodiscard]] bool clearly_faster() const { return rounds >= clear_rounds && ratio_high < 0.9; }
  [[nodiscard]] bool clearly_slower() const { return rounds >= clear_rounds && ratio_low > 1.1; }
};

// Judges paired ratios without assuming a distribution: the sign test for the confidence, 1 - P(at least as
// many rounds are faster by chance), and order statistics for the interval. Source: Conover, "Practical
// Nonparametric Statistics", sections 3.2 and 3.4.
Duel judge(const std::vector<double>& ratios);

// Nanoseconds of each way by round.
using Rounds = std::vector<std::vector<double>>;

// Adds rounds in which these configurations run in turns, each after each, up to `most` or until `ends`. Returns false if a
// run does not finish.
bool time_in_turns(const std::vector<std::size_t>& configurations, std::uint64_t most, const Timer& time,
                   const std::function<bool()>& ends, Rounds& times);

// The times of one way divided by those of another, by round.
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b);

// Runs up to `rounds` rounds, fewer if time is up or the challenger is clearly slower after clear_rounds; and
// `more_rounds` if it is ahead then without the required confidence. Returns an empty duel if a run does not finish.
Duel duel(std::size_t challenger, std::size_t incumbent, std::uint64_t rounds, const Timer& time,
          const TimeIsUp& time_is_up, std::uint64_t more_rounds = 0);

// The report.

struct KnobReport {
  Knob knob = Knob::strategy;
  std::string before;
  std::vector<engine::FirstCandidate> candidates; // other values, in a few rounds against the previous one
  std::optional<Duel> duel; // of the fastest of them, in fresh rounds; if it has won, it is taken
};

// Outputs of a configuration that differ from those of plain launches.
struct Different {
  engine::OutputParity parity;
  std::string_view way; // strategy of the configuration
};

struct TuningReport {
  std::string program; // as named on the command line
  std::string device;
  std::string driver_version;
  std::uint64_t budget_ns = 0;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t runs = 0;
  double before_ns = 0; // median time of a dispatch, in nanoseconds
  double after_ns = 0;
  std::vector<KnobReport> knobs;
  device::DeviceProfile profile;
  policy::LaunchPolicy policy;
};

} // namespace tidegate::tuning

namespace tidegate::documents {

TIDEGATE_CHOICES(tuning::Knob, tuning::knob_names);

TIDEGATE_HAS_DOCUMENT(tuning::TuningReport);

} // namespace tidegate::documents
