// The linear programme over groups: how many groups, cut into fractions, cover every item once?
//
//     minimise sum x_g  over the groups g known so far,  where for every item  sum (x_g, g holds it) >= 1
//
// Its dual gives each item a price; no group known so far costs more than 1, and the prices add up to the
// optimum. Prices under which no group at all costs more than 1 bound the number of groups from below
// (Gilmore and Gomory, Operations Research 9(6), 1961).
//
// Revised simplex method with an explicit inverse of the basis; a problem has one row for each item, and
// groups come one by one.
#pragma once

#include <tidegate/planning/group_pricing.hpp>
#include <tidegate/planning/packing_problem.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::planning {

class CoveringSimplex {
public:
  // Begins with the groups of a packing.
  explicit CoveringSimplex(const Packing& packing);

  // Brings a group in if its items cost more than 1 together; false when they do not, or no step is left.
  bool enter(std::span<const std::uint32_t> group, std::uint64_t& effort);
  // Until no price is negative or the effort is used up. A negative price is an item covered too often.
  void release_surplus(std::uint64_t& effort);

  const std::vector<double>& prices() const { return price_; }
  double objective() const;
  // How far the solution is from covering every item exactly as its equations say: rounding adds up.
  double residual() const;

private:
  struct Column {
    ItemSet items;
    bool surplus = false; // of one item: covers it -1 times and costs nothing
  };

  double excess(const Column& column) const;
  bool exchange(Column column, std::uint64_t& effort);

  std::size_t count_;
  std::vector<double> inverse_; // of the basis, row by row
  std::vector<Column> basis_;
  std::vector<double> level_;    // of each basic column
  std::vector<double> price_;    // of each item
  std::vector<double> entering_; // the entering column in terms of the basis
};

} // namespace tidegate::planning
