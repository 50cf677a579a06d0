// Escapes strings, and finds the positions of values by a second walk over the text.
#include "core/json_text.hpp"

#include "core/json_reader.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tidegate::documents {

Position position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t line_start = before.rfind('\n') + 1; // npos + 1 is 0
  return {.line = 1 + static_cast<std::uint64_t>(std::ranges::count(before, '\n')),
          .column = 1 + character_count(before.substr(line_start))};
}

std::size_t token_start(std::string_view json, std::size_t offset) {
  return std::min(json.find_first_not_of(" \t\r\n,:", offset), json.size());
}

void append_string(std::string& json, std::string_view text) {
  json += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      const std::size_t length = utf8_sequence_length(text.substr(i));
      if (length == 0) {
        json += "\ufffd";
      } else if (unprintable_length(text.substr(i)) != 0) { // JSON may be printed on terminals
        json += printable(text.substr(i, length));          // \uNNNN is valid JSON
      } else {
        json += text.substr(i, length);
      }
      i += std::max<std::size_t>(length, 1) - 1;
      continue;
    }
    switch (c) {
    case '"': json += "\\\""; break;
    case '\\': json += "\\\\"; break;
    case '\n': json += "\\n"; break;
    case '\r': json += "\\r"; break;
    case '\t': json += "\\t"; break;
    default:
      if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') {
        json += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
      } else {
        json += c;
      }
    }
  }
  json += '"';
}

void append_number(std::string& json, double value) {
  if (!std::isfinite(value)) {
    json += "null";
    return;
  }
  constexpr std::size_t longest = 32; // "-2.2250738585072014e-308" has 24 characters
  char text[longest];
  const auto result = std::to_chars(text, text + sizeof text, value);
  const std::string_view digits(text, static_cast<std::size_t>(result.ptr - text));
  json += digits;
  if (digits.find_first_of(".e") == std::string_view::npos) {
    json += ".0";
  }
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (broken_ && !first_) {
    json_ += '\n';
    json_.append(depth_ * 2, ' ');
  }
  first_ = false;
  json_ += bracket;
}

void JsonWriter::key(std::string_view name) {
  separate();
  json_ += '"';
  json_ += name;
  json_ += spaced_ ? "\": " : "\":";
  after_key_ = true;
}

void JsonWriter::separate() {
  if (!first_) {
    json_ += spaced_ && !broken_ ? ", " : ",";
  }
  first_ = false;
  if (broken_) {
    json_ += '\n';
    json_.append(depth_ * 2, ' ');
  }
}

Error too_large() {
  return {.code = ErrorCode::input_too_large,
          .message = fmt::format("the document is larger than {} bytes", document_bytes_limit),
          .fix = "split it"};
}

namespace {

// Byte offset of each pointer's value.
using Offsets = std::unordered_map<std::string, std::optional<std::size_t>>;

// Finds the offsets of the wanted values.
class LocationHandler final : public PathHandler {
public:
  explicit LocationHandler(Offsets& wanted) : wanted_(wanted) {}

private:
  bool found(const Scalar& /*value*/) final { return note(); }
  bool opened() final { return note(); }
  bool note() {
    if (const auto found = wanted_.find(path); found != wanted_.end()) {
      found->second = begin;
    }
    return true;
  }

  Offsets& wanted_;
};

bool wants_location(const Error& error) {
  return error.pointer && !error.pointer->empty() && !error.line && !error.source;
}

// Visits the pointer and its prefixes from long to short, except the empty one, until visit() returns false.
template <class Visit>
void for_each_prefix(std::string pointer, Visit visit) {
  for (; !pointer.empty(); pointer.resize(pointer.rfind('/'))) {
    if (!visit(pointer)) {
      return;
    }
  }
}

// Sort key: first errors with a location, by location, but cycles after the others of the document, because each
// dependency of a cycle may be right; then errors without a location.
auto order(const Error& error) {
  constexpr auto last = std::numeric_limits<std::uint64_t>::max();
  const bool has_location = error.line && !error.source;
  return std::tuple(!has_location, error.code == ErrorCode::cycle, has_location ? *error.line : last,
                    has_location ? error.column.value_or(0) : last);
}

} // namespace

void locate(Error& error, std::string_view json) {
  std::vector<Error> errors = std::move(error.others);
  error.others.clear();
  errors.insert(errors.begin(), std::move(error));

  Offsets offsets;
  for (const Error& each : errors) {
    if (wants_location(each)) {
      for_each_prefix(*each.pointer, [&](const std::string& prefix) {
        return offsets.try_emplace(prefix).second; // else its prefixes are known
      });
    }
  }
  if (!offsets.empty()) {
    LocationHandler handler(offsets);
    read_json(json, handler);
  }
  for (Error& each : errors) {
    if (!wants_location(each)) {
      continue;
    }
    for_each_prefix(*each.pointer, [&](const std::string& prefix) {
      const auto offset = offsets[prefix];
      if (offset) {
        const Position position = position_of(json, *offset);
        each.line = position.line;
        each.column = position.column;
      }
      return !offset;
    });
  }
  std::ranges::stable_sort(errors, {}, order);
  error = std::move(errors.front());
  error.others.assign(std::make_move_iterator(errors.begin() + 1), std::make_move_iterator(errors.end()));
}

} // namespace tidegate::documents
