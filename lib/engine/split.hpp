// A job is shared among ranks: some waves are cut, some buffers are split, and ranks exchange bytes before a wave.
//
//   range of a wave  | tile row 0 | 1 | 2 | 3 | 4 | 5 | 6 |     cut in the outermost dimension into whole tiles
//   3 ranks          | rank 0         | rank 1    | rank 2|
//   a buffer it writes                                          each rank owns the rows that its tiles write
//   a buffer it reads     ... rank 1 needs its rows and `reach` rows of its neighbours (RowReach)
//
// A rank has some bytes of a split buffer as one rank alone would have them. These are *fresh*. Every rank keeps
// account of what is fresh on every rank, so that all know what to send without asking. All other buffers are whole and
// equal on all ranks after each wave.
//
// If all that a rank ever touches of a split buffer is known, its memory holds that part alone:
//
//   rank 1 owns        |--------|
//   its memory       |#|--------|#|     # of neighbours: what it reads
//                    ^ tg_begin         kernels get where the part begins, and index the whole buffer
#pragma once
#include "engine/job.hpp"
#include "opencl_c/outline.hpp"

namespace tidegate::engine {

struct CompiledProgram;

using ByteRange = HalfOpen<std::uint64_t>;
using TileRows = HalfOpen<std::uint32_t>; // of a wave

// Why something is not divided among ranks.
struct Obstacle {
  std::string reason;
  std::string fix; // what to declare; empty if nothing helps

  [[nodiscard]] std::string text() const { return fix.empty() ? reason : reason + ": " + fix; }
};

// A wave is cut if each of its tiles is known to write only the rows that belong to the tile, or if what it writes is
// combined: then each rank runs its part. A fill or a copy that needs no message is local: every rank does it on all
// bytes that it has memory for. Rank 0 runs all of any other wave, and sends what it may have written.
struct WaveCut {
  std::vector<TileRows> rows; // that each rank runs, in their order; empty: not cut
  bool local = false;
  Obstacle whole; // why rank 0 runs all of it

  [[nodiscard]] bool cut() const { return !rows.empty(); }
  [[nodiscard]] bool on_one_rank() const { return !cut() && !local; }
};

struct JobSplit {
  std::uint32_t ranks = 1;
  std::vector<WaveCut> waves;
  std::vector<std::uint32_t> swap_set; // by buffer: equal for those that exchange their memory
  std::vector<std::vector<ByteRange>>
      owned; // by buffer and rank, of split buffers; empty: every rank writes all of it
  std::vector<std::vector<ByteRange>> room; // by buffer and rank: the bytes that it has memory for
  std::vector<Obstacle> whole;              // by buffer: why every rank has memory for all of a split one

  [[nodiscard]] bool split(std::uint32_t buffer) const { return !owned[buffer].empty(); }
  [[nodiscard]] bool in_parts(std::uint32_t buffer) const {
    return split(buffer) && whole[buffer].reason.empty();
  }
};

// Each rank gets an equal part of what is cut.
JobSplit split_job(const Job& program, std::uint32_t ranks);

// Returns the part of a range with these rows of tiles.
NdRange part_of(const NdRange& range, const TileRows& rows);

// Returns the part of a program of plain launches that a rank runs: memory for what it has of each buffer, its rows of
// waves that are cut, its part of local transfers, and kernels that learn where parts begin. No output is its own.
CompiledProgram part_of(const CompiledProgram& compiled, const JobSplit& split, std::uint32_t rank);

// Returns, by unit, the kernels that take buffers in parts, and the parameters that do; arguments after those of a wave
// say where each part begins.
std::map<std::uint32_t, opencl_c::MovedPointers> moved_pointers(const Job& program, const JobSplit& split);

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

  // Returns what has to be sent before a wave in an iteration, and counts it as sent.
  std::vector<RankTransfer> before(std::uint32_t wave, std::uint32_t iteration);

  // Accounts for what the wave has written.
  void after(std::uint32_t wave, std::uint32_t iteration);

private:
  const Job& program_;
  const JobSplit& split_;
  std::span<const std::vector<std::uint32_t>> storage_;
  std::vector<std::vector<ByteRange>> fresh_; // by memory and rank
};

} // namespace tidegate::engine
