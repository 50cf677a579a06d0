// A job is shared among ranks: some waves are cut, some buffers are split, and ranks exchange bytes before a wave.
//
//   range of a wave  | tile row 0 | 1 | 2 | 3 | 4 | 5 | 6 |     cut in the outermost dimension into whole tiles
//   3 ranks          | rank 0         | rank 1    | rank 2|
//   a buffer it writes                                          each rank owns the rows that its tiles write
//   a buffer it reads     ... rank 1 needs its rows and `reach` rows of its neighbours (RowReach)
//
// A rank has some bytes of a split buffer as one rank alone would have them. These are *fresh*. Every rank keeps
// account of what is fresh on every rank, so that all know what to send without asking.
//
// If all that a rank ever touches of a split buffer is known, its memory holds that part alone (store_in_parts):
//
//   rank 1 owns        |--------|
//   its memory   |#####|--------|#####|     # of neighbours: what it reads, at the greatest depth of halos
//                ^ tg_begin                 kernels get where the part begins, and index the whole buffer
#pragma once
#include "engine/job.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tidegate::engine {

// Half-open; empty if begin >= end.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t size() const { return begin < end ? end - begin : 0; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// A wave is cut if each of its tiles is known to write only the rows that belong to the tile, or if what it writes is
// combined: then each rank runs its part. Otherwise every rank runs the whole wave, on whole buffers. If the order of
// work-items or items may change the results, these would differ between ranks: then rank 0 runs it and sends all that
// it may have written.
struct WaveCut {
  std::vector<std::uint32_t> begin; // by rank its first tile row, and the end of the last; empty: not cut
  bool on_one_rank = false;         // which is not cut
  std::string reason;               // why it is not cut
  std::string fix;                  // what to declare so that it is; empty if nothing helps
  // A fill of a split buffer, or a copy into one whose bytes each rank has where it owns those of the target: every
  // rank does it on all bytes that it has memory for, and no message follows.
  bool local = false;

  [[nodiscard]] bool cut() const { return !begin.empty(); }
};

struct JobSplit {
  std::uint32_t ranks = 1;
  std::vector<WaveCut> waves;
  std::vector<std::uint32_t> swap_set; // by buffer: equal for those that exchange their memory
  std::vector<std::vector<ByteRange>>
      owned; // by buffer and rank, of split buffers; empty: every rank writes all of it

  // The bytes that a rank has memory for, by buffer and rank; empty: all of them.
  std::vector<std::vector<ByteRange>> parts;
  struct Obstacle {
    std::string reason, fix;
  };
  std::vector<Obstacle> whole; // by buffer: why every rank has memory for all of a split one

  [[nodiscard]] bool split(std::uint32_t buffer) const { return !owned[buffer].empty(); }
  [[nodiscard]] bool in_parts(std::uint32_t buffer) const {
    return buffer < parts.size() && !parts[buffer].empty();
  }
};

// Each rank gets a part of what is cut in proportion to its weight, which is at least 1.
// The bytes of a buffer that a rank has memory for.
ByteRange room_of(const Job& program, const JobSplit& split, std::uint32_t buffer, std::uint32_t rank);

// The part of a local transfer that a rank does, in offsets of its memory; no bytes if it has nothing to do.
TransferCommand local_part(const Job& program, const JobSplit& split, std::uint32_t wave, std::uint32_t rank);

JobSplit split_job(const Job& program, std::span<const std::uint32_t> weights);

// Returns true if ranks combine a buffer after the wave.
bool combines(const ProgramWave& wave);

// Half-open. A rank runs whole tiles; where it runs those of its neighbours, only these ids of the outermost dimension
// are right, because others may read what is not fresh.
struct TileRows {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t first_id = 0;
  std::uint64_t end_id = 0;

  friend bool operator==(const TileRows&, const TileRows&) = default;
};

std::uint32_t outermost(const NdRange& range);

// The global id at which a tile row begins, or the last one ends.
std::uint64_t first_id(const NdRange& range, std::uint64_t tile_row);

// The ids that ranks cut: of work-items, or the params of items, each a tile.
NdRange ids_of(const ProgramWave& wave);

// The first byte of a row of a buffer, or the end of the buffer.
std::uint64_t row_begin(std::uint64_t row, std::uint64_t row_bytes, std::uint64_t bytes);

// Returns the part of a range with these rows of tiles.
NdRange part_of(const NdRange& range, const TileRows& rows);

// The same rows with the ids of whole tiles, which are what a rank runs and has memory for.
TileRows whole_tiles(const ProgramWave& wave, TileRows rows);

// The bytes that tile rows of a wave touch of an argument, as far as known: all otherwise.
ByteRange touched(const ProgramArgument& argument, const TileRows& tiles, std::uint64_t bytes);

