// The waves of a program: the kinds that there are, and what waves of all kinds have.
#include "engine/recommend.hpp"
#include "work/resolve.hpp"

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
  const std::string name = in.spec.name.value_or("");
  const bool taken = !name.empty() && !names.emplace(name, in.index).second;
  return !taken ? Result<void>()
                : failure(ErrorCode::duplicate_name,
                          fmt::format("waves {} and {} are both called {}", names[name], in.index,
                                      in_quotes(name)),
                          "rename one of them, or leave the name out", in.pointer + "/name");
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

// Loops. A loop is a range of consecutive waves that runs several times in an iteration. Each repetition becomes
// separate waves, in the order in which they run, so that the engine knows no loops:
//
//   waves 0 1 2 3, {"first": 1, "last": 2, "repeat": 2}    ->    0 1 2 1 2 3

constexpr std::size_t most_turns = 65536; // of an unrolled program

struct Loop {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  std::uint32_t repeat = 1;
};

// One run of a wave of the document in an iteration.
struct Turn {
  std::uint32_t wave = 0;
  std::string rounds; // round of each loop around it, the innermost last: "0.2"; empty outside of loops
  std::uint32_t round = 0;
};

Result<Loop> resolve_loop(const ResolveInput& input, const NameIndex& names, const LoopSpec& spec,
                          const std::string& pointer) {
  const std::vector<WaveSpec>& waves = input.program.waves;
  TIDEGATE_TRY(const std::uint32_t first, wave_of(names, waves.size(), spec.first, pointer + "/first"));
  TIDEGATE_TRY(const std::uint32_t last,
               spec.last ? wave_of(names, waves.size(), *spec.last, pointer + "/last") : first);
  if (last < first) {
    return invalid_program(fmt::format("wave {}, the last, comes before wave {}, the first", last, first),
                           "exchange them: a loop has waves in the order of the document", pointer + "/last");
  }
  const auto section = [&](std::uint32_t wave) {
    return section_names[static_cast<std::size_t>(waves[wave].section)];
  };
  for (std::uint32_t wave = first; wave <= last; ++wave) {
    const std::string_view never = kind_of(waves[wave]).never_in_loops;
    const std::string_view what = never.empty() && waves[wave].active ? "active tiles" : never;
    const Refusal refusals[] = {{!what.empty(), "",
                                 fmt::format("wave {} has {}, which cannot run in a loop", wave, what),
                                 "list the wave as often as it runs"},
                                {section(wave) != section(first), "",
                                 fmt::format("wave {} of a loop has the phase \"{}\", wave {} \"{}\"", wave,
                                             section(wave), first, section(first)),
                                 "give all waves of a loop the same phase"}};
    TIDEGATE_CHECK(first_of(refusals, pointer));
  }
  return Loop{.first = first, .end = last + 1, .repeat = spec.repeat};
}

// Adds the turns of these waves, with those of the loops that begin there, outer ones first; `around` has the rounds of the
// loops around them. Stops above most_turns.
void add_turns(std::uint32_t begin, std::uint32_t end, std::span<const Loop> loops, const Turn& around,
               std::vector<Turn>& turns) {
  for (std::uint32_t wave = begin; wave < end;) {
    const auto loop = std::ranges::find(loops, wave, &Loop::first);
    if (loop == loops.end()) {
      turns.push_back({.wave = wave++, .rounds = around.rounds, .round = around.round});
      continue;
    }
    const auto inner = loops.subspan(static_cast<std::size_t>(loop - loops.begin()) + 1);
    for (std::uint32_t round = 0; round < loop->repeat && turns.size() <= most_turns; ++round) {
      const std::string rounds = around.rounds.empty() ? "" : around.rounds + ".";
      add_turns(wave, loop->end, inner, {.rounds = fmt::format("{}{}", rounds, round), .round = round},
                turns);
    }
    wave = loop->end;
  }
}

// Sets arguments that count the rounds of a loop to their value in this round. Error: invalid_program if such an
// argument is in a wave outside of loops.
Result<void> set_round(ProgramWave& wave, const Turn& turn) {
  for (std::size_t i = 0; i < wave.arguments.size(); ++i) {
    ProgramArgument& argument = wave.arguments[i];
    std::vector<Change> counted;
    std::ranges::copy_if(argument.changes, std::back_inserter(counted), &Change::by_round);
    if (!counted.empty() && turn.rounds.empty()) {
      return invalid_program("iteration counts the rounds of a loop, and the wave is in none",
                             "leave round out, or add the wave to one of the program's loops",
                             fmt::format("/waves/{}/args/{}", turn.wave, i));
    }
    argument.value = value_in(std::move(argument.value), counted, turn.round);
    std::erase_if(argument.changes, [](const Change& change) { return change.by_round; });
  }
  return {};
}

