#include "engine/memory_layout.hpp"

#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace tidegate::engine {
namespace {

struct Lifetime {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool carried = false; // an iteration may need the previous one's contents
};

// The groups that repeat.
struct Repeated {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Repeated repeated(const Job& program, const planning::BarrierGroups& groups) {
  Repeated found;
  for (std::uint64_t group = 0; group < groups.group_count(); ++group) {
    for (const std::uint32_t wave : groups.group(group)) {
      found.begin = program.waves[wave].section == Section::before ? group + 1 : found.begin;
      found.end = program.waves[wave].section != Section::after ? group + 1 : found.end;
    }
  }
  return found;
}

std::vector<std::optional<Lifetime>> uses(const Job& program, const planning::BarrierGroups& groups,
                                          const Repeated& each) {
  std::vector<std::optional<Lifetime>> uses(program.buffers.size());
  std::vector<std::uint64_t> first_in_each(program.buffers.size(), each.end);
  for (std::uint64_t group = 0; group < groups.group_count(); ++group) {
    const bool repeats = group >= each.begin && group < each.end;
    for (const std::uint32_t wave : groups.group(group)) {
      for (const ProgramArgument& argument : program.waves[wave].arguments) {
        if (argument.kind != ProgramArgument::Kind::buffer) { // images have separate memory
          continue;
        }
        auto& use = uses[argument.buffer];
        if (!use) {
          use = Lifetime{.first = group, .last = group};
        }
        use->last = group;
        if (repeats) {
          std::uint64_t& first = first_in_each[argument.buffer];
          first = std::min(first, group);
          use->carried |= first == group && !argument.overwrites;
        }
      }
    }
  }
  return uses;
}

Error no_room(Error error, const Job& program) {
  const bool proved = error.code == ErrorCode::arena_over_capacity;
  const auto largest = std::ranges::max_element(
      program.buffers, {}, [](const ProgramBuffer& buffer) { return buffer.in_arena() ? buffer.bytes : 0; });
  const bool given = program.budget_bytes != 0;
  error.code = proved ? ErrorCode::arena_over_capacity : ErrorCode::arena_search_exhausted;
  error.message = fmt::format(
      "the buffers need {} of device memory, {} {}; the largest is {}, {}",
      bytes_text((proved ? error.required_bytes : error.best_height_bytes).value_or(0)),
      given ? "the budget leaves" : "the device has", bytes_text(error.capacity_bytes.value_or(0)),
      in_quotes(largest->name), bytes_text(largest->bytes));
  error.fix = fmt::format("{}make buffers smaller, or give those between waves neither init nor output, so "
                          "that they can share memory",
                          given ? "raise device_memory_budget_bytes as far as the device has memory, " : "");
  error.pointer = error.field = std::nullopt;
  return error;
}

} // namespace

std::uint64_t image_bytes(const Job& program) {
  std::uint64_t bytes = 0;
  for (const ProgramBuffer& buffer : program.buffers) {
    if (buffer.is_object() && __builtin_add_overflow(bytes, buffer.bytes, &bytes)) {
      return ~std::uint64_t{0};
    }
  }
  return bytes;
}

std::uint64_t least_bytes(const Job& program) {
  const auto add = [](std::uint64_t a, std::uint64_t b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? ~std::uint64_t{0} : sum;
  };
  std::uint64_t bytes = image_bytes(program);
  for (const ProgramBuffer& buffer : program.buffers) {
    bytes = add(bytes, buffer.in_arena() && !buffer.transient() ? buffer.bytes : 0);
  }
  std::uint64_t most = 0;
  for (const ProgramWave& wave : program.waves) {
    std::set<std::uint32_t> transient;
    std::uint64_t own = 0;
    for (const ProgramArgument& argument : wave.arguments) {
      const bool counts = argument.is_memory() && program.buffers[argument.buffer].in_arena() &&
                          program.buffers[argument.buffer].transient();
      if (counts && transient.insert(argument.buffer).second) {
        own = add(own, program.buffers[argument.buffer].bytes);
      }
    }
    most = std::max(most, own);
  }
  return add(bytes, most);
}

Result<MemoryLayout> plan_memory(const Job& program, const planning::BarrierGroups& groups,
                                 std::uint64_t alignment, std::uint64_t capacity_bytes,
                                 std::uint64_t stagger_bytes) {
  constexpr std::uint64_t large_bytes = std::uint64_t{64} << 10U; // more than the first cache of most CPUs
  const Repeated each = repeated(program, groups);
  const auto used = uses(program, groups, each);
  const std::uint64_t end = std::max<std::uint64_t>(groups.group_count(), 1);
  planning::ArenaProblem problem;
  if (capacity_bytes != 0) {
    problem.capacity_bytes = capacity_bytes;
  }
  MemoryLayout layout{.image_bytes = image_bytes(program)};
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    if (!buffer.in_arena()) {
      layout.lifetimes.push_back({.lower = 0, .upper = end});
      continue;
    }
    const std::uint64_t stagger = buffer.bytes >= large_bytes ? stagger_bytes : 0;
    planning::ArenaBuffer lifetime{.lower = 0, .upper = end, .size = buffer.bytes, .alignment = alignment};
    const bool asked = program.until && program.until->buffer == i;
    if (buffer.transient() && used[i] && !asked) {
      const bool carried = program.iterations > 1 && used[i]->carried;
      lifetime.lower = carried ? std::min(used[i]->first, each.begin) : used[i]->first;
      lifetime.upper = carried ? std::max(used[i]->last + 1, each.end) : used[i]->last + 1;
    }
    const std::uint64_t padding = (alignment - (buffer.bytes + stagger) % alignment) % alignment;
    if (__builtin_add_overflow(lifetime.size, stagger, &lifetime.size) ||
        __builtin_add_overflow(layout.sum_bytes, lifetime.size, &layout.sum_bytes) ||
        __builtin_add_overflow(layout.sum_bytes, padding, &layout.sum_bytes)) {
      return failure(ErrorCode::byte_count_overflow, "the buffers have more than 2^64 - 1 bytes together",
                     "make them smaller");
    }
    problem.buffers.push_back(lifetime);
    layout.lifetimes.push_back(lifetime);
  }
  auto plan = planning::plan_arena(problem);
  if (!plan) {
    return tl::unexpected(no_room(std::move(plan.error()), program));
  }
  auto placed = plan->offsets.begin();
  for (const ProgramBuffer& buffer : program.buffers) {
    layout.offsets.push_back(buffer.in_arena() ? *placed++ : 0);
  }
  layout.arena_bytes = plan->height_bytes;
  layout.lower_bound_bytes = plan->lower_bound_bytes;
  layout.optimal = plan->optimal;
  layout.proof = plan->proof;
  return layout;
}

} // namespace tidegate::engine
