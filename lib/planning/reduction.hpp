// Leaves out the items that no other item can share a group with.
//
// Each of them takes a group of its own in every packing, at whatever moment its dependencies allow, so the
// rest can be packed without them once what they kept apart is kept apart directly. Where budgets are tight
// most waves are such, and their many orders are what keeps a search busy.
#pragma once

#include <tidegate/planning/packing_problem.hpp>

#include <cstdint>
#include <vector>

namespace tidegate::planning {

struct Reduction {
  PackingProblem problem;          // of the items that remain
  std::vector<std::uint32_t> kept; // the original of each of them
  std::uint32_t alone = 0;         // items left out: groups that come on top
};

// Looks at every pair of items: for problems of up to most_items_with_closure.
Reduction without_loners(const PackingProblem& problem);

// A packing of the original problem with the groups of the lone items taken out.
Packing reduced(const Reduction& reduction, const Packing& packing);

// A packing of the reduced problem with the lone items put back.
Packing restored(const Reduction& reduction, const PackingProblem& original, const Packing& packing);

} // namespace tidegate::planning
