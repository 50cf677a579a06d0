// The wave and the kernel that drain a queue, and what is checked of its items and ops.
#include "work/queue.hpp"

#include "device/kernels.hpp"
#include "opencl_c/facts.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include "work/contents.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {

#include "wave/queue_state.h"

namespace {

static_assert(TG_QUEUE_PRIORITIES == queue_priorities);

// The kernel reads a tile as a vector of eight, s0 to s7.
static_assert(sizeof(QueueTile) == 8 * sizeof(std::uint32_t));
static_assert(offsetof(QueueTile, op) == 0 && offsetof(QueueTile, input) == 4 &&
              offsetof(QueueTile, output) == 8 && offsetof(QueueTile, priority) == 12 &&
              offsetof(QueueTile, first) == 16 && offsetof(QueueTile, count) == 20 &&
              offsetof(QueueTile, param) == 24 && offsetof(QueueTile, listed) == 28);

// Devices accept at least 1024 bytes of arguments.
constexpr std::size_t most_buffers = 100;

// Parts of the generated kernel source.
struct DrainText {
  std::string cases;   // of the ops
  std::string handles; // of the buffers
  std::string parameters;
  std::string arguments;
  std::string prelude; // of lists of hits
  bool requeues = false;
  std::uint32_t lanes = 1;
  std::uint32_t items_per_lane = 1;
  // Only if ops publish:
  bool publishes = false;
  std::string definitions; // of kernels/wave/publish.cl
  std::string functions;   // that it declares
};

// Surrounds the ops' file with kernels/wave/queue.cl and its definitions.
SourceFrame frame_of(const DrainText& drain) {
  return {.before = fmt::format(
              "#define TG_QUEUE_PUBLISHES {}\n{}"
              "#define TG_QUEUE_HANDLES {}\n#define TG_QUEUE_BUFFERS {}\n#define TG_QUEUE_ARGUMENTS {}\n"
              "#define TG_QUEUE_IN_ROUNDS {}\n#define TG_QUEUE_LANES {}u\n"
              "#define TG_QUEUE_PER_LANE {}u\n{}{}",
              drain.publishes ? 1 : 0, drain.definitions, drain.handles, drain.parameters, drain.arguments,
              drain.requeues ? 1 : 0, drain.lanes, drain.items_per_lane,
              device::kernel_source("wave/queue.cl"), drain.prelude),
          .after = device::with_place(
              "wave/queue.cl, the ops",
              drain.publishes
                  ? drain.functions
                  : fmt::format(
                        "uint tg_queue_run(uint tg_op, global void* tg_in, global void* tg_out, uint "
                        "tg_param) {{\n"
                        "  switch (tg_op) {{\n    {}default: return TIDEGATE_FAULT(0xffffffu);\n  }}\n}}\n",
                        drain.cases))};
}

// Finds the names in all items of a program.
Result<std::vector<QueueItem>> named_items(std::span<const QueueItemSpec> specs, const QueueNames& names,
                                           const std::string& pointer) {
  std::vector<QueueItem> items;
  items.reserve(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    auto item = resolve_item(specs[i], names);
    if (!item) {
      item.error().pointer = fmt::format("{}/items/{}{}", pointer, i, item.error().pointer.value_or(""));
      return tl::unexpected(std::move(item.error()));
    }
    items.push_back(*item);
  }
  return items;
}

Result<std::vector<QueueItem>> items_of(const QueueSpec& spec, const std::string& folder, PathScope scope,
                                        const std::string& pointer) {
  QueueNames names;
  for (std::uint32_t i = 0; i < spec.ops.size(); ++i) {
    names.ops.emplace(spec.ops[i], i);
  }
  for (std::uint32_t i = 0; i < spec.buffers.size(); ++i) {
    names.buffers.emplace(spec.buffers[i], i);
  }
  auto items = spec.items ? named_items(*spec.items, names, pointer)
                          : check_scope(path_in(folder, *spec.file), folder, scope).and_then([&] {
                              return read_queue_file(path_in(folder, *spec.file), names);
                            });
  if (!items && spec.file && !items.error().line) {
    items.error().pointer = pointer + "/file";
  }
  if (items && items->size() > std::numeric_limits<std::uint32_t>::max()) {
    return failure(ErrorCode::queue_too_long, fmt::format("the queue has {} items", items->size()),
                   "give 4294967295 at most, and the others to another wave", pointer);
  }
  return items;
}

// Names contents that are made with the program: nothing else has them.
std::string new_content() {
  static std::atomic<std::uint64_t> made;
  return fmt::format("queue {}", ++made);
}

ProgramBuffer word_buffer(const std::string& title, std::string_view what, std::uint64_t words) {
  return {.name = fmt::format("{}: {}", title, what),
          .type = ElementType::u32,
          .count = words,
          .bytes = words * sizeof(std::uint32_t)};
}

template <class T>
ProgramBuffer own_buffer(const std::string& title, std::string_view what, const std::vector<T>& rows) {
  const auto bytes = std::as_bytes(std::span(rows));
  ProgramBuffer buffer = word_buffer(title, what, bytes.size() / sizeof(std::uint32_t));
  buffer.first = [contents = std::vector(bytes.begin(), bytes.end())] {
    return Result<std::vector<std::byte>>(contents);
  };
  buffer.content = new_content();
  return buffer;
}

// Buffers named by items, in the order of their handles, with the drain's access to each.
std::vector<ProgramArgument> arguments_of(const std::vector<QueueCombination>& combinations,
                                          std::span<const QueueOpHandle> ops,
                                          std::span<const ProgramBuffer> buffers) {
  std::vector<std::optional<Access>> accesses(buffers.size());
  for (const QueueCombination& items : combinations) {
    auto& input = accesses[items.input];
    input = ops[items.op].op->input.is_const ? input.value_or(Access::read) : Access::read_write;
    accesses[items.output] = Access::read_write;
  }
  std::vector<ProgramArgument> arguments;
  for (std::uint32_t handle = 0; handle < buffers.size(); ++handle) {
    if (accesses[handle]) {
      arguments.push_back(buffer_argument(handle, *accesses[handle]));
    }
  }
  return arguments;
}

// Passes the buffers to the kernels.
Result<void> add_buffers(const std::vector<ProgramArgument>& arguments, const std::string& pointer,
                         DrainText& drain) {
  if (arguments.size() > most_buffers) {
    return failure(ErrorCode::out_of_range, fmt::format("the items name {} buffers", arguments.size()),
                   fmt::format("name {} at most in a wave", most_buffers), pointer);
  }
  for (const ProgramArgument& argument : arguments) {
    drain.handles += fmt::format("case {0}u: return (global void*)tg_b{0}; ", argument.buffer);
    drain.parameters += fmt::format(", global uchar* tg_b{}", argument.buffer);
    drain.arguments += fmt::format(", tg_b{}", argument.buffer);
  }
  return {};
}

// Defines TIDEGATE_HIT if there are lists of hits.
std::string prelude_of(std::span<const ProgramBuffer> buffers) {
  const bool lists =
      std::ranges::any_of(buffers, [](const ProgramBuffer& buffer) { return buffer.hits != nullptr; });
  return lists ? hits_frame().before : std::string();
}

// A resolved queue, before its memory and kernels are parts of the program.
struct QueueWave {
  ProgramWave wave; // its arguments are the program's buffers, by handle
  ProgramQueue queue;
  std::string op_name; // the first of its ops
  ProgramUnit unit;
  // Tiles, params, state and, if ops requeue, the remaining items; if ops publish: given items, rings, state and
  // tables of items of pure ops.
  std::vector<ProgramBuffer> own_buffers;
  std::vector<Access> own_accesses; // by the drain, of own_buffers
};

constexpr std::array<std::string_view, 3> queue_kernels{"tidegate_queue_drain", "tidegate_queue_turn",
                                                        "tidegate_queue_check"};
constexpr std::size_t queue_state_index = 2; // in own_buffers

// Work-groups for a queue whose ops publish: as many as the device runs concurrently. The device may be null.
std::uint32_t queue_groups(const device::DeviceInfo* device) {
  constexpr std::uint32_t most_per_unit = 4; // more would only make rounds of few items longer
  if (device == nullptr) {
    return 64;
  }
  const std::uint32_t most = most_per_unit * device->compute_units;
  return std::max(
      device->profile ? std::min(device->profile->co_resident_groups, most) : device->compute_units, 1U);
}

// Reads the items of the program or its file and publishes them, with the drain kernel for their ops: in tiles
// (kernels/wave/queue.cl), or as the first of rings if its ops publish others (kernels/wave/publish.cl).
class QueueResolver {
public:
  // `ops` and `buffers` are those that the queue lists.
  QueueResolver(const WaveInput& in, std::span<const QueueOpHandle> ops,
                std::span<const ProgramBuffer> buffers)
      : in_(in), spec_(*in.spec.queue), pointer_(in.pointer + "/queue"),
        title_(in.spec.name.value_or(fmt::format("wave {}", in.index))), ops_(ops), buffers_(buffers) {
    drain_.prelude = prelude_of(buffers);
    drain_.publishes = std::ranges::any_of(
        ops, [](const QueueOpHandle& op) { return op.op != nullptr && op.op->publishes; });
  }

