#include "engine/split.hpp"

#include "opencl_c/facts.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {

std::uint64_t first_id(const NdRange& range, std::uint64_t tile_row) {
  const std::uint32_t d = range.dimensions - 1;
  return range.offset[d] + std::min<std::uint64_t>(tile_row * range.local[d], range.global[d]);
}

std::uint64_t row_begin(std::uint64_t row, std::uint64_t row_bytes, std::uint64_t bytes) {
  return row > bytes / row_bytes ? bytes : row * row_bytes;
}

namespace {

// Buffers that exchange their memory have the same owner of each byte: returns by buffer the first of them.
std::vector<std::uint32_t> swap_sets(const Job& program) {
  std::vector<std::uint32_t> first(program.buffers.size());
  std::iota(first.begin(), first.end(), 0U);
  for (std::size_t changes = 1; changes != 0;) {
    changes = 0;
    for (const auto& [a, b] : program.swaps) {
      changes += first[a] != first[b] ? 1 : 0;
      first[a] = first[b] = std::min(first[a], first[b]);
    }
  }
  return first;
}

// The rows of a rank's ids. Rows that no id has belong to a rank as well: those before the first id to the first rank.
std::vector<ByteRange> owned_bytes(const NdRange& range, const std::vector<std::uint32_t>& begin,
                                   std::uint64_t row_bytes, std::uint64_t bytes) {
  std::vector<ByteRange> owned;
  std::uint64_t from = 0;
  for (std::size_t rank = 1; rank < begin.size(); ++rank) {
    const bool last = rank + 1 == begin.size();
    owned.push_back({from, last ? bytes : row_begin(first_id(range, begin[rank]), row_bytes, bytes)});
    from = owned.back().end;
  }
  return owned;
}

class Splitter {
public:
  Splitter(const Job& program, std::uint32_t ranks)
      : program_(program), of_set_(program.buffers.size()),
        combined_(program.buffers.size()), split_{.ranks = ranks,
                                                  .waves = {},
                                                  .swap_set = swap_sets(program),
                                                  .owned = {},
                                                  .parts = {},
                                                  .whole = {}} {}

  JobSplit run() {
    split_.waves.resize(program_.waves.size());
    split_.owned.resize(program_.buffers.size());
    for (const std::uint32_t wave : section_order(program_.waves)) {
      split_.waves[wave] = cut(program_.waves[wave]);
    }
    for (const ProgramWave& wave : program_.waves) {
      own_copies(wave);
    }
    for (std::size_t i = 0; i < split_.owned.size(); ++i) {
      split_.owned[i] = of_set_[split_.swap_set[i]];
    }
    for (std::size_t i = 0; i < program_.waves.size(); ++i) {
      if (is_local(program_.waves[i])) {
        split_.waves[i] = {.begin = {}, .local = true, .reason = {}, .fix = {}};
      }
    }
    return std::move(split_);
  }

private:
  // Gives what only fills and copies write the owners of what it is a copy of.
  void own_copies(const ProgramWave& wave) {
    if (!wave.command || !wave.command->from) {
      return;
    }
    const TransferCommand& what = *wave.command;
    const std::uint32_t to = split_.swap_set[what.to];
    const auto writes = [&](const ProgramArgument& argument) {
      return argument.writes() && split_.swap_set[argument.buffer] == to;
    };
    const bool by_transfers = std::ranges::all_of(program_.waves, [&](const ProgramWave& other) {
      return other.command || std::ranges::none_of(other.arguments, writes);
    });
    if (by_transfers && of_set_[to].empty() && what.from_offset == what.to_offset &&
        program_.buffers[*what.from].bytes == program_.buffers[what.to].bytes) {
      of_set_[to] = of_set_[split_.swap_set[*what.from]];
    }
  }

  [[nodiscard]] bool is_local(const ProgramWave& wave) const {
    if (!wave.command) {
      return false;
    }
    const TransferCommand& what = *wave.command;
    return !what.from || !split_.split(*what.from) ||
           (split_.owned[*what.from] == split_.owned[what.to] && what.from_offset == what.to_offset);
  }

  const std::string& launch_function_of(const ProgramWave& wave) {
    const auto [found, is_new] = launch_functions_.try_emplace({wave.op, wave.range.dimensions});
    if (is_new) {
      found->second = opencl_c::launch_function(program_.unit(wave.op).unit, program_.function(wave.op),
                                                wave.range.dimensions - 1);
    }
    return found->second;
  }

