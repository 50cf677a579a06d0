// `tidegate tune`, and what first runs keep for later ones.
#include "app/run.hpp"
#include "core/json.hpp"
#include "device/isolation.hpp"
#include "engine/report.hpp"
#include "traversal/documents.hpp"
#include "tune/measure.hpp"
#include "tune/report.hpp"
#include "tune/workbench.hpp"

#include <unistd.h>

namespace tidegate::app {
namespace {

// The number of an optional enumeration in a key.
constexpr auto number_of = [](const auto& value) { return value ? static_cast<std::int64_t>(*value) : -1; };

// Paths in the cache folder for the measurements of a program on a device and its driver; empty if there is no folder.
struct TunedFiles {
  std::filesystem::path profile, policy;
  std::filesystem::path first_run; // what first runs have found
};

TunedFiles tuned_files(const std::filesystem::path& folder, const device::DeviceInfo& device,
                       std::string_view program_key) {
  const std::string name = "tuned-" + hash_of(device::cache_key(device).append(program_key));
  const auto file = [&](std::string_view what) {
    return folder.empty() ? folder : folder / fmt::format("{}.{}.json", name, what);
  };
  return {file("profile"), file("policy"), file("first_run")};
}

// Removes the kept profile, so that the next run measures again.
void forget_tuned(const TunedFiles& kept) {
  std::error_code not_there;
  std::filesystem::remove(kept.profile, not_there);
  std::filesystem::remove(kept.first_run, not_there);
}

// The share of active tiles in basis points, at least 1; 0 if no wave counts its active tiles.
std::uint32_t active_tiles_bps(const engine::RunReport& report) {
  return !report.active.empty()
             ? std::max(1U, static_cast<std::uint32_t>(report.telemetry.frontier_density_bps))
             : 0;
}

// True if one is 4 or more times the other, so that another launch strategy may be faster now.
bool far_apart(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t factor = 4;
  return std::max(a, b) / factor >= std::min(a, b);
}

// Stores the profile and the policy in the user's folder, where take_tuning() finds them. Returns false if they cannot be written.
bool keep_tuned(const TunedFiles& kept, const device::DeviceProfile& profile,
                const policy::LaunchPolicy& policy) {
  return keep_file(kept.profile, documents::encode(profile) + '\n') &&
         keep_file(kept.policy, documents::encode(policy) + '\n');
}

constexpr std::string_view of_stated = " with the stated strategy";
constexpr std::string_view of_candidate = " with a candidate, which is left out";
constexpr std::string_view of_chosen = ", so plain launches are taken";

// Returns a warning if outputs differ from plain launches. `of_whom`: whose, or what follows from it; `pointer`: a wave at
// fault, also where only a candidate that is left out differs.
std::optional<Warning> difference_of(const engine::FirstRun& first_run, std::string_view of_whom,
                                     const Run& run, const std::string& pointer = "") {
  if (!first_run.compared || (first_run.equal && pointer.empty())) {
    return {};
  }
  std::string what = "an earlier run found that";
  if (first_run.difference && first_run.difference->first_difference) {
    const engine::Difference& first = *first_run.difference->first_difference;
    what = fmt::format("element {} of {} is {}, plain launches make it {}", first.element,
                       in_quotes(first.buffer), first.found, first.expected);
  }
  return Warning{.message = fmt::format("outputs differ from those of plain launches{}: {}", of_whom, what),
                 .fix = engine::difference_fix(first_run.difference, run.options.compile.fp_contract_off),
                 .pointer = pointer};
}

// Returns the path of the file with the result of the first run with the stated strategy; empty without a cache folder.
std::filesystem::path stated_file(const Run& run, const device::DeviceInfo& device, const std::string& key) {
  return tuned_files(run.options.cache_folder, device,
                     fmt::format("{}\n{}", key, static_cast<int>(*run.options.compile.strategy)))
      .first_run;
}

// Returns what an earlier run has found.
engine::FirstRun of_earlier_run(engine::FirstRun first) {
  first.measured = false;
  first.kept = true;
  first.runs = first.elapsed_ns = first.budget_ns = 0;
  return first;
}

Warning not_kept_warning(const std::filesystem::path& file) {
  return {.message = fmt::format("cannot write in {}, so nothing is kept for later runs",
                                 in_quotes(file.parent_path().string())),
          .fix = "make it writable, or name another folder by XDG_CACHE_HOME",
          .pointer = ""};
}

ChosenWay look_at_stated(Run& run, const engine::WaveProgram& program, const device::DeviceInfo& device,
                         const std::string& key) {
  engine::RunOptions& options = run.options;
  const bool compared = options.verify || options.compare_rounds != 0 || options.stress_runs != 0;
  const auto has_output = [](const auto& named) { return named.second.output.has_value(); };
  const bool has_outputs = std::ranges::any_of(program.buffers, has_output) ||
                           std::ranges::any_of(program.images, has_output) ||
                           std::ranges::any_of(program.hits, has_output);
  if (*options.compile.strategy == engine::Strategy::plain || compared || run.ranks || !has_outputs) {
    return {};
  }
  const auto found = read_as<engine::FirstRun>(stated_file(run, device, key).string());
  options.verify_stated = !found;
  if (!found) {
    return {};
  }
  engine::FirstRun first = of_earlier_run(*found);
  if (found->compared) {
    first.reason =
        fmt::format("{}equal to plain launches on an earlier run here", found->equal ? "" : "not ");
  }
  return {.report = first, .warning = difference_of(*found, of_stated, run)};
}

// Reads a device profile. A run uses its tuning and never its self-test. Errors: of reading and decoding; invalid_usage for the
// profile of another device. If `device` is null, a profile of any device is accepted.
Result<device::DeviceProfile> read_profile(const std::string& file, const device::DeviceInfo* device) {
  TIDEGATE_TRY(device::DeviceProfile profile, read_as<device::DeviceProfile>(file));
  if (device != nullptr && profile.device != device->name) {
    return misuse(fmt::format("the profile {} is of {}, this is {}", in_quotes(file),
                              in_quotes(profile.device), in_quotes(device->name)),
                  "measure one with `tidegate tune measure`, or give --device");
  }
  return profile;
}

std::string tuning_table(const tuning::TuningReport& report, bool colour) {
  const bool gained = report.after_ns < report.before_ns;
  const std::string before = short_time_text(report.before_ns);
  const std::string headline =
      gained ? fmt::format("{}: {} instead of {} on {}", report.program, short_time_text(report.after_ns),
                           before, report.device)
             : fmt::format("{}: {} on {}, and nothing was faster", report.program, before, report.device);
  TableRows rows{{"  knob", "before", "other", "taken", "confidence", "times as fast (95 % interval)"}};
  for (const tuning::KnobReport& knob : report.knobs) {
    const auto& all = knob.candidates;
    const auto fastest = std::ranges::min_element(
        all, {}, [](const auto& one) { return one.ratio.value_or(std::numeric_limits<double>::max()); });
    const bool timed = knob.duel && knob.duel->rounds != 0;
    rows.push_back({fmt::format("  {}", choice_name(knob.knob)), knob.before,
                    all.empty() ? "-" : fastest->value, !all.empty() && fastest->taken ? "yes" : "no",
                    timed ? fmt::format("{:.1f} %", 100 * knob.duel->confidence) : "-",
                    timed ? fmt::format("{:.2f} ({:.2f} to {:.2f})", 1 / knob.duel->ratio,
                                        1 / knob.duel->ratio_high, 1 / knob.duel->ratio_low)
                          : "-"});
  }
  return fmt::format("{}\n{}  {} in {}\n", bold(headline, colour),
                     render_table(std::move(rows), std::string::npos), plural(report.runs, "run"),
                     seconds_text(report.elapsed_ns));
}

struct TuneSettings {
  AskedRun common; // settings shared with `tidegate run`
  std::uint64_t budget_ns = 60'000'000'000;
  std::string profile_file; // also written here, besides the user's folder; may be empty
  std::string policy_file;
};

Result<ExitCode> run_measure(const TuneSettings& settings) {
  Run common(settings.common);
  engine::RunOptions& options = common.options;
  options.cache_folder = !common.cache ? std::filesystem::path() : cache_folder();
  options.files = {.inputs = {{common.program, "the program", {}}},
                   .outputs = {{common.output, "-o", {}},
                               {settings.profile_file, "--write-profile", {}},
                               {settings.policy_file, "--write-policy", {}}}};
  TIDEGATE_CHECK(device::isolate_drivers());
  hint_at_terminal(common.program);
  TIDEGATE_CHECK(read_text(common));
  const auto at = [&common](Error error) { return at_program(std::move(error), common); };
  std::optional<engine::WaveProgram> waves;
  std::optional<graphs::FrontierProgram> frontier;
  if (is_frontier_program(common.json)) {
    TIDEGATE_TRY(frontier, decode_as<graphs::FrontierProgram>(common.json, common.parameters).map_error(at));
  } else {
    TIDEGATE_TRY(waves, decode_as<engine::WaveProgram>(common.json, common.parameters).map_error(at));
  }
  TIDEGATE_TRY(auto device, find_device(common));

  runtime::Monitor monitor;
  Progress progress(monitor, progress_style(common));
  tuning::MeasureOptions measuring{.run = options, .budget_ns = settings.budget_ns, .abandon = {}};
  measuring.abandon = [&](const Error& error) {
    progress.finish();
    device::PrintsToStandardError::end();
    print_error(at(error));
    ::_exit(static_cast<int>(exit_code(error)));
  };
  const std::string folder = program_folder(common.program);
  Result<tuning::TuningReport> report;
  std::string key;
  if (waves) {
    engine::Lowering lowering(*waves, folder, &device, options);
    TIDEGATE_TRY(const engine::Job* const job, lowering.job(options.compile.tuning).map_error(at));
    key = program_key(*waves, *job, options);
    report = tuning::measure(lowering, device, measuring, monitor);
  } else {
    key = common.json + documents::encode(*frontier);
    report = tuning::measure(*frontier, folder, device, measuring, monitor);
  }
  progress.finish();
  if (!report) {
    return tl::unexpected(at(report.error()));
  }
  report->program = display_name(common.program);
  report->profile.tidegate = TIDEGATE_VERSION;
  report->profile.tuned_for = report->program;
  if (!settings.profile_file.empty()) {
    TIDEGATE_CHECK(write_text(settings.profile_file, documents::encode(report->profile) + '\n'));
  }
  if (!settings.policy_file.empty()) {
    TIDEGATE_CHECK(write_text(settings.policy_file, documents::encode(report->policy) + '\n'));
  }
  if (const TunedFiles files = tuned_files(options.cache_folder, device, key); !files.profile.empty()) {
    forget_tuned(files); // what first runs found
    if (!keep_tuned(files, report->profile, report->policy)) {
      print_error(as_error(not_kept_warning(files.profile), display_name(common.program)));
    }
  }
  return write_document(common.output, common.format, *report, tuning_table);
}

} // namespace

std::string out_of_date(const engine::RunReport& report, const engine::CompileOptions& options) {
  constexpr std::uint32_t least_bps = 100;
  const device::Tuning& tuning = options.tuning;
  const auto longest = engine::longest_ns(tuning, report.iterations);
  if (longest && tuning.strategy && is_persistent(*tuning.strategy) && !options.strategy &&
      report.status == runtime::RunStatus::done &&
      (!is_persistent(report.strategy) || static_cast<double>(report.dispatch_ns) > *longest)) {
    return "it took far longer now";
  }
  const std::uint32_t now = active_tiles_bps(report), then = tuning.active_tiles_bps;
  return !report.active.empty() && then != 0 && far_apart(std::max(now, least_bps), std::max(then, least_bps))
             ? fmt::format("then {:.0f} % of its tiles were active and now {:.0f} %", then / 100.0,
                           now / 100.0)
             : "";
}

std::string program_key(const engine::WaveProgram& program, const engine::Job& job,
                        const engine::RunOptions& options) {
  constexpr std::size_t most = std::size_t{64} << 20U;
  const engine::CompileOptions& compile = options.compile;
  std::string key =
      fmt::format("{}\n{} {} {} {} {} {}\n", engine::launch_key(program, job), number_of(compile.mode),
                  number_of(compile.workers), number_of(compile.side_by_side), number_of(compile.promote),
                  number_of(compile.mapping), compile.fp_contract_off);
  if (compile.plan) {
    key += fmt::format("{}\n{}\n", fmt::join(compile.plan->order, " "),
                       fmt::join(compile.plan->group_begin, " "));
  }
  for (const engine::ProgramUnit& unit : job.units) {
    for (const std::string& file : unit.files) {
      key += fmt::format("// {}\n{}\n", file, read_all(file, most).value_or(""));
    }
  }
  return key + TIDEGATE_VERSION;
}

std::filesystem::path checked_file(std::string_view program_text, const graphs::FrontierProgram& program,
                                   const std::string& folder, const device::DeviceInfo& device,
                                   const traversal::RunOptions& options) {
  std::string key = fmt::format("{}\n{} {} {} {} {}\n{}\n{}\n{}\n", program_text, number_of(options.strategy),
                                number_of(options.force_topology), number_of(options.workers),
                                number_of(options.group_size), number_of(options.alone_vertices),
                                documents::encode(program.policy.launch),
                                device.profile ? documents::encode(*device.profile) : "", TIDEGATE_VERSION);
  if (program.own) { // its text contains the files that it includes
    const auto own = traversal::read_own(program, folder, options.scope);
    key += own ? own->text : "";
  }
  for (const NamedFile& input : graphs::files_of(program, folder).inputs) {
    const std::string contents = hash_of_file(input.path);
    if (contents.empty()) {
      return {};
    }
    key += contents + '\n';
  }
  return options.cache_folder / ("checked-" + hash_of(device::cache_key(device) + key));
}

void keep_or_forget(engine::RunReport& report, const engine::RunOptions& options,
                    const device::DeviceInfo& device, const std::string& program_key) {
  const TunedFiles files = tuned_files(options.cache_folder, device, program_key);
  std::optional<engine::FirstRun>& first = report.first_run;
  if (const std::string why = out_of_date(report, options.compile); first && !why.empty()) {
    forget_tuned(files);
    first->kept = false;
    first->reason += fmt::format("; {}, so the next run measures again", why);
    first->next = "begins again";
    return;
  }
  if (first && first->measured && first->kept && !report.active.empty()) {
    if (auto profile = read_as<device::DeviceProfile>(files.profile.string())) { // else the next run measures
      profile->tuning.active_tiles_bps = active_tiles_bps(report);
      (void)keep_file(files.profile, documents::encode(*profile) + '\n');
    }
  }
  if (options.kept != nullptr && first && first->kept && !first->settled) {
    options.kept->programs.erase(options.kept_key); // the next request goes on with the first run
  } else if (const auto prepared = options.kept != nullptr ? engine::find_prepared(options) : nullptr) {
    prepared->first_run = first;
    prepared->profile_file = report.profile_file;
    prepared->policy_file = report.policy_file;
    prepared->compiled.tuning.active_tiles_bps = active_tiles_bps(report);
  }
}

ChosenWay note_stated(const Run& run, const device::DeviceInfo& device, const std::string& key,
                      const engine::RunReport& report) {
  engine::FirstRun first = report.first_run.value_or(engine::FirstRun{});
  first.settled = true;
  first.reason = first.equal ? "equal to plain launches on the first run on this device"
                 : first.compared
                     ? "not equal to plain launches"
                     : "not compared: plain launches cannot run, or take longer than a first run may";
  first.next = "runs the same way, without a comparison";
  const auto file = stated_file(run, device, key);
  first.kept = keep_file(file, documents::encode(first) + '\n');
  auto warning = difference_of(first, of_stated, run);
  if (!warning && !first.kept && !file.empty()) {
    warning = not_kept_warning(file);
  }
  return {.report = first, .warning = std::move(warning)};
}

Result<ChosenWay> choose_way(Run& run, engine::Lowering& lowering, const std::string& key,
                             const TakenTuning& taken, std::chrono::steady_clock::time_point start,
                             runtime::Monitor& monitor) {
  const device::DeviceInfo* const device = lowering.device();
  engine::RunOptions& options = run.options;
  options.verify_stated = false;
  if (device == nullptr || options.check_bounds || options.compile.dry_run || !options.verify_first) {
    return ChosenWay{};
  }
  if (options.compile.strategy) {
    return look_at_stated(run, lowering.program(), *device, key);
  }
  const TunedFiles files = tuned_files(options.cache_folder, *device, key);
  const auto take = [&](engine::FirstRun report, std::string_view of_whom) {
    options.compile.why = report.reason;
    return ChosenWay{.report = report, .warning = difference_of(report, of_whom, run)};
  };
  const auto take_plain = [&](engine::FirstRun report) {
    options.compile.tuning.strategy = engine::Strategy::plain;
    return take(std::move(report), "");
  };
  device::WorkNotes& notes = device::work_notes();
  if (taken.first_run && notes.began_ns != 0) { // this run's, in an earlier process
    engine::FirstRun report = *taken.first_run;
    report.kept = true;
    return take(report, report.equal ? of_candidate : of_chosen);
  }
  if (taken.first_run && taken.first_run->settled) {
    return take(of_earlier_run(*taken.first_run), of_chosen);
  }
  const bool asked = run.measure == true || options.first_run_budget_ns != 0;
  TIDEGATE_TRY(const engine::Job* const job, lowering.job(options.compile.tuning));
  if (job->waves.size() == 1 && job->iterations == 1 && !job->waves.front().in_rounds() && !asked &&
      !run.profile && !run.policy) {
    return take_plain({.settled = true,
                       .reason = "plain launches: the program is a single launch",
                       .next = "takes the same way"});
  }
  ChosenWay chosen;
  device::DeviceInfo tried = *device;
  if (run.crashes > 1) {
    chosen = take_plain({.reason = "plain launches: the driver crashed when it built or ran candidates",
                         .next = "tries candidates again"});
  }
  if (run.crashes != 0) {
    chosen.warning =
        Warning{.message = "the OpenCL driver crashed, or did not come back, when it built or ran "
                           "candidates of the first run, so they were left out",
                .fix = "outputs are not affected; --strategy barrier shows what the driver says",
                .pointer = ""};
    if (chosen.report) {
      return chosen;
    }
    if (tried.profile) {
      tried.profile->ordering.reset(); // so that no persistent launch is tried
    }
  }
  tuning::FirstRunResult earlier{.report = taken.first_run.value_or(engine::FirstRun()),
                                 .settings = {.tuning = taken.tuning.value_or(device::Tuning()),
                                              .policy = taken.policy.value_or(lowering.program().policy)}};
  std::error_code unknown;
  const std::filesystem::path folder = files.first_run.parent_path();
  std::filesystem::create_directories(folder, unknown);
  const bool keeps = !folder.empty() && ::access(folder.c_str(), W_OK | X_OK) == 0;
  const bool measures =
      run.measure.value_or(asked || keeps || options.kept != nullptr) && !run.profile && !run.policy;
  auto found = measures ? tuning::first_run(lowering, tried, options, std::move(earlier), monitor)
                        : tuning::compare_choice(lowering, tried, options, monitor);
  notes.trying = false;
  const bool building = tuning::abandoned_builds();
  if (building) {
    device::CapturedErrors::end();
  }
  if (!found) {
    return tl::unexpected(std::move(found.error()));
  }
  if (found->different) {
    chosen.warning =
        difference_of(found->report, found->report.equal ? of_candidate : of_chosen, run, found->fault_at);
  }
  if (measures && (found->report.compared || found->report.settled)) {
    device::DeviceProfile profile = device->profile.value_or(
        device::DeviceProfile{.device = device->name, .driver_version = device->driver_version});
    profile.tuning = found->settings.tuning;
    profile.tidegate = TIDEGATE_VERSION;
    profile.tuned_for = display_name(run.program);
    found->report.kept = keep_tuned(files, profile, found->settings.policy) &&
                         keep_file(files.first_run, documents::encode(found->report) + '\n');
  }
  if (building && found->report.kept && notes.begins_again && device->type == device::DeviceType::cpu) {
    device::go_on_in_another_process(start);
  }
  if (!found->report.kept && !keeps && !files.profile.empty() && !chosen.warning) {
    chosen.warning = not_kept_warning(files.profile);
  }
  if (!found->report.kept && measures) {
    found->report.next = "begins again";
  }
  if (!found->report.equal || !options.compile.tuning.strategy) {
    options.compile.why = found->report.reason;
  }
  options.compile.tuning = found->settings.tuning;
  lowering.set_policy(found->settings.policy);
  chosen.report = std::move(found->report);
  return chosen;
}

Result<TakenTuning> take_tuning(const Run& run, std::string_view program_key,
                                const device::DeviceInfo* device, std::optional<std::uint64_t> repeat) {
  if (!run.profile && !run.policy) {
    const TunedFiles kept =
        device == nullptr ? TunedFiles{} : tuned_files(run.options.cache_folder, *device, program_key);
    const auto profile = read_profile(kept.profile.string(), device);
    const auto policy = read_as<policy::LaunchPolicy>(kept.policy.string());
    auto first_run = read_as<engine::FirstRun>(kept.first_run.string());
    if (kept.profile.empty() || !profile || !policy ||
        (repeat && first_run && first_run->repeat != 0 && far_apart(first_run->repeat, *repeat))) {
      return TakenTuning{};
    }
    return TakenTuning{.tuning = profile->tuning,
                       .traversal = profile->traversal,
                       .policy = *policy,
                       .profile_file = kept.profile.string(),
                       .policy_file = kept.policy.string(),
                       .first_run = std::move(first_run).value_or(
                           engine::FirstRun{.compared = true,
                                            .equal = true,
                                            .settled = true,
                                            .reason = "measured by `tidegate tune measure`",
                                            .next = "takes the same way"})};
  }
  TakenTuning taken;
  if (run.profile && *run.profile != "none") {
    TIDEGATE_TRY(const device::DeviceProfile profile, read_profile(*run.profile, device));
    taken.tuning = profile.tuning;
    taken.traversal = profile.traversal;
    taken.profile_file = run.profile;
  }
  if (run.policy) {
    TIDEGATE_TRY(taken.policy, read_as<policy::LaunchPolicy>(*run.policy));
    taken.policy_file = run.policy;
  }
  return taken;
}

CommandModel tune_command() {
  return {.subcommands = {tune_measure_command(), tune_choose_command(), tune_step_command()}};
}

CommandModel tune_measure_command() {
  const auto settings = std::make_shared<TuneSettings>();
  AskedRun& common = settings->common;
  return {.name = "measure",
          .summary = "Measure which strategy, mode, pack and work-groups run a program fastest",
          .options = {option("--device", as_device(), common.selector,
                             "Where to measure: an index, cpu, gpu, a UUID, a name or a part of one; "
                             "$TIDEGATE_DEVICE, or the first GPU, or else the first device when left out"),
                      option("--time", as_duration(), settings->budget_ns,
                             "Measure for at most this long: 10s, 2m, or a number of seconds (default 60s)"),
                      option("--write-profile", as_file(), settings->profile_file,
                             "Write the device profile, which `tidegate run --profile FILE` takes, here too"),
                      option("--write-policy", as_file(), settings->policy_file,
                             "Write the launch policy here too"),
                      option("--max-wall-time", as_duration(), common.options.max_wall_time_ns,
                             "How long one run of the waves may take (default 60s)"),
                      flag("-v,--verbose", common.verbose, "Print what is being measured, a line a second"),
                      option("--cache", as_switch(), common.cache,
                             "no: keep nothing for later runs, and use no built kernels"),
                      parameter_option(common.parameters), path_scope_option(common.options.scope),
                      format_option(common.format), output_option(common.output)},
          .positionals = {option("", as_file("[PROGRAM]"), common.program,
                                 "Wave program or frontier program to measure; - or none is standard input")},
          .examples =
              {{"What runs this program fastest here, and what did each choice bring?",
                "tidegate tune measure examples/programs/reduction/program.json --time 20s --format table"},
               {"Up to what frontier size is one work-group faster than all?",
                "tidegate tune measure examples/graphs/bfs.json --time 20s --format table"}},
          .run = [settings] { return run_measure(*settings); }};
}

} // namespace tidegate::app
