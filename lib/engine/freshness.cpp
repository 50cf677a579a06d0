// Keeps account of the bytes that each rank has of a job that is split: what is fresh, and what ranks exchange before a
// wave.
#include "engine/split.hpp"

namespace tidegate::engine {
namespace {

ByteRange intersection(const ByteRange& a, const ByteRange& b) {
  const std::uint64_t end = std::min(a.end, b.end);
  return {std::min(std::max(a.begin, b.begin), end), end};
}

bool meet(const ByteRange& a, const ByteRange& b) {
  return intersection(a, b).size() != 0;
}

// Returns what tiles touch of a torus beyond its border: rows before the first one and after the last one.
std::vector<ByteRange> touched_around(const ProgramWave& wave, const ProgramArgument& argument,
                                      const TileRows& tiles) {
  std::vector<ByteRange> around;
  if (!argument.rows || argument.rows->wraps == 0) {
    return around;
  }
  const RowReach& rows = *argument.rows;
  const std::uint64_t begin = first_id(wave.range, tiles.begin);
  const std::uint64_t end = std::min(first_id(wave.range, tiles.end), rows.wraps);
  if (begin < end && begin < rows.reach) {
    const std::uint64_t missing = std::min(rows.reach - begin, rows.wraps);
    around.push_back({(rows.wraps - missing) * rows.row_bytes, rows.wraps * rows.row_bytes});
  }
  if (begin < end && end + rows.reach > rows.wraps) {
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
  const std::uint32_t d = range.dimensions - 1;
  part.offset[d] = first_id(range, rows.begin);
  part.global[d] = static_cast<std::uint32_t>(first_id(range, rows.end) - part.offset[d]);
  part.groups[d] = rows.end - rows.begin;
  return part;
}

ByteRange touched(const ProgramWave& wave, const ProgramArgument& argument, const TileRows& tiles,
                  std::uint64_t bytes) {
  if (!argument.rows || argument.rows->row_bytes == 0) {
    return {0, bytes};
  }
  const RowReach& rows = *argument.rows;
  const std::uint64_t first = first_id(wave.range, tiles.begin), last = first_id(wave.range, tiles.end);
  const std::uint64_t begin = row_begin(first - std::min(first, rows.reach), rows.row_bytes, bytes);
  const std::uint64_t end = row_begin(last + std::min(rows.reach, bytes), rows.row_bytes, bytes);
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

TileRows inner_rows(const Job& program, std::uint32_t wave, const TileRows& rows,
                    std::span<const RankTransfer> awaited) {
  const ProgramWave& spec = program.waves[wave];
  const auto waits = [&](const TileRows& tiles) {
    return std::ranges::any_of(awaited, [&](const RankTransfer& transfer) {
      return std::ranges::any_of(spec.arguments, [&](const ProgramArgument& argument) {
        if (!argument.is_memory() || argument.buffer != transfer.buffer) {
          return false;
        }
        std::vector<ByteRange> all = touched_around(spec, argument, tiles);
        all.push_back(touched(spec, argument, tiles, program.buffers[transfer.buffer].bytes));
        return std::ranges::any_of(all, [&](const ByteRange& bytes) { return meet(bytes, transfer.bytes); });
      });
    });
  };
  TileRows inner = rows;
  while (!inner.empty() && waits({inner.begin, inner.begin + 1})) {
    ++inner.begin;
  }
  while (!inner.empty() && waits({inner.end - 1, inner.end})) {
    --inner.end;
  }
  if (waits(inner)) {
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

std::vector<RankTransfer> Freshness::before(std::uint32_t wave, std::uint32_t iteration) {
  const WaveCut& cut = split_.waves[wave];
  const ProgramWave& spec = program_.waves[wave];
  std::vector<RankTransfer> transfers;
  for (const ProgramArgument& argument : spec.arguments) {
    // A rank has the rows that its tiles write.
    if (cut.local || !argument.is_memory() || !split_.split(argument.buffer) ||
        (argument.access == Access::write && argument.overwrites) ||
        (cut.cut() && argument.access != Access::read)) {
      continue;
    }
    const std::uint64_t bytes = program_.buffers[argument.buffer].bytes;
    auto& fresh = fresh_[storage_[iteration % storage_.size()][argument.buffer]];
    for (std::uint32_t rank = 0; rank < (cut.cut() ? split_.ranks : 1); ++rank) {
      const TileRows rows = cut.cut() ? own_rows(cut, rank) : TileRows();
      if (cut.cut() && rows.empty()) {
        continue;
      }
      ByteRange needed = cut.cut() ? touched(spec, argument, rows, bytes) : ByteRange{0, bytes};
      if (fresh[rank].size() == 0) { // and may be far from what a rank reads that owns nothing
        fresh[rank] = {needed.begin, needed.begin};
      }
      // A gap between what it has and what it needs would be lost from the account.
      needed = {std::min(needed.begin, fresh[rank].end), std::max(needed.end, fresh[rank].begin)};
      fetch(argument.buffer, rank, needed, fresh, transfers);
      fresh[rank] = {std::min(needed.begin, fresh[rank].begin), std::max(needed.end, fresh[rank].end)};
      for (const ByteRange& around : // each time, as they are not part of the account
           cut.cut() ? touched_around(spec, argument, rows) : std::vector<ByteRange>()) {
        fetch(argument.buffer, rank, around, fresh, transfers);
      }
    }
  }
  return transfers;
}

void Freshness::after(std::uint32_t wave, std::uint32_t iteration) {
  const WaveCut& cut = split_.waves[wave];
  const ProgramWave& spec = program_.waves[wave];
  const auto& memory_of = storage_[iteration % storage_.size()];
  for (const ProgramArgument& argument : spec.arguments) {
    if (!argument.is_memory() || argument.access == Access::read || !split_.split(argument.buffer)) {
      continue;
    }
    const std::uint64_t bytes = program_.buffers[argument.buffer].bytes;
    for (std::uint32_t rank = 0; rank < split_.ranks; ++rank) {
      ByteRange& fresh = fresh_[memory_of[argument.buffer]][rank];
      if (!cut.local) {
        fresh = cut.cut() ? split_.owned[argument.buffer][rank] : ByteRange{0, bytes};
        continue;
      }
      fresh = spec.command->bytes == bytes ? room_of(program_, split_, argument.buffer, rank) : fresh;
      if (spec.command->from && split_.split(*spec.command->from)) {
        fresh = intersection(fresh, fresh_[memory_of[*spec.command->from]][rank]);
      }
    }
  }
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