  [[nodiscard]] std::vector<std::uint32_t> tile_rows_of_ranks(const NdRange& range) const {
    const std::uint64_t rows = range.groups[range.dimensions - 1];
    std::vector<std::uint32_t> begin;
    for (std::uint64_t rank = 0; rank <= split_.ranks; ++rank) { // rank 0 has a tile row in any case
      begin.push_back(static_cast<std::uint32_t>((rows * rank + split_.ranks - 1) / split_.ranks));
    }
    return begin;
  }

  WaveCut cut(const ProgramWave& wave) {
    const auto whole = [](std::string reason, std::string fix = "") {
      return WaveCut{.begin = {}, .reason = std::move(reason), .fix = std::move(fix)};
    };
    if (wave.listed_items) {
      return whole("it is a queue, whose items run in any order");
    }
    if (!wave.users_kernel) {
      return whole(wave.command ? "it is a copy of rows that other ranks have" : "its kernel is built in",
                   "write it as a kernel whose work-items write only their own rows, if its time matters");
    }
    if (wave.range.groups[wave.range.dimensions - 1] < 2) {
      return whole("its outermost dimension has one work-group",
                   "give it smaller work-groups, or exchange its dimensions");
    }
    const std::string& launch = launch_function_of(wave);
    if (!launch.empty()) {
      return whole(fmt::format("its source calls {}, which is another number in a part of the range", launch),
                   "use get_global_id, and give sizes as arguments");
    }
    std::vector<std::uint32_t> begin = tile_rows_of_ranks(wave.range);
    std::map<std::uint32_t, std::vector<ByteRange>> written; // by set
    std::set<std::uint32_t> combined;
    for (const ProgramArgument& argument : wave.users_arguments()) {
      if (!argument.writes()) {
        continue;
      }
      const ProgramBuffer& buffer = program_.buffers[argument.buffer];
      const std::uint32_t set = split_.swap_set[argument.buffer];
      const std::string name = in_quotes(buffer.name);
      if (argument.combine) {
        const auto uses = std::ranges::count_if(
            wave.arguments, [&](const ProgramArgument& other) { return other.is_of(argument.buffer); });
        if (!of_set_[set].empty() || uses != 1) {
          return whole(fmt::format("{} is combined, and another argument or wave uses it in parts", name),
                       "combine in a buffer that nothing else writes");
        }
        combined.insert(set);
        continue;
      }
      if (!argument.rows || argument.rows->row_bytes == 0) {
        return whole(
            fmt::format("which elements of {} a work-item writes is not known{}{}", name,
                        argument.any_element.empty() ? "" : ": ", argument.any_element),
            fmt::format(
                R"(give {} a shape, and state "rows": 0 where a work-item writes only its own row, or "combine" where all add to it with atomics)",
                name));
      }
      if (argument.rows->reach != 0 || argument.rows->beyond != 0 || argument.rows->wraps != 0) {
        return whole(fmt::format("a work-item writes or reads {} beyond its own row", name),
                     fmt::format("write only the own row, and read {} through another argument", name));
      }
      auto owned = owned_bytes(wave.range, begin, argument.rows->row_bytes, buffer.bytes);
      const auto& known = of_set_[set];
      if (combined_[set]) {
        return whole(fmt::format("another wave combines {}", name),
                     "combine in a buffer that nothing else writes");
      }
      if (!known.empty() && known != owned) {
        return whole(fmt::format("another wave cuts {} at other rows", name),
                     "give both waves the same sizes in the outermost dimension");
      }
      if (written.try_emplace(set, owned).first->second != owned) {
        return whole("two of its arguments cut a buffer at different rows", "write it through one argument");
      }
    }
    if (written.empty() && combined.empty()) {
      return whole("it writes nothing", "leave it out");
    }
    if (std::ranges::any_of(combined, [&](std::uint32_t set) { return written.contains(set); })) {
      return whole("one of its arguments combines a buffer that another cuts",
                   "combine in a buffer that nothing else writes");
    }
    for (const auto& [set, owned] : written) {
      of_set_[set] = owned;
    }
    for (const std::uint32_t set : combined) {
      combined_[set] = true;
    }
    return WaveCut{.begin = std::move(begin), .reason = {}, .fix = {}};
  }

  const Job& program_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> launch_functions_; // by op and dimensions
  std::vector<std::vector<ByteRange>> of_set_; // by the first buffer of a set of swapped ones
  std::vector<bool> combined_;                 // likewise
  JobSplit split_;
};

} // namespace

JobSplit split_job(const Job& program, std::uint32_t ranks) {
  return Splitter(program, ranks).run();
}

} // namespace tidegate::engine
