// Splits an arena problem into components and sections by sweeping over starts and ends.
#include "planning/arena/search.hpp"

namespace tidegate::planning {
namespace {

// Size times lifetime can need 128 bits.
__extension__ using ArenaArea = unsigned __int128;

// Returns the non-empty buffers by start, then by index. Sorts pairs of key and index, because comparing the
// buffers themselves would access scattered memory.
std::vector<std::pair<std::uint64_t, std::uint32_t>> by_start(const std::vector<ArenaBuffer>& buffers) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> result;
  result.reserve(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].size > 0) {
      result.emplace_back(buffers[i].lower, static_cast<std::uint32_t>(i));
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

// In a plan where each buffer rests on another one or on the floor, every offset is a sum of sizes rounded up
// to alignments, hence a multiple of their greatest common divisor.
std::uint64_t granule(const std::vector<ArenaItem>& items) {
  std::uint64_t result = 0;
  for (const ArenaItem& item : items) {
    result = std::gcd(result, item.size);
    if (item.alignment > 1) {
      result = std::gcd(result, item.alignment);
    }
  }
  return result;
}

// A section ends where a buffer ends after another has started. Within a section buffers first start and then
// end, so at one moment all of them are alive: offsets valid at that moment are valid for the whole section.
// Requires items sorted by start.
void cut_into_sections(ArenaComponent& component, const std::vector<ArenaBuffer>& buffers) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ends;
  ends.reserve(component.items.size());
  for (std::uint32_t i = 0; i < component.items.size(); ++i) {
    ends.emplace_back(buffers[component.items[i].buffer].upper, i);
  }
  std::sort(ends.begin(), ends.end());
  std::uint32_t section = 0;
  bool ended = false; // true when an item has ended since the section's last start
  auto end = ends.begin();
  for (ArenaItem& item : component.items) {
    for (; end->first <= buffers[item.buffer].lower; ++end) {
      component.items[end->second].end_section = section + 1;
      ended = true;
    }
    section += ended ? 1 : 0;
    ended = false;
    item.first_section = section;
  }
  for (; end != ends.end(); ++end) {
    component.items[end->second].end_section = section + 1;
  }
  component.section_bytes.assign(section + 1, 0);
}

// Fills section_bytes. Returns the buffer at whose start the sum exceeds 64 bits, if any.
std::optional<std::uint32_t> count_section_bytes(ArenaComponent& component) {
  std::vector<std::uint64_t> ending(component.section_bytes.size() + 1, 0);
  std::size_t next = 0;
  std::uint64_t alive = 0;
  for (std::size_t section = 0; section < component.section_bytes.size(); ++section) {
    alive -= ending[section];
    for (; next < component.items.size() && component.items[next].first_section == section; ++next) {
      const ArenaItem& item = component.items[next];
      if (item.size > u64_max - alive) {
        return item.buffer;
      }
      alive += item.size;
      ending[item.end_section] += item.size; // at most `alive`, so this sum fits too
    }
    component.section_bytes[section] = alive;
  }
  return std::nullopt;
}

// Every offset is a multiple of the least alignment, so all buffers alive at one moment but the topmost take
// their size rounded up to it.
void bound_heights(ArenaModel& model) {
  std::uint64_t alignment = u64_max;
  for (const ArenaComponent& component : model.components) {
    for (const ArenaItem& item : component.items) {
      alignment = std::min(alignment, item.alignment);
    }
  }
  const auto units = [alignment](const ArenaItem& item) { return (item.size - 1) / alignment + 1; };
  std::uint64_t most_rounding = 0;
  for (const ArenaComponent& component : model.components) {
    for (const ArenaItem& item : component.items) {
      most_rounding = std::max(most_rounding, units(item) * alignment - item.size);
    }
  }
  for (ArenaComponent& component : model.components) {
    component.lower_bound_bytes = std::ranges::max(component.section_bytes);
    std::vector<std::uint64_t> change(component.section_bytes.size() + 1, 0); // wraps around
    for (const ArenaItem& item : component.items) {
      change[item.first_section] += units(item);
      change[item.end_section] -= units(item);
    }
    std::uint64_t alive = 0;
    for (const std::uint64_t difference : change) {
      alive += difference;
      const ArenaArea rounded = ArenaArea{alive} * alignment;
      if (rounded > most_rounding) {
        component.lower_bound_bytes =
            std::max(component.lower_bound_bytes,
                     static_cast<std::uint64_t>(std::min<ArenaArea>(rounded - most_rounding, u64_max)));
      }
    }
    model.lower_bound_bytes = std::max(model.lower_bound_bytes, component.lower_bound_bytes);
  }
}

ArenaArea value_of(const ArenaComponent& component, const ArenaItem& item, ArenaKey key) {
  switch (key) {
  case ArenaKey::size: return item.size;
  case ArenaKey::width: return item.width;
  case ArenaKey::area: return ArenaArea{item.size} * item.width;
  case ArenaKey::total:
    return *std::max_element(component.section_bytes.begin() + item.first_section,
                             component.section_bytes.begin() + item.end_section);
  case ArenaKey::start: return component.section_bytes.size() - item.first_section;
  case ArenaKey::end: break;
  }
  return item.end_section;
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
  const std::vector<ArenaBuffer>& buffers = problem.buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (auto error = unsound(buffers[i], i)) {
      return tl::unexpected(*std::move(error));
    }
  }
  ArenaModel model;
  std::uint64_t end_of_component = 0;
  for (const auto& [lower, buffer] : by_start(buffers)) {
    if (model.components.empty() || lower >= end_of_component) {
      model.components.emplace_back();
    }
    end_of_component = std::max(end_of_component, buffers[buffer].upper);
    model.components.back().items.push_back({.buffer = buffer,
                                             .size = buffers[buffer].size,
                                             .alignment = buffers[buffer].alignment,
                                             .width = buffers[buffer].upper - lower});
  }
  for (ArenaComponent& component : model.components) {
    cut_into_sections(component, buffers);
    if (const auto buffer = count_section_bytes(component)) {
      return tl::unexpected(Error{
          .code = ErrorCode::byte_count_overflow,
          .message = fmt::format("the sum of the sizes alive when buffer {} starts exceeds 64 bits", *buffer),
          .fix = "check the sizes of the buffers",
          .pointer = fmt::format("/buffers/{}", *buffer),
          .field = "alive bytes"});
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
  const std::size_t count = component.items.size();
  std::vector<std::array<ArenaArea, 3>> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < order.size(); ++k) {
      keys[i][k] = value_of(component, component.items[i], order[k]);
    }
  }
  std::vector<std::uint32_t> result(count);
  std::iota(result.begin(), result.end(), 0U);
  std::stable_sort(result.begin(), result.end(),
                   [&keys](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
  return result;
}

std::uint64_t overlapping_pairs(const ArenaComponent& component) {
  // Counts each pair at the item that starts later, which overlaps all items alive at its start.
  std::vector<std::uint32_t> ending(component.section_bytes.size() + 1, 0);
  std::size_t next = 0;
  std::uint64_t alive = 0;
  std::uint64_t pairs = 0;
  for (std::size_t section = 0; section < component.section_bytes.size(); ++section) {
    alive -= ending[section];
    for (; next < component.items.size() && component.items[next].first_section == section; ++next) {
      pairs += alive++;
      ++ending[component.items[next].end_section];
    }
  }
  return pairs;
}

} // namespace tidegate::planning
