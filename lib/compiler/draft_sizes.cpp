#include <tidegate/compiler/argument_values.hpp>
#include <tidegate/compiler/draft_sizes.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace tidegate::compiler {
namespace {

using opencl_c::Parameter;
using opencl_c::ParameterUse;

bool is_integer(std::string_view scalar) {
  const auto type = element_type_of(scalar);
  return type && !is_float(*type);
}

bool is_integer(const Parameter& parameter) {
  return !parameter.is_pointer && !parameter.is_enumeration && is_integer(parameter.type);
}

bool named_like_a_count(std::string_view name) {
  constexpr std::array<std::string_view, 27> names{
      "n",    "m",    "size",    "count", "len",    "length", "width",    "height",  "depth",
      "rows", "cols", "columns", "total", "limit",  "stride", "pitch",    "batch",   "nx",
      "ny",   "nz",   "w",       "h",     "points", "items",  "elements", "entries", "dim"};
  return std::ranges::find(names, name) != names.end() || name.starts_with("num_") ||
         name.starts_with("n_") || name.ends_with("_count") || name.ends_with("_size") ||
         name.ends_with("_len");
}

std::uint64_t square_root(std::uint64_t value) {
  std::uint64_t root = 1;
  while ((root + 1) * (root + 1) <= value) {
    ++root;
  }
  return root;
}

} // namespace

bool is_count(const DraftKernel& kernel, std::size_t parameter) {
  const Parameter& declared = kernel.function->parameters[parameter];
  const ParameterUse& use = kernel.uses.parameters[parameter];
  return is_integer(declared) && (use.factor || use.bound || named_like_a_count(declared.name));
}

// How many counts are multiplied with each other at most to reach an element: as many as there are, and one.
Sizes sizes_of(const DraftKernel& kernel) {
  constexpr std::array<std::uint64_t, 4> extents{1024, 64, 16, 8};
  constexpr std::uint64_t most_items = std::uint64_t{1} << 20U;
  std::size_t factors = 0;
  for (std::size_t i = 0; i < kernel.function->parameters.size(); ++i) {
    factors += is_integer(kernel.function->parameters[i]) && kernel.uses.parameters[i].factor ? 1 : 0;
  }
  const std::size_t depth =
      std::clamp<std::size_t>(std::max<std::size_t>(kernel.uses.dimensions, factors + 1), 1, extents.size());
  Sizes sizes{.extent = extents[depth - 1]};
  for (std::size_t i = 0; i < depth; ++i) {
    sizes.items *= sizes.extent;
  }
  sizes.items = std::min(sizes.items * std::bit_ceil(std::min<std::uint64_t>(kernel.uses.largest_factor, 64)),
                         most_items);
  return sizes;
}

std::optional<std::vector<std::uint64_t>> local_size_of(const DraftKernel& kernel, std::uint64_t extent) {
  const std::size_t dimensions = kernel.uses.dimensions;
  if (const auto& required = kernel.function->required_local_size) {
    return std::vector<std::uint64_t>(required->begin(),
                                      required->begin() + static_cast<std::ptrdiff_t>(dimensions));
  }
  if (!kernel.uses.meets) {
    return {};
  }
  constexpr std::array<std::uint64_t, 3> largest{64, 16, 4};
  std::vector<std::uint64_t> local(dimensions, std::min(extent, largest[dimensions - 1]));
  for (const opencl_c::LocalArray& array : kernel.uses.arrays) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      const std::uint64_t room = array.size() > 1 || dimensions == 1
                                     ? (d < array.size() ? array[array.size() - 1 - d] : local[d])
                                     : square_root(array.front());
      if (room > 1) { // one element is the group's, and no work-item's
        local[d] = std::min(local[d], std::bit_floor(room));
      }
    }
  }
  return local;
}

} // namespace tidegate::compiler
