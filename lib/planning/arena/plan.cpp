// Splits an arena problem into components and sections by sweeping over starts and ends; then plans it: heuristics for
// every component, and the exact search for the highest ones.
#include "planning/arena/search.hpp"

namespace tidegate::planning {
namespace {

// In a plan where each buffer rests on another one or on the floor, every offset is a sum of sizes rounded up
// to alignments, hence a multiple of their greatest common divisor.
std::uint64_t granule(const std::vector<ArenaItem>& items) {
  std::uint64_t result = 0;
  for (const ArenaItem& item : items) {
    result = std::gcd(std::gcd(result, item.size), item.alignment > 1 ? item.alignment : 0);
  }
  return result;
}

// A section ends where a buffer ends after another has started. Within a section buffers first start and then
// end, so at one moment all of them are alive: offsets valid at that moment are valid for the whole section.
// Requires items sorted by start.
void cut_into_sections(std::vector<ArenaItem>& items) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ends;
  ends.reserve(items.size());
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    ends.emplace_back(items[i].upper, i);
  }
  std::ranges::sort(ends);
  std::uint32_t section = 0;
  auto end = ends.begin();
  for (ArenaItem& item : items) {
    const auto ended = end; // since the section's last start
    for (; end->first <= item.lower; ++end) {
      items[end->second].end_section = section + 1;
    }
    section += end != ended ? 1 : 0;
    item.first_section = section;
  }
  for (; end != ends.end(); ++end) {
    items[end->second].end_section = section + 1;
  }
}

// Fills section_bytes. Error: byte_count_overflow at the buffer at whose start the sum exceeds 64 bits.
Result<void> count_section_bytes(ArenaComponent& component) {
  const auto sums = component.sums([](const ArenaItem& item) { return ArenaArea{item.size}; });
  const auto over = std::ranges::find_if(sums, [](ArenaArea sum) { return sum > u64_max; });
  component.section_bytes.assign(sums.begin(), over);
  if (over == sums.end()) {
    return {};
  }
  const auto section = static_cast<std::uint32_t>(over - sums.begin());
  ArenaArea alive = 0;
  const auto first = std::ranges::find_if(component.items, [&](const ArenaItem& item) {
    alive += item.first_section <= section && section < item.end_section ? item.size : 0;
    return alive > u64_max;
  });
  return failure(
      ErrorCode::byte_count_overflow,
      fmt::format("the sum of the sizes alive when buffer {} starts exceeds 64 bits", first->buffer),
      "check the sizes of the buffers", fmt::format("/buffers/{}", first->buffer));
}

// Every offset is a multiple of the least alignment, so all buffers alive at one moment but the topmost take
// their size rounded up to it.
void bound_heights(ArenaModel& model) {
  std::uint64_t alignment = u64_max;
  for (const ArenaComponent& component : model.components) {
    alignment = std::min(alignment, std::ranges::min(component.items, {}, &ArenaItem::alignment).alignment);
  }
  const auto rounded = [&alignment](const ArenaItem& item) {
    return (ArenaArea{item.size} + (alignment - 1)) / alignment * alignment;
  };
  ArenaArea most_rounding = 0;
  for (const ArenaComponent& component : model.components) {
    for (const ArenaItem& item : component.items) {
      most_rounding = std::max(most_rounding, rounded(item) - item.size);
    }
  }
  for (ArenaComponent& component : model.components) {
    const ArenaArea most = std::ranges::max(component.sums(rounded));
    component.lower_bound_bytes = std::max(
        std::ranges::max(component.section_bytes),
        static_cast<std::uint64_t>(std::min<ArenaArea>(most - std::min(most, most_rounding), u64_max)));
    model.lower_bound_bytes = std::max(model.lower_bound_bytes, component.lower_bound_bytes);
  }
}

} // namespace

