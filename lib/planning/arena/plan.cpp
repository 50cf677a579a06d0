// Plans an arena: heuristics for every component, then the exact search for the highest ones.
#include "planning/arena/search.hpp"

namespace tidegate::planning {

namespace {

// The fast heuristics of the arena planner: lay out the items of a component in several ways, keep the lowest
// layout while work remains.
//
//   sweep     walk through time like a memory allocator that does not know the future: best fit among the
//             free blocks. Always affordable: O(n log n), even with 100 000 buffers alive at once.
//   by order  place the items by size, area, lifetime or start, each in a gap between the items already
//             placed. Better, and costs as much as there are overlapping pairs.
//
// Source of the orders: Sekiyama et al., "Profile-guided memory optimization for deep neural networks", 2018;
// Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020 (greedy by size).

struct ArenaLayout {
  std::vector<std::uint64_t> offsets; // by item
  std::uint64_t height_bytes = 0;
};

// ---- Sweep: at its start an item takes the smallest free block that fits, and frees it at its end.

// The free blocks by offset and by length; adjacent ones are merged. The last one reaches to the end of the 64 bits.
class FreeBlocks {
public:
  FreeBlocks() { insert(0, u64_max); }

  // Returns the offset taken, or nothing if no block is longer than the size by the whole alignment.
  std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment) {
    const std::uint64_t enough = size > u64_max - (alignment - 1) ? u64_max : size + (alignment - 1);
    const auto block = by_length_.lower_bound({enough, 0});
    if (block == by_length_.end()) {
      return std::nullopt;
    }
    const auto [length, offset] = *block;
    erase(by_offset_.find(offset));
    const std::uint64_t start = *aligned_up(offset, alignment);
    insert(offset, start);
    insert(start + size, offset + length);
    return start;
  }

  void give_back(std::uint64_t offset, std::uint64_t size) {
    std::uint64_t end = offset + size;
    auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.end() && after->first == end) {
      end += after->second;
      after = erase(after);
    }
    if (after != by_offset_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == offset) {
        offset = before->first;
        erase(before);
      }
    }
    insert(offset, end);
  }

private:
  using ByOffset = std::map<std::uint64_t, std::uint64_t>;

  void insert(std::uint64_t offset, std::uint64_t end) {
    if (offset < end) {
      by_offset_.emplace(offset, end - offset);
      by_length_.emplace(end - offset, offset);
    }
  }

  ByOffset::iterator erase(ByOffset::iterator block) {
    by_length_.erase({block->second, block->first});
    return by_offset_.erase(block);
  }

  ByOffset by_offset_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_length_; // (length, offset)
};

// Places items that start together by decreasing size. Returns nothing if the layout exceeds 64 bits.
std::optional<ArenaLayout> sweep_layout(const ArenaComponent& component, bool forward) {
  const auto sections = static_cast<std::uint32_t>(component.section_bytes.size());
  const auto begin_of = [&](std::uint32_t i) {
    return forward ? component.items[i].first_section : sections - component.items[i].end_section;
  };
  const auto end_of = [&](std::uint32_t i) {
    return forward ? component.items[i].end_section : sections - component.items[i].first_section;
  };
  std::vector<std::uint32_t> starts(component.items.size());
  std::iota(starts.begin(), starts.end(), 0U);
  std::vector<std::uint32_t> ends = starts;
  std::ranges::stable_sort(starts, {},
                           [&](std::uint32_t i) { return std::pair(begin_of(i), ~component.items[i].size); });
  std::ranges::stable_sort(ends, {}, end_of);

  FreeBlocks free_blocks;
  ArenaLayout result{.offsets = std::vector<std::uint64_t>(component.items.size())};
  auto ending = ends.begin();
  for (const std::uint32_t start : starts) {
    for (; end_of(*ending) <= begin_of(start); ++ending) {
      free_blocks.give_back(result.offsets[*ending], component.items[*ending].size);
    }
    const ArenaItem& item = component.items[start];
    const auto offset = free_blocks.take(item.size, item.alignment);
    if (!offset) {
      return std::nullopt;
    }
    result.offsets[start] = *offset;
    result.height_bytes = std::max(result.height_bytes, *offset + item.size);
  }
  return result;
}

// ---- By order

enum class Fit : std::uint8_t {
  best,   // the gap that leaves the fewest bytes; if there is none, above everything
  lowest, // the lowest gap
};

