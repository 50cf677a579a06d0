// The wave and the kernel that drain a queue, and what is checked of its items and ops.
#include "work/queue.hpp"

#include "device/kernels.hpp"
#include "opencl_c/facts.hpp"
#include "opencl_c/tree.hpp"
#include "opencl_c/words.hpp"
#include "work/resolve.hpp"

namespace tidegate::engine {

#include "wave/queue_state.h"

namespace {

static_assert(TG_QUEUE_PRIORITIES == queue_priorities);

// The kernel reads a tile as a vector of four.
static_assert(sizeof(QueueTile) == 4 * sizeof(std::uint32_t));
static_assert(offsetof(QueueTile, handles) == 0 && offsetof(QueueTile, items) == 4 &&
              offsetof(QueueTile, param) == 8 && offsetof(QueueTile, listed) == 12);

// Devices accept at least 1024 bytes of arguments.
constexpr std::size_t most_buffers = 100;

// Surrounds the ops' file with kernels/wave/queue.cl, its definitions, and functions that it declares.
SourceFrame frame_of(const std::string& definitions, const std::string& prelude,
                     const std::string& functions) {
  return {.before = definitions + device::kernel_source("wave/queue.cl") + prelude,
          .after = device::with_place("wave/queue.cl, the ops", functions)};
}

std::atomic<std::uint64_t> contents_made; // names contents that nothing else has

constexpr std::array<std::string_view, 3> queue_kernels{"tidegate_queue_drain", "tidegate_queue_check",
                                                        "tidegate_queue_turn"};
constexpr std::size_t queue_state_index = 2; // among the queue's own buffers

// Work-groups for a queue in rounds: as many as the device runs concurrently. The device may be null.
std::uint32_t queue_groups(const device::DeviceInfo* device) {
  constexpr std::uint32_t most_per_unit = 4; // more would only make rounds of few items longer
  if (device == nullptr) {
    return 64;
  }
  const std::uint32_t most = most_per_unit * device->compute_units;
  return std::max(
      device->profile ? std::min(device->profile->co_resident_groups, most) : device->compute_units, 1U);
}

constexpr std::string_view op_signature = "uint {}(global const T* in, global U* out, uint param)";

bool has_signature(const opencl_c::Function& function) {
  const auto& parameters = function.parameters;
  const auto is_buffer = [](const opencl_c::Parameter& parameter) {
    return parameter.is_pointer && parameter.space == opencl_c::AddressSpace::global;
  };
  const bool publishes =
      parameters.size() == 4 && parameters[3].type == "tg_publishing"; // a tidegate_publisher
  return !function.is_kernel && (parameters.size() == 3 || publishes) && is_buffer(parameters[0]) &&
         is_buffer(parameters[1]) && !parameters[1].is_const && !parameters[2].is_pointer &&
         parameters[2].type == "uint" && function.result == "uint";
}

// Reads the items of the program or its file and publishes them, with the drain kernel for their ops: in tiles
// (kernels/wave/queue.cl), or as the first of rings if its ops requeue or publish others (kernels/wave/rings.cl). Rings need
// a round, which took 2 to 3 times as long as tiles; bits for items of tiles that wait took 1.7 to 3.5 times as long as rings.
class QueueResolver {
public:
  explicit QueueResolver(const WaveInput& in)
      : in_(in), spec_(*in.spec.queue), pointer_(in.pointer + "/queue"),
        title_(in.spec.name.value_or(fmt::format("wave {}", in.index))) {}

