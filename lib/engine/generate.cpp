#include "engine/generate.hpp"

#include "device/kernels.hpp"
#include "engine/active.hpp"
#include "engine/job_checks.hpp"
#include "opencl_c/words.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

#if defined(__x86_64__)
constexpr bool x86 = true;
#else
constexpr bool x86 = false; // other systems may forbid programs to read the counter
#endif

} // namespace

DeviceClock device_clock(const device::DeviceInfo& device) {
  if (takes_ptx(device)) {
    return DeviceClock::nanoseconds;
  }
  if (device.extensions.find("cl_khr_kernel_clock") != std::string::npos) {
    return DeviceClock::extension;
  }
  // Clang has a built-in function for the counter.
  return x86 && device::is_pocl(device) && device.type == device::DeviceType::cpu ? DeviceClock::processor
                                                                                  : DeviceClock::none;
}

#include "wave/queue_state.h"

namespace {

// Returns a literal with exactly these bits: as_float4((uint4)(0x3f800000u, …)).
std::string literal(std::string_view type, const std::vector<std::byte>& value) {
  constexpr std::array<std::string_view, 4> unsigned_names{"uchar", "ushort", "uint", "ulong"};
  const auto arithmetic = *opencl_c::arithmetic_type(type);
  const std::size_t size = element_bytes(*element_type_of(arithmetic.scalar));
  const std::string width = arithmetic.width == 1 ? "" : std::to_string(arithmetic.width);
  std::string parts;
  for (std::uint32_t i = 0; i < arithmetic.width; ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, value.data() + i * size, size);
    parts += fmt::format("{}0x{:x}{}", i == 0 ? "" : ", ", bits, size == 8 ? "ul" : "u");
  }
  return fmt::format("as_{}(({}{})({}))", type, unsigned_names[std::countr_zero(size)], width, parts);
}

std::string object_name(std::uint64_t index) {
  return fmt::format("tg_object{}", index);
}

// Return ", read_only image2d_t tg_object0, sampler_t tg_object1" and ", tg_object0, tg_object1".
std::string object_parameters(const Job& program, const std::vector<KernelObject>& objects) {
  constexpr std::array<std::string_view, 3> qualifiers{"read_only", "write_only", "read_write"};
  std::string text;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const KernelObject& object = objects[i];
    text += object.is_sampler ? fmt::format(", sampler_t {}", object_name(i))
                              : fmt::format(", {} {} {}", qualifiers[static_cast<std::size_t>(object.access)],
                                            type_name(*program.buffers[object.image].image), object_name(i));
  }
  return text;
}

std::string object_arguments(const std::vector<KernelObject>& objects) {
  std::string text;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    text += ", " + object_name(i);
  }
  return text;
}

class Generator {
public:
  Generator(const Job& program, const OutlinedOps& ops, const Schedule& schedule, const LaunchTables& tables,
            const MemoryLayout& memory, const KernelRequest& request)
      : program_(program), ops_(ops), schedule_(schedule), tables_(tables), memory_(memory),
        request_(request) {}

  KernelSource run() {
    const bool persistent = is_persistent(request_.strategy);
    settings();
    if (persistent) {
      settings_of_persistent();
    }
    part("common/virtual_ndrange.cl");
    part("wave/tables.h");
    progressions();
    lists();
    if (persistent) {
      define("TG_CLAIMS", request_.claims);
      part("wave/progress.cl");
      if (request_.gates) {
        part("wave/gate.cl");
      }
    }
    for (const std::uint32_t unit : ops_.order) {
      source_ += ops_.texts[unit];
    }
    source_ += "\n#line 1 \"tidegate/generated.cl\"\n";
    size_checks();
    changed_values();
    locals();
    run_tile();
    if (persistent) {
      until();
      queues();
      if (is_lean()) {
        lean_stages();
      }
    }
    if (request_.stress_word) {
      define("TG_STRESS_WORD", *request_.stress_word);
      part("wave/stress.cl");
    }
    if (request_.claims) {
      source_ += "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n";
      part("wave/claims.cl");
    }
    part(persistent ? "wave/persistent.cl" : "wave/stage.cl");
    return {.source = std::move(source_),
            .options = options(),
            .kernel = persistent ? "tidegate_persistent" : "tidegate_stage"};
  }

private:
  void part(std::string_view file) { source_ += "\n" + device::kernel_source(file); }