// The tile rows that each rank runs of each wave. With a depth of K, one exchange serves K iterations: a rank runs
// those rows of its neighbours, too, that its own rows need later in the K iterations.
//
//   own rows      |########|            iteration 3 of 3
//               |#+########+#|          iteration 2      # + redundant work
//             |#+#+########+#+#|        iteration 1: of what is read here, the halo comes from the neighbours
class DeepHalos {
public:
  // References must outlive it.
  DeepHalos(const Job& program, const JobSplit& split, std::span<const std::vector<std::uint32_t>> storage,
            std::uint32_t depth);

  [[nodiscard]] std::uint32_t depth() const { return next_depth_; }

  // One past the last iteration that the last exchange serves.
  [[nodiscard]] std::uint32_t end() const { return begin_ + depth_; }

  // Takes this depth, where the program allows it, from the next exchange of halos on.
  void use(std::uint32_t depth) { next_depth_ = reason_.empty() ? depth : 1; }

  [[nodiscard]] const std::string& reason() const { return reason_; } // why the depth is 1; may be empty

  // Returns, by buffer and rank, all that the rank owns, and that cut waves touch with this depth or a lower one.
  // Buffers that exchange their memory have the same.
  [[nodiscard]] std::vector<std::vector<ByteRange>> hulls() const;

  // Returns the rows of each rank; empty for a wave that is not cut.
  std::vector<TileRows> rows(std::uint32_t wave, std::uint32_t iteration);

  // Returns, for each wave that is cut and repeats, all rows that the rank runs in some iteration, with this depth or a
  // lower one.
  [[nodiscard]] std::vector<TileRows> widest(std::uint32_t rank) const;

private:
  using Block = std::vector<std::vector<std::vector<TileRows>>>; // by iteration, wave and rank
  [[nodiscard]] Block plan(std::uint32_t depth, std::uint32_t first_phase) const;
  [[nodiscard]] bool reaches_further() const;

  const Job& program_;
  const JobSplit& split_;
  std::span<const std::vector<std::uint32_t>> storage_;
  const std::vector<std::uint32_t> order_;
  std::uint32_t depth_ = 0; // of the iterations since begin_
  std::uint32_t next_depth_;
  std::uint32_t begin_ = 0;
  std::string reason_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Block>
      blocks_; // by depth, and phase of the first iteration
};

// Decides which split buffers are in parts, for depths up to this one; storage[phase][buffer] is the buffer whose
// memory a buffer uses.
void store_in_parts(const Job& program, std::span<const std::vector<std::uint32_t>> storage,
                    std::uint32_t halo_depth, JobSplit& split);

// Returns, by wave, the parameters of its kernel that are in parts; arguments after those of the wave say where each
// part begins.
std::vector<std::vector<std::uint32_t>> moved_parameters(const Job& program, const JobSplit& split);

// Returns, by unit, the source whose kernels take these arguments.
std::map<std::uint32_t, std::string> moving_sources(const Job& program,
                                                    const std::vector<std::vector<std::uint32_t>>& moved);

// Bytes that one rank sends to another.
struct RankTransfer {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t buffer = 0;
  ByteRange bytes;
};

// Returns those of these rows of tiles that touch nothing of what a rank awaits, which lies on both sides of what it
// has.
TileRows inner_rows(const Job& program, std::uint32_t wave, const TileRows& rows,
                    std::span<const RankTransfer> awaited);

class Freshness {
public:
  // References must outlive it; storage[phase][buffer] is the buffer whose memory a buffer uses.
  Freshness(const Job& program, const JobSplit& split, std::span<const std::vector<std::uint32_t>> storage);

  // Returns what has to be sent before a wave in an iteration, of which each rank runs these rows, and counts it as
  // sent.
  std::vector<RankTransfer> before(std::uint32_t wave, std::uint32_t iteration,
                                   const std::vector<TileRows>& rows);

  // Accounts for what the wave has written.
  void after(std::uint32_t wave, std::uint32_t iteration, const std::vector<TileRows>& rows);

  // Accounts for whole iterations, waves in this order, if nothing has to be sent in them; returns false otherwise.
  bool pass(std::uint32_t begin, std::uint32_t end, const std::vector<std::uint32_t>& order,
            DeepHalos& halos);

  // Returns what rank 0 lacks of a buffer after that number of iterations.
  [[nodiscard]] std::vector<RankTransfer> gather(std::uint32_t buffer, std::uint32_t iterations) const;

private:
  void fetch(std::uint32_t buffer, std::uint32_t rank, ByteRange needed, const std::vector<ByteRange>& fresh,
             std::vector<RankTransfer>& transfers) const;

  const Job& program_;
  const JobSplit& split_;
  std::span<const std::vector<std::uint32_t>> storage_;
  std::vector<std::vector<ByteRange>> fresh_; // by memory and rank
};

} // namespace tidegate::engine
