// Decides what each rank runs of a job that is split, and what ranks exchange before a wave: deep halos, and the
// account of what is fresh.
#include "engine/split.hpp"
#include "opencl_c/accesses.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidegate::engine {
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
    if (wave.section == Section::each && split.waves[i].cut() && !wave.command && !combines(wave) &&
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
      // A rank has its own rows and may write them. A row of another rank that it writes may keep some bytes, which it
      // needs.
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
          argument.rows->wraps != 0) { // each time, as they are not part of the account
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
