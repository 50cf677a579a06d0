// Hard arena problems with a known answer: a block of capacity by time is cut into buffers, so that a plan
// without gaps exists. Equal seeds yield equal problems everywhere.
//
//   guillotine  the block is cut in two by time or by offset, and each part again
//   slabs       few buffers live throughout, many short ones between them
//   staircase   rows of buffers over one another, each row shifted against the one below: nothing separates
//               one part of time from the next
//   loose       guillotine with one buffer in eight taken away: most sections have room, some have none
#pragma once
#include "core/prelude.hpp"
#include <tidegate/planning/arena.hpp>

namespace tidegate::planning::test {

inline constexpr std::array<std::string_view, 4> arena_families{"guillotine", "slabs", "staircase", "loose"};

class ArenaFamily {
public:
  explicit ArenaFamily(std::uint64_t seed) : random_(seed) {}

  // About `count` buffers that fit `capacity` bytes; sizes are multiples of `grain`.
  ArenaProblem problem(std::string_view family, std::size_t count, std::uint64_t capacity,
                       std::uint64_t grain) {
    problem_ = {.buffers = {}, .capacity_bytes = capacity};
    grain_ = grain;
    const std::uint64_t moments = 1024;
    if (family == "guillotine") {
      cut({0, moments, 0, capacity}, count);
    } else if (family == "slabs") {
      slabs({0, moments, 0, capacity}, count);
    } else if (family == "staircase") {
      staircase(moments, capacity, count);
    } else {
      cut({0, moments, 0, capacity}, count + count / 7);
      std::erase_if(problem_.buffers, [this](const ArenaBuffer&) { return below(8) == 0; });
    }
    // Shuffle, because the order of the cuts would reveal the answer.
    for (std::size_t i = problem_.buffers.size(); i > 1; --i) {
      std::swap(problem_.buffers[i - 1], problem_.buffers[below(i)]);
    }
    return problem_;
  }

private:
  struct Block {
    std::uint64_t lower, upper, bottom, top;
  };

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  // A point strictly between, a multiple of the step above `low`.
  std::uint64_t between(std::uint64_t low, std::uint64_t high, std::uint64_t step) {
    return low + step * (1 + below((high - low - 1) / step));
  }

  void keep(const Block& block) {
    problem_.buffers.push_back({block.lower, block.upper, block.top - block.bottom});
  }

  // Into `count` buffers, if the grain allows that many.
  void cut(const Block& block, std::size_t count) {
    const bool long_enough = block.upper - block.lower > 1;
    const bool high_enough = block.top - block.bottom > grain_;
    if (count < 2 || (!long_enough && !high_enough)) {
      keep(block);
      return;
    }
    const std::size_t first = 1 + below(count - 1);
    Block one = block;
    Block other = block;
    if (long_enough && (!high_enough || below(2) == 0)) {
      one.upper = other.lower = between(block.lower, block.upper, 1);
    } else {
      one.top = other.bottom = between(block.bottom, block.top, grain_);
    }
    cut(one, first);
    cut(other, count - first);
  }

  void slabs(const Block& block, std::size_t count) {
    const std::size_t slabs = 8;
    const std::uint64_t pitch = (block.top - block.bottom) / slabs / grain_ * grain_;
    for (std::size_t i = 0; i < slabs; ++i) {
      Block part{block.lower, block.upper, block.bottom + i * pitch,
                 i + 1 == slabs ? block.top : block.bottom + (i + 1) * pitch};
      Block slab = part;
      slab.top = part.bottom = between(part.bottom, part.bottom + (part.top - part.bottom) / 4, grain_);
      slab.lower += below(64);
      slab.upper -= below(64);
      keep(slab);
      cut(part, count / slabs - 1);
    }
  }

  // Rows of buffers over time, each row shifted against the one below.
  void staircase(std::uint64_t moments, std::uint64_t capacity, std::size_t count) {
    const std::size_t rows = 16;
    const std::uint64_t pitch = capacity / rows / grain_ * grain_;
    const std::size_t columns = count / rows;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint64_t bottom = row * pitch;
      const std::uint64_t top = row + 1 == rows ? capacity : bottom + pitch;
      std::uint64_t lower = 0;
      for (std::size_t column = 0; column <= columns; ++column) {
        const std::uint64_t step = moments / columns;
        const std::uint64_t upper =
            column == columns ? moments : column * step + 1 + row * step / rows + below(step / rows + 1);
        if (upper > lower) {
          const std::uint64_t middle = between(bottom, top, grain_);
          keep({lower, upper, bottom, below(3) == 0 ? top : middle});
          if (problem_.buffers.back().size < top - bottom) {
            keep({lower, upper, middle, top});
          }
        }
        lower = upper;
      }
    }
  }

  std::mt19937_64 random_;
  std::uint64_t grain_ = 1;
  ArenaProblem problem_;
};

} // namespace tidegate::planning::test
