#include "work/run.hpp"

#include "core/interrupt.hpp"
#include "engine/run.hpp"
#include "work/compiler_macros.hpp"
#include "work/contents.hpp"
#include "work/resolve.hpp"

#include <chrono>
#include <set>
#include <utility>

namespace tidegate::engine {

Result<RunReport> run_program(const WaveProgram& program, const std::string& folder,
                              const device::DeviceInfo* device, const RunOptions& options, Monitor& monitor) {
  const auto start = std::chrono::steady_clock::now();
  const InterruptWatch interrupts;
  monitor.begin(Activity::compiling);
  std::set<std::string> assumed;
  const AnswerMacros answer =
      device != nullptr ? ask_compiler(*device, options.cache_folder) : assume_macros(assumed);
  const FileCheck files = options.compile.dry_run ? FileCheck::none : FileCheck::reachable;
  TIDEGATE_TRY(Job job, resolve(program, folder, answer, options.scope, files, options.compile.tuning));
  job.assumed_macros = {assumed.begin(), assumed.end()};
  return run_job(std::move(job), device, options, monitor, start);
}

} // namespace tidegate::engine
