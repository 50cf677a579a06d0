#include "engine/split.hpp"

#include "engine/queue.hpp"
#include "opencl_c/accesses.hpp"
#include "opencl_c/call_graph.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace tidegate::engine {
namespace {

// These describe the launch, which is another one for a part of the range.
constexpr std::array<std::string_view, 5> launch_functions{
    "get_group_id", "get_num_groups", "get_global_size", "get_global_offset", "get_global_linear_id"};

// In the outermost dimension, that is. Returns the name of such a function that the kernel may call, or nothing.
std::string launch_function(const opencl_c::TranslationUnit& unit, const opencl_c::Function& kernel,
                            std::uint32_t outermost) {
  const std::vector<opencl_c::Token>& tokens = unit.source.tokens;
  const std::set<std::string> called = opencl_c::CallGraph(unit).reachable({kernel.name});
  for (const opencl_c::Function& function : unit.functions) {
    const bool runs = function.body && called.contains(function.name);
    for (std::size_t i = runs ? function.body->begin : 0; runs && i < function.body->end; ++i) {
      if (std::ranges::find(launch_functions, tokens[i].text) == launch_functions.end()) {
        continue;
      }
      const bool of_inner =
          tokens[i + 1].is("(") && tokens[i + 3].is(")") &&
          ((tokens[i + 2].is("0") && outermost > 0) || (tokens[i + 2].is("1") && outermost > 1));
      if (!of_inner) {
        return tokens[i].text;
      }
    }
  }
  return {};
}

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

std::uint32_t outermost(const NdRange& range) {
  return range.dimensions - 1;
}

// The global id at which a tile row begins, or the last one ends.
std::uint64_t first_id(const NdRange& range, std::uint64_t tile_row) {
  const std::uint32_t d = outermost(range);
  return range.offset[d] + std::min<std::uint64_t>(tile_row * range.local[d], range.global[d]);
}

// The ids that ranks cut: of work-items, or the params of items, each a tile.
NdRange ids_of(const ProgramWave& wave) {
  return wave.listed_items ? NdRange{.global = {wave.queue->ids, 1, 1}, .groups = {wave.queue->ids, 1, 1}}
                           : wave.range;
}

std::uint64_t row_begin(std::uint64_t row, std::uint64_t row_bytes, std::uint64_t bytes) {
  return row > bytes / row_bytes ? bytes : row * row_bytes;
}

// The rows of a rank's ids. Rows that no id has belong to a rank as well: those before the first id to the first rank.
std::vector<ByteRange> owned_bytes(const NdRange& range, const std::vector<std::uint32_t>& begin,
                                   std::uint64_t row_bytes, std::uint64_t bytes) {
  std::vector<ByteRange> owned;
  for (std::size_t rank = 0; rank + 1 < begin.size(); ++rank) {
    const std::uint64_t from = rank == 0 ? 0 : owned.back().end;
    const bool last = rank + 2 == begin.size();
    owned.push_back({from, last ? bytes : row_begin(first_id(range, begin[rank + 1]), row_bytes, bytes)});
  }
  return owned;
}

class Splitter {
public:
  Splitter(const Job& program, std::span<const std::uint32_t> weights)
      : program_(program), split_{.ranks = static_cast<std::uint32_t>(weights.size()),
                                  .waves = {},
                                  .swap_set = swap_sets(program),
                                  .owned = {},
                                  .parts = {},
                                  .whole = {}} {
    weights_before_.push_back(0);
    for (const std::uint32_t weight : weights) {
      weights_before_.push_back(weights_before_.back() + weight);
    }
    split_.owned.resize(program.buffers.size());
    of_set_.resize(program.buffers.size());
    combined_.resize(program.buffers.size());
  }

