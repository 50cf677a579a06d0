// Results of `tidegate tune measure`: the document tuning_report.
#pragma once
#include "device/documents.hpp"
#include "engine/run_report.hpp"
#include "tune/knobs.hpp"
#include "tune/statistics.hpp"
#include <tidegate/policy/documents.hpp>

namespace tidegate::tuning {

enum class KnobVerdict : std::uint8_t {
  adopted,        // faster with the required confidence
  unchanged,      // no value was faster ("kept" in documents)
  nothing_to_try, // no other value changes the run
  out_of_time,    // the budget ran out before a decision
};
inline constexpr std::array<std::string_view, 4> verdict_names{"adopted", "kept", "nothing_to_try",
                                                               "out_of_time"};

struct ThrownOut {
  std::string value;
  std::string reason;
};

struct TimedValue {
  std::string value;
  double ratio = 1; // its time divided by the previous value's, median of the rounds
};

struct KnobReport {
  Knob knob = Knob::strategy;
  KnobVerdict verdict = KnobVerdict::nothing_to_try;
  std::string before;
  std::string best;                 // best other value; empty if none was timed
  std::uint64_t configurations = 0; // number of other values that were timed
  std::optional<Duel> duel;         // best other value against the previous one
  std::vector<ThrownOut> thrown_out;
  std::vector<TimedValue> timed; // timed other values
};

// Outputs of a configuration that differ from those of plain launches.
struct Different {
  engine::OutputParity parity;
  std::string way;    // launch of the configuration, in words for people
  std::string kernel; // generated source; empty if none
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
  std::optional<Duel> overall; // adopted settings against the previous ones, if any were adopted
  std::vector<KnobReport> knobs;
  device::DeviceProfile profile;
  policy::LaunchPolicy policy;
};

} // namespace tidegate::tuning

namespace tidegate::documents {

TIDEGATE_CHOICES(tuning::Knob, tuning::knob_names);
TIDEGATE_CHOICES(tuning::KnobVerdict, tuning::verdict_names);

TIDEGATE_HAS_DOCUMENT(tuning::TuningReport);

} // namespace tidegate::documents