// Lays out the items of a component in any order, each in a gap between the items placed before it.
class Gaps {
public:
  explicit Gaps(const ArenaComponent& component)
      : component_(component), overlaps_(arena_overlaps(component)), extents_(component.items.size()) {}

  // Places the items in this order. Returns nothing if an item has no place below 2^64.
  std::optional<ArenaLayout> layout(std::span<const std::uint32_t> order, Fit fit) {
    std::fill(extents_.begin(), extents_.end(), Extent{});
    ArenaLayout result{.offsets = std::vector<std::uint64_t>(component_.items.size())};
    for (const std::uint32_t i : order) {
      const ArenaItem& item = component_.items[i];
      const auto offset = find_gap(i, fit);
      if (!offset || item.size > u64_max - *offset) {
        return std::nullopt;
      }
      extents_[i] = {*offset, *offset + item.size};
      result.offsets[i] = *offset;
      result.height_bytes = std::max(result.height_bytes, extents_[i].top);
    }
    return result;
  }

private:
  struct Extent { // of a placed item; top is 0 before it is placed
    std::uint64_t offset = 0;
    std::uint64_t top = 0;
  };

  std::optional<std::uint64_t> find_gap(std::uint32_t index, Fit fit) {
    around_.clear();
    for (const std::uint32_t other : overlaps_.of(index)) {
      if (extents_[other].top != 0) {
        around_.push_back(extents_[other]);
      }
    }
    std::ranges::sort(around_, {}, &Extent::offset);
    const ArenaItem& item = component_.items[index];
    std::uint64_t top = 0; // of all extents so far
    std::uint64_t least_left = u64_max;
    std::optional<std::uint64_t> result;
    for (const Extent& extent : around_) {
      if (extent.offset > top) {
        const auto offset = aligned_up(top, item.alignment);
        if (offset && *offset < extent.offset && extent.offset - *offset >= item.size) {
          const std::uint64_t left = extent.offset - top - item.size;
          if (fit == Fit::lowest) {
            return offset;
          }
          if (left < least_left) {
            least_left = left;
            result = offset;
          }
        }
      }
      top = std::max(top, extent.top);
    }
    return result ? result : aligned_up(top, item.alignment);
  }

  const ArenaComponent& component_;
  const ArenaOverlaps overlaps_;
  std::vector<Extent> extents_; // by item
  std::vector<Extent> around_;  // extents around the current item, by offset
};

// Finds the lowest of these layouts; stops once one is at most `enough` high. `work` bounds the number of
// overlapping pairs visited. Finds nothing if every layout exceeds 64 bits.
std::optional<ArenaLayout> lowest_layout(const ArenaComponent& component, std::uint64_t enough,
                                         std::uint64_t& work) {
  constexpr std::size_t most_items = 20'000; // larger components are only swept
  constexpr std::uint64_t most_pairs = 2'000'000;
  constexpr std::uint64_t cost_per_item = 32; // in pairs, measured
  std::optional<ArenaLayout> best;
  const auto keep_if_lower = [&best](std::optional<ArenaLayout> layout) {
    if (layout && (!best || layout->height_bytes < best->height_bytes)) {
      best = std::move(layout);
    }
  };
  for (const bool forward : {true, false}) {
    keep_if_lower(sweep_layout(component, forward));
  }
  const std::uint64_t pairs = overlapping_pairs(component);
  const std::uint64_t cost = pairs + cost_per_item * component.items.size(); // of one layout
  const auto done = [&] { return (best && best->height_bytes <= enough) || work < cost; };
  if (done() || component.items.size() > most_items || pairs > most_pairs) {
    return best;
  }
  Gaps gaps(component);
  for (const ArenaKey key : {ArenaKey::size, ArenaKey::area, ArenaKey::width, ArenaKey::start}) {
    const std::vector<std::uint32_t> order = items_in_order(component, {key, ArenaKey::size});
    for (const Fit fit : {Fit::best, Fit::lowest}) {
      if (!done()) {
        work -= cost;
        keep_if_lower(gaps.layout(order, fit));
      }
    }
  }
  return best;
}

// Upper bound on pairs of overlapping items that the heuristics visit: about half a second.
constexpr std::uint64_t heuristic_work = 25'000'000;

// Larger components are not searched: the exact search cannot succeed, and its setup takes time.
constexpr std::size_t most_items_to_search = 4096;
constexpr std::uint64_t most_pairs_to_search = 2'000'000;

