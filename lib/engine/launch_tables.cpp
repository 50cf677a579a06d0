#include "engine/launch_tables.hpp"

namespace tidegate::engine {
namespace {

constexpr std::uint64_t bytes_of_word = sizeof(std::uint64_t);
constexpr std::size_t descriptor_alignment = 16; // words of the largest vector

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::uint64_t word_count(const ProgramArgument& argument) {
  return argument.kind == ProgramArgument::Kind::local
             ? 2 // offset, and the distance between those of concurrent tiles
             : value_words(argument) + progression_words * argument.changes.size();
}

std::uint64_t local_stride(const ProgramArgument& argument) {
  return round_up(argument.local_bytes, descriptor_alignment * bytes_of_word);
}

// Returns the sizes and arguments of a wave in a swap phase; equal descriptors mean equal work.
std::vector<std::uint64_t> descriptor(const Job& program, const Schedule& schedule,
                                      const MemoryLayout& memory, std::uint32_t wave, std::uint32_t phase) {
  const ProgramWave& spec = program.waves[wave];
  std::vector<std::uint64_t> words{spec.range.dimensions};
  for (const auto& sizes : {spec.range.global, spec.range.local, spec.range.groups}) {
    words.insert(words.end(), sizes.begin(), sizes.end());
  }
  words.insert(words.end(), spec.range.offset.begin(), spec.range.offset.end());
  const auto indices = argument_indices(spec.arguments);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const ProgramArgument& argument = spec.arguments[i];
    words.resize(indices[i].word + word_count(argument));
    if (argument.kind == ProgramArgument::Kind::buffer) {
      words[indices[i].word] = memory.offsets[schedule.storage[phase][argument.buffer]];
    } else if (argument.kind == ProgramArgument::Kind::null) {
      words[indices[i].word] = null_word;
    } else if (argument.is_object()) {
      words[indices[i].word] = schedule.object_index(argument, phase);
    } else if (argument.kind == ProgramArgument::Kind::local) {
      const std::uint64_t stride = local_stride(argument);
      words[indices[i].word] = indices[i].local_offset * schedule.tiles_per_pack[wave];
      words[indices[i].word + 1] = stride;
    } else {
      std::memcpy(&words[indices[i].word], argument.value.data(), argument.value.size());
      auto at = words.begin() + static_cast<std::ptrdiff_t>(indices[i].word + value_words(argument));
      for (const Change& change : argument.changes) {
        at = std::ranges::copy(descriptor_words(change.progression), at).out;
      }
    }
  }
  return words;
}

class Maker {
public:
  Maker(const Job& program, const Schedule& schedule, const MemoryLayout& memory, const CaseRules& rules)
      : program_(program), schedule_(schedule), memory_(memory), rules_(rules) {}

  LaunchTables make(const Synchronization& synchronization) {
    for (std::uint32_t phase = 0; phase < schedule_.phases(); ++phase) {
      for (const Stage& stage : schedule_.stages) {
        if (!stage.plain) {
          add_stage(stage, phase);
        }
      }
      if (phase == 0) {
        tables_.entries_per_phase = static_cast<std::uint32_t>(tables_.entries.size());
      }
    }
    order_cases();
    add_waits(synchronization);
    if (program_.until) {
      tables_.words.resize(round_up(tables_.words.size(), descriptor_alignment));
      tables_.until_word = static_cast<std::uint32_t>(tables_.words.size());
      for (const auto& storage : schedule_.storage) {
        tables_.words.push_back(memory_.offsets[storage[program_.until->buffer]]);
      }
    }
    return std::move(tables_);
  }

private:
  void add_stage(const Stage& stage, std::uint32_t phase) {
    if (phase == 0) {
      tables_.stages.push_back({.first_entry = static_cast<std::uint32_t>(tables_.entries.size()),
                                .entry_count = static_cast<std::uint32_t>(stage.waves.size()),
                                .tiles = stage.packs});
    }
    std::uint32_t first_tile = 0;
    for (const std::uint32_t wave : stage.waves) {
      const std::uint32_t tiles = schedule_.packs(program_, wave);
      const auto words = descriptor(program_, schedule_, memory_, wave, phase);
      tables_.entries.push_back(
          {.code = code(wave, words), .descriptor = place(words), .first_tile = first_tile, .tiles = tiles});
      std::uint64_t local_bytes = 0;
      for (const ProgramArgument& argument : program_.waves[wave].arguments) {
        local_bytes += argument.kind == ProgramArgument::Kind::local
                           ? local_stride(argument) * schedule_.tiles_per_pack[wave]
                           : 0;
      }
      tables_.dynamic_local_bytes = std::max(tables_.dynamic_local_bytes, local_bytes);
      first_tile += tiles;
    }
  }

