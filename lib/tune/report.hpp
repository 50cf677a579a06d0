// What `tidegate tune measure` tells. Plain data; the document tuning_report is made of it.
#pragma once
#include "engine/run_report.hpp"
#include "tune/knobs.hpp"
#include "tune/statistics.hpp"
#include <tidegate/device/profile.hpp>
#include <tidegate/policy/launch_request.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::tuning {

enum class Verdict : std::uint8_t {
  adopted,        // faster, with the confidence that is required
  kept,           // nothing was
  nothing_to_try, // no other value runs in another way
  out_of_time,    // the budget was over before it was known
};
inline constexpr std::array<std::string_view, 4> verdict_names{"adopted", "kept", "nothing_to_try",
                                                               "out_of_time"};

struct ThrownOut {
  std::string value;
  std::string reason;
};

struct TimedValue {
  std::string value;
  double ratio = 1; // of its time to that of the value before: median of the rounds
};

struct KnobReport {
  Knob knob = Knob::strategy;
  Verdict verdict = Verdict::nothing_to_try;
  std::string before;
  std::string best;             // of the others; empty when none was timed
  std::uint64_t candidates = 0; // beside the one before
  std::optional<Duel> duel;     // between the two
  std::vector<ThrownOut> thrown_out;
  std::vector<TimedValue> timed; // the others, as far as they came
};

// Outputs of a candidate that are not those of plain launches.
struct Different {
  engine::OutputParity parity;
  std::string way;    // how the candidate was launched, for people
  std::string kernel; // that was generated for it; empty where none was
};

struct TuningReport {
  std::string program; // that was measured, as the command line names it
  std::string device;
  std::string driver_version;
  std::uint64_t budget_ns = 0;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t runs = 0;
  double before_ns = 0; // medians of a dispatch, in turn
  double after_ns = 0;
  std::optional<Duel> overall; // what was adopted against what there was before; none where nothing was
  std::vector<KnobReport> knobs;
  device::DeviceProfile profile;
  policy::LaunchPolicy policy;
};

} // namespace tidegate::tuning
