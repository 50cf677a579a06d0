#include "engine/device_memory.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

struct Lifetime {
  std::uint64_t first = 0; // groups
  std::uint64_t last = 0;
};

// Returns, by buffer, when it holds contents that a wave needs; nothing for one that no wave uses.
std::vector<std::optional<Lifetime>> lifetimes(const Job& program, const planning::BarrierGroups& groups) {
  std::vector<std::uint64_t> group_of(program.waves.size());
  std::uint64_t begin = 0; // the groups that repeat
  std::uint64_t end = 0;
  for (std::uint64_t group = 0; group < groups.group_count(); ++group) {
    for (const std::uint32_t wave : groups.group(group)) {
      group_of[wave] = group;
      begin = program.waves[wave].section == Section::before ? group + 1 : begin;
      end = program.waves[wave].section != Section::after ? group + 1 : end;
    }
  }
  std::vector<std::optional<Lifetime>> found;
  for (const std::vector<MemoryUse>& uses : uses_by_buffer(program)) {
    auto& life = found.emplace_back();
    std::uint64_t first_in_each = end;
    bool carried = false; // an iteration may need the previous one's contents
    for (const MemoryUse& use : uses) {
      const std::uint64_t group = group_of[use.wave];
      life =
          life ? Lifetime{std::min(life->first, group), std::max(life->last, group)} : Lifetime{group, group};
      if (group >= begin && group <= first_in_each && group < end) {
        carried = !use.overwrites || (carried && group == first_in_each);
        first_in_each = group;
      }
    }
    if (carried && program.iterations > 1) {
      life = Lifetime{std::min(life->first, begin), std::max(life->last, end - 1)};
    }
  }
  return found;
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
  return saturating_sum(program.buffers,
                        [](const ProgramBuffer& buffer) { return buffer.is_object() ? buffer.bytes : 0; });
}

Result<MemoryLayout> plan_memory(const Job& program, const planning::BarrierGroups& groups,
                                 std::uint64_t alignment, std::uint64_t capacity_bytes,
                                 std::uint64_t stagger_bytes) {
  constexpr std::uint64_t large_bytes = std::uint64_t{64} << 10U; // more than the first cache of most CPUs
  const auto used = lifetimes(program, groups);
  const std::uint64_t end = std::max<std::uint64_t>(groups.group_count(), 1);
  planning::ArenaProblem problem;
  if (capacity_bytes != 0) {
    problem.capacity_bytes = capacity_bytes;
  }
  MemoryLayout layout{.image_bytes = image_bytes(program)};
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    if (!buffer.in_arena()) {
      layout.lifetimes.push_back({.lower = 0, .upper = end});
      continue;
    }
    const std::uint64_t stagger = buffer.bytes >= large_bytes ? stagger_bytes : 0;
    planning::ArenaBuffer lifetime{.lower = 0, .upper = end, .size = buffer.bytes, .alignment = alignment};
    const bool asked = program.until && program.until->buffer == i;
    if (buffer.transient() && used[i] && !asked) {
      lifetime.lower = used[i]->first;
      lifetime.upper = used[i]->last + 1;
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
  return layout;
}

} // namespace tidegate::engine