  Result<QueueWave> resolve() {
    TIDEGATE_TRY(std::vector<QueueItem> items, items_of(spec_, in_.input.folder, in_.input.scope, pointer_));
    const CombinedQueue combined = combine_items(items);
    std::vector<QueueCombination> combinations = combined.combinations;
    TIDEGATE_CHECK(check_handles(combinations, ops_, buffers_, pointer_));
    TIDEGATE_CHECK(check_fields());
    // Ops that the items name; all that the queue lists if it is empty or publishes.
    std::vector<const QueueOp*> used;
    std::vector<QueueOpTraits> traits(ops_.size());
    for (std::uint32_t handle = 0; handle < ops_.size(); ++handle) {
      const QueueOp* const op = ops_[handle].op;
      if (op != nullptr &&
          (drain_.publishes || items.empty() ||
           std::ranges::find(combinations, handle, &QueueCombination::op) != combinations.end())) {
        used.push_back(op);
        traits[handle] = op->traits;
        functions_.insert(op->function);
        drain_.cases += fmt::format("case {}u: return {}(tg_in, tg_out, tg_param); ", handle, op->function);
      }
    }
    if (used.empty()) {
      return failure(ErrorCode::bad_queue, "the queue has neither items nor ops",
                     "list an op, or leave the wave out", pointer_);
    }
    TIDEGATE_CHECK(check_sources(used, pointer_));
    const ProgramUnit& unit = in_.ops.queue_units[used.front()->unit];
    if (drain_.publishes) {
      TIDEGATE_CHECK(check_lists());
      TIDEGATE_CHECK(find_published(unit, combinations));
    }
    const PublishedQueue published =
        publish_queue(items, combined, traits, drain_.publishes ? device::Tuning() : in_.input.tuning);
    drain_.requeues = say_requeue(unit.unit, functions_);
    QueueWave made{.op_name = drain_.publishes && !combinations.empty() ? ops_[combinations.front().op].name
                                                                        : used.front()->name};
    made.wave.arguments = arguments_of(combinations, ops_, buffers_);
    TIDEGATE_CHECK(add_buffers(made.wave.arguments, pointer_, drain_));
    made.queue = {.items = std::move(items),
                  .deduped_items = published.deduped_items,
                  .requeues = drain_.requeues,
                  .publishes = drain_.publishes};
    for (const QueueOpHandle& op : ops_) {
      made.queue.op_names.push_back(op.name);
    }
    TIDEGATE_CHECK(drain_.publishes ? add_rings(published, combinations, made) : add_tiles(published, made));
    made.wave.listed_items = published.published_items;
    in_.ops.publish_ns += published.publish_ns;
    if (drain_.publishes || drain_.requeues) {
      made.wave.rounds = Rounds{.age_threshold = in_.input.program.policy.priority_age_threshold,
                                .most_stalled_rounds = spec_.most_stalled_rounds,
                                .capacity = capacity_};
    }
    TIDEGATE_TRY(made.unit, read_unit(*used.front()->spec, in_.input.folder, in_.input.answer,
                                      in_.input.scope, pointer_, frame_of(drain_)));
    return made;
  }

private:
  static constexpr std::string_view op_prefix = "TIDEGATE_OP_";
  static constexpr std::string_view buffer_prefix = "TIDEGATE_BUFFER_";