// The state of a component during planning.
struct Progress {
  const ArenaComponent* component = nullptr;
  std::optional<ArenaLayout> layout;    // the best layout; nothing while none below 2^64 is known
  std::uint64_t proved_above_bytes = 0; // no layout is lower
  bool gave_up = false;

  std::uint64_t height() const { return layout ? layout->height_bytes : u64_max; }
};

class Planner {
public:
  Planner(const ArenaProblem& problem, const ArenaModel& model, const ArenaOptions& options)
      : problem_(problem), model_(model), options_(options), effort_left_(options.effort) {}

  Result<ArenaPlan> run() {
    const std::uint64_t enough = problem_.capacity_bytes.value_or(model_.lower_bound_bytes);
    if (enough < model_.lower_bound_bytes) {
      return tl::unexpected(over_capacity(model_.lower_bound_bytes, ArenaProof::meets_bound));
    }
    std::uint64_t work = heuristic_work;
    for (const ArenaComponent& component : model_.components) {
      parts_.push_back({.component = &component,
                        .layout = lowest_layout(component, enough, work),
                        .proved_above_bytes = component.lower_bound_bytes});
    }
    // Start with the highest components: once one is settled, lower ones need no search.
    std::vector<Progress*> highest_first;
    for (Progress& part : parts_) {
      highest_first.push_back(&part);
    }
    std::stable_sort(highest_first.begin(), highest_first.end(),
                     [](const Progress* a, const Progress* b) { return a->height() > b->height(); });
    std::uint64_t settled = enough; // no component needs to be lower
    for (Progress* part : highest_first) {
      if (part->height() <= settled) {
        break;
      }
      if (problem_.capacity_bytes) {
        if (searchable(*part->component)) {
          attempt(*part, arena_overlaps(*part->component), settled, effort_left_);
        }
        if (part->proved_above_bytes > settled) {
          return tl::unexpected(over_capacity(part->proved_above_bytes, ArenaProof::exhausted_search));
        }
      } else {
        lower(*part, settled);
        settled = std::max(settled, part->height());
      }
    }
    return result();
  }

private:
  Error over_capacity(std::uint64_t required_bytes, ArenaProof proof) const {
    return {
        .code = ErrorCode::arena_over_capacity,
        .message =
            proof == ArenaProof::meets_bound
                ? fmt::format("{} bytes are alive at one moment{} and the capacity is {} bytes",
                              required_bytes,
                              required_bytes > model_.alive_bytes ? ", rounded up to their alignment," : "",
                              *problem_.capacity_bytes)
                : fmt::format("the arena needs at least {} bytes and the capacity is {} bytes; an exhaustive "
                              "search of {} nodes proves it",
                              required_bytes, *problem_.capacity_bytes, nodes_),
        .fix = fmt::format("raise the capacity to at least {} bytes, or keep fewer buffers alive together",
                           required_bytes),
        .pointer = "/capacity_bytes",
        .required_bytes = required_bytes,
        .capacity_bytes = problem_.capacity_bytes};
  }

  // `best_height_bytes`: 0 if no plan fits 64 bits.
  Error exhausted(std::uint64_t required_bytes, std::uint64_t best_height_bytes) const {
    const std::string best = best_height_bytes == 0
                                 ? std::string("no plan within 64-bit offsets was found")
                                 : fmt::format("the best plan found needs {} bytes", best_height_bytes);
    return {.code = ErrorCode::arena_search_exhausted,
            .message = fmt::format(
                "no plan within the capacity of {} bytes was found and none was proved impossible: the "
                "search gave up after {} nodes; {}, and at least {} are needed",
                *problem_.capacity_bytes, nodes_, best, required_bytes),
            .fix = best_height_bytes == 0 ? "make the buffers smaller"
                                          : fmt::format("raise the capacity to {} bytes", best_height_bytes),
            .pointer = "/capacity_bytes",
            .required_bytes = required_bytes,
            .capacity_bytes = problem_.capacity_bytes,
            .best_height_bytes = best_height_bytes};
  }

