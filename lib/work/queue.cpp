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
  std::string handles; // of the buffers
  std::string parameters;
  std::string arguments;
  std::string prelude;     // of lists of hits
  std::string definitions; // of kernels/wave/publish.cl
  std::string functions;   // that the kernel declares
  bool publishes = false;
  bool requeues = false;
  std::uint32_t lanes = 1;
  std::uint32_t items_per_lane = 1;
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
          .after = device::with_place("wave/queue.cl, the ops", drain.functions)};
}

// The items of the program or its file.
Result<std::vector<QueueItem>> items_of(const QueueSpec& spec, const std::string& folder, PathScope scope,
                                        const std::string& pointer) {
  QueueNames names;
  for (std::uint32_t i = 0; i < spec.ops.size(); ++i) {
    names.ops.emplace(spec.ops[i], i);
  }
  for (std::uint32_t i = 0; i < spec.buffers.size(); ++i) {
    names.buffers.emplace(spec.buffers[i], i);
  }
  std::vector<QueueItem> items;
  if (spec.file) {
    const std::string path = path_in(folder, *spec.file);
    auto read = check_scope(path, folder, scope).and_then([&] { return read_queue_file(path, names); });
    if (!read && !read.error().line) {
      read.error().pointer = pointer + "/file";
    }
    TIDEGATE_TRY(items, std::move(read));
  }
  for (const QueueItemSpec& stated : spec.items.value_or(std::vector<QueueItemSpec>())) {
    TIDEGATE_TRY(const QueueItem item, resolve_item(stated, names).map_error([&](Error error) {
      error.pointer = fmt::format("{}/items/{}{}", pointer, items.size(), error.pointer.value_or(""));
      return error;
    }));
    items.push_back(item);
  }
  if (items.size() > std::numeric_limits<std::uint32_t>::max()) {
    return failure(ErrorCode::queue_too_long, fmt::format("the queue has {} items", items.size()),
                   "give 4294967295 at most, and the others to another wave", pointer);
  }
  return items;
}

ProgramBuffer word_buffer(std::string name, std::uint64_t words) {
  return {.name = std::move(name),
          .type = ElementType::u32,
          .count = words,
          .bytes = words * sizeof(std::uint32_t)};
}

template <class T>
ProgramBuffer own_buffer(std::string name, const std::vector<T>& rows) {
  static std::atomic<std::uint64_t> made; // names contents that nothing else has
  const auto bytes = std::as_bytes(std::span(rows));
  ProgramBuffer buffer = word_buffer(std::move(name), bytes.size() / sizeof(std::uint32_t));
  buffer.first = [contents = std::vector(bytes.begin(), bytes.end())] {
    return Result<std::vector<std::byte>>(contents);
  };
  buffer.content = fmt::format("queue {}", ++made);
  return buffer;
}

