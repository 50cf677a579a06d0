// Publishing of work items in tiles; their files and fields.
#include "core/duration.hpp"
#include "core/files.hpp"
#include "engine/queue_rounds.hpp"
#include "work/program.hpp"
#include "work/queue.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

using Key = std::array<std::uint32_t, 3>;

// Set of the params of one combination: a bit per value if they are dense, as indices are; otherwise a hash
// table with open addressing.
class Params {
public:
  Params(std::uint32_t least, std::uint32_t most, std::uint64_t count) : least_(least) {
    const std::uint64_t range = std::uint64_t{most} - least + 1;
    dense_ = range <= 64 * count;
    words_.resize(dense_ ? (range + 63) / 64 : std::bit_ceil(2 * count));
  }

  // Returns false if it was present.
  bool insert(std::uint32_t param) {
    if (dense_) {
      std::uint64_t& word = words_[(param - least_) / 64];
      const std::uint64_t bit = std::uint64_t{1} << (param - least_) % 64;
      const bool fresh = (word & bit) == 0;
      word |= bit;
      return fresh;
    }
    const std::uint64_t wanted = std::uint64_t{param} + 1; // 0 marks a free slot
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    std::size_t place = static_cast<std::size_t>(wanted * golden_ratio >> 32U) & (words_.size() - 1);
    while (words_[place] != 0 && words_[place] != wanted) {
      place = (place + 1) & (words_.size() - 1);
    }
    const bool fresh = words_[place] == 0;
    words_[place] = wanted;
    return fresh;
  }

private:
  std::uint32_t least_;
  bool dense_ = false;
  std::vector<std::uint64_t> words_;
};

// Keeps the first of equal params, and the matching items; returns how many remain.
std::uint32_t remove_equal(std::span<std::uint32_t> params, std::span<std::uint32_t> items) {
  const auto [least, most] = std::ranges::minmax(params);
  Params seen(least, most, params.size());
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (seen.insert(params[i])) {
      params[kept] = params[i];
      items[kept] = items[i];
      ++kept;
    }
  }
  return kept;
}

bool count_up(std::span<const std::uint32_t> params) {
  bool all = true;
  for (std::uint32_t i = 1; i < params.size(); ++i) {
    all &= params[i] == params[0] + i;
  }
  return all;
}

// Adds tiles for the items of a combination. Params that are not consecutive move towards the
// front of the queue's, and end at `listed`.
void add_tiles(const QueueCombination& combination, std::uint32_t priority,
               std::span<const std::uint32_t> params, std::size_t& listed, PublishedQueue& queue) {
  const std::size_t tile_items = std::size_t{queue.lanes} * queue.items_per_lane;
  for (std::size_t at = 0; at < params.size(); at += tile_items) {
    const auto own = params.subspan(at, std::min(tile_items, params.size() - at));
    const bool counts = count_up(own);
    queue.tiles.push_back({.op = combination.op,
                           .input = combination.input,
                           .output = combination.output,
                           .priority = priority,
                           .first = static_cast<std::uint32_t>(queue.published_items),
                           .count = static_cast<std::uint32_t>(own.size()),
                           .param = counts ? own[0] : static_cast<std::uint32_t>(listed),
                           .listed = counts ? 0U : 1U});
    if (!counts) {
      std::ranges::copy(own, queue.params.begin() + static_cast<std::ptrdiff_t>(listed));
      listed += own.size();
    }
    queue.published_items += own.size();
  }
  queue.by_priority[priority] += static_cast<std::uint32_t>(params.size());
}

} // namespace