std::optional<Error> unsound(const ArenaBuffer& buffer, std::size_t index) {
  const bool alive = buffer.lower < buffer.upper;
  if (alive && std::has_single_bit(buffer.alignment)) {
    return std::nullopt;
  }
  return Error{
      .code = alive ? ErrorCode::bad_alignment : ErrorCode::empty_lifetime,
      .message =
          alive ? fmt::format("the alignment of buffer {} is not a power of two", index)
                : fmt::format("buffer {} is never alive: its upper end is not above its lower end", index),
      .fix = alive ? "give 1, 2, 4, 8 or another power of two"
                   : "give an upper end above the lower one, or leave the buffer out",
      .pointer = fmt::format("/buffers/{}/{}", index, alive ? "alignment" : "upper"),
      .field = alive ? "alignment" : "upper"};
}

Result<ArenaModel> make_arena_model(const ArenaProblem& problem) {
  std::vector<ArenaItem> items;
  items.reserve(problem.buffers.size());
  for (std::uint32_t i = 0; i < problem.buffers.size(); ++i) {
    const ArenaBuffer& buffer = problem.buffers[i];
    if (auto error = unsound(buffer, i)) {
      return tl::unexpected(*std::move(error));
    }
    if (buffer.size > 0) {
      items.push_back({0, 0, i, buffer.lower, buffer.upper, buffer.size, buffer.alignment});
    }
  }
  std::ranges::sort(items, {}, [](const ArenaItem& item) { return std::pair(item.lower, item.buffer); });
  ArenaModel model;
  std::uint64_t end_of_component = 0;
  for (const ArenaItem& item : items) {
    if (model.components.empty() || item.lower >= end_of_component) {
      model.components.emplace_back();
    }
    end_of_component = std::max(end_of_component, item.upper);
    model.components.back().items.push_back(item);
  }
  for (ArenaComponent& component : model.components) {
    cut_into_sections(component.items);
    if (auto counted = count_section_bytes(component); !counted) {
      counted.error().field = "alive bytes";
      return tl::unexpected(std::move(counted.error()));
    }
    component.granule_bytes = granule(component.items);
    model.alive_bytes = std::max(model.alive_bytes, std::ranges::max(component.section_bytes));
  }
  bound_heights(model);
  return model;
}

Result<void> check_arena_problem(const ArenaProblem& problem) {
  return make_arena_model(problem).map([](const ArenaModel&) {});
}

std::vector<std::uint32_t> items_in_order(const ArenaComponent& component, const ArenaSortKeys& order) {
  const std::size_t sections = component.section_bytes.size();
  std::vector<std::array<ArenaArea, 3>> keys;
  for (const ArenaItem& item : component.items) {
    const std::uint64_t width = item.upper - item.lower;
    const auto alive = std::span(component.section_bytes).first(item.end_section).subspan(item.first_section);
    const ArenaArea area = ArenaArea{item.size} * width;
    const std::array<ArenaArea, 6> values{item.size,
                                          width,
                                          area,
                                          std::ranges::max(alive), // by ArenaKey
                                          sections - item.first_section,
                                          item.end_section};
    std::array<ArenaArea, 3>& key = keys.emplace_back();
    std::ranges::transform(order, key.begin(),
                           [&values](ArenaKey each) { return values[static_cast<std::size_t>(each)]; });
  }
  std::vector<std::uint32_t> result(component.items.size());
  std::iota(result.begin(), result.end(), 0U);
  std::ranges::stable_sort(result, std::greater(), [&keys](std::uint32_t i) { return keys[i]; });
  return result;
}

std::uint64_t overlapping_pairs(const ArenaComponent& component) {
  // Counts each pair at the item that starts later, which overlaps all items before it that have not ended.
  std::vector<std::uint64_t> ended(component.section_bytes.size() + 1, 0);
  for (const ArenaItem& item : component.items) {
    ++ended[item.end_section];
  }
  std::partial_sum(ended.begin(), ended.end(), ended.begin());
  std::uint64_t pairs = 0;
  for (std::size_t i = 0; i < component.items.size(); ++i) {
    pairs += i - ended[component.items[i].first_section];
  }
  return pairs;
}