  Result<ProgramWave> resolve() {
    TIDEGATE_CHECK(find_ops());
    TIDEGATE_CHECK(find_buffers());
    TIDEGATE_TRY(queue_.items, read_items(spec_, in_.input.folder, in_.input.scope, pointer_));
    const auto began = std::chrono::steady_clock::now();
    combinations_ = combine_items(queue_.items);
    TIDEGATE_CHECK(check_handles());
    // Ops that the items name; all that the queue lists if it is empty or publishes.
    std::vector<const QueueOp*> used;
    std::set<std::string> functions;
    for (std::uint32_t handle = 0; handle < ops_.size(); ++handle) {
      if (ops_[handle] != nullptr &&
          (queue_.publishes || queue_.items.empty() ||
           std::ranges::find(combinations_, handle, &QueueCombination::op) != combinations_.end())) {
        used.push_back(ops_[handle]);
        functions.insert(ops_[handle]->function);
      }
    }
    queue_.deduped_items = publish_items(combinations_, ops_);
    in_.ops.publish_ns += elapsed_ns(began);
    const Refusal refusals[] = {
        {!queue_.publishes && spec_.on_full != FullQueue::error, "/on_full",
         "the queue grows where it is full, and none of its ops publishes items",
         "leave on_full out; without a capacity all requeued items have room", ErrorCode::bad_queue},
        {!queue_.publishes && spec_.runs_ahead, "/runs_ahead",
         "the queue runs ahead, and none of its ops publishes items", "leave runs_ahead out",
         ErrorCode::bad_queue},
        {used.empty(), "", "the queue has neither items nor ops", "list an op, or leave the wave out",
         ErrorCode::bad_queue},
        {ops_.size() > most_packed_ops || buffers_.size() > most_packed_buffers, "",
         fmt::format("the queue lists {} and {}", plural(ops_.size(), "op"),
                     plural(buffers_.size(), "buffer")),
         fmt::format("list at most {} ops and {} buffers", most_packed_ops, most_packed_buffers),
         ErrorCode::out_of_range}};
    TIDEGATE_CHECK(first_of(refusals, pointer_));
    const QueueOp& first = *used.front();
    for (const QueueOp* const op : used) { // they become one program
      if (op->spec->source != first.spec->source || op->spec->options != first.spec->options) {
        return invalid_program(
            fmt::format("the queue runs {} and {}, which differ in their source or options",
                        in_quotes(first.name), in_quotes(op->name)),
            "include both in one source, or give each a wave", pointer_);
      }
    }
    const ProgramUnit& unit = in_.ops.queue_units[first.unit];
    if (queue_.publishes) {
      TIDEGATE_CHECK(find_published(unit, unit.unit.facts->reachable(functions)));
    }
    wave_.listed_items = queue_.items.size() - queue_.deduped_items;
    queue_.requeues = opencl_c::mentions(unit.unit, functions, "TIDEGATE_REQUEUE");
    queue_.op_names = spec_.ops;
    const bool in_rounds = queue_.publishes || queue_.requeues;
    TIDEGATE_CHECK(add_arguments());
    add_cases();
    TIDEGATE_CHECK(in_rounds ? add_rings(*wave_.listed_items) : add_tiles());
    define("PUBLISHES", queue_.publishes ? "1" : "0");
    define("IN_ROUNDS", in_rounds ? "1" : "0");
    TIDEGATE_CHECK(add_kernels(*first.spec, queue_.publishes && !queue_.items.empty()
                                                ? ops_[queue_.items[0].op_handle]->name
                                                : first.name));
    wave_.users_kernel = false;
    wave_.own_arguments = static_cast<std::uint32_t>(own_.size());
    wave_.state = own_[queue_state_index].buffer;
    wave_.arguments.insert(wave_.arguments.begin(), own_.begin(), own_.end());
    wave_.queue = std::make_shared<const ProgramQueue>(std::move(queue_));
    return std::move(wave_);
  }

private:
  static constexpr std::string_view op_prefix = "TIDEGATE_OP_";
  static constexpr std::string_view buffer_prefix = "TIDEGATE_BUFFER_";

  // Finds the ops that the queue lists, which may be others than queue ops: handles are places in the list.
  Result<void> find_ops() {
    for (const std::string& name : spec_.ops) {
      const auto found = in_.ops.queue_ops.find(name);
      const bool is_queue_op = found != in_.ops.queue_ops.end();
      if (is_queue_op && !found->second) {
        return tl::unexpected(already_reported());
      }
      if (!in_.ops.op_index.contains(name)) {
        return tl::unexpected(
            unknown_name("op", name, in_.ops.op_index, fmt::format("{}/ops/{}", pointer_, ops_.size())));
      }
      ops_.push_back(is_queue_op ? &*found->second : nullptr);
      queue_.publishes |= is_queue_op && found->second->publishes;
    }
    return {};
  }

