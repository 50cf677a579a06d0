// A program from its compilation to its report.
#include "core/interrupt.hpp"
#include "engine/report.hpp"

namespace tidegate::engine {
namespace {

using Clock = std::chrono::steady_clock;

Result<void> write_kernel(const RunOptions& options, const CompiledProgram& compiled) {
  if (!options.emit_kernel.empty()) {
    TIDEGATE_CHECK(write_file(options.emit_kernel, compiled.source.source, ""));
  }
  return {};
}

// A driver that gives up while the waves run most often does so for what they did.
Error explained(Error error, const Monitor& monitor) {
  if (error.code == ErrorCode::opencl_failure && monitor.activity == Activity::running) {
    error.fix = "a kernel may have written past the end of a buffer: --check bounds reports it; otherwise " +
                error.fix;
  }
  return error;
}

// Sets the next choice after one that did not hold: plain launches for a persistent launch that waits too long; for a
// geometry that does not fit, tiles one by one, then launches, then plain ones. Returns false if there is none.
bool next_choice(CompileOptions& options, const CompiledProgram& compiled, ErrorCode failure) {
  if (failure == ErrorCode::wall_time_exceeded) {
    options.strategy = Strategy::plain;
    return true;
  }
  if (failure != ErrorCode::kernel_does_not_fit) {
    return false;
  }
  if (compiled.persistent() && options.side_by_side != 1) {
    options.side_by_side = 1;
  } else {
    options.strategy = compiled.persistent() ? Strategy::launch : Strategy::plain;
  }
  return compiled.strategy.strategy != Strategy::plain;
}

} // namespace

Result<std::shared_ptr<Prepared>> prepare(Job job, const device::DeviceInfo* device,
                                          const RunOptions& options, Monitor& monitor) {
  const InterruptWatch interrupts;
  monitor.begin(Activity::compiling);
  return compile(std::move(job), device, options.compile).map([](CompiledProgram compiled) {
    return std::make_shared<Prepared>(std::move(compiled));
  });
}

Result<RunReport> run_prepared(std::shared_ptr<Prepared>& prepared, const device::DeviceInfo* device,
                               const RunOptions& options, Monitor& monitor, Clock::time_point start) {
  const InterruptWatch interrupts;
  CompiledProgram& compiled = prepared->compiled;
  // Before anything is written: what the command line and the program name as outputs is nothing that was read.
  FileUses files = options.files;
  if (!options.emit_kernel.empty()) {
    files.outputs.push_back({options.emit_kernel, "--emit-kernel", {}});
  }
  TIDEGATE_CHECK(keep_inputs(compiled.written, std::move(files)));
  TIDEGATE_CHECK(write_kernel(options, compiled));
  const auto ended = [&](RunReport report, const CompiledProgram& ran) {
    report.wall_time_ns = elapsed_ns(start); // with the trace of rules
    if (!options.page.empty()) {
      report.compiled = std::make_shared<const CompiledProgram>(ran);
    }
    return report;
  };
  const auto with_kernel = [&](RunReport report) {
    if (!options.emit_kernel.empty()) { // --stress may have written another one
      report.files_written.insert(report.files_written.begin(),
                                  written_file(options.emit_kernel, "generated kernel"));
    }
    return ended(std::move(report), prepared->compiled);
  };
  if (options.compile.dry_run) {
    return with_kernel(report_of_plan(compiled));
  }

  monitor.most_iterations = compiled.program.iterations;
  monitor.deadline = Monitor::Clock::now() + build_limit;
  for (CompileOptions compile_options = options.compile;;) {
    // Another thread reports a kernel that does not come back. It has this program, whatever replaces it afterwards.
    const Watchdog watchdog(monitor, grace, [&, run = prepared](bool interrupted) {
      options.abandon(ended(report_of_silence(run->compiled, monitor, interrupted, options), run->compiled));
    });
    if (options.check_bounds) {
      TIDEGATE_TRY(const BoundsReport bounds, check_bounds(prepared->compiled, *device, options, monitor));
      return with_kernel(report_of_bounds(prepared->compiled, bounds, *device, options));
    }
    auto executed = options.ranks == nullptr
                        ? execute(*prepared, *device, options, monitor)
                        : execute_on_ranks(prepared->compiled, *device, options, monitor);
    if (executed) {
      return with_kernel(report_of_run(prepared->compiled, *executed, *device, options));
    }
    // All ranks run the same, so none may choose another way.
    if (options.ranks != nullptr ||
        !next_choice(compile_options, prepared->compiled, executed.error().code)) {
      return tl::unexpected(explained(std::move(executed.error()), monitor));
    }
    monitor.begin(Activity::compiling);
    monitor.deadline = Monitor::Clock::now() + build_limit; // that of the launch before is over
    TIDEGATE_TRY(CompiledProgram next, compile(prepared->compiled.written, device, compile_options));
    next.strategy.reason = prepared->compiled.strategy.reason + "; " + executed.error().message;
    prepared = std::make_shared<Prepared>(std::move(next));
    TIDEGATE_CHECK(write_kernel(options, prepared->compiled));
  }
}

} // namespace tidegate::engine
