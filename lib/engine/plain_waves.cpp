#include "engine/plain_waves.hpp"

#include "core/interrupt.hpp"
#include "engine/queue_outcome.hpp"
#include "opencl_c/outline.hpp"
#include "opencl_c/words.hpp"

namespace tidegate::engine {
namespace {

// Prefix of the size checks for values; wave, argument and bytes follow.
constexpr std::string_view value_size_check = "tg_size_of_argument_";

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
    const auto& parameters =
        program.function(op).parameters; // the user's: one of several ranks adds arguments
    const std::size_t count =
        program.ops[op].unit == unit ? std::min(arguments.size(), parameters.size()) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& type = parameters[i].type;
      if (arguments[i].kind == ProgramArgument::Kind::value && !opencl_c::arithmetic_type(type)) {
        checks += fmt::format("typedef char {}{}_{}_{}[sizeof({}) == {} ? 1 : -1];\n", value_size_check, wave,
                              i, arguments[i].value.size(), type, arguments[i].value.size());
      }
    }
  }
  return checks.empty() ? checks : "\n#line 1 \"tidegate/arguments.cl\"\n" + checks;
}

// Returns the file of the unit that the compiler names, possibly with another spelling of the path.
std::optional<std::string> file_of(const ProgramUnit& unit, const std::string& name) {
  const auto found = std::ranges::find_if(unit.files, [&name](const std::string& file) {
    std::error_code unknown;
    return file == name || std::filesystem::equivalent(file, name, unknown);
  });
  return found == unit.files.end() ? std::nullopt : std::optional(*found);
}

// Returns the error for a value that differs in size from its parameter, if a size check failed.
std::optional<Error> wrong_size(const Job& program, std::string_view log) {
  const std::size_t at = log.find(value_size_check);
  if (at == std::string_view::npos) {
    return {};
  }
  std::array<std::uint32_t, 3> numbers{}; // wave, argument, bytes
  const char* place = log.data() + at + value_size_check.size() - 1;
  for (std::uint32_t& number : numbers) {
    place = std::from_chars(place + 1, log.data() + log.size(), number).ptr;
  }
  const auto [wave, argument, bytes] = numbers;
  const std::uint32_t op = program.waves.at(wave).op;
  return Error{.code = ErrorCode::argument_mismatch,
               .message = fmt::format(
                   "the argument has {}, {} has another size on this device", plural(bytes, "byte"),
                   in_quotes(opencl_c::text_of(program.units[program.ops[op].unit].unit,
                                               program.function(op).parameters.at(argument).tokens))),
               .fix = "give {\"bytes\": …}, as many as sizeof says there, padding included",
               .pointer = fmt::format("{}/args/{}", program.wave_pointer(wave), argument)};
}

// Converts the failure of a source that was compiled alone.
Error at_source(const Job& program, std::uint32_t unit, Error error) {
  if (error.code == ErrorCode::kernel_options) {
    const auto op = std::ranges::find(program.ops, unit, &ProgramOp::unit);
    error.message =
        "the compiler of the device refuses the options " + in_quotes(program.units[unit].options);
    error.pointer = "/ops/" + pointer_token(op->name) + "/options";
  }
  if (error.code != ErrorCode::build_failure || !error.log) {
    return error; // failed before compilation
  }
  if (auto wrong = wrong_size(program, *error.log)) {
    return *std::move(wrong);
  }
  error.code = ErrorCode::kernel_source;
  if (!error.line) {
    error.source = program.units[unit].path;
    error.message = "the compiler of the device refuses this source";
    error.fix = "its log says why";
    return error;
  }
  const auto file = file_of(program.units[unit], *error.source);
  if (file) {
    error.source = file;
    error.fix = "correct the kernel"; // also if a user's file is named like one of tidegate's
    error = with_line_of(program.units[unit].files, std::move(error), ColumnCounts::bytes);
  }
  return error;
}

} // namespace

PlainPrograms::PlainPrograms(const device::Session& of, const Job& job, std::vector<std::uint32_t> launched)
    : session(of), program(job), waves(std::move(launched)) {
  for (const std::uint32_t wave : waves) {
    const std::uint32_t unit = program.ops[program.waves[wave].op].unit;
    if (units.contains(unit)) {
      continue;
    }
    constexpr std::size_t most = std::size_t{64} << 20U;
    const std::string& built_in = program.units[unit].built_in;
    const std::string& rewritten = program.units[unit].rewritten;
    DriverSource source{.text = built_in.empty() ? rewritten : built_in,
                        .options = program.units[unit].options};
    if (source.text.empty()) {
      const std::string text = or_refuse(read_all(program.units[unit].path, most));
      source = users_source(program.units[unit], program.folder, std::string(without_byte_order_mark(text)));
    } else {
      source.text = opencl_c::line_directive(1, program.units[unit].path) + source.text;
    }
    const std::string all =
        fmt::format("{}{}{}", program.contraction_pragma(), source.text, size_checks(program, waves, unit));
    units.emplace(unit, or_refuse(session.build(all, source.options).map_error([&](Error error) {
                    return at_source(program, unit, std::move(error));
                  })));
  }
}

