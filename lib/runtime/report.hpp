// The part of a report that runs of both kinds of programs have.
#pragma once
#include "runtime/rank_report.hpp"

namespace tidegate::runtime {

struct Geometry { // of the launches
  std::uint32_t workgroup_size = 0;
  std::uint32_t worker_groups = 0;
};

// Counts of a run: by the session of the device, by the device, and from the place that the run came to. The
// last six are the policy's and the program's.
struct Telemetry {
  std::uint64_t bytes_uploaded = 0;
  std::uint64_t bytes_read_back = 0;
  std::uint64_t bytes_moved = 0;
  std::uint64_t resident_allocations = 0;
  std::uint64_t kernel_launches = 0;  // of the dispatch
  std::uint64_t filling_launches = 0; // outside of it, to fill device memory or to check results there
  std::uint64_t sync_points = 0;
  std::uint64_t occupancy_proxy_bps = 0;
  std::uint64_t frontier_density_bps = 0;
  std::uint64_t readback_buffers = 0;
  bool compiled_pipeline_cache_hit = false;
  bool resident_input_cache_hit = false; // of a stream
  policy::Topology topology = policy::Topology::empty;
  policy::QueuePressure pressure = policy::QueuePressure::empty;
  policy::ExecutionMode execution_mode = policy::ExecutionMode::interpreter;
  std::uint64_t hit_capacity = 0;
  std::uint64_t estimated_peak_device_bytes = 0;
  std::uint64_t device_memory_budget_bytes = 0;
};

struct DeviceReport {
  std::string name;
  std::string driver_version;
};

// Times of a run.
struct RunTimes {
  std::uint64_t wall_time_ns = 0; // total
  std::uint64_t build_ns = 0;
  std::uint64_t dispatch_ns = 0; // from the first launch to the end of the last
  std::vector<std::uint64_t> slices_ns;
  std::uint64_t queue_plan_ns = 0;
  std::uint64_t queue_publish_ns = 0;
  std::uint64_t read_back_ns = 0;
  std::uint64_t lineage_ns = 0;
};

// Items of a run: work-items of waves and items of queues, or vertices of frontiers.
struct ItemCounts {
  std::uint64_t items_processed = 0;
  std::uint64_t items_remaining = 0;
  std::uint64_t published_items = 0;
  std::uint64_t deduped_items = 0;
  std::uint64_t lineage_items = 0;           // that derive from a source rule
  std::vector<std::uint32_t> region_lineage; // by executed group; bit n stands for source rule n
};

struct ReportHead : RunTimes, ItemCounts {
  std::optional<Identifier> id;       // of the request, in a stream
  std::optional<std::string> program; // its path, or that of the graph of `run ALGORITHM GRAPH`
  RunStatus status = RunStatus::done;
  std::optional<Error> error; // if it is not done
  std::optional<DeviceReport> device;
  device::Strategy strategy = device::Strategy::launch;
  std::string strategy_reason;
  std::optional<bool> converged; // `until` or PageRank's tolerance was reached
  std::vector<Warning> warnings;
  Geometry geometry; // of the launches
  Telemetry telemetry;
  std::vector<WrittenFile> files_written;
  std::vector<StuckGroup> stuck_groups;
  std::optional<Comparison> comparison;    // with --compare
  std::optional<std::string> profile_file; // the profile that was used
  std::optional<std::string> policy_file;  // replaces the program's policy
  std::optional<Timeline> timeline;        // of a traced run
  std::string trace;                       // its file; empty without one
  std::optional<RanksReport> ranks;        // of a run on several
};

// Reports the calls of a run, and those of its dispatch among them.
void report_calls(Telemetry& telemetry, const device::CallCounts& run, const device::CallCounts& dispatch);

// Reports the dispatch.
void report_dispatch(ReportHead& report, const DispatchOutcome& outcome);

// Reports the file that the timeline goes to, if the options name one, and warns if spans had no room.
void report_timeline(ReportHead& report, const Options& options);

// Sets the error of a run that ended at its deadline, by an interrupt or by a hang. `left` describes its progress
// ("3 waves done"), `fix` what gives it the time, `where` the step of the first stuck work-group.
struct Ending {
  std::string left;
  std::string fix;
  std::string where;
};
void report_ending(ReportHead& report, const Ending& ending, const Options& options, bool waited);

// Reports that the device did not respond after the run should have ended. `own_kernels`: the kernels are the
// user's.
void report_silence(ReportHead& report, const Monitor& monitor, bool interrupted, const Options& options,
                    bool own_kernels);

} // namespace tidegate::runtime
