// `tidegate tune measure` for people, and the profiles and policies that a run takes: from files that are
// named, or from the user's folder, where measuring leaves them for the program that it measured.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/policy/launch_request.hpp>
#include <tidegate/tuning/tuning_report.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tidegate::commands {

// Where the user's folder has what was measured for this text of a program on this device and driver; empty
// without a folder.
struct TunedFiles {
  std::filesystem::path profile;
  std::filesystem::path policy;
};
TunedFiles tuned_files(const device::DeviceInfo& device, std::string_view program_text);

// A profile of the device: its tuning is what a run takes of it, never its self-test. Errors: of reading and
// decoding; invalid_usage for the profile of another device. `device` may be null: then of any.
Result<device::DeviceProfile> read_profile(const std::string& file, const device::DeviceInfo* device);

Result<policy::LaunchPolicy> read_policy(const std::string& file);

// What a run takes of all that: of the files that it names, or else what was kept for this very text of its
// program on this device. What was kept and is damaged costs nothing but what was gained. Errors: of the
// files that are named; invalid_usage where two of the program and these are standard input.
struct TuningSources {
  std::optional<std::string> profile; // "none": not what was kept either
  std::optional<std::string> policy;
  bool look_for_kept = true;
};
struct TakenTuning {
  std::optional<device::Tuning> tuning;              // of wave programs
  std::optional<device::TraversalProfile> traversal; // of frontier programs
  std::optional<policy::LaunchPolicy> policy;
  std::optional<std::string> profile_file;
  std::optional<std::string> policy_file;
};
Result<TakenTuning> take_tuning(const TuningSources& sources, const std::string& program_file,
                                std::string_view program_text, const device::DeviceInfo* device);

// Writes both documents. Errors of writing.
Result<void> write_tuned(const tuning::TuningReport& report, const std::string& profile_file,
                         const std::string& policy_file);

// A row for each knob.
std::string tuning_table(const tuning::TuningReport& report, bool colour);

} // namespace tidegate::commands