CombinedQueue combine_items(std::span<const QueueItem> items) {
  CombinedQueue queue;
  std::map<Key, std::uint32_t> known;
  struct Recent {
    Key key{};
    std::uint32_t combination = 0;
    bool used = false;
  };
  std::array<Recent, 256> recent{}; // items usually alternate between few combinations
  for (std::uint32_t begin = 0; begin < items.size();) {
    const Key key{items[begin].op_handle, items[begin].input_handle, items[begin].output_handle};
    std::uint32_t end = begin + 1;
    while (end < items.size() && items[end].op_handle == key[0] && items[end].input_handle == key[1] &&
           items[end].output_handle == key[2]) {
      ++end;
    }
    Recent& last = recent[(key[0] * 67 + key[1] * 31 + key[2]) % recent.size()];
    if (!last.used || last.key != key) {
      const auto next = static_cast<std::uint32_t>(queue.combinations.size());
      const auto [found, added] = known.try_emplace(key, next);
      if (added) {
        queue.combinations.push_back({.op = key[0], .input = key[1], .output = key[2], .first_item = begin});
      }
      last = {.key = key, .combination = found->second, .used = true};
    }
    queue.combinations[last.combination].items += end - begin;
    queue.runs.push_back({.combination = last.combination, .begin = begin, .end = end});
    begin = end;
  }
  return queue;
}

PublishedQueue publish_queue(std::span<const QueueItem> items, const CombinedQueue& combined,
                             std::span<const QueueOpTraits> ops, const device::Tuning& tuning) {
  const auto began = std::chrono::steady_clock::now();
  const auto& combinations = combined.combinations;
  PublishedQueue queue{.lanes = tuning.queue_lanes,
                       .items_per_lane =
                           items.size() < tuning.queue_many_items ? 1 : tuning.queue_items_per_lane};
  std::vector<std::uint32_t> order(combinations.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return ops[combinations[i].op].priority; });
  const bool any_pure = std::ranges::any_of(combinations, [&](const auto& one) { return ops[one.op].pure; });
  // With one sorted run per combination every item keeps its place.
  const bool in_place =
      !any_pure && std::ranges::is_sorted(order) && combined.runs.size() == combinations.size();

  // One pass over the items distributes their params to the combinations.
  std::vector<std::size_t> next(combinations.size());
  std::size_t place = 0;
  for (const std::uint32_t index : order) {
    next[index] = place;
    place += combinations[index].items;
  }
  queue.params.resize(items.size());
  queue.items.resize(in_place ? 0 : items.size());
  for (const QueueRun& run : combined.runs) {
    std::size_t to = next[run.combination];
    next[run.combination] += run.end - run.begin;
    for (std::uint32_t i = run.begin; i < run.end; ++i, ++to) {
      queue.params[to] = items[i].param;
      if (!in_place) {
        queue.items[to] = i;
      }
    }
  }

  // The remaining items of each combination, in tiles.
  std::size_t listed = 0;
  place = 0;
  for (const std::uint32_t index : order) {
    const QueueCombination& combination = combinations[index];
    const auto own = std::span(queue.params).subspan(place, combination.items);
    std::uint32_t kept = combination.items;
    if (ops[combination.op].pure) {
      const auto own_items = std::span(queue.items).subspan(place, combination.items);
      kept = remove_equal(own, own_items);
      std::ranges::copy(own_items.first(kept),
                        queue.items.begin() + static_cast<std::ptrdiff_t>(queue.published_items));
    } else if (queue.deduped_items != 0) {
      std::ranges::copy(std::span(queue.items).subspan(place, kept),
                        queue.items.begin() + static_cast<std::ptrdiff_t>(queue.published_items));
    }
    add_tiles(combination, ops[combination.op].priority, own.first(kept), listed, queue);
    queue.deduped_items += combination.items - kept;
    place += combination.items;
  }
  queue.params.resize(listed);
  queue.items.resize(in_place ? 0 : queue.published_items);
  queue.publish_ns = elapsed_ns(began);
  return queue;
}

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 30U; // 2^32 items
static_assert(sizeof(QueueItem) == 16);

// A line of a file of items.
constexpr documents::Document item_document{.kind = "queue_item",
                                            .title = "An item of a queue",
                                            .direction = documents::Direction::output,
                                            .record = &documents::Description<QueueItemSpec>::record,
                                            .has_kind = false};

bool is_lines(const std::string& path) {
  return path.ends_with(".ndjson") || path.ends_with(".jsonl");
}

constexpr std::string_view item_fix =
    R"(write {"op": "NAME", "input": "NAME", "output": "NAME", "param": 0})";

// The handle of a name, unless the item states a handle.
Result<std::uint32_t> handle_of(std::string_view key, std::string_view what,
                                const std::optional<std::string>& name,
                                const std::optional<std::uint32_t>& handle, const NameIndex& names) {
  return handle ? Result<std::uint32_t>(*handle) : find_name(what, *name, names, fmt::format("/{}", key));
}

} // namespace

