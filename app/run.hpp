// `tidegate run`: settings, runs and reports, for programs of both kinds.
#pragma once
#include "app/command_line.hpp"
#include "app/documents.hpp"
#include "app/plan.hpp"
#include "core/statistics.hpp"
#include "core/table.hpp"
#include "engine/execute.hpp"
#include "engine/run_report.hpp"
#include "traversal/documents.hpp"
#include "traversal/plan.hpp"
#include "work/run.hpp"
#include <tidegate/device/device_list.hpp>

namespace tidegate::app {

// A run as the command line asks for it; nothing changes it once it is parsed.
struct AskedRun {
  std::string program = "-";
  std::string graph; // file of a graph; `program` then names an algorithm
  std::vector<std::uint64_t> sources;
  bool undirected = false;                      // edges of the graph also count as their opposites
  std::vector<documents::Parameter> parameters; // in place of those of the program
  std::string output = "-";
  std::string selector;
  bool stream = false;
  bool require_convergence = false;
  std::optional<std::string> plan;
  std::optional<std::string> profile; // "none": not even the one in the user's folder
  std::optional<std::string> policy;
  std::optional<std::uint64_t> slice_ns; // in place of the profile's
  bool cache = true;                     // use and store built kernels, tunings and first runs
  std::optional<bool> measure; // time candidates; empty: where the choice can be kept and there is one
  bool verbose = false;
  std::string_view format{}; // empty: a table on a terminal, else JSON
  bool by_wave = false;
  bool explain = false; // the report has its reasons, too
  engine::RunOptions options;
  traversal::RunOptions graphs; // its own part; graph_options() adds what both kinds share
  std::set<std::string> given;  // options, as note_given() has them
};

// A run of a request: the options that follow from its program and its device, and what is known of both.
struct Run : AskedRun {
  explicit Run(const AskedRun& request) : AskedRun(request) {}

