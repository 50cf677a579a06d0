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

struct Maker {
  const Job& program;
  const Schedule& schedule;
  const MemoryLayout& memory;
  const CaseRules& rules;
  LaunchTables tables{};
  std::map<std::pair<std::uint32_t, std::vector<std::uint64_t>>, std::uint32_t> code_of{};
  std::map<std::vector<std::uint64_t>, std::uint32_t> descriptors{};

  LaunchTables make(const Synchronization& synchronization) {
    for (std::uint32_t phase = 0; phase < schedule.phases(); ++phase) {
      for (const Stage& stage : schedule.stages) {
        if (!stage.plain) {
          add_stage(stage, phase);
        }
      }
      if (phase == 0) {
        tables.entries_per_phase = static_cast<std::uint32_t>(tables.entries.size());
      }
    }
    order_cases();
    add_waits(synchronization);
    if (program.until) {
      tables.words.resize(round_up(tables.words.size(), descriptor_alignment));
      tables.until_word = static_cast<std::uint32_t>(tables.words.size());
      for (const auto& storage : schedule.storage) {
        tables.words.push_back(memory.offsets[storage[program.until->buffer]]);
      }
    }
    return std::move(tables);
  }

  void add_stage(const Stage& stage, std::uint32_t phase) {
    if (phase == 0) {
      tables.stages.push_back({.first_entry = static_cast<std::uint32_t>(tables.entries.size()),
                               .entry_count = static_cast<std::uint32_t>(stage.waves.size()),
                               .tiles = stage.packs});
    }
    std::uint32_t first_tile = 0;
    for (const std::uint32_t wave : stage.waves) {
      const std::uint32_t tiles = schedule.packs(program, wave);
      const auto words = descriptor(program, schedule, memory, wave, phase);
      tables.entries.push_back(
          {.code = code(wave, words), .descriptor = place(words), .first_tile = first_tile, .tiles = tiles});
      std::uint64_t local_bytes = 0;
      for (const ProgramArgument& argument : program.waves[wave].arguments) {
        local_bytes += argument.kind == ProgramArgument::Kind::local
                           ? local_stride(argument) * schedule.tiles_per_pack[wave]
                           : 0;
      }
      tables.dynamic_local_bytes = std::max(tables.dynamic_local_bytes, local_bytes);
      first_tile += tiles;
    }
  }