  JobSplit run() {
    split_.waves.resize(program_.waves.size());
    std::vector<std::uint32_t> order = section_order(program_.waves);
    std::stable_partition(order.begin(), order.end(),
                          [this](std::uint32_t wave) { return !program_.waves[wave].listed_items; });
    for (const std::uint32_t wave : order) { // queues last, which may be cut at any param
      split_.waves[wave] = cut(program_.waves[wave]);
      split_.waves[wave].on_one_rank =
          !split_.waves[wave].cut() &&
          (code(program_.waves[wave]).depends_on_order || combines_what_it_reads(program_.waves[wave]));
    }
    for (const ProgramWave& wave : program_.waves) {
      own_copies(wave);
    }
    for (std::size_t i = 0; i < split_.owned.size(); ++i) {
      split_.owned[i] = of_set_[split_.swap_set[i]];
    }
    for (std::size_t i = 0; i < program_.waves.size(); ++i) {
      if (is_local(program_.waves[i])) {
        split_.waves[i] = {.begin = {}, .reason = {}, .fix = {}, .local = true};
      }
    }
    return std::move(split_);
  }

private:
  // Returns true if another argument is a buffer that atomics change: what is read of it depends on an order.
  [[nodiscard]] bool combines_what_it_reads(const ProgramWave& wave) const {
    return std::ranges::any_of(wave.arguments, [&](const ProgramArgument& changed) {
      return changed.combine && std::ranges::count_if(wave.arguments, [&](const ProgramArgument& other) {
                                  return other.is_memory() &&
                                         split_.swap_set[other.buffer] == split_.swap_set[changed.buffer];
                                }) != 1;
    });
  }