  [[nodiscard]] Result<void> check_fields() const {
    if (!drain_.publishes && spec_.on_full != FullQueue::error) {
      return failure(
          ErrorCode::bad_queue, "the queue grows where it is full, and none of its ops publishes items",
          "leave on_full out; without a capacity all requeued items have room", pointer_ + "/on_full");
    }
    if (!drain_.publishes && spec_.runs_ahead) {
      return failure(ErrorCode::bad_queue, "the queue runs ahead, and none of its ops publishes items",
                     "leave runs_ahead out", pointer_ + "/runs_ahead");
    }
    return {};
  }

  [[nodiscard]] Result<void> check_lists() const {
    const auto check = [&](std::size_t count, std::uint32_t most, std::string_view what) -> Result<void> {
      if (count <= most) {
        return {};
      }
      return failure(ErrorCode::out_of_range, fmt::format("the queue lists {}", plural(count, what)),
                     fmt::format("list {} at most in a queue whose ops publish", most), pointer_);
    };
    TIDEGATE_CHECK(check(ops_.size(), most_packed_ops, "op"));
    return check(buffers_.size(), most_packed_buffers, "buffer");
  }

  [[nodiscard]] Result<void> check_capacity(std::uint64_t items) const {
    if (capacity_ > most_queue_capacity) {
      return failure(ErrorCode::out_of_range, fmt::format("the queue has a capacity of {}", capacity_),
                     fmt::format("give {} at most", most_queue_capacity), pointer_ + "/capacity");
    }
    if (items > capacity_) {
      return failure(
          spec_.capacity ? ErrorCode::bad_queue : ErrorCode::queue_too_long,
          fmt::format("the queue begins with {} and has a capacity of {}", plural(items, "item"), capacity_),
          fmt::format("give it a capacity of {} or more, for what its ops publish too", items),
          spec_.capacity ? pointer_ + "/capacity" : pointer_);
    }
    return {};
  }