// Names as identifiers: characters that none can have are underscores.
std::string identifier(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

constexpr std::array<std::string_view, 3> queue_kernels{"tidegate_queue_drain", "tidegate_queue_turn",
                                                        "tidegate_queue_check"};
constexpr std::size_t queue_state_index = 2; // among the queue's own buffers

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

constexpr std::string_view op_signature = "uint {}(global const T* in, global U* out, uint param)";

constexpr std::string_view publisher_type =
    "tidegate_publisher"; // of the fourth parameter of an op that publishes

bool has_signature(const opencl_c::TranslationUnit& unit, const opencl_c::Function& function) {
  const auto& parameters = function.parameters;
  const auto is_buffer = [](const opencl_c::Parameter& parameter) {
    return parameter.is_pointer && parameter.space == opencl_c::AddressSpace::global;
  };
  const bool publishes = parameters.size() == 4 && unit.contains(parameters[3].tokens, publisher_type);
  return !function.is_kernel && (parameters.size() == 3 || publishes) && is_buffer(parameters[0]) &&
         is_buffer(parameters[1]) && !parameters[1].is_const && !parameters[2].is_pointer &&
         parameters[2].type == "uint" && function.result == "uint";
}

// True if the functions or their callees mention TIDEGATE_REQUEUE.
bool say_requeue(const opencl_c::TranslationUnit& unit, const std::set<std::string>& functions) {
  const std::set<std::string> reached = unit.facts->reachable(functions);
  return std::ranges::any_of(unit.functions, [&](const opencl_c::Function& function) {
    return function.body && reached.contains(function.name) &&
           unit.contains(*function.body, "TIDEGATE_REQUEUE");
  });
}

// Returns why an op does not fit its buffers: errors whose messages lack what runs the op.
std::vector<Error> check_fit(const ProgramOps& ops, const QueueOp& op, const ProgramBuffer& input,
                             const ProgramBuffer& output) {
  std::vector<Error> misfits;
  const auto refuse = [&](ErrorCode code, std::string what, std::string fix) {
    misfits.push_back({.code = code, .message = std::move(what), .fix = std::move(fix)});
  };
  if (input.hits) {
    refuse(ErrorCode::invalid_item, fmt::format("reads the list of hits {}", in_quotes(input.name)),
           "give lists of hits as outputs only");
    return misfits;
  }
  if (output.hits) {
    const auto takes = check_hits_parameter(output, op.output, ops.queue_units[op.unit].unit, "");
    if (!takes) {
      refuse(takes.error().code, fmt::format("runs {}: {}", in_quotes(op.name), takes.error().message),
             takes.error().fix);
    } else if (op.traits.pure) { // of identical items only one would append
      refuse(ErrorCode::invalid_item,
             fmt::format("runs {}, which is pure, on the list of hits {}", in_quotes(op.name),
                         in_quotes(output.name)),
             "leave pure out: an op that appends to a list is not");
    }
  }
  for (const auto& [parameter, buffer] : {std::pair(&op.input, &input), {&op.output, &output}}) {
    if (const auto wanted = other_element(*parameter, *buffer)) {
      refuse(ErrorCode::argument_mismatch,
             fmt::format("runs {} on the buffer {} of {}, its parameter {} points to {}", in_quotes(op.name),
                         in_quotes(buffer->name), name(buffer->type), in_quotes(parameter->name),
                         parameter->type),
             fmt::format("give a buffer of {}, or change the op's parameter", name(*wanted)));
    }
  }
  return misfits;
}

// Reads the items of the program or its file and publishes them, with the drain kernel for their ops: in tiles
// (kernels/wave/queue.cl), or as the first of rings if its ops publish others (kernels/wave/publish.cl).
class QueueResolver {
public:
  explicit QueueResolver(const WaveInput& in)
      : in_(in), spec_(*in.spec.queue), pointer_(in.pointer + "/queue"),
        title_(in.spec.name.value_or(fmt::format("wave {}", in.index))) {}

  Result<ProgramWave> resolve() {
    TIDEGATE_CHECK(find_ops());
    TIDEGATE_CHECK(find_buffers());
    TIDEGATE_TRY(queue_.items, items_of(spec_, in_.input.folder, in_.input.scope, pointer_));
    const CombinedQueue combined = combine_items(queue_.items);
    combinations_ = combined.combinations;
    TIDEGATE_CHECK(check_handles());
    const bool publishes = drain_.publishes;
    // Ops that the items name; all that the queue lists if it is empty or publishes.
    std::vector<const QueueOp*> used;
    std::vector<QueueOpTraits> traits(ops_.size());
    std::string cases;
    for (std::uint32_t handle = 0; handle < ops_.size(); ++handle) {
      const QueueOp* const op = ops_[handle];
      if (op != nullptr &&
          (publishes || queue_.items.empty() ||
           std::ranges::find(combinations_, handle, &QueueCombination::op) != combinations_.end())) {
        used.push_back(op);
        traits[handle] = op->traits;
        functions_.insert(op->function);
        cases += fmt::format("case {}u: return {}(tg_in, tg_out, tg_param); ", handle, op->function);
      }
    }
    const Refusal refusals[] = {
        {!publishes && spec_.on_full != FullQueue::error, "/on_full",
         "the queue grows where it is full, and none of its ops publishes items",
         "leave on_full out; without a capacity all requeued items have room", ErrorCode::bad_queue},
        {!publishes && spec_.runs_ahead, "/runs_ahead",
         "the queue runs ahead, and none of its ops publishes items", "leave runs_ahead out",
         ErrorCode::bad_queue},
        {used.empty(), "", "the queue has neither items nor ops", "list an op, or leave the wave out",
         ErrorCode::bad_queue},
        {publishes && ops_.size() > most_packed_ops, "",
         fmt::format("the queue lists {}", plural(ops_.size(), "op")),
         fmt::format("list {} at most in a queue whose ops publish", most_packed_ops),
         ErrorCode::out_of_range},
        {publishes && buffers_.size() > most_packed_buffers, "",
         fmt::format("the queue lists {}", plural(buffers_.size(), "buffer")),
         fmt::format("list {} at most in a queue whose ops publish", most_packed_buffers),
         ErrorCode::out_of_range}};
    TIDEGATE_CHECK(first_of(refusals, pointer_));
    const OpSpec& source = *used.front()->spec;
    for (const QueueOp* const op : used) { // they become one program
      if (op->spec->source != source.source || op->spec->options != source.options) {
        return invalid_program(
            fmt::format("the queue runs {} and {}, which differ in their source or options",
                        in_quotes(used.front()->name), in_quotes(op->name)),
            "include both in one source, or give each a wave", pointer_);
      }
    }
    const ProgramUnit& unit = in_.ops.queue_units[used.front()->unit];
    if (publishes) {
      TIDEGATE_CHECK(find_published(unit));
    }
    const PublishedQueue published =
        publish_queue(queue_.items, combined, traits, publishes ? device::Tuning() : in_.input.tuning);
    queue_.deduped_items = published.deduped_items;
    queue_.requeues = say_requeue(unit.unit, functions_);
    queue_.publishes = publishes;
    queue_.op_names = spec_.ops;
    drain_.requeues = queue_.requeues && !publishes; // the kernels of publish.cl always have rounds
    TIDEGATE_CHECK(add_arguments());
    TIDEGATE_CHECK(publishes ? add_rings(published) : add_tiles(published, cases));
    wave_.listed_items = published.published_items;
    in_.ops.publish_ns += published.publish_ns;
    if (publishes || queue_.requeues) {
      wave_.rounds = Rounds{.age_threshold = in_.input.program.policy.priority_age_threshold,
                            .most_stalled_rounds = spec_.most_stalled_rounds,
                            .capacity = capacity_};
    }
    TIDEGATE_CHECK(add_kernels(source, publishes && !combinations_.empty()
                                           ? ops_[combinations_.front().op]->name
                                           : used.front()->name));
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

  // Finds the ops that the queue lists.
  Result<void> find_ops() {
    const ProgramOps& ops = in_.ops;
    for (const std::string& name : spec_.ops) {
      if (!ops.op_index.contains(name)) {
        return tl::unexpected(
            unknown_name("op", name, ops.op_index, fmt::format("{}/ops/{}", pointer_, ops_.size())));
      }
      const auto found = ops.queue_ops.find(name);
      if (found != ops.queue_ops.end() && !found->second) {
        return tl::unexpected(already_reported());
      }
      const QueueOp* const op = found == ops.queue_ops.end() ? nullptr : &*found->second;
      drain_.publishes = drain_.publishes || (op != nullptr && op->publishes);
      ops_.push_back(op);
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
      if (std::ranges::find(indices_, place) != indices_.end()) {
        return failure(ErrorCode::duplicate_name,
                       fmt::format("the queue lists the buffer {} twice", in_quotes(name)),
                       "one handle is enough for a buffer", pointer);
      }
      buffers_.push_back(&in_.memory.buffers[place]);
      indices_.push_back(place);
      drain_.prelude = is_list ? hits_frame().before : drain_.prelude;
    }
    return {};
  }

  // Checks each combination of handles once.
  Result<void> check_handles() const {
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
      if (items.op < ops_.size() && ops_[items.op] == nullptr) {
        refuse(ErrorCode::not_a_queue_op,
               fmt::format("has the op_handle {}, and {} is not a queue op", items.op,
                           in_quotes(spec_.ops[items.op])),
               "give the handle of an op with \"queue\": true");
      } else if (there) {
        for (const Error& misfit :
             check_fit(in_.ops, *ops_[items.op], *buffers_[items.input], *buffers_[items.output])) {
          refuse(misfit.code, misfit.message, misfit.fix);
        }
      }
    }
    return errors.result();
  }

  // Words for the handles of all that the queue lists: by name if no other name makes the same word, and by number.
  void add_words(std::string_view prefix, const std::vector<std::string>& names) {
    for (std::uint32_t handle = 0; handle < names.size(); ++handle) {
      std::string word = fmt::format("{}{}", prefix, identifier(names[handle]));
      const auto [found, is_new] = words_.try_emplace(std::move(word), handle);
      found->second = is_new ? found->second : std::nullopt;
    }
    for (std::uint32_t handle = 0; handle < names.size(); ++handle) {
      words_[fmt::format("{}{}", prefix, handle)] = handle;
    }
  }

  // Finds the combinations in the calls that TIDEGATE_PUBLISH stands for, tg_publish(publisher, item, param): the names in an item
  // are those of an op and two buffers, in this order. TIDEGATE_PUBLISH_AT adds a priority.
  Result<void> find_published(const ProgramUnit& read) {
    add_words(op_prefix, spec_.ops);
    add_words(buffer_prefix, spec_.buffers);
    const opencl_c::TranslationUnit& unit = read.unit;
    const auto word = [&](std::size_t token) -> const std::string& { return unit.source.tokens[token].text; };
    const std::set<std::string> listed = unit.facts->reachable(functions_);
    ErrorList errors;
    const auto refuse = [&](std::size_t token, ErrorCode code, std::string message, std::string fix) {
      errors.add(error_at(read, token, code, std::move(message), std::move(fix)));
    };
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
          words_.try_emplace(word(token), std::nullopt);
        }
        continue;
      }
      states_priorities_ |= has_priority;
      const auto priority = has_priority ? opencl_c::value_of(unit, *call->operands.back()) : std::nullopt;
      if (priority && (*priority < 0 || *priority >= queue_priorities)) {
        refuse(name, ErrorCode::out_of_range,
               fmt::format("TIDEGATE_PUBLISH_AT states the priority {}", *priority),
               fmt::format("state one from 0, the best, to {}", queue_priorities - 1));
      }
      std::vector<std::uint32_t> handles;
      for (const std::size_t token : names) {
        const auto found = words_.find(word(token));
        const bool is_op = word(token).starts_with(op_prefix);
        if (found == words_.end() || !found->second) {
          const std::string named = word(token).substr(is_op ? op_prefix.size() : buffer_prefix.size());
          refuse(token, ErrorCode::unknown_name,
                 fmt::format("the queue lists no {} {}", is_op ? "op" : "buffer", in_quotes(named)),
                 fmt::format("name one of its list {}", is_op ? "ops" : "buffers"));
        } else if (is_op && ops_[*found->second] == nullptr) {
          refuse(token, ErrorCode::not_a_queue_op,
                 fmt::format("{} is not a queue op", in_quotes(spec_.ops[*found->second])),
                 "name an op with \"queue\": true");
        } else {
          handles.push_back(*found->second);
        }
      }
      if (handles.size() != 3) {
        continue;
      }
      for (Error& misfit :
           check_fit(in_.ops, *ops_[handles[0]], *buffers_[handles[1]], *buffers_[handles[2]])) {
        refuse(names[2], misfit.code, "TIDEGATE_PUBLISH " + misfit.message, std::move(misfit.fix));
      }
      if (std::ranges::none_of(combinations_, [&](const QueueCombination& one) {
            return std::array{one.op, one.input, one.output} ==
                   std::array{handles[0], handles[1], handles[2]};
          })) {
        combinations_.push_back({.op = handles[0], .input = handles[1], .output = handles[2]});
      }
    }
    return errors.result();
  }

  // Passes the buffers that items name to the kernels, in the order of their handles.
  Result<void> add_arguments() {
    std::vector<std::optional<Access>> accesses(buffers_.size());
    for (const QueueCombination& items : combinations_) {
      auto& input = accesses[items.input];
      input = ops_[items.op]->input.is_const ? input.value_or(Access::read) : Access::read_write;
      accesses[items.output] = Access::read_write;
    }
    for (std::uint32_t handle = 0; handle < buffers_.size(); ++handle) {
      if (accesses[handle]) {
        wave_.arguments.push_back(buffer_argument(indices_[handle], *accesses[handle]));
        drain_.handles += fmt::format("case {0}u: return (global void*)tg_b{0}; ", handle);
        drain_.parameters += fmt::format(", global uchar* tg_b{}", handle);
        drain_.arguments += fmt::format(", tg_b{}", handle);
      }
    }
    if (wave_.arguments.size() > most_buffers) {
      return failure(ErrorCode::out_of_range,
                     fmt::format("the items name {} buffers", wave_.arguments.size()),
                     fmt::format("name {} at most in a wave", most_buffers), pointer_);
    }
    return {};
  }

  // Functions that kernels/wave/publish.cl declares.
  void add_functions() {
    const bool open =
        !states_priorities_ && !combinations_.empty(); // the priorities of the ops are those in use
    first_ring_ = open ? queue_priorities : 0;
    last_ring_ = states_priorities_ ? queue_priorities - 1 : 0;
    std::string runs;
    std::string tables;
    std::string priorities;
    std::set<std::uint32_t> seen;
    for (const QueueCombination& one : combinations_) {
      const QueueOp& op = *ops_[one.op];
      const std::uint32_t item = packed_handles({one.op, one.input, one.output});
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

  Result<void> add_rings(const PublishedQueue& published) {
    const std::uint64_t given = published.published_items;
    capacity_ = spec_.capacity.value_or(static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(2 * given, least_default_capacity, most_queue_capacity)));
    add_functions();
    const std::uint32_t rings = last_ring_ - first_ring_ + 1;
    const Refusal refusals[] = {
        {capacity_ > most_queue_capacity, "/capacity",
         fmt::format("the queue has a capacity of {}", capacity_),
         fmt::format("give {} at most", most_queue_capacity), ErrorCode::out_of_range},
        {given > capacity_, spec_.capacity ? "/capacity" : "",
         fmt::format("the queue begins with {} and has a capacity of {}", plural(given, "item"), capacity_),
         fmt::format("give it a capacity of {} or more, for what its ops publish too", given),
         spec_.capacity ? ErrorCode::bad_queue : ErrorCode::queue_too_long},
        {spec_.runs_ahead && rings > 1, "/runs_ahead",
         "the queue runs ahead, and its items have several priorities",
         "give all its ops one priority and publish without stating one, or leave runs_ahead out",
         ErrorCode::bad_queue}};
    TIDEGATE_CHECK(first_of(refusals, pointer_));
    drain_.lanes = in_.input.tuning.queue_lanes;
    const std::uint32_t ring_size = std::bit_ceil(capacity_);
    const std::uint32_t table_size = tables_ == 0 ? 1 : 2 * ring_size;
    drain_.definitions = fmt::format(
        "#define TG_QUEUE_RINGS {}u\n#define TG_QUEUE_FIRST_RING {}u\n#define TG_QUEUE_RING_SIZE {}u\n"
        "#define TG_QUEUE_STAGED {}u\n#define TG_QUEUE_AHEAD {}\n#define TG_QUEUE_TABLES {}u\n#define TG_QUEUE_TABLE_SIZE {}u\n",
        rings, first_ring_, ring_size, std::max(std::min(8 * drain_.lanes, most_staged) / rings, 1U),
        spec_.runs_ahead ? most_ahead : 0, tables_, table_size);
    for (const auto& [word, handle] : words_) {
      drain_.definitions += fmt::format("enum {{ {} = {} }};\n", word, handle.value_or(0));
    }
    for (const QueueTile& tile : published.tiles) { // by priority
      for (std::uint32_t i = 0; i < tile.count; ++i) {
        queue_.seeds.push_back(packed_handles({tile.op, tile.input, tile.output}));
        queue_.seeds.push_back(tile.listed != 0 ? published.params[tile.param + i] : tile.param + i);
      }
    }
    const std::uint64_t seen_words = std::max<std::uint64_t>(tables_ * (std::uint64_t{table_size} + 1), 1);
    queue_.seen_bytes = seen_words * sizeof(std::uint32_t);
    std::vector<std::uint32_t> state(TG_QUEUE_WORDS); // as tg_queue_arm() leaves it
    std::ranges::copy(published.by_priority, state.begin() + TG_QUEUE_COUNTS);
    state[TG_QUEUE_MODE] = tables_ == 0 ? TG_QUEUE_SEEDS : TG_QUEUE_CLEARS;
    own(own_buffer(title_ + ": items", queue_.seeds.empty() ? std::vector<std::uint32_t>(2) : queue_.seeds),
        Access::read);
    own(word_buffer(title_ + ": rings", 2 * std::uint64_t{rings} * ring_size), Access::write);
    own(own_buffer(title_ + ": state", state), Access::read_write);
    own(word_buffer(title_ + ": seen", seen_words), Access::write);
    add_range(queue_groups(in_.input.device));
    return {};
  }

  Result<void> add_tiles(const PublishedQueue& published, const std::string& cases) {
    capacity_ = spec_.capacity.value_or(capacity_);
    drain_.lanes = published.lanes;
    drain_.items_per_lane = published.items_per_lane;
    drain_.functions = fmt::format(
        "uint tg_queue_run(uint tg_op, global void* tg_in, global void* tg_out, uint tg_param) {{\n"
        "  switch (tg_op) {{\n    {}default: return TIDEGATE_FAULT(0xffffffu);\n  }}\n}}\n",
        cases);
    queue_.published = published.items;
    queue_.tiles = published.tiles;
    if (queue_.tiles.empty()) {
      queue_.tiles.emplace_back(); // without items
    }
    const std::vector<QueueTile>& tiles = queue_.tiles;
    if (tiles.size() > std::numeric_limits<std::uint32_t>::max() / published.lanes) {
      return failure(ErrorCode::queue_too_long, fmt::format("the queue has {} items", queue_.items.size()),
                     "give some of them to another wave", pointer_);
    }
    std::vector<std::uint32_t> state(TG_QUEUE_WORDS);
    std::ranges::copy(published.by_priority, state.begin() + TG_QUEUE_COUNTS); // as tg_queue_arm() leaves it
    std::ranges::copy(published.by_priority, state.begin() + TG_QUEUE_WAITING);
    state[TG_QUEUE_FRESH] = ~std::uint32_t{0};
    state[TG_QUEUE_RUNNING] = std::uint32_t{1} << tiles.front().priority;
    own(own_buffer(title_ + ": tiles", tiles), Access::read);
    own(own_buffer(title_ + ": params",
                   published.params.empty() ? std::vector<std::uint32_t>(1) : published.params),
        Access::read);
    own(own_buffer(title_ + ": state", state), Access::read_write);
    if (drain_.requeues) {
      own(word_buffer(title_ + ": left", std::uint64_t{published.lanes} * tiles.size()), Access::write);
    }
    add_range(static_cast<std::uint32_t>(tiles.size()));
    return {};
  }

  // Adds a buffer of the queue's own; those that the drain writes hold requeued items.
  void own(ProgramBuffer buffer, Access access) {
    own_.push_back(buffer_argument(static_cast<std::uint32_t>(in_.memory.buffers.size()), access,
                                   access == Access::write, true));
    in_.memory.buffers.push_back(std::move(buffer));
  }

  void add_range(std::uint32_t groups) {
    wave_.range = {
        .global = {groups * drain_.lanes, 1, 1}, .local = {drain_.lanes, 1, 1}, .groups = {groups, 1, 1}};
  }

  // Adds the source of the ops with the kernels around it.
  Result<void> add_kernels(const OpSpec& source, const std::string& name) {
    TIDEGATE_TRY(ProgramUnit unit, read_unit(source, in_.input.folder, in_.input.answer, in_.input.scope,
                                             pointer_, frame_of(drain_)));
    wave_.op = static_cast<std::uint32_t>(in_.ops.ops.size());
    for (const std::string_view kernel : queue_kernels) {
      const auto& functions = unit.unit.functions;
      const auto found = std::ranges::find(functions, kernel, &opencl_c::Function::name);
      in_.ops.ops.push_back({.name = name,
                             .unit = static_cast<std::uint32_t>(in_.ops.units.size()),
                             .function = static_cast<std::uint32_t>(found - functions.begin())});
    }
    in_.ops.units.push_back(std::move(unit));
    return {};
  }

  // Items that a work-group collects in local memory: 16 KiB.
  static constexpr std::uint32_t most_staged = 2048;

  // Bounds the time between two barriers, and how long work-groups whose items have ended wait for others.
  static constexpr std::uint32_t most_ahead = 64;

  const WaveInput& in_;
  const QueueSpec& spec_;
  const std::string pointer_;
  const std::string title_;
  std::vector<const QueueOp*> ops_; // that the queue lists; null for others
  std::vector<const ProgramBuffer*> buffers_;
  std::vector<std::uint32_t> indices_; // of the buffers in the program's memory
  std::vector<QueueCombination> combinations_;
  std::set<std::string> functions_; // of ops that may run
  DrainText drain_;
  ProgramQueue queue_;
  ProgramWave wave_;
  std::vector<ProgramArgument> own_; // arguments that the queue adds
  std::uint32_t capacity_ = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t first_ring_ = 0; // priorities in use
  std::uint32_t last_ring_ = 0;
  std::uint32_t tables_ = 0; // combinations of pure ops and buffers
  bool states_priorities_ = false;
  // Enumerators for handles; without a value, those of several names, and of functions that no listed op calls.
  std::map<std::string, std::optional<std::uint32_t>> words_;
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
  if (!has_signature(read.unit, *function)) {
    return error_at(
        read, function->begin, ErrorCode::argument_mismatch,
        fmt::format("{} is not a function that runs one item of a queue", in_quotes(function_name)),
        fmt::format("write {}", fmt::format(op_signature, function_name)));
  }
  return QueueOp{.name = name,
                 .function = function_name,
                 .spec = &spec,
                 .unit = unit,
                 .traits = {.pure = spec.pure, .priority = spec.priority.value_or(default_queue_priority)},
                 .input = function->parameters[0],
                 .output = function->parameters[1],
                 .publishes = function->parameters.size() == 4};
}

SourceFrame queue_frame() {
  return frame_of(
      {.definitions = "#define TG_QUEUE_FIRST_RING 0u\n#define TG_QUEUE_AHEAD 0\n", .publishes = true});
}

Result<ProgramWave> queue_wave(const WaveInput& in) {
  return QueueResolver(in).resolve();
}

} // namespace tidegate::engine