  // Gives what only fills and copies write the owners of what it is a copy of.
  void own_copies(const ProgramWave& wave) {
    if (!wave.command || !wave.command->from) {
      return;
    }
    const TransferCommand& what = *wave.command;
    const std::uint32_t to = split_.swap_set[what.to];
    const auto writes = [&](const ProgramArgument& argument) {
      return argument.is_memory() && argument.access != Access::read &&
             split_.swap_set[argument.buffer] == to;
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
    if (!wave.command || !split_.split(wave.command->to)) {
      return false;
    }
    const TransferCommand& what = *wave.command;
    return !what.from || !split_.split(*what.from) ||
           (split_.owned[*what.from] == split_.owned[what.to] && what.from_offset == what.to_offset);
  }

  struct Code {
    std::string launch_function;
    bool depends_on_order = true; // items of a queue run in any order
  };
  const Code& code(const ProgramWave& wave) {
    const std::pair key(wave.op, wave.range.dimensions);
    auto found = codes_.find(key);
    if (found == codes_.end()) {
      Code code;
      if (!wave.listed_items) {
        const opencl_c::TranslationUnit& unit = program_.units[program_.ops[wave.op].unit].unit;
        const opencl_c::Function& kernel = program_.function(wave.op);
        code.launch_function = wave.users_kernel ? launch_function(unit, kernel, outermost(wave.range)) : "";
        code.depends_on_order = wave.users_kernel && opencl_c::depends_on_order(unit, kernel);
      }
      found = codes_.emplace(key, std::move(code)).first;
    }
    return found->second;
  }

  [[nodiscard]] std::vector<std::uint32_t> tile_rows_of_ranks(const NdRange& range) const {
    const std::uint64_t rows = range.groups[outermost(range)];
    const std::uint64_t all = weights_before_.back();
    std::vector<std::uint32_t> begin;
    for (const std::uint64_t before : weights_before_) { // rank 0 has a tile row in any case
      begin.push_back(static_cast<std::uint32_t>((rows * before + all - 1) / all));
    }
    return begin;
  }

  // As another wave has cut a buffer of the queue; otherwise each rank has items by its weight.
  [[nodiscard]] std::vector<std::uint32_t> params_of_ranks(const ProgramWave& wave) const {
    const ProgramQueue& queue = *wave.queue;
    std::vector<std::uint32_t> begin;
    for (const ProgramArgument& argument : wave.users_arguments()) {
      const auto& known = of_set_[split_.swap_set[argument.buffer]];
      if (argument.access == Access::read || !argument.rows || known.empty()) {
        continue;
      }
      for (const ByteRange& owned : known) {
        begin.push_back(static_cast<std::uint32_t>(
            std::min<std::uint64_t>(owned.begin / argument.rows->row_bytes, queue.ids)));
      }
      begin.push_back(queue.ids);
      return begin;
    }
    std::vector<std::uint32_t> params;
    for (std::uint32_t place = 0; place < wave.listed_items; ++place) {
      params.push_back(queue.items[queue.item_at(place)].param);
    }
    std::ranges::sort(params);
    begin.push_back(0);
    for (std::uint64_t rank = 1; rank < split_.ranks; ++rank) {
      begin.push_back(params[params.size() * weights_before_[rank] / weights_before_.back()]);
    }
    begin.push_back(queue.ids);
    return begin;
  }

  WaveCut cut(const ProgramWave& wave) {
    const auto whole = [](std::string reason, std::string fix = "") {
      return WaveCut{.begin = {}, .reason = std::move(reason), .fix = std::move(fix)};
    };
    if (!wave.users_kernel && !wave.listed_items) {
      return whole("it is a fill or a copy",
                   "write it as a kernel whose work-items write only their own rows, if its time matters");
    }
    if (wave.listed_items && wave.queue->ids == 0) {
      return wave.queue->publishes
                 ? whole("its ops publish items",
                         "a queue is cut if its items are all given and requeue themselves at most")
                 : whole("an item has a param of 2^31 or more", "number params from 0");
    }
    if (!wave.listed_items && wave.range.groups[outermost(wave.range)] < 2) {
      return whole("its outermost dimension has one work-group",
                   "give it smaller work-groups, or exchange its dimensions");
    }
    const std::string& launch = code(wave).launch_function;
    if (!launch.empty()) {
      return whole(fmt::format("its source calls {}, which is another number in a part of the range", launch),
                   "use get_global_id, and give sizes as arguments");
    }
    std::vector<std::uint32_t> begin =
        wave.listed_items ? params_of_ranks(wave) : tile_rows_of_ranks(wave.range);
    const char* const who = wave.listed_items ? "an item" : "a work-item";
    std::vector<std::pair<std::uint32_t, std::vector<ByteRange>>> written;
    std::vector<std::uint32_t> combined;
    for (const ProgramArgument& argument : wave.users_arguments()) {
      if (!argument.is_memory() || argument.access == Access::read) {
        continue;
      }
      const ProgramBuffer& buffer = program_.buffers[argument.buffer];
      const std::uint32_t set = split_.swap_set[argument.buffer];
      const std::string name = in_quotes(buffer.name);
      if (argument.combine) {
        const auto uses = std::ranges::count_if(wave.arguments, [&](const ProgramArgument& other) {
          return other.is_memory() && other.buffer == argument.buffer;
        });
        if (!of_set_[set].empty() || uses != 1) {
          return whole(fmt::format("{} is combined, and another argument or wave uses it in parts", name),
                       "combine in a buffer that nothing else writes");
        }
        combined.push_back(set);
        continue;
      }
      if (!argument.rows || argument.rows->row_bytes == 0) {
        return whole(
            fmt::format("which elements of {} {} writes is not known", name, who),
            wave.listed_items
                ? fmt::format("use {} only at the element of the item's param, in the op itself, or state "
                              R"("own_row": true for an op that touches only the param's row of its output)",
                              name)
                : fmt::format(
                      R"(give {} a shape, and state "rows": 0 where a work-item writes only its own row, or "combine" where all add to it with atomics)",
                      name));
      }
      if (argument.rows->reach != 0 || argument.rows->beyond != 0 || argument.rows->wraps != 0) {
        return whole(fmt::format("{} writes or reads {} beyond its own row", who, name),
                     fmt::format("write only the own row, and read {} through another argument", name));
      }
      auto owned = owned_bytes(ids_of(wave), begin, argument.rows->row_bytes, buffer.bytes);
      const auto& known = of_set_[set];
      if (combined_[set]) {
        return whole(fmt::format("another wave combines {}", name),
                     "combine in a buffer that nothing else writes");
      }
      if (!known.empty() && known != owned) {
        return whole(fmt::format("another wave cuts {} at other rows", name),
                     wave.listed_items ? "" : "give both waves the same sizes in the outermost dimension");
      }
      written.emplace_back(set, std::move(owned));
    }
    if (written.empty() && combined.empty()) {
      return whole("it writes nothing", "leave it out");
    }
    for (std::size_t i = 1; i < written.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (written[i].first == written[j].first && written[i].second != written[j].second) {
          return whole("two of its arguments cut a buffer at different rows",
                       "write it through one argument");
        }
      }
    }
    for (auto& [set, owned] : written) {
      if (std::ranges::find(combined, set) != combined.end()) {
        return whole("one of its arguments combines a buffer that another cuts",
                     "combine in a buffer that nothing else writes");
      }
    }
    for (auto& [set, owned] : written) {
      of_set_[set] = std::move(owned);
    }
    for (const std::uint32_t set : combined) {
      combined_[set] = true;
    }
    return WaveCut{.begin = std::move(begin), .reason = {}, .fix = {}};
  }

  const Job& program_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Code> codes_; // by op and dimensions
  std::vector<std::uint64_t> weights_before_;  // by rank the weights of those before it, and the sum of all
  std::vector<bool> combined_;                 // likewise
  std::vector<std::vector<ByteRange>> of_set_; // by the first buffer of a set of swapped ones
  JobSplit split_;
};

} // namespace

JobSplit split_job(const Job& program, std::span<const std::uint32_t> weights) {
  return Splitter(program, weights).run();
}

