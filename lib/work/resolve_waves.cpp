// Resolves each kind of wave (kernel, fill or copy, queue) to an op, an NDRange and arguments.
#include "engine/recommend.hpp"
#include "opencl_c/words.hpp"
#include "work/arguments.hpp"
#include "work/hits.hpp"
#include "work/program.hpp"
#include "work/queue.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tidegate::engine {
namespace {

// Refuses parameters such as pipes, which no wave can supply.
Result<void> check_parameters(const ProgramUnit& read, const opencl_c::Function& kernel) {
  const opencl_c::TranslationUnit& unit = read.unit;
  for (const opencl_c::Parameter& parameter : kernel.parameters) {
    for (std::size_t i = parameter.tokens.begin; i < parameter.tokens.end; ++i) {
      const std::string& word = unit.source.tokens[i].text;
      if (opencl_c::is_unsupported(word)) {
        return tl::unexpected(with_line_of(
            read.files, opencl_c::error_at(unit, i, ErrorCode::unsupported_kernel,
                                           fmt::format("{} cannot be an argument of a wave", in_quotes(word)),
                                           fmt::format("write it without: {}", opencl_c::see_unsupported))));
      }
    }
  }
  return {};
}

// Checks only that the named buffers, images and lists exist.
Result<void> argument_names(const ResolveInput& input, const ProgramMemory& memory, const WaveSpec& spec,
                            const std::string& pointer) {
  ErrorList errors;
  for (std::size_t i = 0; i < spec.args.size(); ++i) {
    if (spec.args[i].buffer) {
      errors.check(find_argument_buffer(input, memory, *spec.args[i].buffer,
                                        fmt::format("{}/args/{}/buffer", pointer, i)));
    }
    if (spec.args[i].image) {
      errors.check(
          find_image(input, memory, *spec.args[i].image, fmt::format("{}/args/{}/image", pointer, i)));
    }
    if (spec.args[i].hits) {
      errors.check(find_hits(input, memory, *spec.args[i].hits, fmt::format("{}/args/{}/hits", pointer, i)));
    }
  }
  return errors.result();
}

Result<void> sizes_read(const ResolveInput& input, const std::string& pointer) {
  for (const std::string_view key : {"/global_size", "/local_size", "/global_offset"}) {
    TIDEGATE_CHECK(input.wholly_read(fmt::format("{}{}", pointer, key)));
  }
  return {};
}

Result<void> add_halo(ProgramArgument& argument, bool is_list, const std::vector<Number>& halo,
                      const NdRange& range, const std::string& pointer) {
  if (argument.kind != ProgramArgument::Kind::buffer || is_list) {
    return tl::unexpected(invalid_program("a halo needs a buffer", "leave it out", pointer));
  }
  TIDEGATE_TRY(argument.halo, stated_halo(halo, range, pointer));
  return {};
}

Result<void> add_rows(ProgramArgument& argument, std::uint64_t reach, const ProgramMemory& memory,
                      const NdRange* range, const std::string& pointer) {
  if (argument.kind != ProgramArgument::Kind::buffer || memory.buffers[argument.buffer].row_bytes == 0) {
    return tl::unexpected(invalid_program("rows need a buffer with a shape, whose first number counts them",
                                          "give the buffer a shape, or leave rows out", pointer));
  }
  const ProgramBuffer& buffer = memory.buffers[argument.buffer];
  const std::uint64_t rows = buffer.bytes / buffer.row_bytes;
  const std::uint32_t d = range == nullptr ? 0 : range->dimensions - 1;
  if (range != nullptr && rows + range->local[d] <= range->global[d]) {
    return tl::unexpected(invalid_program(fmt::format("{} has {}, the wave {} in its outermost dimension",
                                                      in_quotes(buffer.name), plural(rows, "row"),
                                                      plural(range->global[d], "work-item")),
                                          "leave rows out where work-items share a row", pointer));
  }
  argument.rows = {.row_bytes = buffer.row_bytes, .reach = reach};
  return {};
}

Result<void> add_combine(ProgramArgument& argument, Combine combine, const ProgramMemory& memory,
                         const std::string& pointer) {
  if (argument.kind != ProgramArgument::Kind::buffer || argument.access != Access::read_write) {
    return tl::unexpected(
        invalid_program("combine needs a buffer that the kernel reads and writes", "leave it out", pointer));
  }
  const ElementType type = memory.buffers[argument.buffer].type;
  if (type != ElementType::i32 && type != ElementType::u32 && type != ElementType::i64 &&
      type != ElementType::u64) {
    return tl::unexpected(invalid_program(
        fmt::format("combine needs integers of 32 or 64 bits, and the buffer has {}", name(type)),
        "leave it out: ranks then run all of the wave", pointer));
  }
  argument.combine = combine;
  return {};
}

// `range` is that of the wave, or null if it is invalid.
Result<void> wave_arguments(const ResolveInput& input, const ProgramMemory& memory, const ProgramOps& ops,
                            const WaveSpec& spec, const opencl_c::Function& kernel,
                            const std::string& pointer, const NdRange* range, ProgramWave& wave) {
  const opencl_c::TranslationUnit& unit = ops.unit(wave.op).unit;
  TIDEGATE_CHECK(check_parameters(ops.unit(wave.op), kernel));
  ErrorList errors;
  if (spec.args.size() != kernel.parameters.size()) {
    std::string signature;
    for (const opencl_c::Parameter& parameter : kernel.parameters) {
      signature += (signature.empty() ? "" : ", ") + opencl_c::resolved_text(unit, parameter);
    }
    errors.add(
        {.code = ErrorCode::argument_mismatch,
         .message = fmt::format("{} given, the kernel takes {}: {}({})", plural(spec.args.size(), "argument"),
                                kernel.parameters.size(), kernel.name, signature),
         .fix = "give one argument for each parameter, in their order",
         .pointer = pointer + "/args"});
    errors.check(argument_names(input, memory, spec, pointer));
    return errors.result();
  }
  const auto image = [&](const std::string& name, const std::string& at) {
    return find_image(input, memory, name, at);
  };
  const auto buffer = [&](const std::string& name, const std::string& at) {
    return find_argument_buffer(input, memory, name, at);
  };
  const auto hits = [&](const std::string& name, const std::string& at) {
    return find_hits(input, memory, name, at);
  };
  for (std::size_t i = 0; i < spec.args.size(); ++i) {
    const opencl_c::Parameter& parameter = kernel.parameters[i];
    auto argument = resolve_argument(spec.args[i], parameter, unit, memory.buffers, buffer, image, hits,
                                     fmt::format("{}/args/{}", pointer, i));
    if (spec.args[i].halo && argument && range) {
      errors.check(add_halo(*argument, spec.args[i].hits.has_value(), *spec.args[i].halo, *range,
                            fmt::format("{}/args/{}/halo", pointer, i)));
    }
    if (spec.args[i].combine && argument) {
      errors.check(add_combine(*argument, *spec.args[i].combine, memory,
                               fmt::format("{}/args/{}/combine", pointer, i)));
    }
    if (spec.args[i].rows && argument) {
      errors.check(
          add_rows(*argument, *spec.args[i].rows, memory, range, fmt::format("{}/args/{}/rows", pointer, i)));
    }
    if (errors.check(argument)) {
      wave.arguments.push_back(std::move(*argument));
    }
  }
  TIDEGATE_CHECK(errors.result());
  TIDEGATE_CHECK(input.wholly_read(pointer + "/args"));
  return check_image_uses(wave.arguments, memory.buffers, pointer);
}

Result<ProgramWave> op_wave(const ResolveInput& input, const ProgramMemory& memory, ProgramOps& ops,
                            const WaveSpec& spec, const std::string& pointer) {
  ErrorList errors;
  if (ops.queue_ops.contains(*spec.op)) {
    return tl::unexpected(invalid_program(fmt::format("{} is a queue op, and no kernel", in_quotes(*spec.op)),
                                          "give it to a queue: \"queue\": {\"ops\": …}", pointer + "/op"));
  }
  const auto op = input.find_in("/ops", "op", *spec.op, ops.op_index, pointer + "/op");
  if (!errors.check(op)) {
    errors.check(argument_names(input, memory, spec, pointer)); // all that can be checked without a kernel
    return tl::unexpected(errors.result().error());
  }
  ProgramWave wave{.op = *op};
  const opencl_c::Function& kernel = ops.function(wave.op);
  const auto range = sizes_read(input, pointer).and_then([&] {
    return nd_range(spec, kernel, pointer, input.tuning.open_workgroup_size);
  });
  errors.check(range);
  errors.check(wave_arguments(input, memory, ops, spec, kernel, pointer, range ? &*range : nullptr, wave));
  TIDEGATE_CHECK(errors.result());
  wave.range = *range;
  if (spec.active) {
    TIDEGATE_CHECK(input.wholly_read(pointer + "/active"));
    TIDEGATE_CHECK(add_active(
        input, spec, memory.buffers,
        [&](const std::string& name, const std::string& at) {
          return find_argument_buffer(input, memory, name, at);
        },
        ops, wave, pointer));
  }
  return wave;
}

// Handles index the lists of the queue, because JSON objects have no order.
Result<ProgramWave> queue_wave(const ResolveInput& input, ProgramMemory& memory, ProgramOps& ops,
                               std::uint32_t index, const WaveSpec& spec, const std::string& pointer) {
  TIDEGATE_CHECK(no_range(spec, "a wave with a queue", pointer));
  for (const std::string& part : {pointer, std::string("/ops"), std::string("/buffers")}) {
    TIDEGATE_CHECK(input.wholly_read(part));
  }
  std::vector<QueueOpHandle> handles;
  NameIndex program_ops;
  for (const auto& [name, op] : input.program.ops) {
    program_ops.emplace(name, static_cast<std::uint32_t>(program_ops.size()));
  }
  for (std::size_t i = 0; i < spec.queue->ops.size(); ++i) {
    const std::string& name = spec.queue->ops[i];
    TIDEGATE_CHECK(
        find_name("op", name, program_ops, fmt::format("{}/queue/ops/{}", pointer, i)).map([](std::uint32_t) {
        }));
    const auto found = ops.queue_ops.find(name);
    if (found != ops.queue_ops.end() && !found->second) {
      return tl::unexpected(already_reported());
    }
    handles.push_back({.name = name, .op = found == ops.queue_ops.end() ? nullptr : &*found->second});
  }
  std::vector<ProgramBuffer> buffers;
  std::vector<std::uint32_t> indices;
  for (std::size_t i = 0; i < spec.queue->buffers.size(); ++i) {
    const bool is_list = memory.hits_index.contains(spec.queue->buffers[i]);
    TIDEGATE_TRY(const std::uint32_t place, find_name("buffer", spec.queue->buffers[i],
                                                      is_list ? memory.hits_index : memory.buffer_index,
                                                      fmt::format("{}/queue/buffers/{}", pointer, i)));
    if (std::ranges::find(indices, place) != indices.end()) {
      return failure(ErrorCode::duplicate_name,
                     fmt::format("the queue lists the buffer {} twice", in_quotes(spec.queue->buffers[i])),
                     "one handle is enough for a buffer", fmt::format("{}/queue/buffers/{}", pointer, i));
    }
    buffers.push_back(memory.buffers[place]);
    indices.push_back(place);
  }
  const std::string title = spec.name.value_or(fmt::format("wave {}", index));
  TIDEGATE_TRY(QueueWave made,
               resolve_queue(*spec.queue, title, input.folder, handles, buffers,
                             input.program.policy.priority_age_threshold, input.tuning,
                             queue_groups(input.device), input.answer, input.scope, pointer + "/queue"));
  ProgramWave wave{
      .op = static_cast<std::uint32_t>(ops.ops.size()), .users_kernel = false, .range = made.range};
  for (std::size_t i = 0; i < made.own_buffers.size(); ++i) {
    wave.arguments.push_back({.kind = ProgramArgument::Kind::buffer,
                              .buffer = static_cast<std::uint32_t>(memory.buffers.size()),
                              .access = made.own_accesses[i],
                              .access_stated = true,
                              .overwrites = made.own_accesses[i] == Access::write, // requeued items
                              .value = {}});
    memory.buffers.push_back(std::move(made.own_buffers[i]));
  }
  wave.own_arguments = static_cast<std::uint32_t>(wave.arguments.size());
  wave.state = wave.arguments[queue_state_index].buffer;
  wave.rounds = made.rounds;
  wave.listed_items = made.published_items;
  for (const QueueTile& tile : made.queue.tiles) {
    wave.tile_items.push_back(tile.count);
  }
  ops.publish_ns += made.publish_ns;
  for (ProgramArgument& argument : made.arguments) {
    argument.buffer = indices[argument.buffer];
    wave.arguments.push_back(std::move(argument));
  }
  for (const std::string_view kernel : queue_kernels) {
    const auto& functions = made.unit.unit.functions;
    const auto found = std::ranges::find(functions, kernel, &opencl_c::Function::name);
    ops.ops.push_back({.name = made.op_name,
                       .unit = static_cast<std::uint32_t>(ops.units.size()),
                       .function = static_cast<std::uint32_t>(found - functions.begin())});
  }
  ops.units.push_back(std::move(made.unit));
  wave.queue = std::make_shared<const ProgramQueue>(std::move(made.queue));
  return wave;
}

// Checks the names in a wave that was not wholly read.
Result<ProgramWave> transferred_names(const WaveSpec& spec, const FindBuffer& find,
                                      const std::string& pointer) {
  ErrorList errors;
  if (spec.fill) {
    errors.check(find(spec.fill->buffer, pointer + "/fill/buffer"));
  }
  if (spec.copy) {
    errors.check(find(spec.copy->from, pointer + "/copy/from"));
    errors.check(find(spec.copy->to, pointer + "/copy/to"));
  }
  errors.add(already_reported());
  return tl::unexpected(errors.result().error());
}

Result<ProgramWave> transfer_wave(const ResolveInput& input, const ProgramMemory& memory, ProgramOps& ops,
                                  const WaveSpec& spec, const std::string& pointer) {
  const auto find = [&](const std::string& name, const std::string& at) {
    return find_buffer(
        input, memory, name, at,
        fmt::format("give the image an init, or write it in a kernel: {}", opencl_c::see_unsupported));
  };
  auto wave = input.unread.intact(pointer) ? resolve_transfer(spec, memory.buffers, find, pointer)
                                           : transferred_names(spec, find, pointer);
  if (!wave) {
    return wave;
  }
  TIDEGATE_TRY(wave->op, built_in_op(ops, "wave/transfers.cl", spec.copy ? "copy_bytes" : "fill_bytes"));
  return wave;
}

Result<ProgramWave> one_wave(const ResolveInput& input, ProgramMemory& memory, ProgramOps& ops,
                             std::uint32_t index, const WaveSpec& spec, const std::string& pointer) {
  const int said = int{spec.op.has_value()} + int{spec.fill.has_value()} + int{spec.copy.has_value()} +
                   int{spec.queue.has_value()};
  if (said == 0 && !input.unread.intact(pointer)) { // all that can be checked of an unknown kind
    const auto names = argument_names(input, memory, spec, pointer);
    return tl::unexpected(names ? already_reported() : names.error());
  }
  if (said != 1) {
    return tl::unexpected(invalid_program(
        fmt::format("a wave needs exactly one of op, fill, copy and queue, this one has {}", said),
        "give one of them", pointer));
  }
  return spec.op      ? op_wave(input, memory, ops, spec, pointer)
         : spec.queue ? queue_wave(input, memory, ops, index, spec, pointer)
                      : transfer_wave(input, memory, ops, spec, pointer);
}

Result<void> name_wave(const WaveSpec& spec, std::uint32_t index, NameIndex& names,
                       const std::string& pointer) {
  if (spec.name && spec.name->empty()) {
    return failure(ErrorCode::invalid_program, fmt::format("the name of wave {} is empty", index),
                   "give it one, or leave it out", pointer + "/name");
  }
  if (spec.name && !names.emplace(*spec.name, index).second) {
    return failure(
        ErrorCode::duplicate_name,
        fmt::format("waves {} and {} are both called {}", names[*spec.name], index, in_quotes(*spec.name)),
        "rename one of them, or leave the name out", pointer + "/name");
  }
  return {};
}

// Written buffers count as output, buffers that are only read as frontier.
planning::Wave envelope(const std::vector<ProgramBuffer>& buffers, const ProgramWave& wave) {
  std::map<std::uint32_t, bool> written;
  for (const ProgramArgument& argument : wave.arguments) {
    if (argument.is_memory()) {
      written[argument.buffer] |= argument.access != Access::read;
    }
  }
  planning::Wave bytes;
  for (const auto& [buffer, is_written] : written) {
    (is_written ? bytes.output_bytes : bytes.frontier_bytes) += buffers[buffer].bytes;
  }
  return bytes;
}

Result<ProgramWave> resolve_wave(const ResolveInput& input, ProgramMemory& memory, ProgramOps& ops,
                                 std::uint32_t index, NameIndex& names, const WaveSpec& spec,
                                 const std::string& pointer) {
  ErrorList errors;
  Result<ProgramWave> wave = one_wave(input, memory, ops, index, spec, pointer);
  errors.check(wave);
  errors.check(input.wholly_read(pointer));
  errors.check(name_wave(spec, index, names, pointer));
  std::uint32_t rules = 0;
  for (std::size_t i = 0; i < spec.rules.size(); ++i) {
    const bool exists = spec.rules[i] < std::numeric_limits<std::uint32_t>::digits;
    if (!exists) {
      errors.add({.code = ErrorCode::out_of_range,
                  .message = fmt::format("there is no source rule {}", spec.rules[i]),
                  .fix = "rules are numbered from 0 to 31",
                  .pointer = fmt::format("{}/rules/{}", pointer, i)});
    }
    rules |= exists ? std::uint32_t{1} << spec.rules[i] : 0;
  }
  TIDEGATE_CHECK(errors.result());
  wave->rules = rules;
  return wave;
}

// Gives lists their capacities, which the policy derives from the waves.
void size_lists(const ResolveInput& input, ProgramMemory& memory, const std::vector<ProgramWave>& waves,
                ErrorList& errors) {
  const WaveProgram& program = input.program;
  HitSources sources{.items = queued_items(waves, program.repeat.value_or(1)),
                     .endless = program.until && !program.repeat,
                     .budget_bytes = program.device_memory_budget_bytes};
  for (const ProgramBuffer& buffer : memory.buffers) {
    sources.memory_bytes += buffer.hits ? 0 : buffer.bytes;
  }
  for (const auto& [name, spec] : program.hits) {
    errors.check(size_list(memory.buffers[memory.hits_index.at(name)], spec, sources, program.policy));
  }
}

} // namespace

