// The waves of a program: the kinds that there are, and what waves of all kinds have.
#include "engine/recommend.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

// A kind of wave. Each wave of a document is of exactly one.
struct WaveKind {
  documents::Field field; // of WaveSpec: the key of the kind, and the waves that have it
  Result<ProgramWave> (*lower)(const WaveInput& in) = nullptr;
  std::string_view never_in_loops = {}; // the kind as a noun, if no loop may hold it
};

constexpr WaveKind wave_kinds[] = {
    {documents::optional<&WaveSpec::op>("name of the op that it runs; or it is a fill, a copy or a queue"),
     kernel_wave},
    {documents::optional<&WaveSpec::fill>("elements of a buffer that get one value"), fill_wave},
    {documents::optional<&WaveSpec::copy>("elements that one buffer gets from another"), copy_wave},
    {documents::optional<&WaveSpec::queue>("work items of queue ops, each run by one lane"), queue_wave,
     "a queue"},
};

const WaveKind& kind_of(const WaveSpec& wave) {
  return *std::ranges::find_if(wave_kinds,
                               [&](const WaveKind& kind) { return kind.field.read(&wave) != nullptr; });
}

Result<void> name_wave(const WaveInput& in, NameIndex& names) {
  const std::optional<std::string>& name = in.spec.name;
  if (name && name->empty()) {
    return invalid_program(fmt::format("the name of wave {} is empty", in.index),
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

Result<ProgramWave> resolve_wave(const WaveInput& in, NameIndex& names) {
  ErrorList errors;
  Result<ProgramWave> wave = kind_of(in.spec).lower(in);
  errors.check(wave);
  errors.check(name_wave(in, names));
  TIDEGATE_CHECK(errors.result());
  for (const std::uint32_t rule : in.spec.rules) {
    wave->rules |= std::uint32_t{1} << rule;
  }
  return wave;
}

} // namespace

std::string_view never_in_loops(const WaveSpec& wave) {
  const WaveKind& kind = kind_of(wave);
  return kind.never_in_loops.empty() && wave.active ? "active tiles" : kind.never_in_loops;
}

ResolvedWaves resolve_waves(const ResolveInput& input, ProgramMemory& memory, ProgramOps& ops,
                            ErrorList& errors) {
  ResolvedWaves resolved;
  const std::vector<WaveSpec>& specs = input.program.waves;
  if (specs.empty()) {
    errors.add(invalid_program("the program has no waves", "add one: an op over an NDRange", "/waves"));
  } else if (std::ranges::find(specs, Section::each, &WaveSpec::section) == specs.end()) {
    errors.add(invalid_program("every wave runs before or after the repetition, and nothing in it",
                               "leave phase out", "/waves"));
  }
  for (std::uint32_t i = 0; i < specs.size(); ++i) {
    const WaveSpec& spec = specs[i];
    auto made = resolve_wave({input, memory, ops, spec, i, fmt::format("/waves/{}", i)}, resolved.names);
    resolved.sound.push_back(errors.check(made));
    const auto op = ops.op_index.find(spec.op.value_or("")); // for the wave's text in messages
    ProgramWave& wave = resolved.waves.emplace_back(
        made ? std::move(*made) : ProgramWave{.op = op == ops.op_index.end() ? invalid_index : op->second});
    wave.name = spec.name.value_or("");
    wave.section = spec.section;
    wave.bytes = spec.bytes ? *spec.bytes : envelope_of(memory.buffers, wave.arguments);
    wave.place = i;
  }
  if (errors.result()) { // otherwise waves or lists may be missing
    resolved.waves = unrolled(input, resolved.names, resolved.waves, errors);
    size_lists(input, memory, resolved.waves, errors);
    const auto waves = static_cast<std::uint32_t>(resolved.waves.size());
    for (std::uint32_t i = 0; i < waves; ++i) {
      if (const auto& active = specs[*resolved.waves[i].place].active) {
        auto count = count_active(input, memory, ops, i, active->buffer, resolved.waves[i]);
        if (errors.check(count) && *count) {
          (*count)->bytes = envelope_of(memory.buffers, (*count)->arguments);
          (*count)->place = resolved.waves[i].place;
          resolved.waves.push_back(std::move(**count));
        }
      }
    }
  }
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
    defaulted<&WaveSpec::rules>("numbers, below 32, of the source rules that the wave comes from")
        .of(ranged<std::uint32_t, 0, 31>),
    optional<&WaveSpec::note>(note_meaning),
};
constexpr auto program_wave_fields = [] {
  std::array<Field, 1 + std::size(wave_kinds) + std::size(wave_fields_after_kinds)> fields{
      optional<&WaveSpec::name>("name of the wave, unique in the program")};
  auto* const rest = std::ranges::transform(wave_kinds, &fields[1], &WaveKind::field).out;
  std::ranges::copy(wave_fields_after_kinds, rest);
  return fields;
}();
constexpr Rule program_wave_rules[] = {
    {.keys = ((FieldMask{1} << std::size(wave_kinds)) - 1) << 1}, // exactly one kind
    needs(program_wave_fields, "global_size", "op"),
    needs(program_wave_fields, "local_size", "op"),
    needs(program_wave_fields, "global_offset", "op"),
    needs(program_wave_fields, "args", "op"),
    needs(program_wave_fields, "active", "op")};
TIDEGATE_RECORD(WaveSpec, program_wave_fields, program_wave_rules);

} // namespace tidegate::documents
