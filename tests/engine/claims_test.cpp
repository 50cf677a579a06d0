// Claims of tiles (kernels/wave/claims.cl), the kernels' own text, by threads in place of work-groups: every tile runs once,
// after all tiles of the stage before, however late a group is.

namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
namespace claims_on_device {
using uint = std::uint32_t;
using ulong = std::uint64_t;
using std::max;
using std::min;
struct uint3 {
  uint x, y, z;
};
uint get_local_id(uint) {
  return 0;
}
#define global
#define local
#define CLK_GLOBAL_MEM_FENCE 1
#define CLK_LOCAL_MEM_FENCE 2
#define TG_ORDERING 3
#define mem_fence(flags) __sync_synchronize()
#define barrier(flags) (void)0
#define atomic_add __sync_fetch_and_add
#define atomic_xchg __sync_lock_test_and_set
#define atom_cmpxchg __sync_val_compare_and_swap
#include "common/device_barrier.cl"
#include "wave/tables.h"
// After the tables, which it needs.
#include "wave/tasks.cl"
// After the tiles. On CPUs a claim first looks at its word as at any other, which a thread sanitizer takes for a race.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("thread"))), apply_to = function)
#include "wave/claims.cl"
#pragma clang attribute pop
#else
#include "wave/claims.cl"
#endif
#pragma GCC diagnostic pop

struct Slice {
  uint stage = 0;
  uint turn = 0;
  uint budget = 0;
};

// A persistent launch without work: its tiles count how often they ran.
struct Launch {
  uint groups = 0;
  uint mapping = 0;
  std::vector<std::vector<std::atomic<uint>>> ran; // by stage and tile
  std::vector<uint> words;
  std::atomic<uint> too_early{0};

  // What a work-group does in a slice, as in persistent.cl; returns where the slice ends. `late` says when it pauses.
  template <class Late>
  Slice run(uint group, const Slice& slice, uint& arrivals, Late late) {
    Slice at = slice;
    uint left = slice.budget;
    while (left != 0 && at.stage != ran.size()) {
      const auto tiles = static_cast<uint>(ran[at.stage].size());
      const tg_task task = tg_share_of(tiles, group, groups, mapping);
      const tg_walk walk = tg_walk_of(task, at.turn, left, mapping, at.stage);
      tg_await(words.data(), TG_ARRIVALS, arrivals, ~0U, nullptr, {});
      tg_claims claims{};
      tg_begin_claims(&claims, slice.budget - left, walk);
      while (true) {
        late();
        tg_claim_tile(&claims, words.data(), {tiles, group, groups, mapping, at.turn, left, at.stage});
        if (claims.tile == TG_NO_TILE) {
          break;
        }
        too_early += std::ranges::any_of(ran[at.stage == 0 ? 0 : at.stage - 1],
                                         [&](const auto& count) { return at.stage != 0 && count != 1; });
        ++ran[at.stage][claims.tile];
      }
      if (claims.count != 0) {
        tg_add_many_release(&words[TG_ARRIVALS], claims.count);
      }
      arrivals += tg_tiles_of_turns(tiles, at.turn, walk.turns, task.turns, groups);
      left -= walk.turns;
      at.turn += walk.turns;
      if (at.turn == task.turns) {
        at.turn = 0;
        ++at.stage;
      }
    }
    return at;
  }
};

TEST_CASE("claimed tiles run once each, stage after stage, in slices of any length") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto up_to = [&](uint most) { return 1 + static_cast<uint>(random() % most); };
    Launch launch;
    launch.groups = up_to(4);
    launch.mapping = up_to(3) - 1;
    launch.words.resize(TG_REACHED(launch.groups));
    uint tiles = 0;
    for (uint stages = up_to(40); stages != 0; --stages) {
      launch.ran.emplace_back(up_to(9));
      tiles += static_cast<uint>(launch.ran.back().size());
    }
    Slice at;
    uint arrivals = 0;
    while (at.stage != launch.ran.size()) {
      for (uint share = 0; share < launch.groups; ++share) { // as Counters::clear_claims
        *TG_SHARE_CLAIMS(launch.words.data(), share) = 0;
      }
      at.budget = up_to(seed % 2 == 0 ? 5 : 1000);
      std::vector<Slice> ends(launch.groups);
      std::vector<uint> arrived(launch.groups, arrivals);
      std::vector<std::thread> threads;
      const auto start = [&](uint group, uint pause) {
        threads.emplace_back([&, group, bits = std::mt19937(random()), pause]() mutable {
          ends[group] = launch.run(group, at, arrived[group], [&] {
            if (bits() % pause == 0) {
              std::this_thread::sleep_for(std::chrono::microseconds(bits() % 50));
            }
          });
        });
      };
      for (uint group = 1; group < launch.groups; ++group) {
        start(group, 4);
      }
      if (launch.groups > 1 &&
          seed % 4 == 1) { // the others do without the first group, which comes when all is done
        for (std::thread& thread : threads) {
          thread.join();
        }
        threads.clear();
        CHECK(launch.words[TG_ARRIVALS] == arrived.back());
      }
      start(0, 16);
      for (std::thread& thread : threads) {
        thread.join();
      }
      for (uint group = 0; group < launch.groups; ++group) {
        CHECK(ends[group].stage == ends[0].stage);
        CHECK(ends[group].turn == ends[0].turn);
        CHECK(arrived[group] == arrived[0]);
      }
      arrivals = arrived[0];
      CHECK(launch.words[TG_ARRIVALS] == arrivals);
      at.stage = ends[0].stage;
      at.turn = ends[0].turn;
    }
    CHECK(arrivals == tiles);
    CHECK(launch.too_early == 0);
    for (const auto& stage : launch.ran) {
      CHECK(std::ranges::all_of(stage, [](const auto& count) { return count == 1; }));
    }
  }
}

} // namespace claims_on_device
} // namespace

#undef global
#undef local
#undef mem_fence
#undef barrier
#undef atomic_add
#undef atomic_xchg
#undef atom_cmpxchg
#undef TG_ORDERING
