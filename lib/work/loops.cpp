// Unrolls loops. A loop is a range of consecutive waves that runs several times in an iteration. Each repetition
// becomes separate waves, in the order in which they run, so that the engine knows no loops:
//
//   waves 0 1 2 3, {"first": 1, "last": 2, "repeat": 2}    ->    0 1 2 1 2 3
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

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
  for (std::uint32_t wave = first; wave <= last; ++wave) {
    if (const std::string_view what = never_in_loops(waves[wave]); !what.empty()) {
      return invalid_program(fmt::format("wave {} has {}, which cannot run in a loop", wave, what),
                             "list the wave as often as it runs", pointer);
    }
    if (waves[wave].section != waves[first].section) {
      return invalid_program(fmt::format("wave {} of a loop has the phase \"{}\", wave {} \"{}\"", wave,
                                         section_names[static_cast<std::size_t>(waves[wave].section)], first,
                                         section_names[static_cast<std::size_t>(waves[first].section)]),
                             "give all waves of a loop the same phase", pointer);
    }
  }
  return Loop{.first = first, .end = last + 1, .repeat = spec.repeat};
}

// Appends the turns of waves [begin, end). `loops` are the loops among these waves, outer before inner ones. Stops if
// there are too many turns.
void add_turns(std::uint32_t begin, std::uint32_t end, std::span<const Loop> loops, const Turn& around,
               std::vector<Turn>& turns) {
  for (std::uint32_t wave = begin; wave < end && turns.size() <= most_turns;) {
    if (loops.empty() || loops.front().first != wave) {
      turns.push_back({.wave = wave++, .rounds = around.rounds, .round = around.round});
      continue;
    }
    const Loop loop = loops.front();
    loops = loops.subspan(1);
    const auto inner = static_cast<std::size_t>(
        std::ranges::find_if(loops, [&](const Loop& other) { return other.first >= loop.end; }) -
        loops.begin());
    for (std::uint32_t round = 0; round < loop.repeat && turns.size() <= most_turns; ++round) {
      add_turns(loop.first, loop.end, loops.first(inner),
                {.rounds = fmt::format("{}{}{}", around.rounds, around.rounds.empty() ? "" : ".", round),
                 .round = round},
                turns);
    }
    loops = loops.subspan(inner);
    wave = loop.end;
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

} // namespace

std::vector<ProgramWave> unrolled(const ResolveInput& input, const NameIndex& names,
                                  const std::vector<ProgramWave>& waves, ErrorList& errors) {
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < input.program.loops.size(); ++i) {
    const auto loop = resolve_loop(input, names, input.program.loops[i], fmt::format("/loops/{}", i));
    if (errors.check(loop)) {
      const auto parted = std::ranges::find_if(loops, [&](const Loop& other) {
        return std::max(other.first, loop->first) < std::min(other.end, loop->end) &&
               (other.first < loop->first) == (other.end < loop->end) && other.first != loop->first &&
               other.end != loop->end;
      });
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
  std::ranges::stable_sort(loops, [](const Loop& a, const Loop& b) {
    return a.first != b.first ? a.first < b.first : a.end > b.end;
  });
  std::vector<Turn> turns;
  add_turns(0, static_cast<std::uint32_t>(waves.size()), loops, {}, turns);
  if (turns.size() > most_turns) {
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
    if (!turn.rounds.empty()) {
      wave.name = fmt::format("{} round {}",
                              wave.name.empty() ? fmt::format("wave {}", turn.wave) : wave.name, turn.rounds);
    } else if (!loops.empty() && wave.name.empty()) {
      wave.name = fmt::format("wave {}", turn.wave); // unrolling has changed its index
    }
    result.push_back(std::move(wave));
  }
  return result;
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