  // The handle that a word of the source names: by its number, or by the name that the queue lists. Characters that no
  // identifier can have are underscores.
  template <class Named>
  static std::optional<std::uint32_t> handle_of(std::string_view word, std::span<const Named> listed) {
    std::uint32_t number = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (failure == std::errc() && end == word.data() + word.size()) {
      return number < listed.size() ? std::optional(number) : std::nullopt;
    }
    std::optional<std::uint32_t> found;
    for (std::uint32_t handle = 0; handle < listed.size(); ++handle) {
      if (identifier(listed[handle].name) == word) {
        if (found) {
          return std::nullopt; // names that differ in other characters only
        }
        found = handle;
      }
    }
    return found;
  }

  static std::string identifier(std::string name) {
    std::ranges::replace_if(
        name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
  }

  // Finds the combinations in the calls that TIDEGATE_PUBLISH stands for, tg_publish(publisher, item, param): the names in an item
  // are those of an op and two buffers, in this order. TIDEGATE_PUBLISH_AT adds a priority.
  Result<void> find_published(const ProgramUnit& read, std::vector<QueueCombination>& combinations) {
    const opencl_c::TranslationUnit& unit = read.unit;
    const auto word = [&](std::size_t token) -> const std::string& { return unit.source.tokens[token].text; };
    const std::set<std::string> listed = unit.facts->reachable(functions_);
    ErrorList errors;
    for (const auto& [name, call] : std::map(unit.tree->calls.begin(), unit.tree->calls.end())) {
      const bool has_priority = word(name) == "tg_publish_at";
      const auto in = std::ranges::find_if(unit.functions, [at = name](const opencl_c::Function& function) {
        return function.body && function.body->begin < at && at < function.end;
      });
      if ((!has_priority && word(name) != "tg_publish") || call->operands.size() < 4 ||
          in == unit.functions.end()) {
        continue;
      }
      std::vector<std::size_t> names;
      opencl_c::each_expression(*call->operands[2], [&](const opencl_c::Expr& part) {
        const bool is_own =
            part.kind == opencl_c::Expr::Kind::name && word(part.token).starts_with("TIDEGATE_");
        names.insert(names.end(), is_own ? 1 : 0, part.token);
      });
      // Another op of the file, which this queue does not list, publishes for another queue.
      if (!listed.contains(in->name)) {
        for (const std::size_t token : names) {
          unlisted_.insert(word(token));
        }
        continue;
      }
      const auto refuse = [&](std::size_t token, ErrorCode code, std::string message, std::string fix) {
        errors.add(error_at(read, token, code, std::move(message), std::move(fix)));
      };
      states_priorities_ |= has_priority;
      const auto priority = has_priority ? opencl_c::value_of(unit, *call->operands.back()) : std::nullopt;
      if (priority && (*priority < 0 || *priority >= queue_priorities)) {
        refuse(name, ErrorCode::out_of_range,
               fmt::format("TIDEGATE_PUBLISH_AT states the priority {}", *priority),
               fmt::format("state one from 0, the best, to {}", queue_priorities - 1));
      }
      std::vector<std::uint32_t> handles;
      for (const std::size_t token : names) {
        const bool is_op = word(token).starts_with(op_prefix);
        const std::string named = word(token).substr(is_op ? op_prefix.size() : buffer_prefix.size());
        const auto handle = is_op ? handle_of(named, ops_) : handle_of(named, buffers_);
        if (!handle) {
          refuse(token, ErrorCode::unknown_name,
                 fmt::format("the queue lists no {} {}", is_op ? "op" : "buffer", in_quotes(named)),
                 fmt::format("name one of its list {}", is_op ? "ops" : "buffers"));
        } else if (is_op && ops_[*handle].op == nullptr) {
          refuse(token, ErrorCode::not_a_queue_op,
                 fmt::format("{} is not a queue op", in_quotes(ops_[*handle].name)),
                 "name an op with \"queue\": true");
        } else {
          handles.push_back(*handle);
        }
      }
      if (handles.size() != 3) {
        continue;
      }
      check_fit(*ops_[handles[0]].op, buffers_[handles[1]], buffers_[handles[2]],
                [&](ErrorCode code, const std::string& what, std::string fix) {
                  refuse(names[2], code, "TIDEGATE_PUBLISH " + what, std::move(fix));
                });
      const QueueCombination found{.op = handles[0], .input = handles[1], .output = handles[2]};
      if (std::ranges::none_of(combinations, [&](const QueueCombination& one) {
            return one.op == found.op && one.input == found.input && one.output == found.output;
          })) {
        combinations.push_back(found);
      }
    }
    return errors.result();
  }

  // Definitions for the kernel; enumerators for all that the queue lists.
  void define() {
    const std::uint32_t table_size = tables_ == 0 ? 1 : 2 * std::bit_ceil(capacity_);
    drain_.definitions = fmt::format(
        "#define TG_QUEUE_RINGS {}u\n#define TG_QUEUE_FIRST_RING {}u\n#define TG_QUEUE_RING_SIZE {}u\n"
        "#define TG_QUEUE_STAGED {}u\n#define TG_QUEUE_AHEAD {}\n#define TG_QUEUE_TABLES {}u\n#define TG_QUEUE_TABLE_SIZE {}u\n",
        rings(), first_ring_, std::bit_ceil(capacity_),
        std::max(std::min(8 * drain_.lanes, most_staged) / rings(), 1U), spec_.runs_ahead ? most_ahead : 0,
        tables_, table_size);
    std::set<std::string> defined;
    const auto enumerate = [&](std::string_view prefix, const std::string& name, std::size_t handle) {
      for (const std::string& word : {identifier(name), std::to_string(handle)}) {
        if (defined.insert(fmt::format("{}{}", prefix, word)).second) {
          drain_.definitions += fmt::format("enum {{ {}{} = {} }};\n", prefix, word, handle);
        }
      }
    };
    for (std::size_t handle = 0; handle < ops_.size(); ++handle) {
      enumerate(op_prefix, ops_[handle].name, handle);
    }
    for (std::size_t handle = 0; handle < buffers_.size(); ++handle) {
      enumerate(buffer_prefix, buffers_[handle].name, handle);
    }
    for (const std::string& word : unlisted_) {
      drain_.definitions += defined.insert(word).second ? fmt::format("enum {{ {} = 0 }};\n", word) : "";
    }
  }

  // Functions that the kernel declares.
  void add_functions(const std::vector<QueueCombination>& combinations) {
    const bool open =
        !states_priorities_ && !combinations.empty(); // the priorities of the ops are those in use
    first_ring_ = open ? queue_priorities : 0;
    last_ring_ = states_priorities_ ? queue_priorities - 1 : 0;
    std::string runs;
    std::string tables;
    std::string priorities;
    std::set<std::uint32_t> seen;
    for (const QueueCombination& one : combinations) {
      const QueueOp& op = *ops_[one.op].op;
      const std::uint32_t item =
          packed_handles({.op_handle = one.op, .input_handle = one.input, .output_handle = one.output});
      runs +=
          fmt::format("    case {}u: return {}((global void*)tg_b{}, (global void*)tg_b{}, tg_param{});\n",
                      item, op.function, one.input, one.output, op.publishes ? ", tg_to" : "");
      tables += op.traits.pure ? fmt::format("    case {}u: return {}u;\n", item, tables_++) : "";
      first_ring_ = std::min(first_ring_, op.traits.priority);
      last_ring_ = std::max(last_ring_, op.traits.priority);
      if (seen.insert(one.op).second) {
        priorities +=
            fmt::format("    case {}u: return {}u - TG_QUEUE_FIRST_RING;\n", one.op, op.traits.priority);
      }
    }
    drain_.functions = fmt::format(
        "uint tg_queue_run(uint tg_item, uint tg_param, tidegate_publisher tg_to TG_QUEUE_BUFFERS) {{\n"
        "  switch (tg_item) {{\n{}    default: return TIDEGATE_FAULT(0xffffffu);\n  }}\n}}\n"
        "uint tg_queue_ring(uint item) {{\n  switch (item & {}u) {{\n{}    default: return 0;\n  }}\n}}\n"
        "uint tg_queue_table(uint item) {{\n  switch (item) {{\n{}    default: return TG_QUEUE_TABLES;\n  }}\n}}\n",
        runs, most_packed_ops - 1, priorities, tables);
  }

  [[nodiscard]] std::uint32_t rings() const { return last_ring_ - first_ring_ + 1; }
  [[nodiscard]] std::uint64_t seen_words() const {
    return std::max<std::uint64_t>(tables_ * (2 * std::uint64_t{std::bit_ceil(capacity_)} + 1), 1);
  }

  // The first items, by priority.
  static std::vector<std::uint32_t> seeds_of(const PublishedQueue& published) {
    std::vector<std::uint32_t> seeds;
    seeds.reserve(2 * published.published_items);
    for (const QueueTile& tile : published.tiles) {
      for (std::uint32_t i = 0; i < tile.count; ++i) {
        seeds.push_back(
            packed_handles({.op_handle = tile.op, .input_handle = tile.input, .output_handle = tile.output}));
        seeds.push_back(tile.listed != 0 ? published.params[tile.param + i] : tile.param + i);
      }
    }
    return seeds;
  }

  Result<void> add_rings(const PublishedQueue& published, const std::vector<QueueCombination>& combinations,
                         QueueWave& made) {
    capacity_ = spec_.capacity.value_or(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        2 * published.published_items, least_default_capacity, most_queue_capacity)));
    TIDEGATE_CHECK(check_capacity(published.published_items));
    drain_.lanes = in_.input.tuning.queue_lanes;
    drain_.requeues = false; // its kernels are others
    add_functions(combinations);
    if (spec_.runs_ahead && rings() > 1) {
      return failure(ErrorCode::bad_queue, "the queue runs ahead, and its items have several priorities",
                     "give all its ops one priority and publish without stating one, or leave runs_ahead out",
                     pointer_ + "/runs_ahead");
    }
    define();
    made.queue.seeds = seeds_of(published);
    made.queue.seen_bytes = seen_words() * sizeof(std::uint32_t);
    std::vector<std::uint32_t> state(TG_QUEUE_WORDS); // as tg_queue_arm() leaves it
    std::ranges::copy(published.by_priority, state.begin() + TG_QUEUE_COUNTS);
    state[TG_QUEUE_MODE] = tables_ == 0 ? TG_QUEUE_SEEDS : TG_QUEUE_CLEARS;
    made.own_buffers = {
        own_buffer(title_, "items",
                   made.queue.seeds.empty() ? std::vector<std::uint32_t>(2) : made.queue.seeds),
        word_buffer(title_, "rings", 2 * std::uint64_t{rings()} * std::bit_ceil(capacity_)),
        own_buffer(title_, "state", state), word_buffer(title_, "seen", seen_words())};
    made.own_accesses = {Access::read, Access::write, Access::read_write, Access::write};
    add_range(queue_groups(in_.input.device), made);
    return {};
  }

