#include "engine/plain_waves.hpp"

#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "engine/device_memory.hpp"
#include "engine/dispatch.hpp"
#include "engine/generate.hpp"
#include "engine/source_errors.hpp"
#include "opencl_c/outline.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace tidegate::engine {
namespace {

using device::require;

device::LaunchRange launch_range(const NdRange& range) {
  device::LaunchRange launched{.dimensions = range.dimensions};
  std::ranges::copy(range.offset, launched.offset.begin());
  std::ranges::copy(range.global, launched.global.begin());
  std::ranges::copy(range.local, launched.local.begin());
  return launched;
}

// A text of a program's own that a driver compiles, and its options.
struct DriverSource {
  std::string text;
  std::string options;
};

// The user's file with the program's options plus include folders, for the driver's preprocessor, which does not know
// them; if drivers would take the name of a folder apart, the text after tidegate's preprocessor.
DriverSource users_source(const ProgramUnit& unit, const std::string& folder, const std::string& text) {
  DriverSource source{.text = unit.frame.before + opencl_c::line_directive(1, unit.path) + text + "\n" +
                              unit.frame.after,
                      .options = unit.options};
  std::vector<std::string> folders{std::filesystem::path(unit.path).parent_path().string()};
  for (const std::string& include : unit.parsed_options.include_folders) {
    folders.push_back((std::filesystem::path(folder) / include).string());
  }
  for (const std::string& include : folders) {
    if (include.find_first_of(" \"\\") != std::string::npos) {
      source = {.text = opencl_c::preprocessed_text(unit.unit), .options = ""};
      if (!unit.parsed_options.language_standard.empty()) {
        source.options = "-cl-std=" + unit.parsed_options.language_standard;
      }
      for (const std::string& option : unit.parsed_options.others) {
        source.options += " " + option;
      }
      break;
    }
    source.options += fmt::format(" -I {}", include.empty() ? "." : include);
  }
  return source;
}

// Emits size checks for values that are neither scalars nor vectors: drivers accept values of another size
// and read past them. at_source() parses the names.
std::string size_checks(const Job& program, const std::vector<std::uint32_t>& waves, std::uint32_t unit) {
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

PlainPrograms::PlainPrograms(const device::Session& session, const Job& program,
                             const std::vector<std::uint32_t>& waves,
                             const std::map<std::uint32_t, std::string>& instead)
    : session_(session), program_(program) {
  for (const std::uint32_t wave : waves) {
    const std::uint32_t unit = program.ops[program.waves[wave].op].unit;
    if (units_.contains(unit)) {
      continue;
    }
    constexpr std::size_t most = std::size_t{64} << 20U;
    const auto given = instead.find(unit);
    const std::string& built_in = program.units[unit].built_in;
    const std::string& rewritten = program.units[unit].rewritten;
    DriverSource source{.text = given != instead.end() ? given->second
                                : built_in.empty()     ? rewritten
                                                       : built_in,
                        .options = program.units[unit].options};
    if (source.text.empty()) {
      auto text = read_all(program.units[unit].path, most);
      if (!text) {
        throw device::Refused{text.error()};
      }
      source = users_source(program.units[unit], program.folder, std::string(without_byte_order_mark(*text)));
    } else {
      source.text = opencl_c::line_directive(1, program.units[unit].path) + source.text;
    }
    auto built = session.build(contraction_pragma(program) + source.text + size_checks(program, waves, unit),
                               source.options);
    if (!built) {
      throw device::Refused{at_source(program, unit, std::move(built.error()))};
    }
    units_.emplace(unit, std::move(*built));
  }
}

device::Kernel PlainPrograms::kernel(std::uint32_t op) const {
  const std::string& name = program_.function(op).name;
  return require(session_.make_kernel(units_.at(program_.ops[op].unit), name),
                 "making the kernel " + in_quotes(name));
}

PlainWaves::PlainWaves(const device::Session& session, const PlainPrograms& programs, const Job& program,
                       const std::vector<std::uint32_t>& waves,
                       const std::vector<std::vector<std::uint32_t>>& storage,
                       const std::vector<device::Buffer>& memory, const DeviceImages& images, QueueWay way)
    : session_(session), program_(program), phases_(static_cast<std::uint32_t>(storage.size())) {
  for (std::uint32_t phase = 0; phase < storage.size(); ++phase) {
    for (const std::uint32_t wave : waves) {
      const ProgramWave& spec = program.waves[wave];
      if (spec.command) {
        const TransferCommand& what = *spec.command;
        prepared_.emplace(std::pair(wave, phase),
                          Prepared{.from = memory[storage[phase][what.from.value_or(what.to)]],
                                   .to = memory[storage[phase][what.to]]});
        continue;
      }
      if (spec.in_rounds() || (spec.listed_items && way != QueueWay::drain)) {
        queues_.emplace(std::pair(wave, phase),
                        QueueRounds(session, programs, program, wave, memory, storage[phase], way));
        continue;
      }
      Prepared prepared{.kernel = programs.kernel(spec.op), .range = launch_range(spec.range)};
      for (std::uint32_t i = 0; i < spec.arguments.size(); ++i) {
        const ProgramArgument& argument = spec.arguments[i];
        device::Status status = device::success;
        switch (argument.kind) {
        case ProgramArgument::Kind::buffer:
          status = session.set_object(prepared.kernel, i, memory[storage[phase][argument.buffer]]);
          break;
        case ProgramArgument::Kind::null:
          status = session.set_object(prepared.kernel, i, device::Buffer());
          break;
        case ProgramArgument::Kind::image:
          status = session.set_object(prepared.kernel, i, images[storage[phase][argument.buffer]]);
          break;
        case ProgramArgument::Kind::sampler:
          prepared.samplers.push_back(make_sampler(session, argument.sampler));
          status = session.set_object(prepared.kernel, i, prepared.samplers.back());
          break;
        case ProgramArgument::Kind::local:
          status = session.set_local(prepared.kernel, i, argument.local_bytes);
          break;
        case ProgramArgument::Kind::value:
          status = session.set_bytes(prepared.kernel, i, argument.value);
          break;
        }
        require(status, fmt::format("setting argument {} of {}", i, program.wave_text(wave)));
      }
      prepared_.emplace(std::pair(wave, phase), std::move(prepared));
    }
  }
}

void PlainWaves::set_progressions(std::uint32_t wave, std::uint32_t iteration, const device::Kernel& kernel) {
  const auto& arguments = program_.waves[wave].arguments;
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].changes.empty()) {
      const std::vector<std::byte> value = value_in(arguments[i].value, arguments[i].changes, iteration);
      require(session_.set_bytes(kernel, i, value),
              fmt::format("setting argument {} of {}", i, program_.wave_text(wave)));
    }
  }
}

