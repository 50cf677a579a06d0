#include <tidegate/compiler/queue_file.hpp>
#include <tidegate/core/excerpt.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>

namespace tidegate::compiler {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 30U; // 2^32 items
static_assert(sizeof(QueueItem) == 16);

constexpr std::array<std::string_view, 4> item_keys{"op_handle", "input_handle", "output_handle", "param"};
constexpr std::array item_members{&QueueItem::op_handle, &QueueItem::input_handle, &QueueItem::output_handle,
                                  &QueueItem::param};

// One line from left to right. A million of them are read where a JSON library would still make objects.
class ItemLine {
public:
  explicit ItemLine(std::string_view text) : text_(text) {}

  // What is wrong, at column(); or an empty string.
  std::string parse(QueueItem& item) {
    std::uint32_t seen = 0;
    if (!take('{')) {
      return "a line is an object with the four numbers of an item";
    }
    do {
      space();
      const std::size_t quote =
          at_ < text_.size() && text_[at_] == '"' ? text_.find('"', at_ + 1) : text_.npos;
      if (quote == std::string_view::npos) {
        return "a key belongs here, in double quotes";
      }
      const std::string_view key = text_.substr(at_ + 1, quote - at_ - 1);
      const auto found = std::ranges::find(item_keys, key);
      if (found == item_keys.end()) {
        return fmt::format("an item has no {}", in_quotes(key));
      }
      const auto index = static_cast<std::size_t>(found - item_keys.begin());
      if ((seen >> index & 1U) != 0) {
        return fmt::format("{} stands twice", in_quotes(key));
      }
      seen |= std::uint32_t{1} << index;
      at_ = quote + 1;
      if (!take(':')) {
        return "a colon belongs here";
      }
      if (!number(item.*item_members[index])) {
        return fmt::format("{} is no integer from 0 to 4294967295", key);
      }
    } while (take(','));
    if (!take('}')) {
      return "a comma or a closing brace belongs here";
    }
    space();
    if (at_ != text_.size()) {
      return "there is more on the line than an item";
    }
    for (std::size_t i = 0; i < item_keys.size(); ++i) {
      if ((seen >> i & 1U) == 0) {
        return fmt::format("the item has no {}", item_keys[i]);
      }
    }
    return {};
  }

  [[nodiscard]] std::size_t column() const { return character_count(text_.substr(0, at_)) + 1; }

private:
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  bool take(char wanted) {
    space();
    const bool there = at_ < text_.size() && text_[at_] == wanted;
    at_ += there ? 1 : 0;
    return there;
  }

  bool number(std::uint32_t& value) {
    space();
    const char* const begin = text_.data() + at_;
    const char* const text_end = text_.data() + text_.size();
    const auto [end, failure] = std::from_chars(begin, text_end, value);
    const bool leading_zero = end - begin > 1 && *begin == '0';
    const bool goes_on = end != text_end && std::string_view(",} \t\r").find(*end) == std::string_view::npos;
    if (failure != std::errc() || leading_zero || goes_on) {
      return false;
    }
    at_ += static_cast<std::size_t>(end - begin);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_lines(const std::string& path) {
  return path.ends_with(".ndjson") || path.ends_with(".jsonl");
}

} // namespace

Result<std::vector<QueueItem>> parse_queue_lines(std::string_view text, const std::string& path) {
  std::vector<QueueItem> items;
  std::uint64_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    ItemLine parser(line);
    if (std::string flaw = parser.parse(items.emplace_back()); !flaw.empty()) {
      return tl::unexpected(
          Error{.code = ErrorCode::bad_queue,
                .message = std::move(flaw),
                .fix = R"(write {"op_handle": 0, "input_handle": 0, "output_handle": 1, "param": 0})",
                .source = path,
                .line = number,
                .column = parser.column(),
                .excerpt = shortened(line, 200)});
    }
  }
  return items;
}

Result<std::vector<QueueItem>> read_queue_file(const std::string& path) {
  TIDEGATE_TRY(const std::string bytes, read_all(path, most_bytes));
  if (is_lines(path)) {
    return parse_queue_lines(bytes, path);
  }
  if (bytes.size() % sizeof(QueueItem) != 0) {
    return tl::unexpected(
        Error{.code = ErrorCode::bad_queue,
              .message = fmt::format("{} bytes are no whole number of items of 16 bytes", bytes.size()),
              .fix = "write op_handle, input_handle, output_handle and param as u32, or give the file the "
                     "ending .ndjson if it holds lines of JSON",
              .source = path});
  }
  std::vector<QueueItem> items(bytes.size() / sizeof(QueueItem));
  std::memcpy(items.data(), bytes.data(), bytes.size());
  return items;
}

} // namespace tidegate::compiler