  Result<void> add_tiles(const PublishedQueue& published, QueueWave& made) {
    capacity_ = spec_.capacity.value_or(capacity_);
    drain_.lanes = published.lanes;
    drain_.items_per_lane = published.items_per_lane;
    made.queue.published = published.items;
    made.queue.tiles = published.tiles;
    if (made.queue.tiles.empty()) {
      made.queue.tiles.emplace_back(); // without items
    }
    const std::vector<QueueTile>& tiles = made.queue.tiles;
    if (tiles.size() > std::numeric_limits<std::uint32_t>::max() / published.lanes) {
      return failure(ErrorCode::queue_too_long,
                     fmt::format("the queue has {} items", made.queue.items.size()),
                     "give some of them to another wave", pointer_);
    }
    std::vector<std::uint32_t> state(TG_QUEUE_WORDS);
    std::ranges::copy(published.by_priority, state.begin() + TG_QUEUE_COUNTS); // as tg_queue_arm() leaves it
    std::ranges::copy(published.by_priority, state.begin() + TG_QUEUE_WAITING);
    state[TG_QUEUE_FRESH] = ~std::uint32_t{0};
    state[TG_QUEUE_RUNNING] = std::uint32_t{1} << tiles.front().priority;
    made.own_buffers = {
        own_buffer(title_, "tiles", tiles),
        own_buffer(title_, "params",
                   published.params.empty() ? std::vector<std::uint32_t>(1) : published.params),
        own_buffer(title_, "state", state)};
    made.own_accesses = {Access::read, Access::read, Access::read_write};
    if (drain_.requeues) {
      made.own_buffers.push_back(word_buffer(title_, "left", std::uint64_t{published.lanes} * tiles.size()));
      made.own_accesses.push_back(Access::write);
    }
    add_range(static_cast<std::uint32_t>(tiles.size()), made);
    return {};
  }