device::Kernel PlainPrograms::kernel(std::uint32_t op) const {
  const std::string& name = program.function(op).name;
  return session.make_kernel(units.at(program.ops[op].unit), name);
}

Error blame_sources(const device::Session& session, const Job& program, Error build_failure) {
  std::vector<std::uint32_t> waves(program.waves.size());
  std::iota(waves.begin(), waves.end(), 0U);
  try {
    const PlainPrograms by_themselves(session, program, std::move(waves));
  } catch (device::Refused& refused) {
    return std::move(refused.error);
  }
  build_failure.fix =
      build_failure.code == ErrorCode::build_failure ? device::fix_of_own_kernels : build_failure.fix;
  return build_failure;
}

// Launches of kernels. On a CPU it waits for the first one of each op and work-group size, in which the driver compiles.
class Launcher {
public:
  explicit Launcher(const device::Session& of) : session(of) {}

  // `event` may be null. Throws device::Refused.
  void launch(const device::Kernel& kernel, const device::LaunchRange& range, std::uint32_t op,
              device::Event* event) {
    const bool first = session.on_host && compiled_.emplace(op, range.local).second;
    device::Event launched;
    event = first && event == nullptr ? &launched : event;
    if (first) {
      session.finish();
    }
    session.launch(kernel, range, event);
    compile_ns += first ? device::time_before_start(session, *event) : 0;
  }

  const device::Session& session;
  std::uint64_t compile_ns = 0;                        // in first launches so far
  std::map<std::uint32_t, device::LaunchRange> ranges; // of waves that are kernels

private:
  std::set<std::pair<std::uint32_t, std::array<std::size_t, 3>>> compiled_; // op and work-group size
};

namespace {

#include "wave/queue_state.h"

device::LaunchRange launch_range(const NdRange& range) {
  device::LaunchRange launched{.dimensions = range.dimensions};
  std::ranges::copy(range.offset, launched.offset.begin());
  std::ranges::copy(range.global, launched.global.begin());
  std::ranges::copy(range.local, launched.local.begin());
  return launched;
}

// The reference has more room than the queue, because its items run in another order.
constexpr std::uint32_t reference_room = 4;

// One wave of work items that is launched repeatedly until its queue is empty (kernels/wave/queue.cl).
class QueueRounds {
public:
  // `memory` holds the program's buffers by index in one swap phase. Throws device::Refused.
  QueueRounds(const PlainPrograms& programs, std::uint32_t wave, const std::vector<device::Buffer>& memory,
              QueueWay way, Launcher& launcher)
      : session_(programs.session), launcher_(launcher), program_(programs.program), wave_(wave),
        spec_(program_.waves[wave]), text_(program_.wave_text(wave)), checks_(way != QueueWay::drain),
        publishes_(checks_ && spec_.queue->publishes),
        kernel_(programs.kernel(checks_ ? check_op(spec_) : spec_.op)) {
    const ProgramQueue& queue = *spec_.queue;
    std::uint32_t index = 0; // of the next argument
    if (!checks_) {
      state_ = memory[*spec_.state];
      turn_ = programs.kernel(turn_op(spec_));
      session_.set(turn_, 0, state_, spec_.rounds->age_threshold, spec_.rounds->most_stalled_rounds,
                   spec_.rounds->capacity);
    } else {
      constexpr std::uint32_t most_items = 1U << 26U;
      constexpr std::uint32_t items_per_launch = 65536; // of ops that publish
      const auto items = publishes_
                             ? std::bit_ceil(std::min(spec_.rounds->capacity, most_items) * reference_room)
                             : static_cast<std::uint32_t>(queue.items.size());
      const std::uint32_t reversed = way == QueueWay::reversed ? 1 : 0;
      state_ = session_.allocate(TG_QUEUE_WORDS * sizeof(std::uint32_t));
      items_ = session_.allocate(std::uint64_t{items} * 2 * sizeof(std::uint32_t));
      marks_bytes_ = publishes_ ? queue.seen_bytes : items * sizeof(std::uint32_t);
      marks_ = session_.allocate(marks_bytes_);
      if (publishes_) {
        index = session_.set(kernel_, 0, items_, items, reversed, state_, marks_, items_per_launch);
      } else {
        std::vector<std::uint32_t> words;
        for (const QueueItem& item : queue.items) {
          words.insert(words.end(), {packed_handles(item), item.param});
        }
        session_.write(items_, 0, std::as_bytes(std::span(words)));
        index = session_.set(kernel_, 0, items_, items, reversed, marks_, state_);
      }
    }
    for (const ProgramArgument& argument : checks_ ? spec_.users_arguments() : std::span(spec_.arguments)) {
      index = session_.set(kernel_, index, memory[argument.buffer]);
    }
  }