  // Returns the case of the wave: its op's, or the one for exactly these arguments.
  std::uint32_t code(std::uint32_t wave, const std::vector<std::uint64_t>& words) {
    const std::uint32_t op = program.waves[wave].op;
    const bool promoted = rank(op) != rules.hot.size();
    auto key = std::pair(op, std::vector<std::uint64_t>());
    if (rules.most != 0 && (rules.mode == Mode::jit || promoted)) {
      key.second = words;
    } else if (!schedule.objects.empty()) { // which no case can choose at run time
      const auto& arguments = program.waves[wave].arguments;
      const auto indices = argument_indices(arguments);
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].is_object()) {
          key.second.push_back(words[indices[i].word]);
        }
      }
    }
    // Tiles that fill a work-group need simpler code than those that share one or take several turns.
    const std::uint32_t side_by_side = schedule.tiles_per_pack[wave];
    key.second.push_back(side_by_side > 1 ? 1 : 0);
    const auto [found, is_new] = code_of.emplace(key, static_cast<std::uint32_t>(tables.cases.size()));
    if (is_new) {
      tables.cases.push_back(
          {.op = op, .wave = wave, .words = words, .fixed = std::vector<bool>(words.size(), true)});
    }
    Case& served = tables.cases[found->second];
    served.promoted = promoted;
    served.side_by_side = std::max(served.side_by_side, side_by_side);
    for (std::size_t i = 0; i < words.size(); ++i) {
      served.fixed[i] = served.fixed[i] && served.words[i] == words[i];
    }
    return found->second;
  }

  // Adds the rows of waits and assigns them to stages.
  void add_waits(const Synchronization& synchronization) {
    const std::uint32_t row_begin = schedule.rows_before(schedule.repeat_begin);
    const std::uint32_t row_end = schedule.rows_before(schedule.repeat_end);
    tables.steps = row_end - row_begin;
    for (std::size_t i = 0; i < schedule.stages.size(); ++i) {
      if (schedule.stages[i].plain) {
        continue;
      }
      const StageWaits& waits = synchronization.stages[i];
      const std::uint32_t row = schedule.stages[i].row;
      StageRow& stage = tables.stages[row];
      stage.flags = (waits.everybody ? TG_EVERYBODY : 0) | (waits.announced ? TG_ANNOUNCED : 0);
      stage.first_wait = static_cast<std::uint32_t>(tables.waits.size());
      stage.wait_count = static_cast<std::uint32_t>(waits.waits.size());
      for (const Wait& wait : waits.waits) {
        const std::uint32_t own = schedule.places[wait.wave].first_pack;
        const std::uint32_t from = schedule.places[wait.producer].first_pack;
        const Stage& producers = schedule.stage_of(wait.producer);
        const std::uint32_t pack = schedule.tiles_per_pack[wait.wave];
        tables.waits.push_back(
            {.begin = own,
             .end = own + schedule.packs(program, wait.wave),
             .from_begin = from,
             .from_end = from + schedule.packs(program, wait.producer),
             .from_tiles = producers.packs,
             .halo = wait.halo ? *wait.halo / pack + (*wait.halo % pack != 0 ? 1 : 0) : TG_WHOLE,
             .steps = row - producers.row + (wait.earlier_iteration ? tables.steps : 0)});
      }
    }
    // A stage ends with an arrival if a possible successor waits for all groups; between sections and at the
    // end of the repetition all stages do.
    const auto everybody = [this](std::uint32_t next) {
      return next < tables.stages.size() && (tables.stages[next].flags & TG_EVERYBODY) != 0;
    };
    for (std::uint32_t stage = 0; stage < tables.stages.size(); ++stage) {
      const bool wraps =
          stage + 1 == row_end && (program.until || (program.iterations > 1 && everybody(row_begin)));
      if (everybody(stage + 1) || wraps || stage + 1 == row_begin) {
        tables.stages[stage].flags |= TG_ARRIVES;
      }
    }
  }

  // Returns the op's rank among the hot ones; their number for other ops.
  [[nodiscard]] std::size_t rank(std::uint32_t op) const {
    return static_cast<std::size_t>(std::ranges::find(rules.hot, op) - rules.hot.begin());
  }

  // Orders cases by the program's ops after the hot ones, not by their first waves, so that programs with the
  // same ops share a compiled interpreter.
  void order_cases() {
    std::vector<std::uint32_t> order(tables.cases.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t code) {
      return std::pair(rank(tables.cases[code].op), tables.cases[code].op);
    });
    std::vector<Case> cases;
    std::vector<std::uint32_t> codes(order.size()); // new code of each old one
    for (const std::uint32_t before : order) {
      codes[before] = static_cast<std::uint32_t>(cases.size());
      cases.push_back(std::move(tables.cases[before]));
    }
    tables.cases = std::move(cases);
    for (EntryRow& entry : tables.entries) {
      entry.code = codes[entry.code];
    }
  }

  std::uint32_t place(const std::vector<std::uint64_t>& words) {
    const auto next = static_cast<std::uint32_t>(round_up(tables.words.size(), descriptor_alignment));
    const auto [found, is_new] = descriptors.emplace(words, next);
    if (is_new) {
      tables.words.resize(next);
      tables.words.insert(tables.words.end(), words.begin(), words.end());
    }
    return found->second;
  }
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
  LaunchTables tables = Maker{program, schedule, memory, rules}.make(synchronization);
  if (rules.most == 0 || tables.cases.size() <= rules.most) {
    return tables;
  }
  CaseRules fewer = rules;
  fewer.most = 0;
  return Maker{program, schedule, memory, fewer}.make(synchronization);
}

} // namespace tidegate::engine