  void add_range(std::uint32_t groups, QueueWave& made) const {
    made.wave.range = {
        .global = {groups * drain_.lanes, 1, 1}, .local = {drain_.lanes, 1, 1}, .groups = {groups, 1, 1}};
  }

  // Items that a work-group collects in local memory: 16 KiB.
  static constexpr std::uint32_t most_staged = 2048;

  // Bounds the time between two barriers, and how long work-groups whose items have ended wait for others.
  static constexpr std::uint32_t most_ahead = 64;

  const WaveInput& in_;
  const QueueSpec& spec_;
  const std::string pointer_;
  const std::string title_;
  const std::span<const QueueOpHandle> ops_;
  const std::span<const ProgramBuffer> buffers_;
  std::set<std::string> functions_; // of ops that may run
  DrainText drain_;
  std::uint32_t capacity_ = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t first_ring_ = 0; // priorities in use
  std::uint32_t last_ring_ = 0;
  std::uint32_t tables_ = 0; // combinations of pure ops and buffers
  bool states_priorities_ = false;
  std::set<std::string> unlisted_; // enumerators that functions use which no listed op calls
};

} // namespace

SourceFrame queue_frame() {
  return frame_of(
      {.publishes = true, .definitions = "#define TG_QUEUE_FIRST_RING 0u\n#define TG_QUEUE_AHEAD 0\n"});
}