  Result<void> find_buffers() {
    for (const std::string& name : spec_.buffers) {
      const std::string pointer = fmt::format("{}/buffers/{}", pointer_, buffers_.size());
      const auto named = in_.memory.names.find(name);
      const bool is_list = named != in_.memory.names.end() && named->second.kind == StorageKind::list;
      TIDEGATE_TRY(const std::uint32_t place,
                   in_.memory.find(is_list ? StorageKind::list : StorageKind::buffer, name, pointer));
      if (std::ranges::find(buffers_, place) != buffers_.end()) {
        return failure(ErrorCode::duplicate_name,
                       fmt::format("the queue lists the buffer {} twice", in_quotes(name)),
                       "one handle is enough for a buffer", pointer);
      }
      buffers_.push_back(place);
      prelude_ = is_list ? device::kernel_source("wave/hits.cl") : prelude_;
    }
    return {};
  }

  // Returns why an op does not fit its buffers: errors whose messages lack what runs the op.
  [[nodiscard]] std::vector<Error> misfits(const QueueCombination& items) const {
    std::vector<Error> found;
    const auto refuse = [&](ErrorCode code, std::string what, std::string fix) {
      found.push_back({.code = code, .message = std::move(what), .fix = std::move(fix)});
    };
    if (ops_[items.op] == nullptr) {
      refuse(ErrorCode::not_a_queue_op,
             fmt::format("names {}, which is not a queue op", in_quotes(spec_.ops[items.op])),
             "name an op with \"queue\": true");
      return found;
    }
    const QueueOp& op = *ops_[items.op];
    const ProgramBuffer& input = in_.memory.buffers[buffers_[items.input]];
    const ProgramBuffer& output = in_.memory.buffers[buffers_[items.output]];
    if (input.hits) {
      refuse(ErrorCode::invalid_item, fmt::format("reads the list of hits {}", in_quotes(input.name)),
             "give lists of hits as outputs only");
      return found;
    }
    if (output.hits) {
      const auto takes = check_hits_parameter(output, op.output, in_.ops.queue_units[op.unit].unit, "");
      if (!takes) {
        refuse(takes.error().code, fmt::format("runs {}: {}", in_quotes(op.name), takes.error().message),
               takes.error().fix);
      } else if (op.spec->pure) { // of identical items only one would append
        refuse(ErrorCode::invalid_item,
               fmt::format("runs {}, which is pure, on the list of hits {}", in_quotes(op.name),
                           in_quotes(output.name)),
               "leave pure out: an op that appends to a list is not");
      }
    }
    for (const auto& [parameter, buffer] : {std::pair(&op.input, &input), {&op.output, &output}}) {
      if (const auto wanted = other_element(*parameter, *buffer)) {
        refuse(ErrorCode::argument_mismatch,
               fmt::format("runs {} on the buffer {} of {}, its parameter {} points to {}",
                           in_quotes(op.name), in_quotes(buffer->name), name(buffer->type),
                           in_quotes(parameter->name), parameter->type),
               fmt::format("give a buffer of {}, or change the op's parameter", name(*wanted)));
      }
    }
    return found;
  }

  // Checks each combination of handles once.
  [[nodiscard]] Result<void> check_handles() const {
    ErrorList errors;
    for (const QueueCombination& items : combinations_) {
      const auto refuse = [&](ErrorCode code, const std::string& what, std::string fix) {
        errors.add({.code = code,
                    .message = fmt::format("item {} {}", items.first_item, what),
                    .fix = std::move(fix),
                    .pointer = pointer_});
      };
      bool there = true;
      for (const auto& [key, handle, listed, what] :
           {std::tuple("op_handle", items.op, ops_.size(), "op"),
            {"input_handle", items.input, buffers_.size(), "buffer"},
            {"output_handle", items.output, buffers_.size(), "buffer"}}) {
        if (handle >= listed) {
          there = false;
          refuse(ErrorCode::invalid_item,
                 fmt::format("has the {} {}, the queue lists {}", key, handle, plural(listed, what)),
                 fmt::format("handles count the {}s that the queue lists, from 0 on", what));
        }
      }
      for (const Error& misfit : there ? misfits(items) : std::vector<Error>()) {
        refuse(misfit.code, misfit.message, misfit.fix);
      }
    }
    return errors.result();
  }

