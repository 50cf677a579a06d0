// Publishing of work items; their files and fields.
#include "core/files.hpp"
#include "work/resolve.hpp"

namespace tidegate::engine {
namespace {

// A hash table of params, with open addressing.
class Params {
public:
  explicit Params(std::uint64_t count) : words_(std::bit_ceil(2 * count)) {}

  // Returns false if it was present.
  bool insert(std::uint32_t param) {
    const std::uint64_t wanted = std::uint64_t{param} + 1; // 0 marks a free slot
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    std::size_t place = static_cast<std::size_t>(wanted * golden_ratio >> 32U);
    while (words_[place &= words_.size() - 1] != 0 && words_[place] != wanted) {
      ++place;
    }
    return std::exchange(words_[place], wanted) == 0;
  }

private:
  std::vector<std::uint64_t> words_;
};

} // namespace

std::vector<QueueCombination> combine_items(std::span<const QueueItem> items) {
  std::vector<QueueCombination> combinations;
  std::map<std::array<std::uint32_t, 3>, std::size_t> known;
  std::array<std::size_t, 256> recent{}; // items usually alternate between few combinations
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    const auto& [op, input, output, param] = items[i];
    std::size_t& at = recent[(op * 67 + input * 31 + output) % recent.size()];
    if (combinations.empty() || std::tie(combinations[at].op, combinations[at].input,
                                         combinations[at].output) != std::tie(op, input, output)) {
      const auto [found, added] = known.try_emplace({op, input, output}, combinations.size());
      if (added) {
        combinations.push_back({.op = op, .input = input, .output = output, .first_item = i, .params = {}});
      }
      at = found->second;
    }
    combinations[at].params.push_back(param);
  }
  return combinations;
}

std::uint64_t publish_items(std::vector<QueueCombination>& combinations,
                            std::span<const QueueOp* const> ops) {
  std::uint64_t left_out = 0;
  for (QueueCombination& one : combinations) {
    if (ops[one.op]->spec->pure) {
      Params seen(one.params.size());
      left_out += std::erase_if(one.params, [&](std::uint32_t param) { return !seen.insert(param); });
    }
  }
  std::ranges::stable_sort(combinations, {}, [&](const auto& one) { return ops[one.op]->spec->priority; });
  return left_out;
}

TiledQueue tiles_of(std::span<const QueueCombination> combinations, const device::Tuning& tuning) {
  std::size_t items = 0;
  for (const QueueCombination& one : combinations) {
    items += one.params.size();
  }
  TiledQueue tiled{.lanes = tuning.queue_lanes,
                   .items_per_lane = items < tuning.queue_many_items ? 1 : tuning.queue_items_per_lane};
  const std::size_t most = std::size_t{tiled.lanes} * tiled.items_per_lane;
  for (const QueueCombination& one : combinations) {
    const std::span<const std::uint32_t> params = one.params;
    for (std::size_t at = 0; at < params.size(); at += most) {
      const auto own = params.subspan(at, std::min(most, params.size() - at));
      const bool counts = std::ranges::adjacent_find(own, [](std::uint32_t param, std::uint32_t next) {
                            return next != param + 1;
                          }) == own.end();
      tiled.tiles.push_back({.handles = one.handles(),
                             .items = static_cast<std::uint32_t>(own.size()),
                             .param = counts ? own[0] : static_cast<std::uint32_t>(tiled.params.size()),
                             .listed = counts ? 0U : 1U});
      tiled.params.insert(tiled.params.end(), own.begin(), counts ? own.begin() : own.end());
    }
  }
  return tiled;
}

namespace {

constexpr std::size_t most_bytes = (std::size_t{64} << 30U) - 1; // fewer than 2^32 items
static_assert(sizeof(QueueItem) == 16);

// A line of a file of items.
constexpr documents::Document item_document{.kind = "queue_item",
                                            .title = "An item of a queue",
                                            .direction = documents::Direction::output,
                                            .record = &documents::Description<QueueItemSpec>::record,
                                            .has_kind = false};

constexpr std::string_view item_fix =
    R"(write {"op": "NAME", "input": "NAME", "output": "NAME", "param": 0})";

// The places of names in a queue's lists.
struct QueueNames {
  NameIndex ops, buffers;
};

// Errors have places below the item.
Result<QueueItem> resolve_item(const QueueItemSpec& item, const QueueNames& names) {
  QueueItem found{.param = item.param};
  const auto find = [](std::string_view what, const auto& name, const auto& handle, const NameIndex& known,
                       const std::string& place) {
    return handle ? Result<std::uint32_t>(*handle) : find_name(what, *name, known, place);
  };
  constexpr std::string_view buffer = "buffer of the queue";
  TIDEGATE_TRY(found.op_handle, find("op of the queue", item.op, item.op_handle, names.ops, "/op"));
  TIDEGATE_TRY(found.input_handle, find(buffer, item.input, item.input_handle, names.buffers, "/input"));
  TIDEGATE_TRY(found.output_handle, find(buffer, item.output, item.output_handle, names.buffers, "/output"));
  return found;
}

Result<std::vector<QueueItem>> parse_lines(std::string_view text, const std::string& path,
                                           const QueueNames& names) {
  std::vector<QueueItem> items;
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
    auto item = documents::decode(item_document, line, &spec)
                    .map_error([](Error error) {
                      error.code = ErrorCode::bad_queue;
                      error.fix = item_fix;
                      return error;
                    })
                    .and_then([&] { return resolve_item(spec, names); });
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

Result<std::vector<QueueItem>> read_file(const std::string& path, const QueueNames& names) {
  TIDEGATE_TRY(const std::string bytes, read_all(path, most_bytes));
  if (path.ends_with(".ndjson") || path.ends_with(".jsonl")) {
    return parse_lines(bytes, path, names);
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

} // namespace

Result<std::vector<QueueItem>> read_items(const QueueSpec& spec, const std::string& folder, PathScope scope,
                                          const std::string& pointer) {
  QueueNames names;
  for (const auto& [listed, index] :
       {std::pair(&spec.ops, &names.ops), std::pair(&spec.buffers, &names.buffers)}) {
    for (std::uint32_t i = 0; i < listed->size(); ++i) {
      index->emplace((*listed)[i], i);
    }
  }
  if (spec.file) {
    const std::string path = path_in(folder, *spec.file);
    auto read = check_scope(path, folder, scope).and_then([&] { return read_file(path, names); });
    return read || read.error().line ? std::move(read) : at_place(pointer + "/file", std::move(read));
  }
  std::vector<QueueItem> items;
  for (const QueueItemSpec& stated : *spec.items) {
    auto item = resolve_item(stated, names);
    if (!item) {
      item.error().pointer = fmt::format("{}/items/{}{}", pointer, items.size(), *item.error().pointer);
    }
    TIDEGATE_TRY(items.emplace_back(), std::move(item));
  }
  return items;
}

} // namespace tidegate::engine