  // Returns false if items are left: one failed, none makes progress, too many wait, or time is up. Throws
  // device::Refused; as a reference also queue_error().
  bool run(PlainWaves::Clock::time_point deadline, const NextEvent& event) {
    const ProgramQueue& queue = *spec_.queue;
    const std::uint64_t compiled_before = launcher_.compile_ns; // this does not count as wall time
    std::vector<std::uint32_t> state(TG_QUEUE_WORDS);
    std::uint64_t most_rounds = ~std::uint64_t{0};
    if (checks_ && !publishes_ && queue.items.empty()) {
      return true;
    }
    if (checks_) {
      session_.clear(marks_, marks_bytes_);
    }
    if (publishes_) {
      std::fill_n(state.begin() + TG_QUEUE_TAILS, TG_QUEUE_PRIORITIES, *spec_.listed_items);
      session_.write(items_, 0, std::as_bytes(std::span(queue.seeds)));
      session_.write(state_, 0, std::as_bytes(std::span(state)));
    } else if (checks_) {
      most_rounds = spec_.rounds ? std::uint64_t{spec_.rounds->most_stalled_rounds} + 1 : 1;
    }
    for (std::uint64_t round = 0; round < most_rounds; ++round) {
      if (publishes_) {
        launch(kernel_, check_op(spec_), 1, 1, event());
      } else if (checks_) {
        session_.clear(state_, TG_QUEUE_WORDS * sizeof(std::uint32_t));
        const std::size_t lanes = 64;
        launch(kernel_, check_op(spec_), (queue.items.size() + lanes - 1) / lanes * lanes, lanes, event());
        if (!spec_.rounds) {
          return true; // the run that this one proves reports failures
        }
      } else {
        launch(kernel_, spec_.op, spec_.range.global[0], spec_.range.local[0], event());
        launch(turn_, turn_op(spec_), 1, 1, event());
      }
      session_.read(state_, 0, std::as_writable_bytes(std::span(state)));
      const bool full = state[TG_QUEUE_END] != TG_QUEUE_DRAINED;
      if (checks_ && (state[TG_QUEUE_FAULT] != 0 || (publishes_ && full))) {
        const QueueFailure failure{
            .code = publishes_ && full ? ErrorCode::publish_queue_full : ErrorCode::queue_fault,
            .item = unpacked_item(state[TG_QUEUE_FAULT_ITEM], state[TG_QUEUE_FAULT_PARAM]),
            .result = state[TG_QUEUE_FAULT_RESULT],
            .needed_capacity = state[TG_QUEUE_DEEPEST] / reference_room};
        throw device::Refused{queue_error(program_, wave_, failure)};
      }
      if (state[TG_QUEUE_MORE] == 0) {
        return checks_ || !full;
      }
      if (InterruptWatch::interrupted() ||
          PlainWaves::Clock::now() >=
              deadline + std::chrono::nanoseconds(launcher_.compile_ns - compiled_before)) {
        return false;
      }
    }
    return false;
  }

private:
  void launch(const device::Kernel& kernel, std::uint32_t op, std::size_t items, std::size_t lanes,
              device::Event* event) {
    device::doing("launching " + text_,
                  [&] { launcher_.launch(kernel, {.global = {items}, .local = {lanes}}, op, event); });
  }

  const device::Session& session_;
  Launcher& launcher_;
  const Job& program_;
  const std::uint32_t wave_;
  const ProgramWave& spec_;
  const std::string text_; // of the wave
  const bool checks_;
  const bool publishes_;        // and checks
  const device::Kernel kernel_; // the first of a round
  device::Kernel turn_;
  device::Buffer state_, items_;
  device::Buffer marks_; // of the reference: items that are done, or of pure ops that were published
  std::uint64_t marks_bytes_ = 0;
};

// The launch of a wave of which this is the kernel. Throws device::Refused.
struct KernelLaunch {
  Launcher& launcher;
  const Job& program;
  std::uint32_t wave;
  device::Kernel kernel;
  std::vector<device::Sampler> samplers{};