Result<ProgramWave> queue_wave(const WaveInput& in) {
  const QueueSpec& spec = *in.spec.queue;
  const std::string& pointer = in.pointer;
  ProgramMemory& memory = in.memory;
  ProgramOps& ops = in.ops;
  std::vector<QueueOpHandle> handles;
  for (std::size_t i = 0; i < spec.ops.size(); ++i) {
    const std::string& name = spec.ops[i];
    if (!ops.op_index.contains(name)) {
      return tl::unexpected(
          unknown_name("op", name, ops.op_index, fmt::format("{}/queue/ops/{}", pointer, i)));
    }
    const auto found = ops.queue_ops.find(name);
    if (found != ops.queue_ops.end() && !found->second) {
      return tl::unexpected(already_reported());
    }
    handles.push_back({.name = name, .op = found == ops.queue_ops.end() ? nullptr : &*found->second});
  }
  std::vector<ProgramBuffer> buffers;
  std::vector<std::uint32_t> indices;
  for (std::size_t i = 0; i < spec.buffers.size(); ++i) {
    const auto named = memory.names.find(spec.buffers[i]);
    const bool is_list = named != memory.names.end() && named->second.kind == StorageKind::list;
    TIDEGATE_TRY(const std::uint32_t place,
                 memory.find(is_list ? StorageKind::list : StorageKind::buffer, spec.buffers[i],
                             fmt::format("{}/queue/buffers/{}", pointer, i)));
    if (std::ranges::find(indices, place) != indices.end()) {
      return failure(ErrorCode::duplicate_name,
                     fmt::format("the queue lists the buffer {} twice", in_quotes(spec.buffers[i])),
                     "one handle is enough for a buffer", fmt::format("{}/queue/buffers/{}", pointer, i));
    }
    buffers.push_back(memory.buffers[place]);
    indices.push_back(place);
  }
  TIDEGATE_TRY(QueueWave made, QueueResolver(in, handles, buffers).resolve());
  ProgramWave wave = std::move(made.wave);
  wave.op = static_cast<std::uint32_t>(ops.ops.size());
  wave.users_kernel = false;
  for (ProgramArgument& argument : wave.arguments) {
    argument.buffer = indices[argument.buffer];
  }
  std::vector<ProgramArgument> own;
  for (std::size_t i = 0; i < made.own_buffers.size(); ++i) {
    const Access access = made.own_accesses[i]; // written buffers hold requeued items
    own.push_back(buffer_argument(static_cast<std::uint32_t>(memory.buffers.size()), access,
                                  access == Access::write, true));
    memory.buffers.push_back(std::move(made.own_buffers[i]));
  }
  wave.own_arguments = static_cast<std::uint32_t>(own.size());
  wave.state = own[queue_state_index].buffer;
  wave.arguments.insert(wave.arguments.begin(), own.begin(), own.end());
  for (const std::string_view kernel : queue_kernels) {
    const auto& functions = made.unit.unit.functions;
    const auto found = std::ranges::find(functions, kernel, &opencl_c::Function::name);
    ops.ops.push_back({.name = made.op_name,
                       .unit = static_cast<std::uint32_t>(ops.units.size()),
                       .function = static_cast<std::uint32_t>(found - functions.begin())});
  }
  ops.units.push_back(std::move(made.unit));
  wave.queue = std::make_shared<const ProgramQueue>(std::move(made.queue));
  return wave;
}

} // namespace tidegate::engine