  // Returns the case of the wave: its op's, or the one for exactly these arguments.
  std::uint32_t code(std::uint32_t wave, const std::vector<std::uint64_t>& words) {
    const std::uint32_t op = program_.waves[wave].op;
    const bool promoted = rank(op) != rules_.hot.size();
    auto key = std::pair(op, std::vector<std::uint64_t>());
    if (rules_.most != 0 && (rules_.mode == Mode::jit || promoted)) {
      key.second = words;
    } else if (!schedule_.objects.empty()) { // which no case can choose at run time
      const auto& arguments = program_.waves[wave].arguments;
      const auto indices = argument_indices(arguments);
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].is_object()) {
          key.second.push_back(words[indices[i].word]);
        }
      }
    }
    // Tiles that fill a work-group need simpler code than those that share one or take several turns.
    const std::uint32_t side_by_side = schedule_.tiles_per_pack[wave];
    key.second.push_back(side_by_side > 1 ? 1 : 0);
    const auto [found, is_new] = cases_.emplace(key, static_cast<std::uint32_t>(tables_.cases.size()));
    if (is_new) {
      tables_.cases.push_back(
          {.op = op, .wave = wave, .words = words, .fixed = std::vector<bool>(words.size(), true)});
    }
    Case& served = tables_.cases[found->second];
    served.promoted = promoted;
    served.side_by_side = std::max(served.side_by_side, side_by_side);
    for (std::size_t i = 0; i < words.size(); ++i) {
      served.fixed[i] = served.fixed[i] && served.words[i] == words[i];
    }
    return found->second;
  }

  // Adds the rows of waits and assigns them to stages.
  void add_waits(const Synchronization& synchronization) {
    const std::uint32_t row_begin = schedule_.rows_before(schedule_.repeat_begin);
    const std::uint32_t row_end = schedule_.rows_before(schedule_.repeat_end);
    tables_.steps = row_end - row_begin;
    for (std::size_t i = 0; i < schedule_.stages.size(); ++i) {
      if (schedule_.stages[i].plain) {
        continue;
      }
      const StageWaits& waits = synchronization.stages[i];
      const std::uint32_t row = schedule_.stages[i].row;
      StageRow& stage = tables_.stages[row];
      stage.flags = (waits.everybody ? TG_EVERYBODY : 0) | (waits.announced ? TG_ANNOUNCED : 0);
      stage.first_wait = static_cast<std::uint32_t>(tables_.waits.size());
      stage.wait_count = static_cast<std::uint32_t>(waits.waits.size());
      for (const Wait& wait : waits.waits) {
        const std::uint32_t own = schedule_.places[wait.wave].first_pack;
        const std::uint32_t from = schedule_.places[wait.producer].first_pack;
        const Stage& producers = schedule_.stage_of(wait.producer);
        const std::uint32_t pack = schedule_.tiles_per_pack[wait.wave];
        tables_.waits.push_back(
            {.begin = own,
             .end = own + schedule_.packs(program_, wait.wave),
             .from_begin = from,
             .from_end = from + schedule_.packs(program_, wait.producer),
             .from_tiles = producers.packs,
             .halo = wait.halo ? *wait.halo / pack + (*wait.halo % pack != 0 ? 1 : 0) : TG_WHOLE,
             .steps = row - producers.row + (wait.earlier_iteration ? tables_.steps : 0)});
      }
    }
    // A stage ends with an arrival if a possible successor waits for all groups; between sections and at the
    // end of the repetition all stages do.
    const auto everybody = [this](std::uint32_t next) {
      return next < tables_.stages.size() && (tables_.stages[next].flags & TG_EVERYBODY) != 0;
    };
    for (std::uint32_t stage = 0; stage < tables_.stages.size(); ++stage) {
      const bool wraps =
          stage + 1 == row_end && (program_.until || (program_.iterations > 1 && everybody(row_begin)));
      if (everybody(stage + 1) || wraps || stage + 1 == row_begin) {
        tables_.stages[stage].flags |= TG_ARRIVES;
      }
    }
  }

  // Returns the op's rank among the hot ones; their number for other ops.
  [[nodiscard]] std::size_t rank(std::uint32_t op) const {
    return static_cast<std::size_t>(std::ranges::find(rules_.hot, op) - rules_.hot.begin());
  }

  // Orders cases by the program's ops after the hot ones, not by their first waves, so that programs with the
  // same ops share a compiled interpreter.
  void order_cases() {
    std::vector<std::uint32_t> order(tables_.cases.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t code) {
      return std::pair(rank(tables_.cases[code].op), tables_.cases[code].op);
    });
    std::vector<Case> cases;
    std::vector<std::uint32_t> codes(order.size()); // new code of each old one
    for (const std::uint32_t before : order) {
      codes[before] = static_cast<std::uint32_t>(cases.size());
      cases.push_back(std::move(tables_.cases[before]));
    }
    tables_.cases = std::move(cases);
    for (EntryRow& entry : tables_.entries) {
      entry.code = codes[entry.code];
    }
  }

  std::uint32_t place(const std::vector<std::uint64_t>& words) {
    const auto next = static_cast<std::uint32_t>(round_up(tables_.words.size(), descriptor_alignment));
    const auto [found, is_new] = descriptors_.emplace(words, next);
    if (is_new) {
      tables_.words.resize(next);
      tables_.words.insert(tables_.words.end(), words.begin(), words.end());
    }
    return found->second;
  }

  const Job& program_;
  const Schedule& schedule_;
  const MemoryLayout& memory_;
  const CaseRules& rules_;
  LaunchTables tables_;
  std::map<std::pair<std::uint32_t, std::vector<std::uint64_t>>, std::uint32_t> cases_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> descriptors_;
};

} // namespace

