// The waves of a program: the kinds that there are, and what waves of all kinds have.
#include "engine/recommend.hpp"
#include "work/documents.hpp"
#include "work/hits.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

// A kind of wave. Each wave of a document is of exactly one.
struct WaveKind {
  documents::Field field; // of WaveSpec: the key of the kind, and the waves that have it
  Result<ProgramWave> (*lower)(const WaveInput& in) = nullptr;
  std::string_view never_in_loops = {}; // the kind as a noun, if no loop may hold it

  [[nodiscard]] bool is_of(const WaveSpec& wave) const { return field.read(&wave) != nullptr; }
};

constexpr WaveKind wave_kinds[] = {
    {documents::optional<&WaveSpec::op>("name of the op that it runs; or it is a fill, a copy or a queue"),
     kernel_wave},
    {documents::optional<&WaveSpec::fill>("elements of a buffer that get one value"), fill_wave},
    {documents::optional<&WaveSpec::copy>("elements that one buffer gets from another"), copy_wave},
    {documents::optional<&WaveSpec::queue>("work items of queue ops, each run by one lane"), queue_wave,
     "a queue"},
};

Result<ProgramWave> one_wave(const WaveInput& in) {
  std::vector<std::string_view> keys;
  const WaveKind* kind = nullptr;
  int said = 0;
  for (const WaveKind& candidate : wave_kinds) {
    keys.push_back(candidate.field.name);
    if (candidate.is_of(in.spec)) {
      kind = &candidate;
      ++said;
    }
  }
  if (said == 0 && !in.input.unread.intact(in.pointer)) {
    return kernel_wave(in); // all that can be checked of an unknown kind
  }
  if (said != 1) {
    return tl::unexpected(
        invalid_program(fmt::format("a wave needs exactly one of {} and {}, this one has {}",
                                    fmt::join(keys.begin(), keys.end() - 1, ", "), keys.back(), said),
                        "give one of them", in.pointer));
  }
  return kind->lower(in);
}

Result<void> name_wave(const WaveInput& in, NameIndex& names) {
  const std::optional<std::string>& name = in.spec.name;
  if (name && name->empty()) {
    return failure(ErrorCode::invalid_program, fmt::format("the name of wave {} is empty", in.index),
                   "give it one, or leave it out", in.pointer + "/name");
  }
  if (name && !names.emplace(*name, in.index).second) {
    return failure(
        ErrorCode::duplicate_name,
        fmt::format("waves {} and {} are both called {}", names[*name], in.index, in_quotes(*name)),
        "rename one of them, or leave the name out", in.pointer + "/name");
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

Result<ProgramWave> resolve_wave(const WaveInput& in, NameIndex& names) {
  ErrorList errors;
  Result<ProgramWave> wave = one_wave(in);
  errors.check(wave);
  errors.check(in.input.wholly_read(in.pointer));
  errors.check(name_wave(in, names));
  std::uint32_t rules = 0;
  for (std::size_t i = 0; i < in.spec.rules.size(); ++i) {
    const bool exists = in.spec.rules[i] < std::numeric_limits<std::uint32_t>::digits;
    if (!exists) {
      errors.add({.code = ErrorCode::out_of_range,
                  .message = fmt::format("there is no source rule {}", in.spec.rules[i]),
                  .fix = "rules are numbered from 0 to 31",
                  .pointer = fmt::format("{}/rules/{}", in.pointer, i)});
    }
    rules |= exists ? std::uint32_t{1} << in.spec.rules[i] : 0;
  }
  TIDEGATE_CHECK(errors.result());
  wave->rules = rules;
  return wave;
}

// Gives lists their capacities, which the policy derives from the waves.
void size_lists(const ResolveInput& input, ProgramMemory& memory, const std::vector<ProgramWave>& waves,
                ErrorList& errors) {
  const WaveProgram& program = input.program;
  if (program.hits.empty()) {
    return;
  }
  const auto items = queued_items(waves, program.repeat.value_or(1));
  if (!errors.check(items)) {
    return;
  }
  HitSources sources{.items = *items,
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

std::string_view never_in_loops(const WaveSpec& wave) {
  const auto* const kind =
      std::ranges::find_if(wave_kinds, [&](const WaveKind& one) { return one.is_of(wave); });
  return kind->never_in_loops.empty() && wave.active ? "active tiles" : kind->never_in_loops;
}

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
    const std::string pointer = fmt::format("/waves/{}", i);
    auto made = resolve_wave({input, memory, ops, spec, static_cast<std::uint32_t>(i), pointer},
                             resolved.names.index);
    resolved.names.sound.push_back(errors.check(made));
    resolved.names.some_is_unread |= !input.unread.empty() && input.unread.cover(pointer + "/name");
    const auto op = ops.op_index.find(spec.op.value_or("")); // for the wave's text in messages
    resolved.waves.push_back(made ? std::move(*made)
                                  : ProgramWave{.op = op == ops.op_index.end() ? invalid_index : op->second});
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

} // namespace tidegate::engine

namespace tidegate::documents {

using namespace engine;

constexpr Field envelope_fields[] = {
    required<&planning::Wave::frontier_bytes>("bytes that the wave reads"),
    required<&planning::Wave::scratch_bytes>("bytes of scratch"),
    required<&planning::Wave::output_bytes>("bytes that the wave writes"),
};
TIDEGATE_RECORD(planning::Wave, envelope_fields);

constexpr Field active_fields[] = {
    required<&ActiveSpec::buffer>("name of a buffer of u8 or u32 with a flag for each work-group"),
};
TIDEGATE_RECORD(ActiveSpec, active_fields);

// Those after the name and the kinds.
constexpr Field wave_fields_after_kinds[] = {
    defaulted<&WaveSpec::section>("whether it runs in each iteration, or once before or after them")
        .named("phase"),
    defaulted<&WaveSpec::global_size>("work-items of the op in 1 to 3 dimensions").or_single(),
    optional<&WaveSpec::local_size>("work-items of a work-group; left out, up to 256 in x").or_single(),
    optional<&WaveSpec::global_offset>("first global id; left out, 0").or_single(),
    defaulted<&WaveSpec::args>("the kernel's arguments, in its order"),
    optional<&WaveSpec::active>("work-groups that run: those whose flag is not 0; the others change nothing"),
    optional<&WaveSpec::bytes>("byte envelope; left out, it follows from the arguments"),
    defaulted<&WaveSpec::rules>("numbers, below 32, of the source rules that the wave comes from"),
    optional<&WaveSpec::note>(note_meaning),
};
constexpr auto program_wave_fields = [] {
  std::array<Field, 1 + std::size(wave_kinds) + std::size(wave_fields_after_kinds)> fields{
      optional<&WaveSpec::name>("name of the wave, unique in the program")};
  auto* const rest = std::ranges::transform(wave_kinds, &fields[1], &WaveKind::field).out;
  std::ranges::copy(wave_fields_after_kinds, rest);
  return fields;
}();
TIDEGATE_RECORD(WaveSpec, program_wave_fields);

} // namespace tidegate::documents