  // Words for the handles of all that the queue lists: by name if no other name makes the same word, and by number.
  void add_words(std::string_view prefix, const std::vector<std::string>& names) {
    for (std::uint32_t handle = 0; handle < names.size(); ++handle) {
      std::string word = fmt::format("{}{}", prefix, names[handle]);
      std::ranges::replace_if(
          word, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
      const auto [found, is_new] = words_.try_emplace(std::move(word), handle);
      found->second = is_new ? found->second : std::nullopt;
    }
    for (std::uint32_t handle = 0; handle < names.size(); ++handle) {
      words_[fmt::format("{}{}", prefix, handle)] = handle;
    }
  }

  // Finds the combinations in the calls that TIDEGATE_PUBLISH stands for, tg_publish(publisher, item, param): the names in an item
  // are those of an op and two buffers, in this order. TIDEGATE_PUBLISH_AT adds a priority.
  Result<void> find_published(const ProgramUnit& read, const std::set<std::string>& listed) {
    add_words(op_prefix, spec_.ops);
    add_words(buffer_prefix, spec_.buffers);
    ErrorList errors;
    const auto refuse = [&](std::size_t token, ErrorCode code, std::string message, std::string fix) {
      errors.add(error_at(read, token, code, std::move(message), std::move(fix)));
    };
    for (const auto& [token, name, by, arguments] :
         opencl_c::calls_of(read.unit, {"tg_publish", "tg_publish_at"})) {
      if (arguments.size() < 3) {
        continue;
      }
      auto named = opencl_c::names_in(read.unit, *arguments[1]);
      std::erase_if(named, [](const auto& each) { return !each.second.starts_with("TIDEGATE_"); });
      // Another op of the file, which this queue does not list, publishes for another queue.
      if (!listed.contains(by->name)) {
        for (const auto& [at, word] : named) {
          words_.try_emplace(std::string(word), std::nullopt);
        }
        continue;
      }
      if (name == "tg_publish_at") {
        states_priorities_ = true;
        const auto priority = opencl_c::value_of(read.unit, *arguments.back());
        if (priority && (*priority < 0 || *priority >= queue_priorities)) {
          refuse(token, ErrorCode::out_of_range,
                 fmt::format("TIDEGATE_PUBLISH_AT states the priority {}", *priority),
                 fmt::format("state one from 0, the best, to {}", queue_priorities - 1));
        }
      }
      std::vector<std::uint32_t> handles;
      for (const auto& [at, word] : named) {
        const auto found = words_.find(word);
        const bool is_op = word.starts_with(op_prefix);
        if (found == words_.end() || !found->second) {
          refuse(at, ErrorCode::unknown_name,
                 fmt::format("the queue lists no {} {}", is_op ? "op" : "buffer",
                             in_quotes(word.substr((is_op ? op_prefix : buffer_prefix).size()))),
                 fmt::format("name one of its list {}", is_op ? "ops" : "buffers"));
        } else {
          handles.push_back(*found->second);
        }
      }
      if (handles.size() != 3) {
        continue;
      }
      const QueueCombination items{.op = handles[0], .input = handles[1], .output = handles[2]};
      for (Error& misfit : misfits(items)) {
        refuse(named[2].first, misfit.code, "TIDEGATE_PUBLISH " + misfit.message, std::move(misfit.fix));
      }
      if (std::ranges::find(combinations_, items.handles(), &QueueCombination::handles) ==
          combinations_.end()) {
        combinations_.push_back(items);
      }
    }
    return errors.result();
  }

  // Passes the buffers that items name to the kernels, in the order of their handles.
  Result<void> add_arguments() {
    std::map<std::uint32_t, Access> accesses;
    for (const QueueCombination& items : combinations_) {
      Access& input = accesses.try_emplace(items.input, Access::read).first->second;
      input = ops_[items.op]->input.is_const ? input : Access::read_write;
      accesses[items.output] = Access::read_write;
    }
    std::string parameters;
    std::string arguments;
    for (const auto& [handle, access] : accesses) {
      wave_.arguments.push_back(buffer_argument(buffers_[handle], access));
      parameters += fmt::format(", global uchar* tg_b{}", handle);
      arguments += fmt::format(", tg_b{}", handle);
    }
    define("BUFFERS", parameters);
    define("ARGUMENTS", arguments);
    const Refusal refusals[] = {
        {accesses.size() > most_buffers, "", fmt::format("the items name {} buffers", accesses.size()),
         fmt::format("name {} at most in a wave", most_buffers), ErrorCode::out_of_range}};
    return first_of(refusals, pointer_);
  }

  // Adds tg_queue_run().
  void add_cases() {
    functions_ =
        "uint tg_queue_run(uint tg_item, uint tg_param, tidegate_publisher tg_to TG_QUEUE_BUFFERS) {\n"
        "  switch (tg_item) {\n";
    for (const QueueCombination& one : combinations_) {
      functions_ += fmt::format(
          "    case {}u: return {}((global void*)tg_b{}, (global void*)tg_b{}, tg_param{});\n", one.handles(),
          ops_[one.op]->function, one.input, one.output, ops_[one.op]->publishes ? ", tg_to" : "");
    }
    functions_ += "    default: return TIDEGATE_FAULT(0xffffffu);\n  }\n}\n";
  }

  // Adds the other functions that kernels/wave/rings.cl declares, and the rings that they put items into.
  Result<void> add_rings(std::uint64_t given) {
    // Without stated priorities, those of the ops are those in use.
    const bool all = states_priorities_ || combinations_.empty();
    std::uint32_t first_ring = all ? 0 : queue_priorities;
    std::uint32_t last_ring = states_priorities_ ? queue_priorities - 1 : 0;
    std::uint32_t tables = 0; // combinations of pure ops and buffers
    std::string table_cases;
    std::set<std::string> ring_cases; // of ops
    for (const QueueCombination& one : combinations_) {
      const std::uint32_t priority = ops_[one.op]->spec->priority;
      if (ops_[one.op]->spec->pure && queue_.publishes) {
        table_cases += fmt::format("    case {}u: return {}u;\n", one.handles(), tables++);
      }
      first_ring = std::min(first_ring, priority);
      last_ring = std::max(last_ring, priority);
      ring_cases.insert(fmt::format("    case {}u: return {}u - TG_QUEUE_FIRST_RING;\n", one.op, priority));
    }
    functions_ += fmt::format(
        "uint tg_queue_ring(uint item) {{\n  switch (item & {}u) {{\n{}    default: return 0;\n  }}\n}}\n"
        "uint tg_queue_table(uint item) {{\n  switch (item) {{\n{}    default: return TG_QUEUE_TABLES;\n  }}\n}}\n",
        most_packed_ops - 1, fmt::join(ring_cases, ""), table_cases);

    // Items that have room, and requeued ones that may wait.
    const auto room = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        2 * given, queue_.publishes ? least_default_capacity : 1, most_queue_capacity));
    const std::uint32_t capacity =
        spec_.capacity.value_or(queue_.publishes ? room : std::numeric_limits<std::uint32_t>::max());
    const std::uint32_t rings = last_ring - first_ring + 1;
    const Refusal refusals[] = {
        {queue_.publishes && given > capacity, spec_.capacity ? "/capacity" : "",
         fmt::format("the queue begins with {} and has a capacity of {}", plural(given, "item"), capacity),
         fmt::format("give it a capacity of {} or more, for what its ops publish too", given),
         spec_.capacity ? ErrorCode::bad_queue : ErrorCode::queue_too_long},
        {!queue_.publishes && given > room / 2, "", fmt::format("the queue has {} items", given),
         "give some of them to another wave", ErrorCode::queue_too_long},
        {spec_.runs_ahead && rings > 1, "/runs_ahead",
         "the queue runs ahead, and its items have several priorities",
         "give all its ops one priority and publish without stating one, or leave runs_ahead out",
         ErrorCode::bad_queue}};
    TIDEGATE_CHECK(first_of(refusals, pointer_));
    wave_.rounds = Rounds{.age_threshold = in_.input.program.policy.priority_age_threshold,
                          .most_stalled_rounds = spec_.most_stalled_rounds,
                          .capacity = capacity};
    constexpr std::uint32_t most_staged = 2048; // items that a work-group collects in local memory: 16 KiB
    // Bounds the time between two barriers, and how long work-groups whose items have ended wait for others.
    constexpr std::uint32_t most_ahead = 64;
    const std::uint32_t lanes = in_.input.tuning.queue_lanes;
    const std::uint32_t ring_size = std::bit_ceil(queue_.publishes ? capacity : room);
    const std::uint32_t table_size = tables == 0 ? 1 : 2 * ring_size;
    define("RINGS", rings);
    define("FIRST_RING", first_ring);
    define("RING_SIZE", ring_size);
    define("STAGED", std::max(std::min(8 * lanes, most_staged) / rings, 1U));
    define("AHEAD", spec_.runs_ahead ? most_ahead : 0);
    define("TABLES", tables);
    define("TABLE_SIZE", table_size);
    for (const auto& [word, handle] : words_) {
      definitions_ += fmt::format("enum {{ {} = {} }};\n", word, handle.value_or(0));
    }
    std::array<std::uint32_t, queue_priorities> by_priority{};
    for (const QueueCombination& one : combinations_) {
      by_priority[ops_[one.op]->spec->priority] += static_cast<std::uint32_t>(one.params.size());
      for (const std::uint32_t param : one.params) {
        queue_.seeds.insert(queue_.seeds.end(), {one.handles(), param});
      }
    }
    const std::uint64_t seen_words = std::max<std::uint64_t>(tables * (std::uint64_t{table_size} + 1), 1);
    queue_.seen_bytes = seen_words * sizeof(std::uint32_t);
    std::vector<std::uint32_t> state(TG_QUEUE_WORDS); // as tg_queue_arm() leaves it
    for (const std::uint32_t to : {TG_QUEUE_COUNTS, TG_QUEUE_WAITING, TG_QUEUE_TAILS}) {
      std::ranges::copy(by_priority, state.begin() + to);
    }
    state[TG_QUEUE_MODE] = tables == 0 ? TG_QUEUE_RUNS_GIVEN : TG_QUEUE_CLEARS;
    const auto best = static_cast<std::uint32_t>(
        std::ranges::find_if(by_priority, [](std::uint32_t items) { return items != 0; }) -
        by_priority.begin());
    if (tables == 0 && best != queue_priorities) {
      state[TG_QUEUE_TAKEN(best - first_ring)] =
          std::min<std::uint32_t>(by_priority[best], TG_QUEUE_MOST_A_ROUND);
    }
    own("items", Access::read, std::max<std::size_t>(queue_.seeds.size(), 2), queue_.seeds);
    own("rings", Access::write, 2 * std::uint64_t{rings} * ring_size);
    own("state", Access::read_write, state.size(), state);
    own("seen", Access::write, seen_words);
    const std::uint32_t groups = queue_groups(in_.input.device);
    const std::uint64_t of_items = std::max<std::uint64_t>((given + lanes - 1) / lanes, 1);
    add_range(queue_.publishes ? groups
                               : static_cast<std::uint32_t>(std::min<std::uint64_t>(groups, of_items)),
              lanes);
    return {};
  }

