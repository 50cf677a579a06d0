#include <tidegate/planning/covering_simplex.hpp>
#include <tidegate/planning/effort.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tidegate::planning {
namespace {

constexpr double price_tolerance = 1e-7;
constexpr double pivot_tolerance = 1e-9;
constexpr double zero = 1e-13; // what counts as rounding in the inverse

} // namespace

// The first item of each group carries the group, the others are covered without surplus:
//
//     items a b c        basis  1  .  .      inverse  1  .  .      levels 1 0 0
//     columns abc, b, c         1 -1  .               1 -1  .      prices 1 0 0
//                               1  . -1               1  . -1
CoveringSimplex::CoveringSimplex(const Packing& packing)
    : count_(packing.group_of.size()), inverse_(count_ * count_), basis_(count_), level_(count_),
      price_(count_), entering_(count_) {
  const ItemLists groups = items_by_group(packing);
  for (std::uint32_t group = 0; group < packing.groups; ++group) {
    const std::uint32_t first = groups[group].front();
    for (const std::uint32_t item : groups[group]) {
      inverse_[item * count_ + first] = 1;
      if (item != first) {
        inverse_[item * count_ + item] = -1;
        basis_[item] = {.items = {item}, .surplus = true};
      }
    }
    basis_[first].items.assign(groups[group].begin(), groups[group].end());
    level_[first] = 1;
    price_[first] = 1;
  }
}

// By how much the items of a column cost more than the column.
double CoveringSimplex::excess(const Column& column) const {
  double sum = 0;
  for (const std::uint32_t item : column.items) {
    sum += price_[item];
  }
  return column.surplus ? -sum : sum - 1;
}

bool CoveringSimplex::enter(std::span<const std::uint32_t> group, std::uint64_t& effort) {
  Column column{.items = {group.begin(), group.end()}};
  return excess(column) > price_tolerance && exchange(std::move(column), effort);
}

void CoveringSimplex::release_surplus(std::uint64_t& effort) {
  for (;;) {
    const auto least = std::min_element(price_.begin(), price_.end());
    const auto item = static_cast<std::uint32_t>(least - price_.begin());
    if (*least >= -price_tolerance || !exchange({.items = {item}, .surplus = true}, effort)) {
      return;
    }
  }
}

// The column is worth more than it costs, and so comes into the basis.
bool CoveringSimplex::exchange(Column column, std::uint64_t& effort) {
  if (effort == 0) {
    return false;
  }
  const double gain = excess(column);
  std::size_t leaving = count_;
  double least_ratio = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < count_; ++row) {
    double sum = 0;
    for (const std::uint32_t item : column.items) {
      sum += inverse_[row * count_ + item];
    }
    entering_[row] = column.surplus ? -sum : sum;
    if (entering_[row] > pivot_tolerance) {
      const double ratio = level_[row] / entering_[row];
      // Of equal ratios the largest pivot, for the sake of rounding.
      if (ratio < least_ratio - pivot_tolerance ||
          (ratio < least_ratio + pivot_tolerance && entering_[row] > entering_[leaving])) {
        least_ratio = ratio;
        leaving = row;
      }
    }
  }
  if (leaving == count_) {
    return false; // cannot be, but for rounding: the optimum is not unbounded
  }
  double* const pivot_row = inverse_.data() + leaving * count_;
  const double pivot = entering_[leaving];
  std::vector<std::uint32_t> filled;
  for (std::uint32_t i = 0; i < count_; ++i) {
    pivot_row[i] = std::abs(pivot_row[i]) < zero ? 0 : pivot_row[i] / pivot;
    if (pivot_row[i] != 0) {
      filled.push_back(i);
      price_[i] -= gain * pivot_row[i];
    }
  }
  level_[leaving] /= pivot;
  std::uint64_t steps = 1 + count_ * (1 + column.items.size()) / 8;
  for (std::size_t row = 0; row < count_; ++row) {
    const double factor = entering_[row];
    if (row == leaving || std::abs(factor) < zero) {
      continue;
    }
    double* const target = inverse_.data() + row * count_;
    for (const std::uint32_t i : filled) {
      target[i] -= factor * pivot_row[i];
    }
    level_[row] = std::max(0.0, level_[row] - factor * level_[leaving]);
    steps += 1 + filled.size() / 8;
  }
  basis_[leaving] = std::move(column);
  spend(effort, steps);
  return true;
}

double CoveringSimplex::objective() const {
  double sum = 0;
  for (std::size_t row = 0; row < count_; ++row) {
    sum += basis_[row].surplus ? 0 : level_[row];
  }
  return sum;
}

double CoveringSimplex::residual() const {
  std::vector<double> covered(count_);
  for (std::size_t row = 0; row < count_; ++row) {
    for (const std::uint32_t item : basis_[row].items) {
      covered[item] += basis_[row].surplus ? -level_[row] : level_[row];
    }
  }
  double worst = 0;
  for (const double times : covered) {
    worst = std::max(worst, std::abs(times - 1));
  }
  return worst;
}

} // namespace tidegate::planning
