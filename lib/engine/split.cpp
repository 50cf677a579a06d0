#include "engine/split.hpp"

#include "engine/compile.hpp"
#include "opencl_c/facts.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

// The global id of the outermost dimension at which a tile row begins, or the last one ends.
std::uint64_t first_id(const NdRange& range, std::uint64_t tile_row) {
  const std::uint32_t d = range.dimensions - 1;
  return range.offset[d] + std::min<std::uint64_t>(tile_row * range.local[d], range.global[d]);
}

// The first byte of a row of a buffer, or the end of the buffer.
std::uint64_t row_begin(std::uint64_t row, std::uint64_t row_bytes, std::uint64_t bytes) {
  return row > bytes / row_bytes ? bytes : row * row_bytes;
}

// The bytes that tile rows of a wave touch of a buffer of this size, as far as known: all otherwise. After them those
// beyond the border of a torus: before its first row and after its last one. Nothing without a tile row.
std::vector<ByteRange> touched(const ProgramWave& wave, const ProgramArgument& argument,
                               const TileRows& tiles, std::uint64_t bytes) {
  if (tiles.empty()) {
    return {};
  }
  if (!argument.knows_rows()) {
    return {{0, bytes}};
  }
  const RowReach& rows = *argument.rows;
  const std::uint64_t first = first_id(wave.range, tiles.begin), last = first_id(wave.range, tiles.end);
  const std::uint64_t begin = row_begin(first - std::min(first, rows.reach), rows.row_bytes, bytes);
  const std::uint64_t end = row_begin(last + std::min(rows.reach, bytes), rows.row_bytes, bytes);
  std::vector<ByteRange> all{{begin - std::min(begin, rows.beyond), std::min(end + rows.beyond, bytes)}};
  const std::uint64_t inside = std::min(last, rows.wraps); // the end of the rows on the torus
  if (first < inside && first < rows.reach) {
    const std::uint64_t missing = std::min(rows.reach - first, rows.wraps);
    all.push_back({(rows.wraps - missing) * rows.row_bytes, rows.wraps * rows.row_bytes});
  }
  if (first < inside && inside + rows.reach > rows.wraps) {
    all.push_back({0, std::min(inside + rows.reach - rows.wraps, rows.wraps) * rows.row_bytes});
  }
  return all;
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

struct Splitter {
  // Buffers that exchange their memory.
  struct Share {
    std::vector<ByteRange> owned{}; // by rank; empty: not split
    bool combined = false;
  };

  const Job& program;
  JobSplit split{};
  std::vector<Share> of_set = std::vector<Share>(program.buffers.size());

  JobSplit run() {
    split.waves.resize(program.waves.size());
    for (const std::uint32_t wave : section_order(program.waves)) {
      split.waves[wave] = cut(program.waves[wave]);
    }
    for (const ProgramWave& wave : program.waves) {
      own_copies(wave);
    }
    for (const std::uint32_t set : split.swap_set) {
      split.owned.push_back(of_set[set].owned);
    }
    for (std::size_t i = 0; i < program.waves.size(); ++i) {
      if (is_local(program.waves[i])) {
        split.waves[i] = {.local = true};
      }
    }
    make_room();
    return std::move(split);
  }

  // Gives what only fills and copies write the owners of what it is a copy of.
  void own_copies(const ProgramWave& wave) {
    if (!wave.command || !wave.command->from) {
      return;
    }
    const TransferCommand& what = *wave.command;
    const std::uint32_t to = split.swap_set[what.to];
    const auto writes = [&](const ProgramArgument& argument) {
      return argument.writes() && split.swap_set[argument.buffer] == to;
    };
    const bool by_transfers = std::ranges::all_of(program.waves, [&](const ProgramWave& other) {
      return other.command || std::ranges::none_of(other.arguments, writes);
    });
    if (by_transfers && of_set[to].owned.empty() && what.from_offset == what.to_offset &&
        program.buffers[*what.from].bytes == program.buffers[what.to].bytes) {
      of_set[to].owned = of_set[split.swap_set[*what.from]].owned;
    }
  }

  [[nodiscard]] bool is_local(const ProgramWave& wave) const {
    const auto& what = wave.command;
    return what &&
           (!what->from || !split.split(*what->from) ||
            (split.owned[*what->from] == split.owned[what->to] && what->from_offset == what->to_offset));
  }

  [[nodiscard]] std::vector<TileRows> tile_rows_of_ranks(const NdRange& range) const {
    const std::uint64_t all = range.groups[range.dimensions - 1];
    std::vector<TileRows> rows;
    std::uint32_t begin = 0;
    for (std::uint64_t rank = 1; rank <= split.ranks; ++rank) { // rank 0 has a tile row in any case
      const auto end = static_cast<std::uint32_t>((all * rank + split.ranks - 1) / split.ranks);
      rows.push_back({begin, end});
      begin = end;
    }
    return rows;
  }

  // The rows of each rank's ids. Rows that no id has belong to a rank as well: those before the first id to the first
  // rank.
  static std::vector<ByteRange> owned_bytes(const NdRange& range, const std::vector<TileRows>& rows,
                                            std::uint64_t row_bytes, std::uint64_t bytes) {
    std::vector<ByteRange> owned;
    for (const TileRows& of_rank : rows) {
      owned.push_back(
          {owned.empty() ? 0 : owned.back().end, row_begin(first_id(range, of_rank.end), row_bytes, bytes)});
    }
    owned.back().end = bytes;
    return owned;
  }

  WaveCut cut(const ProgramWave& wave) {
    const auto whole = [](std::string reason, std::string fix = "") {
      return WaveCut{.whole = {std::move(reason), std::move(fix)}};
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
    if (const std::string launch = opencl_c::launch_function(
            program.unit(wave.op).unit, program.function(wave.op), wave.range.dimensions - 1);
        !launch.empty()) {
      return whole(fmt::format("its source calls {}, which is another number in a part of the range", launch),
                   "use get_global_id, and give sizes as arguments");
    }
    if (std::ranges::none_of(wave.users_arguments(), &ProgramArgument::writes)) {
      return whole("it writes nothing", "leave it out");
    }
    std::vector<TileRows> rows = tile_rows_of_ranks(wave.range);
    std::vector<Share> shares = of_set; // if it is cut
    for (const ProgramArgument& argument : wave.users_arguments()) {
      if (!argument.writes()) {
        continue;
      }
      const ProgramBuffer& buffer = program.buffers[argument.buffer];
      Share& share = shares[split.swap_set[argument.buffer]];
      const std::string name = in_quotes(buffer.name);
      if (argument.combine) {
        const auto uses = std::ranges::count_if(
            wave.arguments, [&](const ProgramArgument& other) { return other.is_of(argument.buffer); });
        if (!share.owned.empty() || uses != 1) {
          return whole(fmt::format("{} is combined, and another argument or wave uses it in parts", name),
                       "combine in a buffer that nothing else writes");
        }
        share.combined = true;
        continue;
      }
      if (!argument.knows_rows()) {
        return whole(
            fmt::format("which elements of {} a work-item writes is not known{}", name, why(argument)),
            fmt::format(
                R"(give {} a shape, and state "rows": 0 where a work-item writes only its own row, or "combine" where all add to it with atomics)",
                name));
      }
      if (argument.rows->reach != 0 || argument.rows->beyond != 0 || argument.rows->wraps != 0) {
        return whole(fmt::format("a work-item writes or reads {} beyond its own row", name),
                     fmt::format("write only the own row, and read {} through another argument", name));
      }
      auto owned = owned_bytes(wave.range, rows, argument.rows->row_bytes, buffer.bytes);
      if (share.combined) {
        return whole(fmt::format("another argument or wave combines {}", name),
                     "combine in a buffer that nothing else writes");
      }
      if (!share.owned.empty() && share.owned != owned) {
        return whole(
            fmt::format("another argument or wave cuts {} at other rows", name),
            "write it through one argument, and give waves the same sizes in the outermost dimension");
      }
      share.owned = std::move(owned);
    }
    of_set = std::move(shares);
    return {.rows = std::move(rows)};
  }

  // Returns why the rows that an argument touches are not known, after a colon; or an empty string.
  static std::string why(const ProgramArgument& argument) {
    return (argument.any_element.empty() ? "" : ": ") + argument.any_element;
  }

  // Returns why a wave needs all of a split buffer on every rank.
  [[nodiscard]] Obstacle obstacle(std::uint32_t wave, std::size_t argument) const {
    const ProgramWave& spec = program.waves[wave];
    const ProgramArgument& given = spec.arguments[argument];
    const std::string name = in_quotes(program.buffers[given.buffer].name);
    const std::string text = program.wave_text(wave);
    if (split.waves[wave].local) {
      return {};
    }
    if (!split.waves[wave].cut()) {
      return {fmt::format("rank 0 runs all of {}, which uses {}", text, name), split.waves[wave].whole.fix};
    }
    if (!given.knows_rows()) {
      return {fmt::format("which rows of {} {} reads is not known{}", name, text, why(given)),
              fmt::format(R"(give {} a shape, and state "rows" where it is read)", name)};
    }
    if (given.rows->wraps != 0) {
      return {fmt::format("{} reads {} around a torus", text, name), ""};
    }
    return {opencl_c::obstacle_to_moving(program.unit(spec.op).unit, program.function(spec.op), argument),
            ""};
  }

  // Each rank has memory for what it owns and touches of split buffers, or for all of a buffer.
  void make_room() {
    std::vector<Obstacle> whole(program.buffers.size());     // of sets
    std::vector<std::vector<ByteRange>> parts = split.owned; // likewise
    for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
      const ProgramWave& spec = program.waves[wave];
      for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        const ProgramArgument& argument = spec.arguments[i];
        if (!argument.is_memory() || !split.split(argument.buffer)) {
          continue;
        }
        const std::uint32_t set = split.swap_set[argument.buffer];
        whole[set] = whole[set].reason.empty() ? obstacle(wave, i) : whole[set];
        const std::vector<TileRows>& rows = split.waves[wave].rows;
        for (std::size_t rank = 0; rank < rows.size(); ++rank) {
          const auto bytes = touched(spec, argument, rows[rank], program.buffers[argument.buffer].bytes);
          parts[set][rank] = bytes.empty() ? parts[set][rank] : parts[set][rank].hull(bytes.front());
        }
      }
    }
    // All types are aligned to 128 bytes or fewer, and so is memory: what the buffer has aligned, its part has aligned.
    constexpr std::uint64_t granule = 128;
    for (std::uint32_t buffer = 0; buffer < program.buffers.size(); ++buffer) {
      const std::uint32_t set = split.swap_set[buffer];
      const std::uint64_t bytes = program.buffers[buffer].bytes;
      split.whole.push_back(whole[set]);
      std::vector<ByteRange>& room = split.room.emplace_back(split.ranks, ByteRange{0, bytes});
      for (std::uint32_t rank = 0; split.in_parts(buffer) && rank < split.ranks; ++rank) {
        const ByteRange& part = parts[set][rank];
        room[rank] = part.empty() ? part
                                  : ByteRange{part.begin / granule * granule,
                                              std::min((part.end + granule - 1) / granule * granule, bytes)};
      }
    }
  }
};

