#include "engine/plain_waves.hpp"

#include "engine/device_memory.hpp"
#include <tidegate/core/text.hpp>

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

} // namespace

PlainWaves::PlainWaves(const device::Session& session, const PlainPrograms& programs, const Job& program,
                       const std::vector<std::uint32_t>& waves, const WaveMemory& memory, QueueWay way)
    : session_(session), program_(program), phases_(static_cast<std::uint32_t>(memory.storage.size())),
      launcher_(session) {
  for (std::uint32_t phase = 0; phase < phases_; ++phase) {
    const auto& storage = memory.storage[phase];
    std::vector<device::Buffer> buffers;
    for (const std::uint32_t owner : storage) {
      buffers.push_back(memory.arena.views[owner]);
    }
    for (const std::uint32_t wave : waves) {
      const ProgramWave& spec = program.waves[wave];
      if (spec.command) {
        const TransferCommand& what = *spec.command;
        prepared_.emplace(std::pair(wave, phase),
                          Prepared{.from = buffers[what.from.value_or(what.to)], .to = buffers[what.to]});
        continue;
      }
      if (spec.in_rounds() || (spec.listed_items && way != QueueWay::drain)) {
        queues_.emplace(std::pair(wave, phase),
                        QueueRounds({session, programs, program, launcher_}, wave, buffers, way));
        continue;
      }
      Prepared prepared{.kernel = programs.kernel(spec.op), .range = launch_range(spec.range)};
      for (std::uint32_t i = 0; i < spec.arguments.size(); ++i) {
        const ProgramArgument& argument = spec.arguments[i];
        device::Status status = device::success;
        switch (argument.kind) {
        case ProgramArgument::Kind::buffer:
          status = session.set_object(prepared.kernel, i, buffers[argument.buffer]);
          break;
        case ProgramArgument::Kind::null:
          status = session.set_object(prepared.kernel, i, device::Buffer());
          break;
        case ProgramArgument::Kind::image:
          status =
              session.set_object(prepared.kernel, i, memory.arena.parts[storage[argument.buffer]].object);
          break;
        case ProgramArgument::Kind::sampler:
          prepared.samplers.push_back(require(session.make_sampler(argument.sampler), "making a sampler"));
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

void PlainWaves::set_range(std::uint32_t wave, const NdRange& range) {
  for (std::uint32_t phase = 0; phase < phases_; ++phase) {
    if (const auto found = prepared_.find({wave, phase}); found != prepared_.end()) {
      found->second.range = launch_range(range);
    }
  }
}

bool PlainWaves::launch(std::uint32_t wave, std::uint32_t iteration,
                        std::chrono::steady_clock::time_point deadline, const NextEvent& next_event) {
  if (const auto queue = queues_.find({wave, iteration % phases_}); queue != queues_.end()) {
    return queue->second.run(deadline, next_event);
  }
  const Prepared& prepared = prepared_.at({wave, iteration % phases_});
  const ProgramWave& spec = program_.waves[wave];
  device::Event* const event = next_event();
  device::Status status = device::success;
  if (spec.command) {
    status = transfer(*spec.command, prepared, event);
  } else {
    for (std::uint32_t i = 0; i < spec.arguments.size(); ++i) {
      if (const ProgramArgument& argument = spec.arguments[i]; !argument.changes.empty()) {
        require(session_.set_bytes(prepared.kernel, i, value_in(argument.value, argument.changes, iteration)),
                fmt::format("setting argument {} of {}", i, program_.wave_text(wave)));
      }
    }
    status = launcher_.launch(prepared.kernel, prepared.range, spec.op, program_.wave_text(wave), event);
  }
  if (status == device::success) {
    return true;
  }
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

bool same_value(const Job& program, const std::vector<std::byte>& value) {
  const auto equal = [&]<class T>(T a, T b) {
    std::memcpy(&a, value.data(), sizeof a);
    std::memcpy(&b, program.until->value.data(), sizeof b);
    return !(a < b) && !(b < a) && a == a; // for floats 0 and -0 are one number
  };
  switch (program.buffers[program.until->buffer].type) {
  case ElementType::f32: return equal(0.0F, 0.0F);
  case ElementType::f64: return equal(0.0, 0.0);
  case ElementType::f16:
    return value == program.until->value ||
           ((value[0] | program.until->value[0]) == std::byte{0} &&
            ((value[1] | program.until->value[1]) & std::byte{0x7f}) == std::byte{0});
  default: return value == program.until->value;
  }
}

} // namespace tidegate::engine
