#include "engine/launch_tables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

namespace tidegate::engine {
namespace {

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);
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
  return round_up(argument.local_bytes, descriptor_alignment * word_bytes);
}

// Returns the sizes and arguments of a wave in a swap phase; equal descriptors mean equal work.
std::vector<std::uint64_t> descriptor(const Job& program, const Schedule& schedule,
                                      const MemoryLayout& memory, const std::vector<KernelObject>& objects,
                                      std::uint32_t wave, std::uint32_t phase) {
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
      const KernelObject object = kernel_object(argument, schedule.storage[phase]);
      words[indices[i].word] =
          static_cast<std::uint64_t>(std::ranges::find(objects, object) - objects.begin());
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

std::uint64_t dynamic_bytes(const ProgramWave& wave, std::uint32_t side_by_side) {
  std::uint64_t bytes = 0;
  for (const ProgramArgument& argument : wave.arguments) {
    if (argument.kind == ProgramArgument::Kind::local) {
      bytes += local_stride(argument) * side_by_side;
    }
  }
  return bytes;
}

class Maker {
public:
  Maker(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
        const Synchronization& synchronization, const std::vector<std::uint32_t>& hot)
      : program_(program), schedule_(schedule), memory_(memory), synchronization_(synchronization),
        hot_(hot) {}

  // Returns false if there are more cases than allowed.
  bool make(Mode mode, Cases cases, std::size_t most_cases, LaunchTables& tables) {
    per_wave_ = cases == Cases::per_wave;
    compiles_ = mode == Mode::jit;
    tables = {.mode = mode};
    for (const auto& storage : schedule_.storage) {
      for (const Stage& stage : schedule_.stages) {
        for (const std::uint32_t wave : stage.plain ? std::vector<std::uint32_t>() : stage.waves) {
          add_objects(program_.waves[wave], storage, tables.objects);
        }
      }
    }
    cases_.clear();
    descriptors_.clear();
    for (std::uint32_t phase = 0; phase < schedule_.phases(); ++phase) {
      for (const Stage& stage : schedule_.stages) {
        if (!stage.plain) {
          add_stage(stage, phase, tables);
        }
      }
      if (phase == 0) {
        tables.entries_per_phase = static_cast<std::uint32_t>(tables.entries.size());
      }
      if (per_wave_ && (compiles_ || !hot_.empty()) && tables.cases.size() > most_cases) {
        return false;
      }
    }
    order_cases(tables);
    add_waits(tables);
    if (program_.until) {
      tables.words.resize(round_up(tables.words.size(), descriptor_alignment));
      tables.until_word = static_cast<std::uint32_t>(tables.words.size());
      for (std::uint32_t phase = 0; phase < schedule_.phases(); ++phase) {
        tables.words.push_back(memory_.offsets[schedule_.storage[phase][program_.until->buffer]]);
      }
    }
    return true;
  }

private:
  void add_stage(const Stage& stage, std::uint32_t phase, LaunchTables& tables) {
    if (phase == 0) {
      tables.stages.push_back({.first_entry = static_cast<std::uint32_t>(tables.entries.size()),
                               .entry_count = static_cast<std::uint32_t>(stage.waves.size()),
                               .tiles = stage.packs});
    }
    std::uint32_t first_tile = 0;
    for (const std::uint32_t wave : stage.waves) {
      const std::uint32_t tiles = schedule_.packs(program_, wave);
      const auto words = descriptor(program_, schedule_, memory_, tables.objects, wave, phase);
      tables.entries.push_back({.code = code(wave, words, tables),
                                .descriptor = place(words, tables),
                                .first_tile = first_tile,
                                .tiles = tiles});
      tables.dynamic_local_bytes = std::max(
          tables.dynamic_local_bytes, dynamic_bytes(program_.waves[wave], schedule_.tiles_per_pack[wave]));
      first_tile += tiles;
    }
  }

  // Returns the case of the wave: its op's, or the one for exactly these arguments.
  std::uint32_t code(std::uint32_t wave, const std::vector<std::uint64_t>& words, LaunchTables& tables) {
    const std::uint32_t op = program_.waves[wave].op;
    const bool promoted = rank(op) != hot_.size();
    auto key = std::pair(op, per_wave_ && (compiles_ || promoted) ? words : object_words(wave, words));
    // Tiles that fill a work-group need simpler code than those that share one or take several turns.
    const std::uint32_t side_by_side = schedule_.tiles_per_pack[wave];
    key.second.push_back(side_by_side > 1 ? 1 : 0);
    const auto [found, is_new] = cases_.emplace(key, static_cast<std::uint32_t>(tables.cases.size()));
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
  void add_waits(LaunchTables& tables) const {
    struct Place {
      const Stage* stage = nullptr;
      std::uint32_t first = 0;
    };
    std::vector<Place> places(program_.waves.size());
    for (const Stage& stage : schedule_.stages) {
      std::uint32_t first = 0;
      for (const std::uint32_t wave : stage.waves) {
        places[wave] = {.stage = &stage, .first = first};
        first += schedule_.packs(program_, wave);
      }
    }
    const std::uint32_t row_begin = schedule_.rows_before(schedule_.repeat_begin);
    const std::uint32_t row_end = schedule_.rows_before(schedule_.repeat_end);
    tables.steps = row_end - row_begin;
    for (std::size_t i = 0; i < schedule_.stages.size(); ++i) {
      if (schedule_.stages[i].plain) {
        continue;
      }
      const StageWaits& waits = synchronization_.stages[i];
      const std::uint32_t row = schedule_.stages[i].row;
      StageRow& stage = tables.stages[row];
      stage.flags = (waits.everybody ? TG_EVERYBODY : 0) | (waits.announced ? TG_ANNOUNCED : 0);
      stage.first_wait = static_cast<std::uint32_t>(tables.waits.size());
      stage.wait_count = static_cast<std::uint32_t>(waits.waits.size());
      for (const Wait& wait : waits.waits) {
        const Place& own = places[wait.wave];
        const Place& from = places[wait.producer];
        const std::uint32_t pack = schedule_.tiles_per_pack[wait.wave];
        tables.waits.push_back(
            {.begin = own.first,
             .end = own.first + schedule_.packs(program_, wait.wave),
             .from_begin = from.first,
             .from_end = from.first + schedule_.packs(program_, wait.producer),
             .from_tiles = from.stage->packs,
             .halo = wait.halo ? *wait.halo / pack + (*wait.halo % pack != 0 ? 1 : 0) : TG_WHOLE,
             .steps = row - from.stage->row + (wait.earlier_iteration ? tables.steps : 0)});
      }
    }
    // A stage ends with an arrival if a possible successor waits for all groups; between sections and at the
    // end of the repetition all stages do.
    const auto everybody = [&tables](std::uint32_t next) {
      return next < tables.stages.size() && (tables.stages[next].flags & TG_EVERYBODY) != 0;
    };
    for (std::uint32_t stage = 0; stage < tables.stages.size(); ++stage) {
      const bool wraps =
          stage + 1 == row_end && (program_.until || (program_.iterations > 1 && everybody(row_begin)));
      if (everybody(stage + 1) || wraps || stage + 1 == row_begin) {
        tables.stages[stage].flags |= TG_ARRIVES;
      }
    }
  }

  // Returns the op's rank among the hot ones; their number for other ops.
  [[nodiscard]] std::size_t rank(std::uint32_t op) const {
    return static_cast<std::size_t>(std::ranges::find(hot_, op) - hot_.begin());
  }

  // Orders cases by the program's ops after the hot ones, not by their first waves, so that programs with the
  // same ops share a compiled interpreter.
  void order_cases(LaunchTables& tables) const {
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

  // Returns the words of a descriptor that select images and samplers, which a case cannot choose at run
  // time.
  [[nodiscard]] std::vector<std::uint64_t> object_words(std::uint32_t wave,
                                                        const std::vector<std::uint64_t>& words) const {
    const auto& arguments = program_.waves[wave].arguments;
    const auto indices = argument_indices(arguments);
    std::vector<std::uint64_t> result;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].is_object()) {
        result.push_back(words[indices[i].word]);
      }
    }
    return result;
  }

  std::uint32_t place(const std::vector<std::uint64_t>& words, LaunchTables& tables) {
    const auto next = static_cast<std::uint32_t>(round_up(tables.words.size(), descriptor_alignment));
    const auto [found, is_new] = descriptors_.emplace(words, next);
    if (is_new) {
      tables.words.resize(next);
      tables.words.insert(tables.words.end(), words.begin(), words.end());
    }
    return found->second;
  }

  const Job& program_;
  const Schedule& schedule_;
  const MemoryLayout& memory_;
  const Synchronization& synchronization_;
  const std::vector<std::uint32_t>& hot_;
  bool per_wave_ = false;
  bool compiles_ = false;
  std::map<std::pair<std::uint32_t, std::vector<std::uint64_t>>, std::uint32_t> cases_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> descriptors_;
};

} // namespace