  Result<void> add_tiles() {
    TiledQueue tiled = tiles_of(combinations_, in_.input.tuning);
    define("PER_LANE", tiled.items_per_lane);
    tiled.tiles.resize(std::max<std::size_t>(tiled.tiles.size(), 1)); // one without items
    if (tiled.tiles.size() > std::numeric_limits<std::uint32_t>::max() / tiled.lanes) {
      return failure(ErrorCode::queue_too_long, fmt::format("the queue has {} items", queue_.items.size()),
                     "give some of them to another wave", pointer_);
    }
    own("tiles", Access::read, tiled.tiles.size() * sizeof(QueueTile) / sizeof(std::uint32_t), tiled.tiles);
    own("params", Access::read, std::max<std::size_t>(tiled.params.size(), 1), tiled.params);
    own("state", Access::read_write, TG_QUEUE_WORDS);
    add_range(static_cast<std::uint32_t>(tiled.tiles.size()), tiled.lanes);
    return {};
  }

  // Adds a buffer of the queue's own, of `words` that begin with these rows. The drain only writes those that hold items
  // of its own.
  template <class T = std::uint32_t>
  void own(std::string_view what, Access access, std::uint64_t words, const std::vector<T>& rows = {}) {
    own_.push_back(buffer_argument(static_cast<std::uint32_t>(in_.memory.buffers.size()), access,
                                   access == Access::write, true));
    ProgramBuffer buffer{.name = fmt::format("{}: {}", title_, what),
                         .type = ElementType::u32,
                         .count = words,
                         .bytes = words * sizeof(std::uint32_t)};
    if (access != Access::write) {
      const auto bytes = std::as_bytes(std::span(rows));
      std::vector<std::byte> contents(bytes.begin(), bytes.end());
      contents.resize(buffer.bytes);
      buffer.first = [contents = std::move(contents)] { return Result<std::vector<std::byte>>(contents); };
      buffer.content = fmt::format("queue {}", ++contents_made);
    }
    in_.memory.buffers.push_back(std::move(buffer));
  }

