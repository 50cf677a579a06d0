// Waves that run only their active tiles: those whose flag in a buffer is not 0. Such a wave runs a copy of its kernel
// that takes the flags as one more argument and returns at once where the work-group's flag is 0, so that the wave is
// right under every strategy and in plain launches. If it repeats, another wave counts and lists the active tiles
// before it; persistent launches with barriers read these lists themselves (kernels/wave/active.cl), the kernel does
// not.
#include "opencl_c/outline.hpp"
#include "wave/active_state.h"
#include "work/resolve.hpp"

namespace tidegate::engine {
namespace {

// Adds the copy of a kernel to its unit, unless it is there; returns the index of the function. Where a wave counts its
// flags, the copy takes what the count writes, too, and asks it first if `asks`.
Result<std::uint32_t> testing_kernel(ProgramUnit& unit, std::uint32_t original, std::string_view flag_type,
                                     bool counted, bool asks) {
  const opencl_c::TranslationUnit& of = unit.unit;
  const opencl_c::Function& kernel = of.functions[original];
  const std::string name = fmt::format("tg_{}_{}_{}", counted ? "counted" : "active", flag_type, kernel.name);
  if (const opencl_c::Function* const known = of.definition(name)) {
    return static_cast<std::uint32_t>(known - of.functions.data());
  }
  // Each instruction before the first load of a tile counts, so where all tiles are active one word at a known place
  // answers, from a cache that all work-groups of a compute unit share. It is never above 1 + tg_iteration.
  TIDEGATE_TRY(unit.unit,
               opencl_c::with_copy(
                   of, kernel, name,
                   fmt::format("global const {}* restrict tg_flags{}", flag_type,
                               counted ? ", global uint* tg_state, global const uint* tg_list, "
                                         "global const uint* tg_blocks, uint tg_iteration"
                                       : ""),
                   fmt::format("if ({}tg_flags[get_group_id(0) + get_num_groups(0) * (get_group_id(1) + "
                               "get_num_groups(1) * get_group_id(2))] == 0) return;",
                               asks ? fmt::format("tg_state[{}] > tg_iteration && ", TG_ACTIVE_SOME) : "")));
  unit.rewritten = opencl_c::preprocessed_text(unit.unit);
  return static_cast<std::uint32_t>(unit.unit.functions.size() - 1);
}

ProgramArgument own_argument(std::uint32_t buffer, Access access) {
  return buffer_argument(buffer, access, false, true);
}

ProgramArgument iteration_argument() {
  ProgramArgument argument = number_argument(std::uint32_t{0});
  argument.changes = {{.progression = {.type = ElementType::u32, .by = 1}}};
  return argument;
}

} // namespace

Result<void> add_active(const WaveInput& in, ProgramWave& wave) {
  const std::string place = in.pointer + "/active/buffer";
  TIDEGATE_TRY(const std::uint32_t flags, in.memory.find(StorageKind::buffer, in.spec.active->buffer, place));
  const ProgramBuffer& buffer = in.memory.buffers[flags];
  const Refusal refusals[] = {
      {(buffer.type != ElementType::u8 && buffer.type != ElementType::u32) ||
           buffer.count != wave.range.tiles(),
       "",
       fmt::format("{} has {} of {}, the wave has {}", in_quotes(buffer.name),
                   plural(buffer.count, "element"), name(buffer.type),
                   plural(wave.range.tiles(), "work-group")),
       "give it one element of u8 or u32 for each work-group"},
      {std::ranges::any_of(wave.arguments,
                           [&](const auto& argument) { return argument.is_of(flags) && argument.writes(); }),
       "", fmt::format("the wave writes its own flags {}", in_quotes(buffer.name)),
       "write the next flags into another buffer, and swap the two"}};
  TIDEGATE_CHECK(first_of(refusals, place));
  for (ProgramArgument& argument : wave.arguments) {
    if (argument.kind == ProgramArgument::Kind::buffer && argument.access != Access::read) {
      argument.access = Access::read_write; // tiles that do not run leave the contents as they were
    }
  }
  wave.users_kernel = false;
  wave.tests_flags = true;
  wave.arguments.push_back(own_argument(flags, Access::read));
  return {};
}

Result<std::optional<ProgramWave>> count_active(const ResolveInput& input, ProgramMemory& memory,
                                                ProgramOps& ops, std::uint32_t index, ProgramWave& wave) {
  const std::size_t flags_argument = wave.arguments.size() - 1;
  const std::uint32_t flag_buffer = wave.arguments[flags_argument].buffer;
  const std::string flags = memory.buffers[flag_buffer].name;
  const ElementType type = memory.buffers[flag_buffer].type;
  // Compilers for CPUs vectorize the kernel only under one condition.
  const bool counted = wave.section == Section::each;
  const bool asks = counted && (input.device == nullptr || input.device->type != device::DeviceType::cpu);
  ProgramOp op = ops.ops[wave.op];
  TIDEGATE_TRY(op.function, testing_kernel(ops.units[op.unit], op.function,
                                           type == ElementType::u8 ? "uchar" : "uint", counted, asks));
  const auto found = std::ranges::find_if(ops.ops, [&](const ProgramOp& other) {
    return other.name == op.name && other.unit == op.unit && other.function == op.function;
  });
  wave.op = static_cast<std::uint32_t>(found - ops.ops.begin());
  if (found == ops.ops.end()) {
    ops.ops.push_back(std::move(op));
  }
  if (!counted) {
    return std::nullopt;
  }
  const policy::LaunchPolicy& policy = input.program.policy;
  const std::uint32_t tiles = wave.range.tiles();
  std::uint64_t bytes = 0;
  for (const ProgramBuffer& buffer : memory.buffers) {
    bytes = saturating_add(bytes, buffer.bytes);
  }
  ActiveTiles active{.flags_argument = flags_argument,
                     .report = {.wave = index,
                                .flags = flags,
                                .tiles = tiles,
                                .pressure_bps = pressure_bps(bytes, input.program.device_memory_budget_bytes),
                                .sparse_bps = policy.sparse_frontier_threshold_bps,
                                .dense_bps = policy.dense_frontier_threshold_bps,
                                .memory_bps = policy.memory_pressure_threshold_bps}};
  const auto add = [&](std::string_view what, std::uint64_t words) {
    memory.buffers.push_back({.name = fmt::format("{}: {} of wave {}", flags, what, index),
                              .type = ElementType::u32,
                              .count = words,
                              .bytes = words * sizeof(std::uint32_t)});
    return static_cast<std::uint32_t>(memory.buffers.size() - 1);
  };
  const std::uint32_t entries =
      active_entries(input.program.repeat.value_or(input.program.until ? TG_ACTIVE_MOST_ENTRIES : 1));
  active.state = add("counts", TG_ACTIVE_HEADER + std::uint64_t{entries} * TG_ACTIVE_WORDS);
  memory.buffers.back().counted_bytes = memory.buffers.back().bytes;
  memory.buffers.back().first = [] {
    std::vector<std::uint32_t> words(TG_ACTIVE_HEADER + 2 * TG_ACTIVE_WORDS);
    words[TG_ACTIVE_HEADER + TG_ACTIVE_CHOICE] = TG_ACTIVE_CHOSEN; // empty, before iteration 0
    const auto initial = std::as_bytes(std::span(words));
    return Result<std::vector<std::byte>>(std::vector<std::byte>(initial.begin(), initial.end()));
  };
  active.list = add("active tiles", tiles);
  active.blocks = add("blocks", (tiles >> TG_ACTIVE_BLOCK_BITS) + 1);

  wave.arguments.insert(wave.arguments.end(),
                        {own_argument(active.state, Access::read_write),
                         own_argument(active.list, Access::read), own_argument(active.blocks, Access::read),
                         iteration_argument()});
  ProgramWave count{.title = fmt::format("the count of {}", in_quotes(flags)), .users_kernel = false};
  TIDEGATE_TRY(count.op, built_in_op(ops, "wave/count_flags.cl", "count_flags"));
  constexpr std::uint32_t lanes = 64;
  const std::uint32_t groups = (tiles + lanes * TG_ACTIVE_ITEM - 1) / (lanes * TG_ACTIVE_ITEM);
  count.range = {.global = {groups * lanes, 1, 1}, .local = {lanes, 1, 1}, .groups = {groups, 1, 1}};
  count.arguments = {own_argument(flag_buffer, Access::read),
                     own_argument(active.state, Access::read_write),
                     own_argument(active.list, Access::write),
                     own_argument(active.blocks, Access::write),
                     number_argument(static_cast<std::uint32_t>(element_bytes(type))),
                     number_argument(tiles),
                     number_argument(entries - 1),
                     number_argument(active.report.pressure_bps),
                     number_argument(active.report.sparse_bps),
                     number_argument(active.report.dense_bps),
                     number_argument(active.report.memory_bps),
                     iteration_argument()};
  count.prepares = index;
  wave.prepared = true;
  wave.active = std::make_shared<const ActiveTiles>(std::move(active));
  return count;
}

} // namespace tidegate::engine