Result<QueueItem> resolve_item(const QueueItemSpec& item, const QueueNames& names) {
  QueueItem found{.param = item.param};
  TIDEGATE_TRY(found.op_handle, handle_of("op", "op of the queue", item.op, item.op_handle, names.ops));
  TIDEGATE_TRY(found.input_handle,
               handle_of("input", "buffer of the queue", item.input, item.input_handle, names.buffers));
  TIDEGATE_TRY(found.output_handle,
               handle_of("output", "buffer of the queue", item.output, item.output_handle, names.buffers));
  return found;
}

Result<std::vector<QueueItem>> parse_queue_lines(std::string_view text, const std::string& path,
                                                 const QueueNames& names) {
  std::vector<QueueItem> items;
  documents::Decoder decoder;
  std::uint64_t number = 0;
  text = without_byte_order_mark(text);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    QueueItemSpec spec;
    auto decoded = decoder.decode(item_document, line, &spec).map_error([](Error error) {
      error.code = ErrorCode::bad_queue;
      error.fix = item_fix;
      return error;
    });
    auto item = decoded ? resolve_item(spec, names) : Result<QueueItem>(tl::unexpected(decoded.error()));
    if (!item) {
      return tl::unexpected(Error{.code = item.error().code,
                                  .message = std::move(item.error().message),
                                  .fix = std::move(item.error().fix),
                                  .source = path,
                                  .line = number,
                                  .column = item.error().column,
                                  .excerpt = shortened(line, 200)});
    }
    items.push_back(*item);
  }
  return items;
}

Result<std::vector<QueueItem>> read_queue_file(const std::string& path, const QueueNames& names) {
  TIDEGATE_TRY(const std::string bytes, read_all(path, most_bytes));
  if (is_lines(path)) {
    return parse_queue_lines(bytes, path, names);
  }
  if (bytes.size() % sizeof(QueueItem) != 0) {
    return tl::unexpected(
        Error{.code = ErrorCode::bad_queue,
              .message = fmt::format("{} bytes are not a whole number of items of 16 bytes", bytes.size()),
              .fix = "write op_handle, input_handle, output_handle and param as u32, or give the file the "
                     "ending .ndjson if it holds lines of JSON",
              .source = path});
  }
  std::vector<QueueItem> items(bytes.size() / sizeof(QueueItem));
  std::memcpy(items.data(), bytes.data(), bytes.size());
  return items;
}

std::optional<WaveProgram> with_longer_queues(const WaveProgram& program,
                                              std::span<const QueueReport> queues) {
  WaveProgram result = program;
  bool any = false;
  std::size_t at = 0; // queues are reported in the order of their waves
  for (WaveSpec& wave : result.waves) {
    const auto publishing = wave.queue ? queues[at++].publishing : std::nullopt;
    if (!publishing || publishing->needed_capacity <= publishing->capacity) {
      continue;
    }
    const std::uint64_t twice = std::uint64_t{2} * publishing->capacity;
    if (wave.queue->on_full != FullQueue::grow || publishing->needed_capacity > most_queue_capacity) {
      return {};
    }
    // What was needed so far may be little more.
    wave.queue->capacity = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(twice, publishing->needed_capacity, most_queue_capacity));
    any = true;
  }
  return any ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<WaveProgram> with_longer_queues(const WaveProgram& program, const Job& job,
                                              const Error& error) {
  if (error.code != ErrorCode::publish_queue_full) {
    return {};
  }
  std::vector<QueueReport> queues = queues_before(job);
  std::size_t at = 0;
  for (std::size_t wave = 0; wave < job.waves.size(); ++wave) {
    if (!job.waves[wave].queue) {
      continue;
    }
    if (wave == error.wave) {
      const std::uint32_t capacity = job.waves[wave].rounds->capacity;
      queues[at].publishing = PublishingCounts{.needed_capacity = capacity + 1, .capacity = capacity};
    }
    ++at;
  }
  return with_longer_queues(program, queues);
}

} // namespace tidegate::engine
