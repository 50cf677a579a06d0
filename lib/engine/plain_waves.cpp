#include "engine/plain_waves.hpp"

#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "device/opencl.hpp"
#include "engine/device_memory.hpp"
#include "engine/dispatch.hpp"
#include "engine/generate.hpp"
#include "engine/source_errors.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace tidegate::engine {
namespace {

using device::require;

cl::NDRange nd_range(std::uint32_t dimensions, const auto& sizes) {
  switch (dimensions) {
  case 1: return cl::NDRange(sizes[0]);
  case 2: return cl::NDRange(sizes[0], sizes[1]);
  default: return cl::NDRange(sizes[0], sizes[1], sizes[2]);
  }
}

// Returns the program's options plus include folders for the driver's preprocessor, which does not know them.
std::string driver_options(const ProgramUnit& unit, const std::string& folder) {
  std::string options = unit.options;
  std::vector<std::string> folders{std::filesystem::path(unit.path).parent_path().string()};
  for (const std::string& include : unit.parsed_options.include_folders) {
    folders.push_back((std::filesystem::path(folder) / include).string());
  }
  for (const std::string& include : folders) {
    const bool spaces = include.find(' ') != std::string::npos;
    options += fmt::format(" -I {0}{1}{0}", spaces ? "\"" : "", include.empty() ? "." : include);
  }
  return options;
}

// Emits size checks for values that are neither scalars nor vectors: drivers accept values of another size
// and read past them. at_source() parses the names.
std::string size_checks(const ResolvedProgram& program, const std::vector<std::uint32_t>& waves,
                        std::uint32_t unit) {
  std::string checks;
  for (const std::uint32_t wave : waves) {
    const std::uint32_t op = program.waves[wave].op;
    const auto& arguments = program.waves[wave].arguments;
    for (std::size_t i = 0; program.ops[op].unit == unit && i < arguments.size(); ++i) {
      const std::string& type = program.function(op).parameters[i].type;
      if (arguments[i].kind == ProgramArgument::Kind::value && !opencl_c::arithmetic_type(type)) {
        checks += fmt::format("typedef char {}{}_{}_{}[sizeof({}) == {} ? 1 : -1];\n", value_size_check, wave,
                              i, arguments[i].value.size(), type, arguments[i].value.size());
      }
    }
  }
  return checks.empty() ? checks : "\n#line 1 \"tidegate/arguments.cl\"\n" + checks;
}

} // namespace

PlainPrograms::PlainPrograms(const device::Session& session, const ResolvedProgram& program,
                             const std::vector<std::uint32_t>& waves,
                             const std::map<std::uint32_t, std::string>& instead)
    : program_(program) {
  for (const std::uint32_t wave : waves) {
    const std::uint32_t unit = program.ops[program.waves[wave].op].unit;
    if (units_.contains(unit) || program.units[unit].built_in) {
      continue;
    }
    constexpr std::size_t most = std::size_t{64} << 20U;
    const auto given = instead.find(unit);
    auto source = given != instead.end() ? Result<std::string>(given->second)
                                         : read_all(program.units[unit].path, most);
    if (!source) {
      throw device::Refused{source.error()};
    }
    if (source->starts_with("\xef\xbb\xbf")) { // compilers skip a byte-order mark only at the start of a file
      source->erase(0, 3);
    }
    // A #line directive precedes the source, so that logs name the file as the user does.
    const auto& [before, after] = given != instead.end() ? SourceFrame{} : program.units[unit].frame;
    auto built =
        device::build_program(session,
                              fmt::format("{}{}#line 1 \"{}\"\n{}\n{}{}", contraction_pragma(program), before,
                                          program.units[unit].path, *source, after,
                                          given != instead.end() ? "" : size_checks(program, waves, unit)),
                              driver_options(program.units[unit], program.folder));
    if (!built) {
      throw device::Refused{at_source(program, unit, std::move(built.error()))};
    }
    units_.emplace(unit, std::move(*built));
  }
}