// Returns the waves in the order in which an iteration runs them, those of a loop once for each of its turns; with
// errors, the waves as they are.
std::vector<ProgramWave> unrolled(const ResolveInput& input, const NameIndex& names,
                                  const std::vector<ProgramWave>& waves, ErrorList& errors) {
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < input.program.loops.size(); ++i) {
    const auto loop = resolve_loop(input, names, input.program.loops[i], fmt::format("/loops/{}", i));
    if (errors.check(loop)) {
      const auto cuts = [](const Loop& one, const Loop& other) {
        return one.first < other.first && other.first < one.end && one.end < other.end;
      };
      const auto parted = std::ranges::find_if(
          loops, [&](const Loop& other) { return cuts(other, *loop) || cuts(*loop, other); });
      if (parted != loops.end()) {
        errors.add(
            invalid_program(fmt::format("the loop shares waves with loop {}, and neither holds the other",
                                        parted - loops.begin()),
                            "let one end before the other begins, or hold it", fmt::format("/loops/{}", i)));
      }
      loops.push_back(*loop);
    }
  }
  if (!loops.empty() && input.program.dependencies) {
    errors.add(invalid_program("the program lists its dependencies and has loops",
                               "leave dependencies out: they are derived then", "/dependencies"));
  }
  if (!errors.result()) {
    return waves;
  }
  std::ranges::stable_sort(loops, {}, [](const Loop& loop) { return std::pair(loop.first, ~loop.end); });
  std::vector<Turn> turns;
  add_turns(0, static_cast<std::uint32_t>(waves.size()), loops, {}, turns);
  if (turns.size() > std::max(most_turns, waves.size())) {
    errors.add({.code = ErrorCode::out_of_range,
                .message = fmt::format("with its loops an iteration has more than {} waves", most_turns),
                .fix = "make the program repeat what a loop does, with a lower repeat of the loop",
                .pointer = "/loops"});
    return waves;
  }
  std::vector<ProgramWave> result;
  result.reserve(turns.size());
  for (const Turn& turn : turns) {
    ProgramWave wave = waves[turn.wave];
    wave.place = turn.wave;
    errors.check(set_round(wave, turn));
    if (!loops.empty() && wave.name.empty()) {
      wave.name = fmt::format("wave {}", turn.wave); // unrolling has changed its index
    }
    wave.name += turn.rounds.empty() ? "" : " round " + turn.rounds;
    result.push_back(std::move(wave));
  }
  return result;
}

} // namespace

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

std::vector<ProgramWave> resolve_waves(const ResolveInput& input, ProgramMemory& memory, ProgramOps& ops,
                                       NameIndex& names, ErrorList& errors) {
  std::vector<ProgramWave> waves;
  const std::vector<WaveSpec>& specs = input.program.waves;
  if (specs.empty()) {
    errors.add(invalid_program("the program has no waves", "add one: an op over an NDRange", "/waves"));
  } else if (std::ranges::find(specs, Section::each, &WaveSpec::section) == specs.end()) {
    errors.add(invalid_program("every wave runs before or after the repetition, and nothing in it",
                               "leave phase out", "/waves"));
  }
  for (std::uint32_t i = 0; i < specs.size(); ++i) {
    const WaveSpec& spec = specs[i];
    auto made = resolve_wave({input, memory, ops, spec, i, fmt::format("/waves/{}", i)}, names);
    errors.check(made);
    const auto op = ops.op_index.find(spec.op.value_or("")); // for the wave's text in messages
    ProgramWave& wave = waves.emplace_back(
        made ? std::move(*made) : ProgramWave{.op = op == ops.op_index.end() ? invalid_index : op->second});
    wave.name = spec.name.value_or("");
    wave.section = spec.section;
    wave.bytes = spec.bytes ? *spec.bytes : envelope_of(memory.buffers, wave.arguments);
    wave.place = i;
  }
  if (errors.result()) { // otherwise waves or lists may be missing
    waves = unrolled(input, names, waves, errors);
    size_lists(input, memory, waves, errors);
    const std::size_t unrolled_waves = waves.size();
    for (std::uint32_t i = 0; i < unrolled_waves; ++i) {
      if (specs[*waves[i].place].active) {
        auto count = count_active(input, memory, ops, i, waves[i]);
        if (errors.check(count) && *count) {
          (*count)->bytes = envelope_of(memory.buffers, (*count)->arguments);
          (*count)->place = waves[i].place;
          waves.push_back(std::move(**count));
        }
      }
    }
  }
  return waves;
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

constexpr const Sequence& sizes = ranged<std::uint64_t, 1, 0xffffffff>;

// Those after the name and the kinds.
constexpr Field wave_fields_after_kinds[] = {
    defaulted<&WaveSpec::section>("whether it runs in each iteration, or once before or after them")
        .named("phase"),
    defaulted<&WaveSpec::global_size>("work-items of the op in 1 to 3 dimensions").of(sizes).or_single(),
    optional<&WaveSpec::local_size>("work-items of a work-group; left out, up to 256 in x")
        .of(sizes)
        .or_single(),
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
    needs(program_wave_fields, "global_size local_size global_offset args active", "op")};
TIDEGATE_RECORD(WaveSpec, program_wave_fields, program_wave_rules);

} // namespace tidegate::documents