std::uint64_t value_words(const ProgramArgument& argument) {
  return std::max<std::uint64_t>((argument.value.size() + bytes_of_word - 1) / bytes_of_word, 1);
}

std::vector<ArgumentIndex> argument_indices(std::span<const ProgramArgument> arguments) {
  std::vector<ArgumentIndex> indices;
  std::uint64_t word = range_words;
  std::uint64_t local = 0;
  for (const ProgramArgument& argument : arguments) {
    const std::uint64_t words = word_count(argument);
    // Scalars and vectors are aligned to their size.
    word = round_up(word, argument.alignment == 0
                              ? words - progression_words * argument.changes.size()
                              : std::max<std::uint64_t>(argument.alignment / bytes_of_word, 1));
    indices.push_back({.word = static_cast<std::uint32_t>(word), .local_offset = local});
    word += words;
    if (argument.kind == ProgramArgument::Kind::local) {
      local += local_stride(argument);
    }
  }
  return indices;
}

LaunchTables make_tables(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
                         const Synchronization& synchronization, const CaseRules& rules) {
  LaunchTables tables = Maker(program, schedule, memory, rules).make(synchronization);
  if (rules.most == 0 || tables.cases.size() <= rules.most) {
    return tables;
  }
  CaseRules fewer = rules;
  fewer.most = 0;
  return Maker(program, schedule, memory, fewer).make(synchronization);
}

} // namespace tidegate::engine