  template <class Value>
  void define(std::string_view name, const Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      source_ += fmt::format("#define {} {}\n", name, value ? 1 : 0);
    } else {
      source_ += fmt::format("#define {} {}\n", name, value);
    }
  }

  using Rows = std::vector<std::pair<std::uint32_t, std::uint32_t>>; // shared stages, each with its wave

  // Defines a macro of the stage: a number of each of these waves, 0 in all other stages.
  template <class Number>
  void define_by_stage(std::string_view name, const Rows& rows, std::string_view suffix,
                       const Number& number) {
    std::string text = fmt::format("0{}", suffix);
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
      text = fmt::format("(stage) == {}u ? {}{} : {}", row->first, number(row->second), suffix, text);
    }
    define(fmt::format("{}(stage)", name), fmt::format("({})", text));
  }

  void settings() {
    source_ += contraction_pragma(program_);
    source_ += fmt::format("// Generated by tidegate: {}, strategy {}, mode {}.\n",
                           plural(tables_.cases.size(), "case"),
                           strategy_names[static_cast<std::size_t>(request_.strategy)], name(tables_.mode));
    define("TG_GROUP_SIZE", schedule_.group_size);
    define("TG_OBJECT_PARAMETERS", object_parameters(program_, tables_.objects));
    define("TG_OBJECT_ARGUMENTS", object_arguments(tables_.objects));
    define("TG_RESTRICT", request_.restricts ? "restrict" : "");
    define("TG_SIDE_BY_SIDE", std::ranges::any_of(tables_.cases, [&](const Case& served) {
             return served.side_by_side > 1 && ops_.kernels[served.op].needs_whole_group;
           }));
    define("TG_CLOSED_CASES", !request_.conditional_barriers);
    define("TG_GATES", request_.gates);
    define("TG_GATE_PARAMETER", request_.gates ? ", tg_gate gate" : "");
    define("TG_GATE_ARGUMENT", request_.gates ? ", gate" : "");
    source_ += request_.gates ? "" : "#define TG_PASS(item)\n";
  }

  void settings_of_persistent() {
    constexpr std::size_t most_kept_tasks = 128;
    const std::size_t tasks = tables_.stages.size() * schedule_.phases();
    define("TG_ORDERING", static_cast<int>(request_.ordering));
    define("TG_LEAN", is_lean());
    define("TG_MAPPING", is_lean() ? std::to_string(static_cast<int>(request_.mapping)) : "mapping");
    define("TG_TRACE", request_.clock != DeviceClock::none);
    define("TG_CLOCK", static_cast<int>(request_.clock));
    define("TG_TASK_ROOM", !is_lean() && tasks <= most_kept_tasks ? tasks : 1);
    define("TG_HAS_BEFORE", schedule_.repeat_begin != 0);
    define("TG_HAS_UNTIL", request_.until_on_device);
    define("TG_GUARD_UNTIL", guards_until());
  }

  // With few stages of one wave each, the loop over them needs no tables.
  [[nodiscard]] bool is_lean() const {
    constexpr std::size_t most_tasks = 4; // each has separate code and registers
    constexpr std::size_t most_waits = 6;
    return request_.conditional_barriers && tables_.mode == Mode::jit && !request_.stress_word &&
           tables_.stages.size() * schedule_.phases() <= most_tasks && tables_.waits.size() <= most_waits &&
           std::ranges::all_of(tables_.stages, [](const StageRow& stage) { return stage.entry_count == 1; });
  }

  // Returns true if the next stage (of the next iteration, or after the last one) may overwrite the tested
  // value while other groups still read it. With claims, one group reads it, and the others wait for that.
  [[nodiscard]] bool guards_until() const {
    if (!request_.until_on_device || request_.claims) {
      return false;
    }
    const auto writes_it = [&](std::uint32_t wave) {
      return std::ranges::any_of(uses_of(program_.waves[wave].arguments), [&](const MemoryUse& use) {
        return use.writes &&
               (use.buffer == program_.until->buffer || program_.buffers[program_.until->buffer].swapped);
      });
    };
    const auto& stages = schedule_.stages;
    return std::ranges::any_of(stages[schedule_.repeat_begin].waves, writes_it) ||
           (schedule_.repeat_end < stages.size() &&
            std::ranges::any_of(stages[schedule_.repeat_end].waves, writes_it));
  }

  // Emits progressions if any argument changes.
  void progressions() {
    bool any = false;
    bool doubles = false;
    for (const ProgramWave& wave : program_.waves) {
      for (const ProgramArgument& argument : wave.arguments) {
        for (const Change& change : argument.changes) {
          any = true;
          doubles |= change.progression.type == ElementType::f64;
        }
      }
    }
    if (any) {
      source_ += doubles ? "#define TG_DOUBLE_PROGRESSIONS\n" : "";
      part("wave/progression.cl");
    }
  }

  [[nodiscard]] std::string type_text(std::uint32_t op, const std::string& type) const {
    return ops_.type_text(program_.ops[op].unit, type);
  }

  // Emits checks that structures in descriptors have the size that this program computed.
  void size_checks() {
    for (std::size_t code = 0; code < tables_.cases.size(); ++code) {
      const Case& served = tables_.cases[code];
      const auto& arguments = program_.waves[served.wave].arguments;
      const auto& parameters = program_.function(served.op).parameters;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].kind == ProgramArgument::Kind::value &&
            !opencl_c::arithmetic_type(parameters[i].type)) {
          source_ += fmt::format("typedef char tg_argument_has_{}_bytes_{}_{}[sizeof({}) == {} ? 1 : -1];\n",
                                 arguments[i].value.size(), code, i, type_text(served.op, parameters[i].type),
                                 arguments[i].value.size());
        }
      }
    }
  }

  // The number of a progression, whose words begin at this expression, in an iteration.
  static std::string number_in(const Progression& progression, std::string_view type,
                               const std::string& words) {
    return progression.type == ElementType::f32   ? fmt::format("tg_progression_float({}, iteration)", words)
           : progression.type == ElementType::f64 ? fmt::format("tg_progression_double({}, iteration)", words)
                                                  : fmt::format("({})tg_progression({}, iteration, {})", type,
                                                                words, is_signed_integer(progression.type));
  }

  static std::string changed_name(std::uint32_t op, std::size_t argument) {
    return fmt::format("tg_changed_{}_{}", op, argument);
  }

  // Emits a function for each structure with members that change.
  void changed_values() {
    std::set<std::pair<std::uint32_t, std::size_t>> emitted;
    for (const Case& served : tables_.cases) {
      const auto& arguments = program_.waves[served.wave].arguments;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& stated = program_.function(served.op).parameters[i].type;
        if (arguments[i].changes.empty() || opencl_c::arithmetic_type(stated) ||
            !emitted.emplace(served.op, i).second) {
          continue;
        }
        const std::string type = type_text(served.op, stated);
        source_ += fmt::format("{0} {1}(global const ulong* words, uint iteration) {{\n"
                               "  {0} value = *(global const {0}*)words;\n",
                               type, changed_name(served.op, i));
        std::uint64_t word = value_words(arguments[i]);
        for (const Change& change : arguments[i].changes) {
          const std::string_view number = scalar_names[static_cast<std::size_t>(change.progression.type)];
          source_ += fmt::format("  *({}*)((uchar*)&value + {}) = {};\n", number, change.offset,
                                 number_in(change.progression, number, fmt::format("words + {}", word)));
          word += progression_words;
        }
        source_ += "  return value;\n}\n";
      }
    }
  }

  // A work-group runs one op at a time, so the local variables of all ops share memory.
  void locals() {
    source_ += "// Local variables of the kernels, one over the other.\ntypedef union {\n  uint none;\n";
    std::map<std::uint32_t, std::uint32_t> most; // tiles side by side, by op
    for (const Case& served : tables_.cases) {
      most[served.op] = std::max(most[served.op], served.side_by_side);
    }
    for (const auto& [op, tiles] : most) {
      if (!ops_.kernels[op].locals.empty()) {
        source_ += fmt::format("  {} of_{}[{}];\n", ops_.kernels[op].locals, op, tiles);
      }
    }
    source_ += "} tg_locals_union;\n\n";
  }

  void run_tile() {
    source_ +=
        "// One tile of one wave.\n"
        "__attribute__((always_inline)) static void tg_run_tile(uint code, uint descriptor, uint tile,\n"
        "    uint iteration, global uchar* arena, global const ulong* words, local uchar* dynamic, local "
        "tg_locals_union* "
        "locals TG_LIST_PARAMETER TG_OBJECT_PARAMETERS TG_GATE_PARAMETER) {\n"
        "  global const ulong* const w = words + descriptor;\n";
    const std::size_t cases = tables_.cases.size();
    const auto promoted = static_cast<std::size_t>(std::ranges::count_if(tables_.cases, &Case::promoted));
    for (std::size_t code = 0; code < cases; ++code) {
      const bool first = code < promoted; // hot ops are tested first
      source_ += cases == 1 ? "  "
                 : first    ? fmt::format("  {}if (code == {}) ", code == 0 ? "" : "else ", code)
                 : code == promoted
                     ? fmt::format("  {}switch (code) {{\n  case {}: ", code == 0 ? "" : "else ", code)
                     : fmt::format("  case {}: ", code);
      one_case(tables_.cases[code]);
      source_ += cases == 1 || first ? "\n" : " break;\n";
    }
    source_ += cases > 1 && promoted < cases ? "  default: break;\n  }\n" : "";
    source_ += "}\n\n";
  }

  void one_case(const Case& served) {
    const opencl_c::OutlinedKernel& kernel = ops_.kernels[served.op];
    source_ += fmt::format("{{ // op {}\n    const tg_range range = {};\n", served.op, range_text(served));
    const bool listed = has_list(served);
    const auto tile = [listed](std::string_view place) {
      return listed ? fmt::format("tg_listed(list, {})", place) : std::string(place);
    };
    const bool whole = kernel.needs_whole_group || (range_is_constant(served) && fills_groups(served));
    if (served.side_by_side > 1) {
      // Concurrent tiles; the last ones may be missing.
      source_ +=
          fmt::format("    const uint lanes = tg_lanes(range);\n"
                      "    const uint lane = get_local_id(0) & (lanes - 1);\n"
                      "    const uint side = get_local_id(0) >> (31 - clz(lanes)); // it is a power of two\n"
                      "    const uint tg_own = {};\n"
                      "    {}{{\n"
                      "      const tg_item item = tg_place(range, tg_own, lane, side);\n"
                      "      {}{};\n    }}\n",
                      tile("tile * (TG_GROUP_SIZE >> (31 - clz(lanes))) + side"),
                      packs_are_full(served) && !listed
                          ? ""
                          : "if ((side + 1) * lanes <= TG_GROUP_SIZE && tg_own < tg_tiles(range)) ",
                      kernel.needs_whole_group || (range_is_constant(served) && !is_ragged(served))
                          ? ""
                          : "if (tg_inside(item)) ",
                      call(served, kernel));
    } else if (whole) {
      source_ += fmt::format(
          "    const uint tg_own = {};\n    {}{{\n"
          "      {}tg_item item = tg_place(range, tg_own, get_local_id(0), 0);\n{}      {};\n    }}\n",
          tile("tile"), listed ? "if (tg_own < tg_tiles(range)) " : "", waits(served) ? "" : "const ",
          waits(served) ? "      item.gate = gate;\n" : "", call(served, kernel));
    } else {
      // Work-groups of another size: distributes their work-items to the existing ones.
      source_ += fmt::format("    const uint tg_own = {};\n"
                             "    const uint lanes = {}range.local_x * range.local_y * range.local_z;\n"
                             "    for (uint lane = get_local_id(0); lane < lanes; lane += TG_GROUP_SIZE) {{\n"
                             "      const tg_item item = tg_place(range, tg_own, lane, 0);\n"
                             "      if (tg_inside(item)) {{\n",
                             tile("tile"), listed ? "tg_own >= tg_tiles(range) ? 0 : " : "");
      source_ += fmt::format("        {};\n      }}\n    }}\n", call(served, kernel));
    }
    source_ += kernel.needs_whole_group ? "    TG_CASE_ENDS\n  }" : "  }";
  }

  [[nodiscard]] bool has_list(const Case& served) const {
    return std::ranges::any_of(list_rows_, [&served](const auto& row) { return row.second == served.wave; });
  }

  [[nodiscard]] bool waits(const Case& served) const {
    return request_.gates && ops_.kernels[served.op].waits;
  }

  [[nodiscard]] bool is_constant(const Case& served, std::size_t word, std::size_t count) const {
    bool constant = tables_.mode == Mode::jit || served.promoted;
    for (std::size_t i = word; i < word + count; ++i) {
      constant = constant && served.fixed[i];
    }
    return constant;
  }

  [[nodiscard]] bool range_is_constant(const Case& served) const {
    return is_constant(served, 0, range_words);
  }

  [[nodiscard]] bool is_ragged(const Case& served) const {
    return program_.waves[served.wave].range.ragged();
  }

  // Returns true if every work-item has a tile to run.
  [[nodiscard]] bool packs_are_full(const Case& served) const {
    const NdRange& range = program_.waves[served.wave].range;
    return range_is_constant(served) && schedule_.group_size % range.group_size() == 0 &&
           range.tiles() % (schedule_.group_size / range.group_size()) == 0;
  }

  // Returns true if every virtual work-group has as many work-items as the work-groups that run it.
  [[nodiscard]] bool fills_groups(const Case& served) const {
    const NdRange& range = program_.waves[served.wave].range;
    return range.group_size() == schedule_.group_size && !is_ragged(served);
  }

  [[nodiscard]] std::string range_text(const Case& served) const {
    if (!range_is_constant(served)) {
      return "tg_range_at(w)";
    }
    std::string text;
    for (std::size_t i = 0; i < range_words; ++i) {
      text += fmt::format("{}{}{}", i == 0 ? "{" : ", ", served.words[i], i < range_words - 3 ? "u" : "ul");
    }
    return text + "}";
  }

  [[nodiscard]] std::string call(const Case& served, const opencl_c::OutlinedKernel& kernel) const {
    const auto& arguments = program_.waves[served.wave].arguments;
    const auto& parameters = program_.function(served.op).parameters;
    const auto indices = argument_indices(arguments);
    std::string text = kernel.function + "(item";
    std::string test;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string value = argument(i, indices[i].word, parameters[i].type, served, kernel);
      const ActiveTiles* active = has_list(served) ? program_.waves[served.wave].active.get() : nullptr;
      // The walk knows whether all its tiles are active; no count is above this number, so the kernel asks nothing.
      if (active != nullptr && i == active->flags_argument) {
        test = fmt::format("if (list.all_active || ((global const {}*){})[tg_own] != 0) ", parameters[i].type,
                           value);
      }
      text += active != nullptr && i == active->iteration_argument() ? ", 0xffffffffu" : ", " + value;
    }
    if (!kernel.locals.empty()) {
      text += fmt::format(", &locals->of_{}[item.side]", served.op);
    }
    return test + text + ")";
  }

  [[nodiscard]] bool may_be_null(std::uint32_t op, std::size_t index) const {
    return std::ranges::any_of(program_.waves, [&](const ProgramWave& wave) {
      return wave.op == op && wave.arguments[index].kind == ProgramArgument::Kind::null;
    });
  }

  // Passes pointers as void pointers, which C converts to the parameter's type.
  [[nodiscard]] std::string argument(std::size_t index, std::uint32_t word, const std::string& type,
                                     const Case& served, const opencl_c::OutlinedKernel& kernel) const {
    const ProgramArgument& argument = program_.waves[served.wave].arguments[index];
    const bool constant = is_constant(served, word, value_words(argument));
    const std::string offset =
        constant ? fmt::format("{}ul", served.words[word]) : fmt::format("w[{}]", word);
    switch (argument.kind) {
    case ProgramArgument::Kind::image:
    case ProgramArgument::Kind::sampler: return object_name(served.words[word]);
    case ProgramArgument::Kind::null:
    case ProgramArgument::Kind::buffer:
      return constant && argument.kind == ProgramArgument::Kind::null ? "0"
             : !constant && may_be_null(served.op, index) ? fmt::format("tg_buffer(arena, {})", offset)
                                                          : fmt::format("(global void*)(arena + {})", offset);
    case ProgramArgument::Kind::local:
      return served.side_by_side > 1
                 ? fmt::format("(local void*)(dynamic + (uint){} + item.side * (uint)w[{}])", offset,
                               word + 1)
                 : fmt::format("(local void*)(dynamic + (uint){})", offset);
    case ProgramArgument::Kind::value: break;
    }
    if (!argument.changes.empty() && !opencl_c::arithmetic_type(type)) {
      return fmt::format("{}(w + {}, iteration)", changed_name(served.op, index), word);
    }
    if (!argument.changes.empty()) {
      return number_in(argument.changes.front().progression, type_text(served.op, type),
                       fmt::format("w + {}", word + value_words(argument)));
    }
    // Compilers may evaluate constants more exactly than devices compute, so the bytes would differ.
    return constant && !kernel.rounds && opencl_c::arithmetic_type(type)
               ? literal(type, argument.value)
               : fmt::format("*(global const {}*)(w + {})", type_text(served.op, type), word);
  }

  // Emits the stages as constants.
  void lean_stages() {
    const std::size_t stages = tables_.stages.size();
    std::string tasks;
    std::string cases;
    for (std::size_t i = 0; i < stages * schedule_.phases(); ++i) {
      const StageRow& stage = tables_.stages[i % stages];
      const EntryRow& entry = tables_.entries[i / stages * tables_.entries_per_phase + stage.first_entry];
      tasks += fmt::format(" \\\n  TG_LEAN_TASK({}, {}u, {}u, {}u, {}u, {}u, {}u)", i, stage.tiles,
                           entry.code, entry.descriptor, stage.flags, stage.first_wait, stage.wait_count);
      cases += fmt::format(" TG_LEAN_CASE({})", i);
    }
    for (std::size_t stage = 0; stage < stages; ++stage) {
      const std::uint32_t first = tables_.stages[stage].first_wait;
      for (std::uint32_t at = first; at < first + tables_.stages[stage].wait_count; ++at) {
        const WaitRow& wait = tables_.waits[at];
        tasks += fmt::format(" \\\n  TG_LEAN_WAIT({}, {}, {}u, {}u, {}u, {}u, {}u, {}u, {}u)", at, stage,
                             wait.begin, wait.end, wait.from_begin, wait.from_end, wait.from_tiles, wait.halo,
                             wait.steps);
      }
    }
    define("TG_LEAN_STAGE_COUNT", fmt::format("{}u", stages));
    define("TG_LEAN_TASK_COUNT", stages * schedule_.phases());
    define("TG_LEAN_WAIT_COUNT", std::max<std::size_t>(tables_.waits.size(), 1));
    define("TG_LEAN_TASKS", tasks);
    define("TG_LEAN_CASES", cases);
  }

  void until() {
    if (!request_.until_on_device) {
      return;
    }
    const ElementType element = program_.buffers[program_.until->buffer].type;
    const std::string_view type =
        element == ElementType::f16 ? "ushort" : scalar_names[static_cast<std::size_t>(element)];
    const std::vector<std::byte>& value = program_.until->value;
    const bool zero_half = element == ElementType::f16 && value[0] == std::byte{0} &&
                           (value[1] & std::byte{0x7f}) == std::byte{0}; // 0 and -0 are one number
    define("TG_UNTIL_TYPE", type);
    define("TG_UNTIL_WORD", fmt::format("{}u", tables_.until_word));
    define("TG_UNTIL_IS(value)",
           zero_half ? "(((value) & 0x7fff) == 0)" : fmt::format("((value) == {})", literal(type, value)));
  }

  // Emits the stages that repeat until their queue is empty.
  void queues() {
    Rows rows;
    for (const Stage& stage : schedule_.stages) {
      if (!stage.plain && program_.waves[stage.waves.front()].in_rounds()) {
        rows.emplace_back(stage.row, stage.waves.front());
      }
    }
    define("TG_HAS_QUEUES", !rows.empty());
    if (rows.empty()) {
      return;
    }
    const ProgramWave& any = program_.waves[rows.front().second];
    const auto rounds_of = [this](std::uint32_t wave) { return *program_.waves[wave].rounds; };
    define("TG_QUEUE_TURN", ops_.kernels[turn_op(any)].function);
    define("TG_QUEUE_THRESHOLD", fmt::format("{}u", any.rounds->age_threshold));
    define_by_stage("TG_IS_QUEUE", rows, "u", [](std::uint32_t) { return 1; });
    define_by_stage("TG_QUEUE_STATE", rows, "ul",
                    [&](std::uint32_t wave) { return memory_.offsets[*program_.waves[wave].state]; });
    define_by_stage("TG_QUEUE_MOST_STALLED", rows, "u",
                    [&](std::uint32_t wave) { return rounds_of(wave).most_stalled_rounds; });
    define_by_stage("TG_QUEUE_CAPACITY", rows, "u",
                    [&](std::uint32_t wave) { return rounds_of(wave).capacity; });
    define("TG_QUEUE_MORE_WORD", static_cast<int>(TG_QUEUE_MORE));
    define("TG_QUEUE_END_WORD", static_cast<int>(TG_QUEUE_END));
    define("TG_QUEUE_HAS_DRAINED", static_cast<int>(TG_QUEUE_DRAINED));
  }

  // Emits how stages of one wave with active tiles are walked at barriers. Groups that wait for others by their tiles
  // would have to know which of them runs a tile.
  void lists() {
    for (const Stage& stage : schedule_.stages) {
      const ProgramWave& wave = program_.waves[stage.waves.front()];
      // Past the end of a list nothing is called, which is a condition around the barriers of a kernel.
      const bool may_skip = request_.conditional_barriers || !ops_.kernels[wave.op].needs_whole_group;
      if (request_.strategy == Strategy::barrier && !stage.plain && stage.waves.size() == 1 &&
          wave.prepared && may_skip) {
        list_rows_.emplace_back(stage.row, stage.waves.front());
      }
    }
    define("TG_HAS_LISTS", !list_rows_.empty());
    define("TG_LIST_PARAMETER", list_rows_.empty() ? "" : ", tg_list list");
    define("TG_LIST_ARGUMENT", list_rows_.empty() ? "" : ", list");
    if (list_rows_.empty()) {
      return;
    }
    const auto active_of = [this](std::uint32_t wave) -> const ActiveTiles& {
      return *program_.waves[wave].active;
    };
    const ActiveTiles& any = active_of(list_rows_.front().second);
    define("TG_ACTIVE_PRESSURE_BPS", fmt::format("{}u", any.report.pressure_bps));
    define("TG_ACTIVE_SPARSE_BPS", fmt::format("{}u", any.report.sparse_bps));
    define("TG_ACTIVE_DENSE_BPS", fmt::format("{}u", any.report.dense_bps));
    define("TG_ACTIVE_MEMORY_BPS", fmt::format("{}u", any.report.memory_bps));
    define("TG_ACTIVE_MASK", fmt::format("{}u", active_mask(program_.buffers[any.state].count)));
    define_by_stage("TG_HAS_LIST", list_rows_, "u", [](std::uint32_t) { return 1; });
    for (const auto& [macro, buffer] :
         {std::pair("TG_LIST_STATE", &ActiveTiles::state), std::pair("TG_LIST_ACTIVE", &ActiveTiles::list),
          std::pair("TG_LIST_BLOCKS", &ActiveTiles::blocks)}) {
      define_by_stage(macro, list_rows_, "ul",
                      [&, of = buffer](std::uint32_t wave) { return memory_.offsets[active_of(wave).*of]; });
    }
    define_by_stage("TG_LIST_TILES", list_rows_, "u",
                    [&](std::uint32_t wave) { return program_.waves[wave].range.tiles(); });
    define_by_stage("TG_LIST_PACK", list_rows_, "u",
                    [&](std::uint32_t wave) { return schedule_.tiles_per_pack[wave]; });
    part("wave/active.cl");
  }

  // Returns the user's options without those of the preprocessor; atomics with scopes require OpenCL C 2.0.
  [[nodiscard]] std::string options() const {
    const opencl_c::CompilerOptions& user = program_.units[schedule_.main_options].parsed_options;
    const bool scopes =
        is_persistent(request_.strategy) && (request_.ordering == device::MemoryOrdering::c11 ||
                                             request_.ordering == device::MemoryOrdering::fence);
    std::string standard = user.language_standard;
    for (const ProgramUnit& unit : program_.units) {
      standard = std::max(standard, unit.parsed_options.language_standard); // "CL1.2" < "CL2.0"
    }
    if (scopes) {
      standard = std::max(standard, std::string(request_.opencl_3 ? "CL3.0" : "CL2.0"));
    }
    std::string text = standard.empty() ? "" : "-cl-std=" + standard;
    for (const std::string& option : user.others) {
      text += (text.empty() ? "" : " ") + option;
    }
    return text;
  }

  const Job& program_;
  const OutlinedOps& ops_;
  const Schedule& schedule_;
  const LaunchTables& tables_;
  const MemoryLayout& memory_;
  const KernelRequest& request_;
  Rows list_rows_; // those that lists can walk
  std::string source_;
};

} // namespace

std::string contraction_pragma(const Job& program) {
  return program.fp_contract_off ? "#pragma OPENCL FP_CONTRACT OFF\n" : "";
}

KernelSource generate_kernel(const Job& program, const OutlinedOps& ops, const Schedule& schedule,
                             const LaunchTables& tables, const MemoryLayout& memory,
                             const KernelRequest& request) {
  return Generator(program, ops, schedule, tables, memory, request).run();
}

} // namespace tidegate::engine