  void add_range(std::uint32_t groups, std::uint32_t lanes) {
    wave_.range = {.global = {groups * lanes, 1, 1}, .local = {lanes, 1, 1}, .groups = {groups, 1, 1}};
    define("LANES", lanes);
  }

  void define(std::string_view name, std::string_view value) {
    definitions_ += fmt::format("#define TG_QUEUE_{} {}\n", name, value);
  }
  void define(std::string_view name, std::uint32_t value) { define(name, fmt::format("{}u", value)); }

  // Adds the source of the ops with the kernels around it.
  Result<void> add_kernels(const OpSpec& source, const std::string& name) {
    TIDEGATE_TRY(ProgramUnit unit, read_unit(source, in_.input.folder, in_.input.answer, in_.input.scope,
                                             pointer_, frame_of(definitions_, prelude_, functions_)));
    wave_.op = static_cast<std::uint32_t>(in_.ops.ops.size());
    for (const std::string_view kernel : queue_kernels) {
      const auto& functions = unit.unit.functions;
      const auto found = std::ranges::find(functions, kernel, &opencl_c::Function::name);
      if (found == functions.end()) {
        break; // no turn without rounds
      }
      in_.ops.ops.push_back({.name = name,
                             .unit = static_cast<std::uint32_t>(in_.ops.units.size()),
                             .function = static_cast<std::uint32_t>(found - functions.begin())});
    }
    in_.ops.units.push_back(std::move(unit));
    return {};
  }

