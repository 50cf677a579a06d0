#include "work/run.hpp"

#include "core/interrupt.hpp"
#include "engine/run.hpp"
#include "work/compiler_macros.hpp"
#include "work/contents.hpp"
#include "work/hits.hpp"
#include "work/queue.hpp"
#include "work/resolve.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <utility>

namespace tidegate::engine {

namespace {

Result<RunReport> run_once(const WaveProgram& program, const std::string& folder,
                           const device::DeviceInfo* device, const RunOptions& options, Monitor& monitor) {
  const auto start = std::chrono::steady_clock::now();
  monitor.begin(Activity::compiling);
  std::set<std::string> assumed;
  const AnswerMacros answer =
      device != nullptr ? ask_compiler(*device, options.cache_folder) : assume_macros(assumed);
  const FileCheck files = options.compile.dry_run ? FileCheck::none : FileCheck::reachable;
  TIDEGATE_TRY(Job job, resolve(program, folder, answer, options.scope, files, options.compile.tuning, {},
                                queue_groups(device)));
  job.assumed_macros = {assumed.begin(), assumed.end()};
  return run_job(std::move(job), device, options, monitor, start);
}

// The report after more room for hits, with the capacities that came first.
void report_growth(RunReport& report, const RunReport& first) {
  for (std::size_t i = 0; i < report.hits->size(); ++i) {
    const std::uint64_t capacity = (*first.hits)[i].capacity;
    if ((*report.hits)[i].capacity != capacity) {
      (*report.hits)[i].grown_from = capacity;
    }
  }
}

} // namespace

Result<RunReport> run_program(const WaveProgram& program, const std::string& folder,
                              const device::DeviceInfo* device, const RunOptions& options, Monitor& monitor) {
  const InterruptWatch interrupts;
  TIDEGATE_TRY(RunReport report, run_once(program, folder, device, options, monitor));
  const RunReport first = report;
  // A second run suffices unless the number of hits changes from run to run.
  constexpr int most_runs = 8;
  std::optional<WaveProgram> larger = program;
  for (int runs = 1; runs < most_runs && report.status == RunStatus::hits_overflow; ++runs) {
    larger = grown(*larger, *report.hits);
    if (!larger) {
      break;
    }
    TIDEGATE_TRY(report, run_once(*larger, folder, device, options, monitor));
    report_growth(report, first);
  }
  return report;
}

} // namespace tidegate::engine