// The part of a local transfer that a rank does, in offsets of its memory; no bytes if it has nothing to do.
TransferCommand local_part(const JobSplit& split, TransferCommand part, std::uint32_t rank) {
  const ByteRange to = split.room[part.to][rank];
  ByteRange bytes = to.common({part.to_offset, part.to_offset + part.bytes});
  if (part.from) {
    const ByteRange from = split.room[*part.from][rank];
    bytes = split.split(*part.from) ? bytes.common(from) : bytes;
    part.from_offset += bytes.begin - part.to_offset - from.begin;
  }
  part.to_offset = bytes.begin - to.begin;
  part.bytes = bytes.size();
  return part;
}

} // namespace

JobSplit split_job(const Job& program, std::uint32_t ranks) {
  return Splitter{program, {.ranks = ranks, .swap_set = swap_sets(program)}}.run();
}

CompiledProgram part_of(const CompiledProgram& compiled, const JobSplit& split, std::uint32_t rank) {
  CompiledProgram part = compiled;
  part.program = compiled.written;
  Job& job = part.program;
  for (std::uint32_t i = 0; i < job.buffers.size(); ++i) {
    ProgramBuffer& buffer = job.buffers[i];
    buffer.output.reset(); // all ranks together have it
    if (split.in_parts(i)) {
      const ByteRange bytes = split.room[i][rank];
      buffer.bytes = bytes.size();
      buffer.count = buffer.bytes / element_bytes(buffer.type);
      if (buffer.first) {
        buffer.first = [read = buffer.first_part, bytes] {
          return bytes.empty() ? Result<std::vector<std::byte>>() : read(bytes.begin, bytes.size());
        };
      }
    }
  }
  auto moved = moved_pointers(compiled.written, split);
  for (const auto& [unit, kernels] : moved) {
    job.units[unit].built_in.clear();
    job.units[unit].rewritten = opencl_c::move_pointers(compiled.written.units[unit].unit, kernels);
  }
  for (std::uint32_t i = 0; i < job.waves.size(); ++i) {
    ProgramWave& wave = job.waves[i];
    if (split.waves[i].cut()) {
      wave.range = part_of(wave.range, split.waves[i].rows[rank]);
    }
    if (split.waves[i].local) {
      wave.command = local_part(split, *wave.command, rank);
    }
    for (const std::size_t parameter : moved[job.ops[wave.op].unit][job.function(wave.op).name]) {
      const ProgramArgument& argument = wave.arguments[parameter];
      const std::uint64_t begin = argument.is_memory() ? split.room[argument.buffer][rank].begin : 0;
      const auto bytes = std::as_bytes(std::span(&begin, 1));
      wave.arguments.push_back({.value = {bytes.begin(), bytes.end()}});
    }
  }
  return part;
}