  const WaveInput& in_;
  const QueueSpec& spec_;
  const std::string pointer_;
  const std::string title_;
  std::vector<const QueueOp*> ops_;    // that the queue lists; null for others
  std::vector<std::uint32_t> buffers_; // that it lists: places in the program's memory
  std::vector<QueueCombination> combinations_;
  std::string definitions_; // of kernels/wave/queue.cl and rings.cl
  std::string prelude_;     // of lists of hits
  std::string functions_;   // that these kernels declare
  ProgramQueue queue_;
  ProgramWave wave_;
  std::vector<ProgramArgument> own_; // arguments that the queue adds
  bool states_priorities_ = false;
  // Enumerators for handles; without a value, those of several names, and of functions that no listed op calls.
  std::map<std::string, std::optional<std::uint32_t>, std::less<>> words_;
};

} // namespace

Result<QueueOp> resolve_queue_op(const ProgramUnit& read, std::uint32_t unit, const std::string& name,
                                 const OpSpec& spec, const std::string& pointer) {
  const std::string function_name = spec.kernel.value_or(name);
  const opencl_c::Function* const function = read.unit.definition(function_name);
  if (function == nullptr) {
    return failure(ErrorCode::unknown_name,
                   fmt::format("there is no function {} in {}", in_quotes(function_name), spec.source),
                   fmt::format("write {}", fmt::format(op_signature, function_name)),
                   spec.kernel ? pointer + "/kernel" : pointer);
  }
  if (!has_signature(*function)) {
    return error_at(
        read, function->begin, ErrorCode::argument_mismatch,
        fmt::format("{} is not a function that runs one item of a queue", in_quotes(function_name)),
        fmt::format("write {}", fmt::format(op_signature, function_name)));
  }
  return QueueOp{.name = name,
                 .function = function_name,
                 .spec = &spec,
                 .unit = unit,
                 .input = function->parameters[0],
                 .output = function->parameters[1],
                 .publishes = function->parameters.size() == 4};
}

SourceFrame queue_frame() {
  return frame_of("#define TG_QUEUE_PUBLISHES 1\n#define TG_QUEUE_IN_ROUNDS 1\n#define TG_QUEUE_BUFFERS\n"
                  "#define TG_QUEUE_ARGUMENTS\n#define TG_QUEUE_FIRST_RING 0u\n#define TG_QUEUE_AHEAD 0\n",
                  "", "");
}

Result<ProgramWave> queue_wave(const WaveInput& in) {
  return QueueResolver(in).resolve();
}

} // namespace tidegate::engine