std::uint64_t value_words(const ProgramArgument& argument) {
  return std::max<std::uint64_t>((argument.value.size() + word_bytes - 1) / word_bytes, 1);
}

std::vector<ArgumentIndex> argument_indices(std::span<const ProgramArgument> arguments) {
  std::vector<ArgumentIndex> indices;
  std::uint64_t word = range_words;
  std::uint64_t local = 0;
  for (const ProgramArgument& argument : arguments) {
    const std::uint64_t words = word_count(argument);
    // Scalars and vectors are aligned to their size.
    word =
        round_up(word, argument.alignment == 0 ? words - progression_words * argument.changes.size()
                                               : std::max<std::uint64_t>(argument.alignment / word_bytes, 1));
    indices.push_back({.word = static_cast<std::uint32_t>(word), .local_offset = local});
    word += words;
    if (argument.kind == ProgramArgument::Kind::local) {
      local += local_stride(argument);
    }
  }
  return indices;
}

LaunchTables make_tables(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
                         const Synchronization& synchronization, Mode mode, Cases cases,
                         std::size_t most_cases, const std::vector<std::uint32_t>& hot) {
  LaunchTables tables;
  Maker maker(program, schedule, memory, synchronization, hot);
  if (!maker.make(mode, cases, most_cases, tables)) {
    maker.make(mode, Cases::per_op, most_cases, tables);
  }
  return tables;
}

} // namespace tidegate::engine