std::map<std::uint32_t, opencl_c::MovedPointers> moved_pointers(const Job& program, const JobSplit& split) {
  std::map<std::uint32_t, opencl_c::MovedPointers> moved;
  for (const ProgramWave& wave : program.waves) {
    for (std::size_t i = 0; i < wave.arguments.size(); ++i) {
      if (!wave.command && wave.arguments[i].is_memory() && split.in_parts(wave.arguments[i].buffer)) {
        moved[program.ops[wave.op].unit][program.function(wave.op).name].insert(i);
      }
    }
  }
  return moved;
}

NdRange part_of(const NdRange& range, const TileRows& rows) {
  NdRange part = range;
  const std::uint32_t d = range.dimensions - 1;
  part.offset[d] = first_id(range, rows.begin);
  part.global[d] = static_cast<std::uint32_t>(first_id(range, rows.end) - part.offset[d]);
  part.groups[d] = rows.end - rows.begin;
  return part;
}

TileRows inner_rows(const Job& program, std::uint32_t wave, const TileRows& rows,
                    std::span<const RankTransfer> awaited) {
  const ProgramWave& spec = program.waves[wave];
  const auto waits = [&](const TileRows& tiles) {
    return std::ranges::any_of(awaited, [&](const RankTransfer& transfer) {
      return std::ranges::any_of(spec.arguments, [&](const ProgramArgument& argument) {
        return argument.is_of(transfer.buffer) &&
               std::ranges::any_of(
                   touched(spec, argument, tiles, program.buffers[transfer.buffer].bytes),
                   [&](const ByteRange& bytes) { return !bytes.common(transfer.bytes).empty(); });
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
  return {inner.begin, waits(inner) ? inner.begin : inner.end};
}

Freshness::Freshness(const Job& program, const JobSplit& split,
                     std::span<const std::vector<std::uint32_t>> storage)
    : program_(program), split_(split), storage_(storage), fresh_(split.room) {
} // first contents are wherever there is memory for them

std::vector<RankTransfer> Freshness::before(std::uint32_t wave, std::uint32_t iteration) {
  const WaveCut& cut = split_.waves[wave];
  const ProgramWave& spec = program_.waves[wave];
  std::vector<RankTransfer> transfers;
  // A rank's fresh bytes are one range, which holds what it owns: so what it lacks lies on both sides of it.
  const auto fetch = [&](std::uint32_t buffer, std::uint32_t rank, const ByteRange& needed,
                         const ByteRange& has) {
    for (const ByteRange& lacks : {ByteRange{needed.begin, std::min(needed.end, has.begin)},
                                   ByteRange{std::max(needed.begin, has.end), needed.end}}) {
      for (std::uint32_t owner = 0; owner < split_.ranks; ++owner) {
        const ByteRange part = lacks.common(split_.owned[buffer][owner]);
        if (!part.empty()) {
          transfers.push_back({.from = owner, .to = rank, .buffer = buffer, .bytes = part});
        }
      }
    }
  };
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
      const auto all =
          cut.cut() ? touched(spec, argument, cut.rows[rank], bytes) : std::vector<ByteRange>{{0, bytes}};
      if (all.empty()) {
        continue;
      }
      ByteRange& has = fresh[rank];
      if (has.empty()) { // and may be far from what a rank reads that owns nothing
        has = {all[0].begin, all[0].begin};
      }
      // A gap between what it has and what it needs would be lost from the account.
      const ByteRange needed{std::min(all[0].begin, has.end), std::max(all[0].end, has.begin)};
      fetch(argument.buffer, rank, needed, has);
      has = {std::min(needed.begin, has.begin), std::max(needed.end, has.end)};
      for (std::size_t i = 1; i < all.size(); ++i) { // each time, as they are not part of the account
        fetch(argument.buffer, rank, all[i], has);
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
      fresh = spec.command->bytes == bytes ? split_.room[argument.buffer][rank] : fresh;
      if (spec.command->from && split_.split(*spec.command->from)) {
        fresh = fresh.common(fresh_[memory_of[*spec.command->from]][rank]);
      }
    }
  }
}

} // namespace tidegate::engine
