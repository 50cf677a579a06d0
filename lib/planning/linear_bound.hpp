// A measure made for the problem at hand: the prices that the linear programme over groups gives its items.
//
// Of all measures, which depend on what may stand in a group and not on which group comes first, these prices
// weigh the items most. They find what no function of the bytes alone can see, such as waves of which only
// every other one has a partner. The programme is solved by column generation, with prices held near those of
// the best measure known, since those of half a solution jump about (Wentges, International Transactions in
// Operational Research 4(2), 1997).
#pragma once

#include <tidegate/planning/measures.hpp>
#include <tidegate/planning/packing_problem.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::planning {

inline constexpr std::size_t most_items_with_prices = 1500; // the inverse of a basis takes n^2 doubles

struct LinearBound {
  std::vector<double> prices;     // what an item is worth: the best found, proved or not
  std::optional<Measure> measure; // the same as a measure, when every group was shown to respect it
};

// Nothing for too many items. Stops early when the programme shows that it cannot need more than `lower`
// groups. `start` is any packing, `known` the measures that there are.
LinearBound linear_bound(const PackingProblem& problem, const Packing& start, std::span<const Measure> known,
                         std::uint64_t lower, std::uint64_t& effort);

} // namespace tidegate::planning