  // Searches a component for a layout of at most `height` with up to `effort`, and records the result.
  void attempt(Progress& part, const ArenaOverlaps& overlaps, std::uint64_t height, std::uint64_t effort) {
    const ArenaComponent& component = *part.component;
    const std::uint64_t granule = component.granule_bytes;
    height -= height % granule;
    // The time of a node grows with the number of items, so a node of a large component costs more than one.
    const std::uint64_t cost = 1 + component.items.size() / 64;
    ArenaAttempt found = search_arena(component, overlaps, height, effort / cost);
    nodes_ += found.nodes;
    effort_left_ -= std::min(effort_left_, found.nodes * cost);
    if (found.verdict == ArenaVerdict::found) {
      ArenaLayout layout{.offsets = std::move(found.offsets)};
      for (std::size_t i = 0; i < layout.offsets.size(); ++i) {
        layout.height_bytes = std::max(layout.height_bytes, layout.offsets[i] + component.items[i].size);
      }
      part.layout = std::move(layout);
    } else if (found.verdict == ArenaVerdict::impossible) {
      part.proved_above_bytes =
          std::max(part.proved_above_bytes, height > u64_max - granule ? u64_max : height + granule);
    }
  }

  static bool searchable(const ArenaComponent& component) {
    return component.items.size() <= most_items_to_search &&
           overlapping_pairs(component) <= most_pairs_to_search;
  }

  // Minimises the height of a component, but not below `floor`. Half of the effort goes to `floor` itself,
  // which most often succeeds; the rest bisects the heights above it, treating an undecided height as
  // impossible, although that is not proved.
  void lower(Progress& part, std::uint64_t floor) {
    if (!searchable(*part.component)) {
      part.gave_up = true;
      return;
    }
    const std::uint64_t granule = part.component->granule_bytes;
    const ArenaOverlaps overlaps = arena_overlaps(*part.component);
    const std::uint64_t start = floor - floor % granule;
    std::uint64_t low = start; // the lowest height not yet given up
    while (low < part.height() && effort_left_ > 0) {
      const std::uint64_t height = part.height();
      const std::uint64_t granules_between = (height - 1 - low) / granule;
      const std::uint64_t target = low == start ? start : low + granules_between / 2 * granule;
      attempt(part, overlaps, target, low == start ? effort_left_ / 2 : effort_left_ / 4);
      if (part.height() < height) {
        continue;
      }
      if (granule > height - target) { // the next height is not lower than the best, or exceeds 64 bits
        break;
      }
      low = target + granule;
    }
    part.gave_up = std::max(part.proved_above_bytes, floor) < part.height();
  }

  Result<ArenaPlan> result() const {
    ArenaPlan plan{.offsets = std::vector<std::uint64_t>(problem_.buffers.size(), 0),
                   .lower_bound_bytes = model_.lower_bound_bytes,
                   .search_nodes = nodes_};
    std::uint64_t proved = model_.lower_bound_bytes;
    for (const Progress& part : parts_) {
      proved = std::max(proved, part.proved_above_bytes);
      plan.height_bytes = std::max(plan.height_bytes, part.height());
      plan.gave_up = plan.gave_up || part.gave_up;
      if (!part.layout) {
        continue;
      }
      for (std::size_t i = 0; i < part.component->items.size(); ++i) {
        plan.offsets[part.component->items[i].buffer] = part.layout->offsets[i];
      }
    }
    const auto unplaced =
        std::find_if(parts_.begin(), parts_.end(), [](const Progress& part) { return !part.layout; });
    if (problem_.capacity_bytes && plan.height_bytes > *problem_.capacity_bytes) {
      return tl::unexpected(exhausted(proved, unplaced == parts_.end() ? plan.height_bytes : 0));
    }
    if (unplaced != parts_.end()) {
      const std::uint32_t buffer = unplaced->component->items.front().buffer;
      return tl::unexpected(
          Error{.code = ErrorCode::byte_count_overflow,
                .message = fmt::format(
                    "buffer {} and those alive around it were not laid out within 64-bit offsets", buffer),
                .fix = "check the sizes of the buffers",
                .pointer = fmt::format("/buffers/{}", buffer),
                .field = "offset"});
    }
    plan.optimal = plan.height_bytes == proved;
    if (plan.optimal) {
      plan.proof =
          proved == model_.lower_bound_bytes ? ArenaProof::meets_bound : ArenaProof::exhausted_search;
    }
    plan.gave_up = plan.gave_up && !plan.optimal;
    return plan;
  }

  const ArenaProblem& problem_;
  const ArenaModel& model_;
  const ArenaOptions& options_;
  std::uint64_t effort_left_;
  std::uint64_t nodes_ = 0;
  std::vector<Progress> parts_;
};

} // namespace

Result<ArenaPlan> plan_arena(const ArenaProblem& problem, const ArenaOptions& options) {
  TIDEGATE_TRY(const auto model, make_arena_model(problem));
  return Planner(problem, model, options).run();
}

} // namespace tidegate::planning