device::Status PlainWaves::transfer(const TransferCommand& what, const Prepared& prepared,
                                    device::Event* event) {
  if (what.bytes == 0) {
    return device::success;
  }
  if (what.from) {
    return session_.copy(prepared.from, what.from_offset, prepared.to, what.to_offset, what.bytes, event);
  }
  fill(session_, prepared.to, what.to_offset, what.bytes, what.pattern, event);
  return device::success;
}

bool PlainWaves::repeats(std::uint32_t wave) const {
  const ProgramWave& spec = program_.waves[wave];
  return !spec.command && !spec.state &&
         std::ranges::none_of(spec.arguments,
                              [](const ProgramArgument& argument) { return !argument.changes.empty(); });
}

void PlainWaves::set_range(std::uint32_t wave, const NdRange& range) {
  for (std::uint32_t phase = 0; phase < phases_; ++phase) {
    if (const auto found = prepared_.find({wave, phase}); found != prepared_.end()) {
      found->second.range = launch_range(range);
    }
  }
}

device::Launch PlainWaves::repeated_launch(std::uint32_t wave, std::uint32_t phase) const {
  const Prepared& prepared = prepared_.at({wave, phase});
  return {.kernel = &prepared.kernel, .range = prepared.range};
}

bool PlainWaves::launch(std::uint32_t wave, std::uint32_t iteration,
                        std::chrono::steady_clock::time_point deadline, device::Event* event) {
  if (const auto queue = queues_.find({wave, iteration % phases_}); queue != queues_.end()) {
    QueueRounds& rounds = queue->second;
    const std::uint64_t compile_before = rounds.compile_ns();
    const bool drained = rounds.run(deadline, event);
    compile_ns_ += rounds.compile_ns() - compile_before;
    return drained;
  }
  const Prepared& prepared = prepared_.at({wave, iteration % phases_});
  const auto& what = program_.waves[wave].command;
  const ProgramWave& spec = program_.waves[wave];
  const bool first = session_.on_host && !what && compiled_.emplace(spec.op, spec.range.local).second;
  device::Event launched;
  event = first && event == nullptr ? &launched : event;
  device::Status status = device::success;
  if (what) {
    const auto part = transfers_.find(wave);
    status = transfer(part == transfers_.end() ? *what : part->second, prepared, event);
  } else {
    set_progressions(wave, iteration, prepared.kernel);
    status = session_.launch(prepared.kernel, prepared.range, event);
  }
  if (status != device::success) {
    Error error = device::opencl_failure(fmt::format("launching {}", program_.wave_text(wave)), status);
    if (status == device::invalid_work_group_size && spec.range.ragged()) {
      error.code = ErrorCode::invalid_program; // not the device's fault
      error.message =
          fmt::format("{} has a local_size that does not divide its global_size: its kernel would be "
                      "launched with work-groups of different sizes, which this device does not take",
                      program_.wave_text(wave));
      error.fix =
          "make global_size a multiple of local_size, or give -cl-std=CL2.0 among the op's options where the "
          "device has it";
      error.pointer = program_.wave_pointer(wave) + "/local_size";
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
  require(session_.finish(), "running " + program_.wave_text(wave));
  monitor.in_flight = 0;
  return !InterruptWatch::interrupted() &&
         Monitor::Clock::now() < deadline + std::chrono::nanoseconds(compile_ns_);
}

std::uint32_t run_wave_by_wave(const Job& program, const std::vector<std::uint32_t>& order,
                               const std::vector<std::vector<std::uint32_t>>& storage,
                               const WaveByWave& how) {
  std::uint32_t iteration = 0;
  const auto run_section = [&](Section section) {
    return std::ranges::all_of(order, [&](std::uint32_t wave) {
      return program.waves[wave].section != section || how.run(wave, iteration);
    });
  };
  bool goes_on = run_section(Section::before);
  bool finished = false;
  while (goes_on && !finished && iteration < program.iterations) {
    goes_on = run_section(Section::each);
    ++iteration;
    if (program.until) {
      std::vector<std::byte> value(program.until->value.size());
      how.read(storage[iteration % storage.size()][program.until->buffer], value);
      finished = same_value(program, value);
    }
  }
  if (goes_on) {
    run_section(Section::after);
  }
  return iteration;
}

} // namespace tidegate::engine
