// `tidegate tune measure` for people, and the profiles and policies that a run takes: from files that are
// named, or from the user's folder, where measuring leaves them for the program that it measured.
#pragma once
#include "app/run.hpp"
#include "engine/run_options.hpp"
#include "tune/measure.hpp"
#include "tune/report.hpp"
#include <tidegate/core/encode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/policy/launch_request.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tidegate::app {

// Files in the user's folder with the measurements of a program on this device and driver; empty without a
// folder.
struct TunedFiles {
  std::filesystem::path profile;
  std::filesystem::path policy;
  std::filesystem::path difference; // there is one where outputs were not those of plain launches
  std::filesystem::path unfinished; // there is one where the last first run had no time for all candidates
  std::filesystem::path compared;   // holds what the first run with a stated strategy found
};
TunedFiles tuned_files(const device::DeviceInfo& device, std::string_view program_key);

// All that decides what a program launches on a device: its text, the files of its kernels, the options that
// fix something, and this version of the tool.
std::string program_key(std::string_view program_text, const engine::WaveProgram& program,
                        const std::string& folder, const device::DeviceInfo& device,
                        const engine::RunOptions& options, std::string_view tool_version);

// The file that exists once a run of a frontier program was right on this device: by its text, the state of
// its graph's file, how it is run, and this version of the tool. Empty where there is no folder, or the graph
// comes from standard input.
std::filesystem::path checked_file(std::string_view program_text, const graphs::FrontierProgram& program,
                                   const std::string& folder, const device::DeviceInfo& device,
                                   const engine::RunOptions& options, std::string_view tool_version);

// Returns the profile and policy that a run takes: from the files that it names, or else those kept for this program
// on this device. Damaged files are ignored. Errors: of the
// files that are named; invalid_usage where two of the program and these are standard input.
struct TakenTuning {
  std::optional<device::Tuning> tuning;              // of wave programs
  std::optional<device::TraversalProfile> traversal; // of frontier programs
  std::optional<policy::LaunchPolicy> policy;
  std::optional<std::string> profile_file;
  std::optional<std::string> policy_file;
  bool kept = false; // by an earlier run, or by `tidegate tune measure`
};
Result<TakenTuning> take_tuning(const RunSettings& settings, std::string_view program_key,
                                const device::DeviceInfo* device);

// Removes what an earlier run kept, so that the next one measures again.
// Returns true if the persistent launch that a first run chose on a CPU took far longer than plain launches, or was
// ended for that.
bool too_slow(const engine::RunReport& report, const engine::CompileOptions& options);

// The share of active tiles in a run, in ten-thousandths; 0 where no wave counts them.
std::uint32_t active_tiles_bps(const engine::RunReport& report);

// Returns true if far more or fewer tiles were active than when a first run chose, so that another way may be faster.
bool other_share_of_tiles(const engine::RunReport& report, const device::Tuning& tuning);

// Notes the share of active tiles that a kept choice was made for.
void note_active_tiles(const TunedFiles& kept, std::uint32_t bps);

void forget_tuned(const TunedFiles& kept);

// How a program is launched whose command line leaves it open.
struct ChosenWay {
  std::optional<engine::FirstRun> report;
  std::optional<engine::Warning> warning;
};

// Sets the tuning and the policy to those that an earlier run kept, `taken`, or else measures them. With a stated
// strategy it decides whether this run is compared with plain launches: options.verify_stated.
Result<ChosenWay> choose_way(RunSettings& settings, engine::WaveProgram& program,
                             const device::DeviceInfo* device, const std::string& key,
                             const TakenTuning& taken, engine::Monitor& monitor);

// Completes and keeps what the first run with a stated strategy found, and warns of a difference.
ChosenWay note_stated(const RunSettings& settings, const device::DeviceInfo& device, const std::string& key,
                      const engine::RunReport& report);

} // namespace tidegate::app