ResolvedWaves resolve_waves(const ResolveInput& input, ProgramMemory memory, ProgramOps ops,
                            ErrorList& errors) {
  ResolvedWaves resolved;
  if (input.program.waves.empty()) {
    errors.add(invalid_program("the program has no waves", "add one: an op over an NDRange", "/waves"));
  } else if (std::ranges::none_of(input.program.waves,
                                  [](const WaveSpec& wave) { return wave.section == Section::each; })) {
    errors.add(invalid_program("every wave runs before or after the repetition, and nothing in it",
                               "leave phase out", "/waves"));
  }
  for (std::size_t i = 0; i < input.program.waves.size(); ++i) {
    const WaveSpec& spec = input.program.waves[i];
    auto made = resolve_wave(input, memory, ops, static_cast<std::uint32_t>(i), resolved.names.index, spec,
                             fmt::format("/waves/{}", i));
    resolved.names.sound.push_back(errors.check(made));
    resolved.names.some_is_unread |=
        !input.unread.empty() && input.unread.cover(fmt::format("/waves/{}/name", i));
    const auto op = ops.op_index.find(spec.op.value_or("")); // for the wave's text in messages
    resolved.waves.push_back(made ? std::move(*made)
                                  : ProgramWave{.op = op == ops.op_index.end() ? unsound : op->second});
    resolved.waves.back().name = spec.name.value_or("");
    resolved.waves.back().section = spec.section;
  }
  for (std::uint32_t i = 0; i < resolved.waves.size(); ++i) {
    const auto& stated = input.program.waves[i].bytes;
    resolved.waves[i].bytes = stated ? *stated : envelope(memory.buffers, resolved.waves[i]);
    resolved.waves[i].place = i;
  }
  if (errors.result()) { // otherwise waves or lists may be missing
    resolved.waves = unrolled(input, resolved.names, resolved.waves, errors);
    size_lists(input, memory, resolved.waves, errors);
    const auto waves = static_cast<std::uint32_t>(resolved.waves.size());
    for (std::uint32_t i = 0; i < waves; ++i) {
      if (const auto& active = input.program.waves[*resolved.waves[i].place].active) {
        auto count = count_active(input, memory, ops, i, active->buffer, resolved.waves[i]);
        if (errors.check(count) && *count) {
          (*count)->bytes = envelope(memory.buffers, **count);
          (*count)->place = resolved.waves[i].place;
          resolved.waves.push_back(std::move(**count));
        }
      }
    }
  }
  resolved.buffers = std::move(memory.buffers);
  resolved.units = std::move(ops.units);
  resolved.ops = std::move(ops.ops);
  resolved.publish_ns = ops.publish_ns;
  return resolved;
}

void spread_progressions(std::vector<ProgramWave>& waves) {
  std::map<std::pair<std::uint32_t, std::size_t>, std::map<std::uint64_t, ElementType>> changing;
  for (const ProgramWave& wave : waves) {
    for (std::size_t i = 0; i < wave.arguments.size(); ++i) {
      for (const Change& change : wave.arguments[i].changes) {
        changing[{wave.op, i}][change.offset] = change.progression.type;
      }
    }
  }
  for (ProgramWave& wave : waves) {
    for (std::size_t i = 0; i < wave.arguments.size(); ++i) {
      ProgramArgument& argument = wave.arguments[i];
      std::vector<Change> changes;
      for (const auto& [offset, type] : changing[{wave.op, i}]) {
        const auto own = std::ranges::find(argument.changes, offset, &Change::offset);
        changes.push_back(own != argument.changes.end()
                              ? *own
                              : Change{.offset = offset,
                                       .progression = constant_progression(
                                           type, std::span(argument.value).subspan(offset))});
      }
      argument.changes = std::move(changes);
    }
  }
}

} // namespace tidegate::engine