  KernelLaunch(const PlainPrograms& programs, std::uint32_t index, const WaveMemory& memory,
               std::size_t phase, Launcher& launches)
      : launcher(launches), program(programs.program), wave(index),
        kernel(programs.kernel(program.waves[index].op)) {
    const device::Session& session = launcher.session;
    std::uint32_t at = 0;
    for (const ProgramArgument& argument : program.waves[wave].arguments) {
      const auto owner = [&] { return memory.storage[phase][argument.buffer]; };
      switch (argument.kind) {
      case ProgramArgument::Kind::buffer: session.set(kernel, at, memory.arena.views[owner()]); break;
      case ProgramArgument::Kind::null: session.set(kernel, at, device::Buffer()); break;
      case ProgramArgument::Kind::image: session.set(kernel, at, memory.arena.parts[owner()].object); break;
      case ProgramArgument::Kind::sampler:
        samplers.push_back(session.make_sampler(argument.sampler));
        session.set(kernel, at, samplers.back());
        break;
      case ProgramArgument::Kind::local: session.set_local(kernel, at, argument.local_bytes); break;
      case ProgramArgument::Kind::value: session.set_bytes(kernel, at, argument.value); break;
      }
      ++at;
    }
  }

  bool operator()(std::uint32_t iteration, PlainWaves::Clock::time_point, const NextEvent& next_event) const
      try {
    const ProgramWave& spec = program.waves[wave];
    for (std::uint32_t i = 0; i < spec.arguments.size(); ++i) {
      if (const ProgramArgument& argument = spec.arguments[i]; !argument.changes.empty()) {
        launcher.session.set_bytes(kernel, i, value_in(argument.value, argument.changes, iteration));
      }
    }
    launcher.launch(kernel, launcher.ranges.at(wave), spec.op, next_event());
    return true;
  } catch (device::Refused& refused) {
    const std::string text = program.wave_text(wave);
    Error error = device::opencl_failure("launching " + text, refused.status);
    if (refused.status == device::invalid_work_group_size && program.waves[wave].range.ragged()) {
      error.code = ErrorCode::invalid_program; // not the device's fault
      error.message =
          fmt::format("{} has a local_size that does not divide its global_size: its kernel would be "
                      "launched with work-groups of different sizes, which this device does not take",
                      text);
      error.fix =
          "make global_size a multiple of local_size, or give -cl-std=CL2.0 among the op's options where the "
          "device has it";
      error.pointer = program.wave_pointer(wave) + "/local_size";
    }
    throw device::Refused{std::move(error)};
  }
};

} // namespace

PlainWaves::PlainWaves(const PlainPrograms& programs, const WaveMemory& memory, QueueWay way)
    : phases_(memory.storage.size()), launcher_(std::make_shared<Launcher>(programs.session)) {
  const device::Session& session = programs.session;
  for (std::size_t phase = 0; phase < phases_; ++phase) {
    std::vector<device::Buffer> buffers;
    for (const std::uint32_t owner : memory.storage[phase]) {
      buffers.push_back(memory.arena.views[owner]);
    }
    for (const std::uint32_t wave : programs.waves) {
      const ProgramWave& spec = programs.program.waves[wave];
      Launch& launch = launches_[{wave, phase}];
      if (spec.command) {
        const TransferCommand& what = *spec.command;
        launch = [&session, &what, from = buffers[what.from.value_or(what.to)],
                  to = buffers[what.to]](std::uint32_t, Clock::time_point, const NextEvent& next_event) {
          if (what.bytes != 0 && what.from) {
            session.copy(from, what.from_offset, to, what.to_offset, what.bytes, next_event());
          } else if (what.bytes != 0) {
            session.fill(to, what.to_offset, what.bytes, what.pattern, next_event());
          }
          return true;
        };
      } else if (spec.in_rounds() || (spec.listed_items && way != QueueWay::drain)) {
        launch = [rounds = std::make_shared<QueueRounds>(programs, wave, buffers, way, *launcher_)](
                     std::uint32_t, Clock::time_point deadline, const NextEvent& next_event) {
          return rounds->run(deadline, next_event);
        };
      } else {
        launcher_->ranges[wave] = launch_range(spec.range);
        launch = KernelLaunch(programs, wave, memory, phase, *launcher_);
      }
    }
  }
}

void PlainWaves::set_range(std::uint32_t wave, const NdRange& range) {
  launcher_->ranges[wave] = launch_range(range);
}

bool PlainWaves::launch(std::uint32_t wave, std::uint32_t iteration, Clock::time_point deadline,
                        const NextEvent& next_event) {
  return launches_.at({wave, iteration % phases_})(iteration, deadline, next_event);
}

std::uint64_t PlainWaves::compile_ns() const {
  return launcher_->compile_ns;
}

bool same_value(const Job& program, const std::vector<std::byte>& value) {
  return with_type(program.buffers[program.until->buffer].type, [&]<class T>(T number) {
    T wanted{};
    std::memcpy(&number, value.data(), sizeof number);
    std::memcpy(&wanted, program.until->value.data(), sizeof wanted);
    if constexpr (std::is_arithmetic_v<T>) {
      return number == wanted;
    } else { // kernels compare halves as bits, and 0 with -0
      return value == program.until->value || to_double(number) == to_double(wanted);
    }
  });
}

} // namespace tidegate::engine
