// Tiles that work-groups claim, at barriers of CPUs: a group whose core another program has taken holds up nothing but the
// tile that it was in the middle of.
//
// The tiles of a stage are divided into shares as without claims, one for each group. A group claims the tiles of its own
// share one after another, and then what is left of the others' shares. TG_ARRIVALS counts finished tiles, in place of
// groups that have arrived: a stage ends when all of its tiles are finished, by any group. The part of a stage
// that a slice runs is the same turns of all shares, so a slice still ends between two turns.
//
//   a share's word:  number of the part of a stage, 32 bits | tiles that are claimed of it, 32 bits
//
// Parts have the number of turns before them in the slice, plus 1, so that numbers grow. With the number of an older part
// (0 where there was none) nothing is claimed yet; with a newer one, this part has ended. A claim replaces the whole word
// and fails if it has changed, so a late group claims nothing of a newer part under an old number. The host clears the
// words before each slice, and a slice has fewer than 2^31 turns.
//
// A claim orders no memory. A group adds its finished tiles to the count with a release, after a barrier of its
// work-items; a group that waits for the count acquires what all tiles of the stage have written.

#define TG_SHARE_CLAIMS(counters, share) ((volatile global ulong*)&(counters)[TG_REACHED(share)])
// Next to TG_GAVE_UP, in its line: claims of the test that ends the repetition, and the number of iterations after which
// that was met. A late group, which reads it after a later iteration, finds another number than its own.
#define TG_UNTIL_CLAIM(counters) ((volatile global ulong*)&(counters)[TG_CLAIM_OF_UNTIL])
#define TG_UNTIL_MET (TG_GAVE_UP + 4)

#define TG_NO_TILE 0xffffffffu

// The claims of a group in a part; its first work-item writes them.
typedef struct {
  uint tile; // that comes next, or TG_NO_TILE
  uint met;  // 1 if the repetition has ended
  uint part;
  uint count;   // of tiles so far
  uint shares;  // that the group has come to the end of
  tg_walk walk; // the tiles of the next share
} tg_claims;

// Returns the tiles of `turns` turns of all shares.
uint tg_tiles_of_turns(uint tiles, uint turn, uint turns, uint all_turns, uint groups) {
  return (turn + turns == all_turns ? tiles : (turn + turns) * groups) - turn * groups;
}

// Claims one of `count` tiles; returns its number, or `count` if none is left. An attempt fails only if another group's
// succeeds.
uint tg_claim(volatile global ulong* word, uint part, uint count) {
  ulong seen = *word; // CPUs of 64 bits read it as a whole
  for (uint i = 0; i < 0xffffffffu; ++i) {
    const uint of = (uint)(seen >> 32);
    const uint next = of == part ? (uint)seen : 0;
    if (of > part || next >= count) {
      break;
    }
    const ulong before = atom_cmpxchg(word, seen, ((ulong)part << 32) + next + 1);
    if (before == seen) {
      return next;
    }
    seen = before;
  }
  return count;
}

void tg_begin_claims(local tg_claims* claims, uint turns_before, tg_walk own) {
  claims->part = turns_before + 1;
  claims->count = 0;
  claims->shares = 0;
  claims->walk = own;
}

// The part that a slice runs of a stage with `tiles` tiles, from `turn` on.
typedef struct {
  uint tiles;
  uint group;
  uint groups;
  uint mapping;
  uint turn;
  uint left; // turns of the slice
  uint sequence;
} tg_part_of_stage;

// Sets the group's next tile.
void tg_claim_tile(local tg_claims* claims, volatile global tg_word* counters, tg_part_of_stage of) {
  while (claims->shares < of.groups) {
    const tg_walk walk = claims->walk;
    const uint claimed = tg_claim(TG_SHARE_CLAIMS(counters, (of.group + claims->shares) % of.groups), claims->part, walk.count);
    if (claimed < walk.count) {
      claims->tile = walk.first + claimed * walk.step;
      ++claims->count;
      return;
    }
    ++claims->shares;
    const tg_task next = tg_share_of(of.tiles, (of.group + claims->shares) % of.groups, of.groups, of.mapping);
    claims->walk = tg_walk_of(next, of.turn, of.left, of.mapping, of.sequence);
  }
  claims->tile = TG_NO_TILE;
}
