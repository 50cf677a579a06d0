// The command `tidegate tune measure`, and the device profile and launch policy that a run uses: from the files of --profile
// and --policy, or from the user's folder, where `tune measure` and first runs store them for each program.
#pragma once
#include "app/run.hpp"
#include "tune/measure.hpp"

namespace tidegate::app {

// Returns a key of everything that decides how a program is launched on a device: its launch_key(), the files of its kernels,
// the options that fix a choice, and the version of the tool.
std::string program_key(const engine::WaveProgram& program, const engine::Job& job,
                        const engine::RunOptions& options, std::string_view tool_version);

// Returns the path of a file that exists once a run of the frontier program was correct on this device. Its name depends on the
// program's text, the state of the graph's file, the options of the run and the version of the tool. Empty if there is no folder
// or the graph comes from a file that is not regular, such as standard input.
std::filesystem::path checked_file(std::string_view program_text, const graphs::FrontierProgram& program,
                                   const std::string& folder, const device::DeviceInfo& device,
                                   const engine::RunOptions& options, std::string_view tool_version);

struct TakenTuning {
  std::optional<device::Tuning> tuning;              // of wave programs
  std::optional<device::TraversalProfile> traversal; // of frontier programs
  std::optional<policy::LaunchPolicy> policy;
  std::optional<std::string> profile_file;
  std::optional<std::string> policy_file;
  bool kept = false;                         // by an earlier run, or by `tidegate tune measure`
  std::optional<engine::FirstRun> first_run; // that kept it
};

// Returns the profile and policy of a run: from the files that the command line names, or else those kept for this program on
// this device, unless a first run found them with a `repeat` that is far from this one. Damaged kept files are ignored. Errors:
// of named files; invalid_usage if standard input is given for more than one of the program, the profile and the policy.
Result<TakenTuning> take_tuning(const Run& run, std::string_view program_key,
                                const device::DeviceInfo* device, std::optional<std::uint64_t> repeat = {});

// Returns true if the choice of a first run is out of date: on a CPU its persistent launch took far longer than plain launches, or
// was aborted for that reason; or the share of active tiles is far from that with which it was measured.
bool must_choose_again(const engine::RunReport& report, const engine::CompileOptions& options);

// Forgets what earlier runs kept if this run shows that it is out of date; otherwise notes what later runs and requests compare
// with.
void keep_or_forget(engine::RunReport& report, const engine::RunOptions& options,
                    const device::DeviceInfo& device, const std::string& program_key);

struct ChosenWay {
  std::optional<engine::FirstRun> report;
  std::optional<engine::Warning> warning;
};

// Chooses how to launch a program. If the command line states a strategy, decides whether this run is compared with plain
// launches (options.verify_stated). Otherwise reports the choice that an earlier run kept (`taken`, which the caller applied), or
// else makes a first run and sets the tuning and the policy to its result.
Result<ChosenWay> choose_way(Run& run, engine::Lowering& lowering, const std::string& key,
                             const TakenTuning& taken, engine::Monitor& monitor);

// Completes and stores the result of the first run with a stated strategy, and returns a warning if outputs differed.
ChosenWay note_stated(const Run& run, const device::DeviceInfo& device, const std::string& key,
                      const engine::RunReport& report);

} // namespace tidegate::app