ArenaOverlaps::ArenaOverlaps(const ArenaComponent& component)
    : of(component.items.size()), in(component.section_bytes.size()) {
  for (std::uint32_t i = 0; i < component.items.size(); ++i) {
    const ArenaItem& item = component.items[i];
    for (std::uint32_t before = 0; before < i; ++before) {
      if (component.items[before].end_section > item.first_section) {
        of[i].push_back(before);
        of[before].push_back(i);
      }
    }
    for (std::uint32_t section = item.first_section; section < item.end_section; ++section) {
      in[section].push_back(i);
    }
  }
}

namespace {

// The fast heuristics: lay out the items of a component in several ways, keep the lowest layout while work remains.
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
std::optional<ArenaLayout> sweep_layout(const std::vector<ArenaItem>& items) {
  std::vector<std::uint32_t> starts(items.size());
  std::iota(starts.begin(), starts.end(), 0U);
  std::vector<std::uint32_t> ends = starts;
  std::ranges::stable_sort(
      starts, {}, [&](std::uint32_t i) { return std::pair(items[i].first_section, ~items[i].size); });
  std::ranges::stable_sort(ends, {}, [&](std::uint32_t i) { return items[i].end_section; });

  FreeBlocks free_blocks;
  ArenaLayout result{.offsets = std::vector<std::uint64_t>(items.size())};
  auto ending = ends.begin();
  for (const std::uint32_t start : starts) {
    for (; items[*ending].end_section <= items[start].first_section; ++ending) {
      free_blocks.give_back(result.offsets[*ending], items[*ending].size);
    }
    const auto offset = free_blocks.take(items[start].size, items[start].alignment);
    if (!offset) {
      return std::nullopt;
    }
    result.offsets[start] = *offset;
    result.height_bytes = std::max(result.height_bytes, *offset + items[start].size);
  }
  return result;
}

// Time backwards.
std::vector<ArenaItem> mirrored(const ArenaComponent& component) {
  const auto sections = static_cast<std::uint32_t>(component.section_bytes.size());
  std::vector<ArenaItem> items = component.items;
  for (ArenaItem& item : items) {
    item.first_section = sections - std::exchange(item.end_section, sections - item.first_section);
  }
  return items;
}

// ---- By order

enum class Fit : std::uint8_t {
  best,   // the gap that leaves the fewest bytes; if there is none, above everything
  lowest, // the lowest gap
};

// Places the items in this order, each in a gap between those before it. Returns nothing if an item has no place below 2^64.
std::optional<ArenaLayout> layout_in_gaps(const ArenaComponent& component, const ArenaOverlaps& overlaps,
                                          std::span<const std::uint32_t> order, Fit fit) {
  using Extent = std::pair<std::uint64_t, std::uint64_t>;  // offset and top
  std::vector<std::uint64_t> tops(component.items.size()); // 0: not placed yet
  std::vector<Extent> around;                              // the current item, by offset
  ArenaLayout result{.offsets = std::vector<std::uint64_t>(component.items.size())};
  for (const std::uint32_t index : order) {
    around.clear();
    for (const std::uint32_t other : overlaps.of[index]) {
      if (tops[other] != 0) {
        around.emplace_back(result.offsets[other], tops[other]);
      }
    }
    std::ranges::sort(around);
    const ArenaItem& item = component.items[index];
    std::uint64_t highest = 0; // of all tops so far
    std::uint64_t least_left = u64_max;
    std::optional<std::uint64_t> found;
    for (const auto& [offset, top] : around) {
      const auto gap = aligned_up(highest, item.alignment);
      if (gap && *gap < offset && offset - *gap >= item.size && offset - highest - item.size < least_left) {
        least_left = fit == Fit::lowest ? 0 : offset - highest - item.size;
        found = gap;
      }
      highest = std::max(highest, top);
    }
    found = found ? found : aligned_up(highest, item.alignment);
    if (!found || item.size > u64_max - *found) {
      return std::nullopt;
    }
    result.offsets[index] = *found;
    tops[index] = *found + item.size;
    result.height_bytes = std::max(result.height_bytes, tops[index]);
  }
  return result;
}

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
  keep_if_lower(sweep_layout(component.items));
  keep_if_lower(sweep_layout(mirrored(component)));
  const std::uint64_t pairs = overlapping_pairs(component);
  const std::uint64_t cost = pairs + cost_per_item * component.items.size(); // of one layout
  const auto done = [&] { return (best && best->height_bytes <= enough) || work < cost; };
  if (done() || component.items.size() > most_items || pairs > most_pairs) {
    return best;
  }
  const ArenaOverlaps overlaps(component);
  for (const ArenaKey key : {ArenaKey::size, ArenaKey::area, ArenaKey::width, ArenaKey::start}) {
    const std::vector<std::uint32_t> order = items_in_order(component, {key, ArenaKey::size});
    for (const Fit fit : {Fit::best, Fit::lowest}) {
      if (!done()) {
        work -= cost;
        keep_if_lower(layout_in_gaps(component, overlaps, order, fit));
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
    std::ranges::stable_sort(parts_, std::greater(), &Progress::height);
    std::uint64_t settled = enough; // no component needs to be lower
    for (Progress& part : parts_) {
      if (part.height() <= settled) {
        break;
      }
      if (problem_.capacity_bytes) {
        if (searchable(*part.component)) {
          attempt(part, ArenaOverlaps(*part.component), settled, effort_left_);
        }
        if (part.proved_above_bytes > settled) {
          return tl::unexpected(over_capacity(part.proved_above_bytes, ArenaProof::exhausted_search));
        }
      } else {
        lower(part, settled);
        settled = std::max(settled, part.height());
      }
    }
    return result();
  }

private:
  Error refusal(ErrorCode code, std::uint64_t required_bytes, std::string message, std::string fix) const {
    return {.code = code,
            .message = std::move(message),
            .fix = std::move(fix),
            .pointer = "/capacity_bytes",
            .required_bytes = required_bytes,
            .capacity_bytes = problem_.capacity_bytes};
  }

  Error over_capacity(std::uint64_t required_bytes, ArenaProof proof) const {
    const std::uint64_t capacity = *problem_.capacity_bytes;
    return refusal(
        ErrorCode::arena_over_capacity, required_bytes,
        proof == ArenaProof::meets_bound
            ? fmt::format("{} bytes are alive at one moment{} and the capacity is {} bytes", required_bytes,
                          required_bytes > model_.alive_bytes ? ", rounded up to their alignment," : "",
                          capacity)
            : fmt::format(
                  "the arena needs at least {} bytes and the capacity is {} bytes; an exhaustive search of {} "
                  "nodes proves it",
                  required_bytes, capacity, nodes_),
        fmt::format("raise the capacity to at least {} bytes, or keep fewer buffers alive together",
                    required_bytes));
  }

  Error exhausted(std::uint64_t required_bytes, std::uint64_t best_height_bytes) const {
    Error error = refusal(
        ErrorCode::arena_search_exhausted, required_bytes,
        fmt::format(
            "no plan within the capacity of {} bytes was found and none was proved impossible: the search gave "
            "up after {} nodes; the best plan found needs {} bytes, and at least {} are needed",
            *problem_.capacity_bytes, nodes_, best_height_bytes, required_bytes),
        fmt::format("raise the capacity to {} bytes", best_height_bytes));
    error.best_height_bytes = best_height_bytes;
    return error;
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
    const ArenaOverlaps overlaps(*part.component);
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
      const std::vector<ArenaItem>& items = part.component->items;
      if (!part.layout) {
        return tl::unexpected(Error{
            .code = ErrorCode::byte_count_overflow,
            .message =
                fmt::format("buffer {} and those alive around it were not laid out within 64-bit offsets",
                            items.front().buffer),
            .fix = "check the sizes of the buffers",
            .pointer = fmt::format("/buffers/{}", items.front().buffer),
            .field = "offset"});
      }
      proved = std::max(proved, part.proved_above_bytes);
      plan.height_bytes = std::max(plan.height_bytes, part.height());
      plan.gave_up = plan.gave_up || part.gave_up;
      for (std::size_t i = 0; i < items.size(); ++i) {
        plan.offsets[items[i].buffer] = part.layout->offsets[i];
      }
    }
    if (problem_.capacity_bytes && plan.height_bytes > *problem_.capacity_bytes) {
      return tl::unexpected(exhausted(proved, plan.height_bytes));
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