cl::Kernel PlainPrograms::kernel(std::uint32_t op) const {
  cl_int status = CL_SUCCESS;
  const std::string& name = program_.function(op).name;
  cl::Kernel kernel(units_.at(program_.ops[op].unit), name.c_str(), &status);
  require(status, "making the kernel " + in_quotes(name));
  return kernel;
}

PlainWaves::PlainWaves(const device::Session& session, const PlainPrograms& programs,
                       const ResolvedProgram& program, const std::vector<std::uint32_t>& waves,
                       const std::vector<std::vector<std::uint32_t>>& places,
                       const std::vector<cl::Buffer>& memory, const DeviceImages& images, QueueWay way)
    : session_(session), program_(program), phases_(static_cast<std::uint32_t>(places.size())) {
  for (std::uint32_t phase = 0; phase < places.size(); ++phase) {
    for (const std::uint32_t wave : waves) {
      const ProgramWave& spec = program.waves[wave];
      if (spec.transfer) {
        const Transfer& what = *spec.transfer;
        prepared_.emplace(std::pair(wave, phase),
                          Prepared{.from = memory[places[phase][what.from.value_or(what.to)]],
                                   .to = memory[places[phase][what.to]]});
        continue;
      }
      if (spec.queue && (spec.queue->requeues || way == QueueWay::check)) {
        queues_.emplace(std::pair(wave, phase),
                        QueueRounds(session, programs, program, wave, memory, places[phase], way));
        continue;
      }
      Prepared prepared{.kernel = programs.kernel(spec.op),
                        .offset = nd_range(spec.range.dimensions, spec.range.offset),
                        .global = nd_range(spec.range.dimensions, spec.range.global),
                        .local = nd_range(spec.range.dimensions, spec.range.local)};
      for (cl_uint i = 0; i < spec.arguments.size(); ++i) {
        const ProgramArgument& argument = spec.arguments[i];
        cl_int status = CL_SUCCESS;
        switch (argument.kind) {
        case ProgramArgument::Kind::buffer:
          status = prepared.kernel.setArg(i, memory[places[phase][argument.buffer]]);
          break;
        case ProgramArgument::Kind::null: status = prepared.kernel.setArg(i, sizeof(cl_mem), nullptr); break;
        case ProgramArgument::Kind::image:
          status = prepared.kernel.setArg(i, images[places[phase][argument.buffer]]);
          break;
        case ProgramArgument::Kind::sampler:
          prepared.samplers.push_back(make_sampler(session, argument.sampler));
          status = prepared.kernel.setArg(i, prepared.samplers.back());
          break;
        case ProgramArgument::Kind::local:
          status = prepared.kernel.setArg(i, argument.local_bytes, nullptr);
          break;
        case ProgramArgument::Kind::value:
          status = prepared.kernel.setArg(i, argument.value.size(), argument.value.data());
          break;
        }
        require(status, fmt::format("setting argument {} of {}", i, program.wave_text(wave)));
      }
      prepared_.emplace(std::pair(wave, phase), std::move(prepared));
    }
  }
}

void PlainWaves::set_progressions(std::uint32_t wave, std::uint32_t iteration, cl::Kernel& kernel) {
  const auto& arguments = program_.waves[wave].arguments;
  for (cl_uint i = 0; i < arguments.size(); ++i) {
    if (arguments[i].progression) {
      const std::vector<std::byte> value = value_in(*arguments[i].progression, iteration);
      require(kernel.setArg(i, value.size(), value.data()),
              fmt::format("setting argument {} of {}", i, program_.wave_text(wave)));
    }
  }
}

cl_int PlainWaves::transfer(const Transfer& what, const Prepared& prepared, cl::Event* event) {
  if (what.from) {
    return session_.queue.enqueueCopyBuffer(prepared.from, prepared.to, what.from_offset, what.to_offset,
                                            what.bytes, nullptr, event);
  }
  fill(session_, prepared.to, what.to_offset, what.bytes, what.pattern,
       event == nullptr ? nullptr : &(*event)());
  return CL_SUCCESS;
}

bool PlainWaves::repeats(std::uint32_t wave) const {
  const ProgramWave& spec = program_.waves[wave];
  return !spec.transfer && !spec.queue &&
         std::ranges::none_of(spec.arguments, [](const ProgramArgument& argument) {
           return argument.progression.has_value();
         });
}

