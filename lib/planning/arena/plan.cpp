// Plans an arena: heuristics for every component, then the exact search for the highest ones.
#include "planning/arena/heuristics.hpp"
#include "planning/arena/model.hpp"
#include "planning/arena/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tidegate::planning {
namespace {

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

  [[nodiscard]] std::uint64_t height() const { return layout ? layout->height_bytes : u64_max; }
};

class Planner {
public:
  Planner(const ArenaProblem& problem, const ArenaModel& model, const ArenaOptions& options)
      : problem_(problem), model_(model), options_(options), effort_left_(options.effort) {}

  tl::expected<ArenaPlan, ArenaError> run() {
    const std::uint64_t enough = problem_.capacity_bytes.value_or(model_.lower_bound_bytes);
    if (enough < model_.lower_bound_bytes) {
      return tl::unexpected(over_capacity(model_.lower_bound_bytes, ArenaProof::meets_bound));
    }
    std::uint64_t work = heuristic_work;
    for (const ArenaComponent& component : model_.components) {
      parts_.push_back({.component = &component,
                        .layout = arena_heuristics(component, enough, work),
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
        fit(*part, settled);
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
  [[nodiscard]] ArenaError over_capacity(std::uint64_t required_bytes, ArenaProof proof) const {
    return {.code = ArenaErrorCode::arena_over_capacity,
            .required_bytes = required_bytes,
            .capacity_bytes = *problem_.capacity_bytes,
            .proof = proof,
            .search_nodes = nodes_};
  }

  // Searches a component for a layout of at most `height` with up to `effort`, and records the result.
  void attempt(Progress& part, const ArenaOverlaps& overlaps, std::uint64_t height, std::uint64_t effort) {
    const ArenaComponent& component = *part.component;
    const std::uint64_t granule = component.granule_bytes;
    height -= height % granule;
    // The time of a node grows with the number of items, so a node of a large component costs more than one.
    const std::uint64_t cost = 1 + component.items.size() / 64;
    ArenaAttempt found =
        search_arena(component, overlaps, height, effort / cost, options_.threads, options_.techniques);
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

  // Lowers a component to the capacity, if the effort suffices.
  void fit(Progress& part, std::uint64_t capacity) {
    if (searchable(*part.component)) {
      attempt(part, arena_overlaps(*part.component), capacity, effort_left_);
    }
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

  [[nodiscard]] tl::expected<ArenaPlan, ArenaError> result() const {
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
      return tl::unexpected(ArenaError{.code = ArenaErrorCode::arena_search_exhausted,
                                       .required_bytes = proved,
                                       .capacity_bytes = *problem_.capacity_bytes,
                                       .best_height_bytes = unplaced == parts_.end() ? plan.height_bytes : 0,
                                       .search_nodes = nodes_});
    }
    if (unplaced != parts_.end()) {
      return tl::unexpected(ArenaError{.code = ArenaErrorCode::byte_count_overflow,
                                       .buffer = unplaced->component->items.front().buffer,
                                       .field = "offset",
                                       .search_nodes = nodes_});
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

std::string describe(const ArenaError& error) {
  switch (error.code) {
  case ArenaErrorCode::empty_lifetime:
    return fmt::format("buffer {} is never alive: its upper end is not above its lower end", error.buffer);
  case ArenaErrorCode::bad_alignment:
    return fmt::format("the alignment of buffer {} is not a power of two", error.buffer);
  case ArenaErrorCode::byte_count_overflow:
    return error.field == "offset"
               ? fmt::format("buffer {} and those alive around it were not laid out within 64-bit offsets",
                             error.buffer)
               : fmt::format("the sum of the sizes alive when buffer {} starts exceeds 64 bits",
                             error.buffer);
  case ArenaErrorCode::arena_over_capacity:
    return error.proof == ArenaProof::meets_bound
               ? fmt::format("{} bytes are alive at one moment and the capacity is {} bytes",
                             error.required_bytes, error.capacity_bytes)
               : fmt::format("the arena needs at least {} bytes and the capacity is {} bytes; an exhaustive "
                             "search of {} nodes proves it",
                             error.required_bytes, error.capacity_bytes, error.search_nodes);
  case ArenaErrorCode::arena_search_exhausted: break;
  }
  const std::string best = error.best_height_bytes == 0
                               ? std::string("no plan within 64-bit offsets was found")
                               : fmt::format("the best plan found needs {} bytes", error.best_height_bytes);
  return fmt::format("no plan within the capacity of {} bytes was found and none was proved impossible: the "
                     "search gave up after {} nodes; {}, and at least {} are needed",
                     error.capacity_bytes, error.search_nodes, best, error.required_bytes);
}

tl::expected<ArenaPlan, ArenaError> plan_arena(const ArenaProblem& problem, const ArenaOptions& options) {
  const auto model = make_arena_model(problem);
  if (!model) {
    return tl::unexpected(model.error());
  }
  return Planner(problem, *model, options).run();
}

} // namespace tidegate::planning
