// Escapes strings, explains syntax errors, and finds the positions of values by a second walk over the text.
#include "core/json_text.hpp"

#include <tidegate/core/decode.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

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
namespace {

namespace rj = rapidjson;

// Checks only the nesting depth.
struct DepthHandler : rj::BaseReaderHandler<rj::UTF8<>, DepthHandler> {
  std::size_t depth = 0;

  bool StartObject() { return ++depth <= nesting_limit; }
  bool StartArray() { return ++depth <= nesting_limit; }
  bool EndObject(rj::SizeType /*members*/) {
    --depth;
    return true;
  }
  bool EndArray(rj::SizeType /*items*/) {
    --depth;
    return true;
  }
};

// Returns RapidJSON's message without its full stop and with a lower-case first letter.
std::string reason(rj::ParseErrorCode code) {
  std::string text = rj::GetParseError_En(code);
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) {
    text.pop_back();
  }
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

std::string found_at(std::string_view json, std::size_t offset) {
  if (offset >= json.size()) {
    return "at the end of the input";
  }
  const std::string_view rest = json.substr(offset);
  const std::size_t length = std::min<std::size_t>(rest.find_first_of(" \t\r\n"), 12);
  return "at " + in_quotes(rest.substr(0, std::max<std::size_t>(length, 1)));
}

std::string fix_for(rj::ParseErrorCode code, std::string_view json, std::size_t offset) {
  const std::string_view rest = json.substr(std::min(offset, json.size()));
  if (rest.starts_with("NaN") || rest.starts_with("Inf") || rest.starts_with("-Inf") ||
      rest.starts_with("nan")) {
    return "JSON has no NaN and no infinity: give a finite number or leave the key out";
  }
  if (rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#')) {
    return "JSON has no comments, but a document that is not a stream may have those that start with //";
  }
  if (offset >= json.size()) {
    return "close the open brackets and quotes; with --stream, each document is on one line";
  }
  switch (code) {
  case rj::kParseErrorDocumentRootNotSingular:
    return "remove the text after the document; commands with --stream take several, one per line";
  case rj::kParseErrorObjectMissName: return "remove a trailing comma, or put the key in double quotes";
  case rj::kParseErrorStringInvalidEncoding: return "save the file as UTF-8";
  default: return "correct the JSON at this place";
  }
}

// Detects UTF-16 by the zero byte in an ASCII character, after an optional byte order mark.
bool is_utf_16(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    text.remove_prefix(2);
  }
  return text.size() > 1 && (text[0] == '\0') != (text[1] == '\0');
}

} // namespace

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

std::optional<Error> syntax_error(std::string_view json) {
  rj::MemoryStream in(json.data(), json.size());
  rj::Reader reader;
  DepthHandler handler;
  const rj::ParseResult result = reader.Parse<rj::kParseValidateEncodingFlag>(in, handler);
  rj::ParseErrorCode code = result.Code();
  std::size_t offset = result.Offset();
  if (!result.IsError()) {
    if (in.Tell() == json.size()) {
      return {};
    }
    // RapidJSON stops at a zero byte.
    code = rj::kParseErrorDocumentRootNotSingular;
    offset = in.Tell();
  }

  Error error;
  if (is_utf_16(json)) {
    error.code = ErrorCode::syntax_error;
    error.message = "not JSON: the text is UTF-16";
    error.fix = "save the file as UTF-8";
    error.line = 1;
    error.column = 1;
    return error;
  }
  if (code == rj::kParseErrorDocumentEmpty && json.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    error.code = ErrorCode::empty_input;
    error.message = "the input is empty";
    error.fix = "pipe a JSON document in, or name a file that holds one";
    return error;
  }
  const Position position = position_of(json, offset);
  error.line = position.line;
  error.column = position.column;
  if (code == rj::kParseErrorTermination) {
    // The reader is past the bracket that is too deep.
    error.column = position_of(json, offset - 1).column;
    error.code = ErrorCode::too_deep;
    error.message = fmt::format("nesting deeper than {} levels", nesting_limit);
    error.fix = "no document of tidegate nests that deep; check that this is the right file";
  } else if (code == rj::kParseErrorNumberTooBig) {
    error.code = ErrorCode::out_of_range;
    error.message = "a number past the range of a double";
    error.fix = "give a number between -1.7976931348623157e308 and 1.7976931348623157e308";
  } else {
    error.code = ErrorCode::syntax_error;
    error.message = fmt::format("not JSON: {} {}", reason(code), found_at(json, offset));
    error.fix = fix_for(code, json, offset);
  }
  return error;
}

Error too_large() {
  return {.code = ErrorCode::input_too_large,
          .message = fmt::format("the document is larger than {} bytes", document_bytes_limit),
          .fix = "split it"};
}

namespace {

namespace rj = rapidjson;

// Byte offset of each pointer's value.
using Offsets = std::unordered_map<std::string, std::optional<std::size_t>>;

// Finds the offsets of the wanted values in valid JSON.
class LocationHandler : public rj::BaseReaderHandler<rj::UTF8<>, LocationHandler> {
public:
  LocationHandler(std::string_view json, rj::MemoryStream& in, Offsets& wanted)
      : json_(json), in_(in), wanted_(wanted) {}

  bool Default() { return value() && done(); }
  bool String(const char* /*text*/, rj::SizeType /*length*/, bool /*copy*/) { return value() && done(); }
  bool Key(const char* text, rj::SizeType length, bool /*copy*/) {
    path_.resize(open_.back().path_length);
    path_ += "/" + pointer_token(std::string_view(text, length));
    return done();
  }
  bool StartObject() { return open(false); }
  bool StartArray() { return open(true); }
  bool EndObject(rj::SizeType /*members*/) { return close(); }
  bool EndArray(rj::SizeType /*items*/) { return close(); }

private:
  struct Container {
    bool is_list = false;
    std::size_t next = 0;        // next index of a list
    std::size_t path_length = 0; // length of the container's pointer
  };

  bool value() {
    if (!open_.empty() && open_.back().is_list) {
      path_.resize(open_.back().path_length);
      path_ += "/" + std::to_string(open_.back().next++);
    }
    if (const auto found = wanted_.find(path_); found != wanted_.end()) {
      found->second = token_start(json_, previous_end_);
    }
    return true;
  }
  bool open(bool is_list) {
    value();
    open_.push_back({.is_list = is_list, .path_length = path_.size()});
    return done();
  }
  bool close() {
    open_.pop_back();
    return done();
  }
  bool done() {
    previous_end_ = in_.Tell();
    return true;
  }

  std::string_view json_;
  rj::MemoryStream& in_;
  Offsets& wanted_;
  std::string path_;
  std::vector<Container> open_;
  std::size_t previous_end_ = 0;
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
    rj::Reader reader;
    rj::MemoryStream in(json.data(), json.size());
    LocationHandler handler(json, in, offsets);
    reader.Parse(in, handler);
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