void PlainWaves::record(std::uint32_t wave, std::uint32_t phase, CommandBuffer& commands) const {
  const Prepared& prepared = prepared_.at({wave, phase});
  commands.add(prepared.kernel, prepared.offset, prepared.global, prepared.local);
}

bool PlainWaves::launch(std::uint32_t wave, std::uint32_t iteration,
                        std::chrono::steady_clock::time_point deadline, cl::Event* event) {
  if (const auto queue = queues_.find({wave, iteration % phases_}); queue != queues_.end()) {
    QueueRounds& rounds = queue->second;
    const std::uint64_t launches_before = rounds.launches();
    const std::uint64_t compile_before = rounds.compile_ns();
    const bool drained = rounds.run(deadline, event);
    launches_ += rounds.launches() - launches_before;
    compile_ns_ += rounds.compile_ns() - compile_before;
    return drained;
  }
  ++launches_;
  Prepared& prepared = prepared_.at({wave, iteration % phases_});
  const auto& what = program_.waves[wave].transfer;
  const ProgramWave& spec = program_.waves[wave];
  const bool first = session_.on_host && !what && compiled_.emplace(spec.op, spec.range.local).second;
  cl::Event launched;
  event = first && event == nullptr ? &launched : event;
  cl_int status = CL_SUCCESS;
  if (what) {
    status = transfer(*what, prepared, event);
  } else {
    set_progressions(wave, iteration, prepared.kernel);
    status = session_.queue.enqueueNDRangeKernel(prepared.kernel, prepared.offset, prepared.global,
                                                 prepared.local, nullptr, event);
  }
  if (status != CL_SUCCESS) {
    Error error = device::opencl_failure(fmt::format("launching {}", program_.wave_text(wave)), status);
    if (status == CL_INVALID_WORK_GROUP_SIZE && spec.range.ragged()) {
      error.code = ErrorCode::invalid_program; // not the device's fault
      error.message =
          fmt::format("{} has a local_size that does not divide its global_size: its kernel would be "
                      "launched with work-groups of different sizes, which this device does not take",
                      program_.wave_text(wave));
      error.fix =
          "make global_size a multiple of local_size, or give -cl-std=CL2.0 among the op's options where the "
          "device has it";
      error.pointer = fmt::format("/waves/{}/local_size", wave);
    }
    throw device::Refused{std::move(error)};
  }
  if (first) {
    compile_ns_ += device::time_before_start(session_, *event);
  }
  return true;
}

bool PlainWaves::run(std::uint32_t wave, std::uint32_t iteration,
                     std::chrono::steady_clock::time_point deadline, Monitor& monitor) {
  monitor.iterations = iteration;
  monitor.in_flight = 1;
  launch(wave, iteration, deadline);
  require(session_.queue.finish(), "running " + program_.wave_text(wave));
  monitor.in_flight = 0;
  return !InterruptWatch::interrupted() &&
         Monitor::Clock::now() < deadline + std::chrono::nanoseconds(compile_ns_);
}

std::uint32_t run_wave_by_wave(const ResolvedProgram& program, const std::vector<std::uint32_t>& order,
                               const std::vector<std::vector<std::uint32_t>>& places, const WaveByWave& how) {
  std::uint32_t iteration = 0;
  const auto run_phase = [&](WavePhase phase) {
    return std::ranges::all_of(order, [&](std::uint32_t wave) {
      return program.waves[wave].phase != phase || how.run(wave, iteration);
    });
  };
  bool goes_on = run_phase(WavePhase::before);
  bool finished = false;
  while (goes_on && !finished && iteration < program.iterations) {
    goes_on = run_phase(WavePhase::each);
    ++iteration;
    if (program.until) {
      std::vector<std::byte> value(program.until->value.size());
      how.read(places[iteration % places.size()][program.until->buffer], value);
      finished = same_value(program, value);
    }
  }
  if (goes_on) {
    run_phase(WavePhase::after);
  }
  return iteration;
}

} // namespace tidegate::engine
