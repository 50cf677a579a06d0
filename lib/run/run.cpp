#include <tidegate/compiler/compile.hpp>
#include <tidegate/compiler/image_files.hpp>
#include <tidegate/compiler/program_files.hpp>
#include <tidegate/core/elapsed.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/interrupt.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/run/bounds.hpp>
#include <tidegate/run/compiled.hpp>
#include <tidegate/run/compiler_macros.hpp>
#include <tidegate/run/execute.hpp>
#include <tidegate/run/report.hpp>
#include <tidegate/run/run.hpp>
#include <tidegate/run/watchdog.hpp>

#include <chrono>
#include <filesystem>
#include <utility>

namespace tidegate::run {
namespace {

using Clock = std::chrono::steady_clock;

// What a kernel that is past the wall time still gets to come back.
constexpr std::chrono::nanoseconds grace = std::chrono::seconds(3);

// Whoever cannot keep an output need not work it out.
Result<void> check_outputs(const ResolvedProgram& program) {
  for (const ProgramBuffer& buffer : program.buffers) {
    if (!buffer.spec.output) {
      continue;
    }
    auto probe = Output::open((std::filesystem::path(program.folder) / *buffer.spec.output).string())
                     .and_then([&buffer](const Output&) {
                       return buffer.image ? check_picture_library(buffer) : Result<void>();
                     });
    if (!probe) {
      probe.error().pointer =
          (buffer.image ? "/images/" : "/buffers/") + pointer_token(buffer.name) + "/output";
      return tl::unexpected(std::move(probe.error()));
    }
  }
  return {};
}

// Before anything is written: what the command line and the program name as outputs is nothing that was read.
Result<void> check_files(const ResolvedProgram& program, const RunOptions& options) {
  FileUses files = options.files;
  if (!options.emit_kernel.empty()) {
    files.outputs.push_back({options.emit_kernel, "--emit-kernel", {}});
  }
  return keep_inputs(program, std::move(files));
}

// A driver that gives up while the waves run most often does so for what they did.
Error explained(Error error, const Monitor& monitor) {
  if (error.code == ErrorCode::opencl_failure && monitor.activity == Activity::running) {
    error.fix = "a kernel may have written past the end of a buffer: --check-bounds tells of it; otherwise " +
                error.fix;
  }
  return error;
}

Result<void> write_kernel(const std::string& path, const KernelSource& source) {
  TIDEGATE_TRY(Output file, Output::open(path));
  TIDEGATE_CHECK(file.write(source.source));
  return file.commit();
}

} // namespace

Result<RunReport> run_program(const WaveProgram& program, const std::string& folder,
                              const device::DeviceInfo* device, const RunOptions& options) {
  const auto start = Clock::now();
  const InterruptWatch interrupts;

  // From the program to a kernel, without touching the device.
  CompileOptions compile_options = options.compile;
  if (device != nullptr) {
    compile_options.answer_macros = ask_compiler(*device, options.cache_folder);
  }
  TIDEGATE_TRY(const CompiledProgram compiled, compile(program, folder, device, compile_options));
  TIDEGATE_CHECK(check_files(compiled.program, options));
  if (!options.emit_kernel.empty()) {
    TIDEGATE_CHECK(write_kernel(options.emit_kernel, compiled.source));
  }
  if (options.compile.dry_run) {
    return report_of_plan(compiled, options, elapsed_ns(start));
  }
  TIDEGATE_CHECK(check_outputs(compiled.program));

  // On the device; a kernel that does not come back is told of from another thread.
  Monitor monitor;
  const Watchdog watchdog(monitor, grace, [&](bool interrupted) {
    options.abandon(report_of_silence(compiled, monitor, interrupted, options, elapsed_ns(start)));
  });
  if (options.check_bounds) {
    TIDEGATE_TRY(BoundsReport bounds, check_bounds(compiled, *device, options.max_wall_time_ns, monitor));
    const std::string simulator = is_simulator(*device) ? "" : find_simulator();
    if (!simulator.empty()) {
      bounds.simulator = simulator;
      TIDEGATE_TRY(bounds.findings,
                   run_in_simulator(simulator, folder, options.this_command, options.program_text));
    }
    return report_of_bounds(compiled, bounds, *device, options, elapsed_ns(start));
  }
  auto executed = execute(compiled, *device, options, monitor);
  if (!executed) {
    return tl::unexpected(explained(std::move(executed.error()), monitor));
  }
  return report_of_run(compiled, *executed, *device, options, elapsed_ns(start));
}

} // namespace tidegate::run