  std::string json;                         // the text of the program
  bool changed = false;                     // the text is not that of the file
  std::optional<device::DeviceInfo> device; // once it is known
  std::optional<Warning> device_warning;    // ranks share devices
  std::uint32_t crashes = 0;           // of the driver while an earlier process of this run tried candidates
  std::shared_ptr<ranks::Ranks> ranks; // with this process among them; null: it is alone
};

Result<void> read_text(Run& run);
Error at_program(Error error, const Run& run); // its file is the program if it names none

// Tests the device once for a persistent or automatic strategy or --stress; a dry run reads no profile.
Result<device::DeviceInfo> find_device(Run& run);

ProgressStyle progress_style(const AskedRun& request);
Result<ExitCode> run_program(const AskedRun& request);

// Run the program, and store in `run` what was chosen, such as the tuning.
Result<engine::RunReport> run_waves(Run& run, runtime::Monitor& monitor);
Result<traversal::FrontierReport> run_frontier(Run& run, runtime::Monitor& monitor);

// Refuse options that do not go together, or that this kind of program, or several ranks, do not have.
Result<void> check_options(const AskedRun& request);
Result<void> check_options_for(const Run& run, bool frontier);

std::vector<OptionModel> run_settings(AskedRun& request);

// The folder that a program's paths are relative to: its own, or the current one for standard input.
std::string program_folder(const std::string& program_path);

// Leave out of a report in JSON what --explain and --dry-run add: candidates, groups of the plan, and offsets.
void shorten(engine::RunReport& report, const AskedRun& request);
inline void shorten(const traversal::FrontierReport& /*report*/, const AskedRun& /*request*/) {}

inline std::string time_text(std::uint64_t ns) {
  return short_time_text(static_cast<double>(ns));
}

// A report for people, for terminals and pages.
struct RunTable {
  std::string headline;
  TableRows rows;  // a name and a text each
  TableRows waves; // a head and the rows below it; empty if waves were not timed
};
RunTable run_rows(const engine::RunReport& report, std::size_t most_waves = 12);
RunTable run_rows(const traversal::FrontierReport& report);
std::string run_table(RunTable table, bool colour);

std::string launch_text(const policy::LaunchRecommendation& launch);
TableRows reason_rows(const std::vector<policy::ExplanationStep>& steps);

bool is_frontier_program(std::string_view json);

// The statuses of a success are listed, so that an unknown one is none.
constexpr bool is_success(runtime::RunStatus status) {
  using runtime::RunStatus;
  return status == RunStatus::done || status == RunStatus::planned || status == RunStatus::checked;
}

std::string trace_json(const runtime::Timeline& timeline, std::string_view title);

// A run takes its device profile and its launch policy from the files of --profile and --policy, or from the user's folder,
// which keeps for each program what first runs and `tune measure` found.

// A key of everything that decides how a program is launched on a device.
std::string program_key(const engine::WaveProgram& program, const engine::Job& job,
                        const engine::RunOptions& options);

// A file that exists once a run of the frontier program was correct on this device; its name depends on all that decides the
// result. Empty without a cache folder, or if the graph's file is not regular.
std::filesystem::path checked_file(std::string_view program_text, const graphs::FrontierProgram& program,
                                   const std::string& folder, const device::DeviceInfo& device,
                                   const traversal::RunOptions& options);

struct TakenTuning {
  std::optional<device::Tuning> tuning;              // of wave programs
  std::optional<device::TraversalProfile> traversal; // of frontier programs
  std::optional<policy::LaunchPolicy> policy;
  std::optional<std::string> profile_file;
  std::optional<std::string> policy_file;
  std::optional<engine::FirstRun> first_run; // that kept it, or `tidegate tune measure` did
};

// From the files that the command line names, or else those kept for this program on this device, unless a first run found
// them with a `repeat` that is far from this one. Damaged kept files are ignored.
Result<TakenTuning> take_tuning(const Run& run, std::string_view program_key,
                                const device::DeviceInfo* device, std::optional<std::uint64_t> repeat = {});

// Returns why the choice of a first run is out of date: a persistent launch on a CPU took far longer than plain launches, or was
// aborted for that, or far more or fewer tiles were active. Empty if it is not.
std::string out_of_date(const engine::RunReport& report, const engine::CompileOptions& options);

// Forgets what earlier runs kept if it is out of date; otherwise notes what later runs and requests compare with.
void keep_or_forget(engine::RunReport& report, const engine::RunOptions& options,
                    const device::DeviceInfo& device, const std::string& program_key);

struct ChosenWay {
  std::optional<engine::FirstRun> report;
  std::optional<Warning> warning;
};

// Chooses how to launch a program. If the command line states a strategy, decides whether this run is compared with plain
// launches (options.verify_stated). Otherwise takes the choice that an earlier run kept (`taken`, which the caller applied), or
// makes a first run. The run began at `start`. On a CPU it goes on in another process if a build is under way whose result
// no one will use, because a driver that compiles holds locks that other calls wait for.
Result<ChosenWay> choose_way(Run& run, engine::Lowering& lowering, const std::string& key,
                             const TakenTuning& taken, std::chrono::steady_clock::time_point start,
                             runtime::Monitor& monitor);

// Stores the result of the first run with a stated strategy.
ChosenWay note_stated(const Run& run, const device::DeviceInfo& device, const std::string& key,
                      const engine::RunReport& report);

// Times.

// Returns "1.38 times as fast as plain launches (1.31 to 1.44 with 95 % confidence, 9 rounds)".
std::string speed_text(const runtime::Comparison& speed, std::string_view other);

constexpr std::string_view compared_with(const engine::RunReport& /*report*/) {
  return "plain launches";
}
constexpr std::string_view compared_with(const traversal::FrontierReport& /*report*/) {
  return "a launch for each step";
}

// `--html`: a run as one HTML page that loads no other files and has no script. A block of JSON in it has
// the whole report.

std::string_view page_html(); // its frame, report_page.html

// `program`: its name in messages.
std::string report_page(const engine::RunReport& report, const std::string& program);
std::string report_page(const traversal::FrontierReport& report, const std::string& program);

// Escapes JSON for a <script> element, so that no text in it ends the element or opens a comment.
std::string script_safe(std::string_view json);

// The devices of this machine and their self-tests; ranks of `mpirun -n N tidegate run`.

enum class SelfTest : std::uint8_t {
  kept,         // an earlier run, or nowhere
  kept_or_made, // an earlier run, or else it runs now
  made,         // it runs now
};

// Fills in `profile` and `megakernel`. A result in the user's cache folder serves while device, driver and tool are the same.
// `begins` is called before a test, which takes seconds.
Result<void> add_profile(device::DeviceInfo& device, SelfTest from, const std::function<void()>& begins = {});

// Nothing if it is damaged, impossible, or of another device or driver.
std::optional<device::DeviceProfile> kept_profile(std::string_view json, const device::DeviceInfo& device);

// Waits until all ranks have come here. A rank with an error prints it, unless another rank's came first, and ends all;
// one with another exit code than `done` ends all, too.
Result<ExitCode> end_together(Result<ExitCode> result, ranks::Ranks& ranks);

// The error with the rank's number, once rank 0 has had the time to report an error that all have.
Error after_first_rank(Error error, std::chrono::milliseconds first = std::chrono::milliseconds(300));
inline constexpr std::chrono::seconds without_mpi{3}; // until mpirun has ended the others

} // namespace tidegate::app