namespace {

TileRows own_rows(const ProgramWave& wave, const WaveCut& cut, std::uint32_t rank) {
  const std::uint32_t begin = cut.begin[rank], end = cut.begin[rank + 1];
  const NdRange ids = ids_of(wave);
  return {begin, end, first_id(ids, begin), first_id(ids, end)};
}

ByteRange intersection(const ByteRange& a, const ByteRange& b) {
  const std::uint64_t end = std::min(a.end, b.end);
  return {std::min(std::max(a.begin, b.begin), end), end};
}

ByteRange hull(const ByteRange& a, const ByteRange& b) {
  return a.size() == 0   ? b
         : b.size() == 0 ? a
                         : ByteRange{std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

// The tile rows that write these bytes, next to those of the rank.
TileRows covering(const NdRange& range, std::uint64_t row_bytes, const ByteRange& bytes, TileRows tiles) {
  if (bytes.size() == 0) {
    return tiles;
  }
  const std::uint32_t d = outermost(range);
  const auto within = [&](std::uint64_t row) {
    return std::clamp(row, range.offset[d], first_id(range, range.groups[d]));
  };
  tiles.first_id = std::min(tiles.first_id, within(bytes.begin / row_bytes));
  tiles.end_id = std::max(tiles.end_id, within((bytes.end + row_bytes - 1) / row_bytes));
  tiles.begin = static_cast<std::uint32_t>((tiles.first_id - range.offset[d]) / range.local[d]);
  tiles.end =
      static_cast<std::uint32_t>((tiles.end_id - range.offset[d] + range.local[d] - 1) / range.local[d]);
  return tiles;
}

// A wave neither needs nor keeps what is in the rows that it writes if every work-item first assigns all of its row.
bool keeps_nothing(const ProgramArgument& argument) {
  return argument.access != Access::read &&
         (argument.overwrites || (argument.assigned_first && argument.rows && argument.rows->reach == 0 &&
                                  argument.rows->row_bytes == argument.element_bytes));
}

// Returns what tiles touch of a torus beyond its border: rows before the first one and after the last one.
std::vector<ByteRange> touched_around(const RowReach& rows, const TileRows& tiles) {
  std::vector<ByteRange> around;
  const std::uint64_t end = std::min(tiles.end_id, rows.wraps);
  if (tiles.first_id < end && tiles.first_id < rows.reach) {
    const std::uint64_t missing = std::min(rows.reach - tiles.first_id, rows.wraps);
    around.push_back({(rows.wraps - missing) * rows.row_bytes, rows.wraps * rows.row_bytes});
  }
  if (tiles.first_id < end && end + rows.reach > rows.wraps) {
    around.push_back({0, std::min(end + rows.reach - rows.wraps, rows.wraps) * rows.row_bytes});
  }
  return around;
}

} // namespace

bool combines(const ProgramWave& wave) {
  return std::ranges::any_of(wave.arguments,
                             [](const ProgramArgument& argument) { return argument.combine.has_value(); });
}

NdRange part_of(const NdRange& range, const TileRows& rows) {
  NdRange part = range;
  const std::uint32_t d = outermost(range);
  part.offset[d] = first_id(range, rows.begin);
  part.global[d] = static_cast<std::uint32_t>(first_id(range, rows.end) - part.offset[d]);
  part.groups[d] = rows.end - rows.begin;
  return part;
}

ByteRange touched(const ProgramArgument& argument, const TileRows& tiles, std::uint64_t bytes) {
  if (!argument.rows || argument.rows->row_bytes == 0) {
    return {0, bytes};
  }
  const RowReach& rows = *argument.rows;
  const std::uint64_t begin =
      row_begin(tiles.first_id - std::min(tiles.first_id, rows.reach), rows.row_bytes, bytes);
  const std::uint64_t end = row_begin(tiles.end_id + std::min(rows.reach, bytes), rows.row_bytes, bytes);
  return {begin - std::min(begin, rows.beyond), std::min(end + rows.beyond, bytes)};
}

ByteRange room_of(const Job& program, const JobSplit& split, std::uint32_t buffer, std::uint32_t rank) {
  return split.in_parts(buffer) ? split.parts[buffer][rank] : ByteRange{0, program.buffers[buffer].bytes};
}

TransferCommand local_part(const Job& program, const JobSplit& split, std::uint32_t wave,
                           std::uint32_t rank) {
  TransferCommand part = *program.waves[wave].command;
  const ByteRange to = room_of(program, split, part.to, rank);
  ByteRange bytes = intersection({part.to_offset, part.to_offset + part.bytes}, to);
  if (part.from && split.split(*part.from)) {
    bytes = intersection(bytes, room_of(program, split, *part.from, rank));
  }
  if (part.from) {
    part.from_offset += bytes.begin - part.to_offset - room_of(program, split, *part.from, rank).begin;
  }
  part.to_offset = bytes.begin - to.begin;
  part.bytes = bytes.size();
  return part;
}

TileRows whole_tiles(const ProgramWave& wave, TileRows rows) {
  const NdRange ids = ids_of(wave);
  rows.first_id = first_id(ids, rows.begin);
  rows.end_id = first_id(ids, rows.end);
  return rows;
}

DeepHalos::DeepHalos(const Job& program, const JobSplit& split,
                     std::span<const std::vector<std::uint32_t>> storage, std::uint32_t depth)
    : program_(program), split_(split), storage_(storage), order_(program_order(program)),
      next_depth_(depth) {
  const auto alone = [this](std::string reason) {
    next_depth_ = 1;
    reason_ = std::move(reason);
  };
  if (depth > 1 && std::ranges::all_of(split.owned, [](const auto& ranges) { return ranges.empty(); })) {
    alone("no buffer is cut");
  }
  for (std::uint32_t i = 0; next_depth_ > 1 && i < program.waves.size(); ++i) {
    const ProgramWave& wave = program.waves[i];
    for (const ProgramArgument& argument : wave.arguments) {
      if (wave.section != Section::each || !argument.is_memory() || !split.split(argument.buffer) ||
          split.waves[i].local) {
        continue;
      }
      const std::string& name = program.buffers[argument.buffer].name;
      if (wave.listed_items && split.waves[i].cut()) {
        alone(fmt::format("each rank runs its own items of {} alone", program.wave_text(i)));
      } else if (!split.waves[i].cut()) {
        alone(fmt::format("every rank runs all of {}, which uses {}", program.wave_text(i), in_quotes(name)));
      } else if (!argument.rows || argument.rows->row_bytes == 0) {
        alone(fmt::format("which rows of {} {} reads is not known", in_quotes(name), program.wave_text(i)));
      } else if (argument.rows->wraps != 0) {
        alone(fmt::format("{} reads {} around a torus", program.wave_text(i), in_quotes(name)));
      }
    }
  }
  // Next to the rows that it needs a rank works on contents of several iterations.
  for (std::uint32_t i = 0; next_depth_ > 1 && i < program.waves.size(); ++i) {
    const ProgramWave& wave = program.waves[i];
    if (wave.section == Section::each && split.waves[i].cut() && wave.users_kernel && !combines(wave) &&
        !opencl_c::runs_on_any_contents(program.units[program.ops[wave.op].unit].unit,
                                        program.function(wave.op))) {
      alone(fmt::format("data decides where {} goes on or what it accesses, as far as known",
                        program.wave_text(i)));
    }
  }
  // A wave that combines works its own rows alone, as sums would count others twice.
  const auto combining = std::ranges::find_if(order_, [&](std::uint32_t wave) {
    return program.waves[wave].section == Section::each && split.waves[wave].cut() &&
           combines(program.waves[wave]);
  });
  if (next_depth_ > 1 && combining != order_.end() && !reaches_further()) {
    alone(fmt::format("{} combines a buffer in each iteration, and no other wave works further",
                      program.wave_text(*combining)));
  }
}

// Returns true if a rank works rows of others in some wave.
bool DeepHalos::reaches_further() const {
  return std::ranges::any_of(plan(next_depth_, 0), [this](const auto& waves) {
    for (std::uint32_t wave = 0; wave < waves.size(); ++wave) {
      for (std::uint32_t rank = 0; rank < waves[wave].size(); ++rank) {
        if (waves[wave][rank] != own_rows(program_.waves[wave], split_.waves[wave], rank)) {
          return true;
        }
      }
    }
    return false;
  });
}

// Backwards from the end of the iterations, where each rank needs what it owns.
DeepHalos::Block DeepHalos::plan(std::uint32_t depth, std::uint32_t first_phase) const {
  Block block(depth, std::vector<std::vector<TileRows>>(program_.waves.size()));
  for (std::uint32_t rank = 0; rank < split_.ranks; ++rank) {
    std::vector<ByteRange> needed(program_.buffers.size()); // by memory
    const auto owned = [&](std::uint32_t memory) { return split_.owned[memory][rank]; };
    for (std::uint32_t memory = 0; memory < needed.size(); ++memory) {
      needed[memory] = split_.split(memory) ? owned(memory) : ByteRange();
    }
    for (std::uint32_t iteration = depth; iteration-- > 0;) {
      const auto& memory_of = storage_[(first_phase + iteration) % storage_.size()];
      for (std::size_t i = order_.size(); i-- > 0;) {
        const ProgramWave& wave = program_.waves[order_[i]];
        const WaveCut& cut = split_.waves[order_[i]];
        if (wave.section == Section::each && cut.local) {
          const std::uint32_t to = memory_of[wave.command->to];
          if (wave.command->from && split_.split(*wave.command->from)) {
            ByteRange& from = needed[memory_of[*wave.command->from]];
            from = hull(from, needed[to]);
          }
          needed[to] = owned(to);
        }
        if (wave.section != Section::each || !cut.cut()) {
          continue;
        }
        TileRows tiles = own_rows(wave, cut, rank);
        const auto of_split = [&](const auto& use) {
          for (const ProgramArgument& argument : wave.arguments) {
            if (argument.is_memory() && split_.split(argument.buffer)) {
              use(argument, memory_of[argument.buffer]);
            }
          }
        };
        of_split([&](const ProgramArgument& argument, std::uint32_t memory) {
          if (argument.access != Access::read && tiles.begin != tiles.end && !combines(wave)) {
            tiles = covering(wave.range, argument.rows->row_bytes, needed[memory], tiles);
          }
        });
        block[iteration][order_[i]].push_back(tiles);
        of_split([&](const ProgramArgument& argument, std::uint32_t memory) {
          if (keeps_nothing(argument)) {
            needed[memory] = owned(memory);
          }
        });
        of_split([&](const ProgramArgument& argument, std::uint32_t memory) {
          if (tiles.begin != tiles.end && !keeps_nothing(argument)) {
            needed[memory] = hull(needed[memory], touched(argument, tiles, program_.buffers[memory].bytes));
          }
        });
      }
    }
  }
  return block;
}

// A lower depth works no further rows: its iterations are the last ones of this depth, from some phase on.
std::vector<std::vector<ByteRange>> DeepHalos::hulls() const {
  std::vector<std::vector<ByteRange>> of_set = split_.owned;
  const auto add = [&](std::uint32_t wave, const std::vector<TileRows>& rows) {
    for (const ProgramArgument& argument : program_.waves[wave].arguments) {
      for (std::uint32_t rank = 0;
           argument.is_memory() && split_.split(argument.buffer) && rank < rows.size(); ++rank) {
        ByteRange& all = of_set[split_.swap_set[argument.buffer]][rank];
        if (rows[rank].begin != rows[rank].end) {
          all = hull(all, touched(argument, whole_tiles(program_.waves[wave], rows[rank]),
                                  program_.buffers[argument.buffer].bytes));
        }
      }
    }
  };
  for (std::uint32_t wave = 0; wave < program_.waves.size(); ++wave) {
    std::vector<TileRows> rows;
    for (std::uint32_t rank = 0; split_.waves[wave].cut() && rank < split_.ranks; ++rank) {
      rows.push_back(own_rows(program_.waves[wave], split_.waves[wave], rank));
    }
    add(wave, rows);
  }
  for (std::uint32_t phase = 0; next_depth_ > 1 && phase < storage_.size(); ++phase) {
    for (const auto& waves : plan(next_depth_, phase)) {
      for (std::uint32_t wave = 0; wave < waves.size(); ++wave) {
        add(wave, waves[wave]);
      }
    }
  }
  for (std::size_t buffer = 0; buffer < of_set.size(); ++buffer) {
    of_set[buffer] = of_set[split_.swap_set[buffer]];
  }
  return of_set;
}

std::vector<TileRows> DeepHalos::rows(std::uint32_t wave, std::uint32_t iteration) {
  const WaveCut& cut = split_.waves[wave];
  std::vector<TileRows> rows;
  const bool repeats = program_.waves[wave].section == Section::each;
  if (repeats && iteration >= begin_ + depth_) {
    begin_ = iteration;
    depth_ = next_depth_;
  }
  if (repeats && cut.cut() && depth_ > 1) {
    const auto phase = static_cast<std::uint32_t>(begin_ % storage_.size());
    auto block = blocks_.find({depth_, phase});
    if (block == blocks_.end()) {
      block = blocks_.emplace(std::pair(depth_, phase), plan(depth_, phase)).first;
    }
    return block->second[iteration - begin_][wave];
  }
  for (std::uint32_t rank = 0; cut.cut() && rank < split_.ranks; ++rank) {
    rows.push_back(own_rows(program_.waves[wave], cut, rank));
  }
  return rows;
}

std::vector<TileRows> DeepHalos::widest(std::uint32_t rank) const {
  std::vector<TileRows> widest(program_.waves.size());
  const auto add = [&](std::uint32_t wave, const TileRows& rows) {
    TileRows& all = widest[wave];
    if (rows.begin != rows.end) {
      all = all.begin == all.end
                ? rows
                : TileRows{.begin = std::min(all.begin, rows.begin), .end = std::max(all.end, rows.end)};
      all = whole_tiles(program_.waves[wave], all);
    }
  };
  for (std::uint32_t wave = 0; wave < widest.size(); ++wave) {
    const WaveCut& cut = split_.waves[wave];
    if (cut.cut() && program_.waves[wave].section == Section::each) {
      add(wave, own_rows(program_.waves[wave], cut, rank));
    }
  }
  for (std::uint32_t phase = 0; next_depth_ > 1 && phase < storage_.size(); ++phase) {
    for (const auto& waves : plan(next_depth_, phase)) {
      for (std::uint32_t wave = 0; wave < waves.size(); ++wave) {
        if (!waves[wave].empty()) {
          add(wave, waves[wave][rank]);
        }
      }
    }
  }
  return widest;
}

TileRows inner_rows(const Job& program, std::uint32_t wave, const TileRows& rows,
                    std::span<const RankTransfer> awaited) {
  const ProgramWave& spec = program.waves[wave];
  const auto waits = [&](std::uint32_t begin, std::uint32_t end) {
    const TileRows tiles{begin, end, first_id(spec.range, begin), first_id(spec.range, end)};
    return std::ranges::any_of(awaited, [&](const RankTransfer& transfer) {
      return std::ranges::any_of(spec.arguments, [&](const ProgramArgument& argument) {
        if (!argument.is_memory() || argument.buffer != transfer.buffer) {
          return false;
        }
        std::vector<ByteRange> all = argument.rows && argument.rows->wraps != 0
                                         ? touched_around(*argument.rows, tiles)
                                         : std::vector<ByteRange>();
        all.push_back(touched(argument, tiles, program.buffers[transfer.buffer].bytes));
        return std::ranges::any_of(all, [&](const ByteRange& bytes) {
          return std::max(bytes.begin, transfer.bytes.begin) < std::min(bytes.end, transfer.bytes.end);
        });
      });
    });
  };
  TileRows inner = rows;
  while (inner.begin < inner.end && waits(inner.begin, inner.begin + 1)) {
    ++inner.begin;
  }
  while (inner.begin < inner.end && waits(inner.end - 1, inner.end)) {
    --inner.end;
  }
  if (waits(inner.begin, inner.end)) {
    inner.end = inner.begin;
  }
  return inner;
}

Freshness::Freshness(const Job& program, const JobSplit& split,
                     std::span<const std::vector<std::uint32_t>> storage)
    : program_(program), split_(split), storage_(storage) {
  for (std::uint32_t i = 0; i < program.buffers.size();
       ++i) { // first contents are wherever there is memory for them
    std::vector<ByteRange>& of_ranks = fresh_.emplace_back();
    for (std::uint32_t rank = 0; rank < split.ranks; ++rank) {
      of_ranks.push_back(room_of(program, split, i, rank));
    }
  }
}

// Each rank's fresh bytes are one range, which holds what it owns: so what it lacks lies on both sides of it.
void Freshness::fetch(std::uint32_t buffer, std::uint32_t rank, ByteRange needed,
                      const std::vector<ByteRange>& fresh, std::vector<RankTransfer>& transfers) const {
  const ByteRange has = fresh[rank];
  for (const ByteRange lacks : {ByteRange{needed.begin, std::min(needed.end, has.begin)},
                                ByteRange{std::max(needed.begin, has.end), needed.end}}) {
    for (std::uint32_t owner = 0; lacks.size() != 0 && owner < split_.ranks; ++owner) {
      const ByteRange& owned = split_.owned[buffer][owner];
      const ByteRange part{std::max(lacks.begin, owned.begin), std::min(lacks.end, owned.end)};
      if (part.size() != 0) {
        transfers.push_back({.from = owner, .to = rank, .buffer = buffer, .bytes = part});
      }
    }
  }
}

std::vector<RankTransfer> Freshness::before(std::uint32_t wave, std::uint32_t iteration,
                                            const std::vector<TileRows>& rows) {
  const WaveCut& cut = split_.waves[wave];
  const ProgramWave& spec = program_.waves[wave];
  const std::uint32_t running = cut.on_one_rank ? 1 : split_.ranks;
  std::vector<RankTransfer> transfers;
  if (cut.local) {
    return transfers;
  }
  for (const ProgramArgument& argument : spec.arguments) {
    if (!argument.is_memory() || !split_.split(argument.buffer) ||
        (argument.access == Access::write && argument.overwrites) || (cut.cut() && keeps_nothing(argument))) {
      continue;
    }
    const std::uint64_t bytes = program_.buffers[argument.buffer].bytes;
    auto& fresh = fresh_[storage_[iteration % storage_.size()][argument.buffer]];
    for (std::uint32_t rank = 0; rank < running; ++rank) {
      // A rank has its own rows and may write them. A row of another rank that it writes may keep some bytes, which it needs.
      if (cut.cut() && (rows[rank].begin == rows[rank].end ||
                        (argument.access == Access::write && rows[rank] == own_rows(spec, cut, rank)))) {
        continue;
      }
      ByteRange needed = cut.cut() ? touched(argument, rows[rank], bytes) : ByteRange{0, bytes};
      if (fresh[rank].size() == 0) { // and may be far from what a rank reads that owns nothing
        fresh[rank] = {needed.begin, needed.begin};
      }
      // A gap between what it has and what it needs would be lost from the account.
      needed = {std::min(needed.begin, fresh[rank].end), std::max(needed.end, fresh[rank].begin)};
      fetch(argument.buffer, rank, needed, fresh, transfers);
      fresh[rank] = {std::min(needed.begin, fresh[rank].begin), std::max(needed.end, fresh[rank].end)};
      if (cut.cut() && argument.rows &&
          argument.rows->wraps != 0) { // each time, as they are no part of the account
        for (const ByteRange& around : touched_around(*argument.rows, rows[rank])) {
          fetch(argument.buffer, rank, around, fresh, transfers);
        }
      }
    }
  }
  return transfers;
}

void Freshness::after(std::uint32_t wave, std::uint32_t iteration, const std::vector<TileRows>& rows) {
  const ProgramWave& spec = program_.waves[wave];
  if (split_.waves[wave].local) {
    const TransferCommand& what = *spec.command;
    const auto& memory_of = storage_[iteration % storage_.size()];
    for (std::uint32_t rank = 0; rank < split_.ranks; ++rank) {
      ByteRange& to = fresh_[memory_of[what.to]][rank];
      const bool whole = what.bytes == program_.buffers[what.to].bytes;
      to = whole ? room_of(program_, split_, what.to, rank) : to;
      to = what.from && split_.split(*what.from) ? intersection(to, fresh_[memory_of[*what.from]][rank]) : to;
    }
    return;
  }
  for (const ProgramArgument& argument : spec.arguments) {
    if (!argument.is_memory() || argument.access == Access::read || !split_.split(argument.buffer)) {
      continue;
    }
    const std::uint64_t bytes = program_.buffers[argument.buffer].bytes;
    auto& fresh = fresh_[storage_[iteration % storage_.size()][argument.buffer]];
    for (std::uint32_t rank = 0; rank < split_.ranks; ++rank) {
      const ByteRange& owned = split_.owned[argument.buffer][rank];
      fresh[rank] = rows.empty() ? ByteRange{0, bytes}
                    : rows[rank] == own_rows(spec, split_.waves[wave], rank)
                        ? owned
                        : hull(owned, touched(argument, rows[rank], bytes));
    }
  }
}

bool Freshness::pass(std::uint32_t begin, std::uint32_t end, const std::vector<std::uint32_t>& order,
                     DeepHalos& halos) {
  const auto fresh_before = fresh_;
  for (std::uint32_t iteration = begin; iteration < end; ++iteration) {
    for (const std::uint32_t wave : order) {
      if (program_.waves[wave].section != Section::each) {
        continue;
      }
      const std::vector<TileRows> rows = halos.rows(wave, iteration);
      if (!before(wave, iteration, rows).empty()) {
        fresh_ = fresh_before;
        return false;
      }
      after(wave, iteration, rows);
    }
  }
  return true;
}

std::vector<RankTransfer> Freshness::gather(std::uint32_t buffer, std::uint32_t iterations) const {
  std::vector<RankTransfer> transfers;
  if (split_.split(buffer)) {
    fetch(buffer, 0, {0, program_.buffers[buffer].bytes},
          fresh_[storage_[iterations % storage_.size()][buffer]], transfers);
  }
  return transfers;
}

} // namespace tidegate::engine
