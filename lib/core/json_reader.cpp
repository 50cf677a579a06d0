// Turns the events of nlohmann_json's parser into tokens with places, and its exceptions into errors with fixes.
#include "core/json_reader.hpp"

#include "core/json_text.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tidegate::documents {
namespace {

// Hands out the text and notes how far it has come: the parser's own position is past the token after a number.
class CountingIterator {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  char operator*() const { return *at_; }
  CountingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

private:
  const char* at_;
  const char** reached_;
};

std::string found_at(std::string_view json, std::size_t offset) {
  if (offset >= json.size()) {
    return "at the end of the input";
  }
  const std::string_view rest = json.substr(offset);
  const std::size_t length = std::min<std::size_t>(rest.find_first_of(" \t\r\n"), 12);
  return "at " + in_quotes(rest.substr(0, std::max<std::size_t>(length, 1)));
}

// Detects UTF-16 by the zero byte in an ASCII character, after an optional byte order mark.
bool is_utf_16(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    text.remove_prefix(2);
  }
  return text.size() > 1 && (text[0] == '\0') != (text[1] == '\0');
}

std::string fix_for(std::string_view reason, std::string_view rest) {
  for (const std::string_view word : {"NaN", "nan", "Inf", "-Inf"}) {
    if (rest.starts_with(word)) {
      return "JSON has no NaN and no infinity: give a finite number or leave the key out";
    }
  }
  if (rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#')) {
    return "JSON has no comments, but a document that is not a stream may have those that start with //";
  }
  if (rest.empty()) {
    return "close the open brackets and quotes; with --stream, each document is on one line";
  }
  if (reason.ends_with("end of input")) {
    return "remove the text after the document; commands with --stream take several, one per line";
  }
  if (reason.find("UTF-8") != std::string_view::npos) {
    return "save the file as UTF-8";
  }
  return reason.find("object key") != std::string_view::npos
             ? "remove a trailing comma, or put the key in double quotes"
             : "correct the JSON at this place";
}

// Returns what the parser says is wrong: of "… syntax error while parsing object key - unexpected '}'; expected string
// literal" it is "expected string literal".
std::string_view reason_in(std::string_view text) {
  const std::string_view cuts[] = {" - ", "; expected "};
  text.remove_prefix(std::min(text.find(cuts[0]) + cuts[0].size(), text.size()));
  text = text.substr(0, text.find("; last read"));
  const std::size_t expected = text.find(cuts[1]);
  return expected == std::string_view::npos || !text.starts_with("unexpected") ? text
                                                                               : text.substr(expected + 2);
}

class Events {
public:
  Events(std::string_view json, JsonHandler& handler) : json_(json), handler_(handler) {}

  // NOLINTBEGIN(readability-identifier-naming): names of nlohmann_json
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;
  // NOLINTEND(readability-identifier-naming)

  bool null() { return scalar(nullptr); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(number_integer_t value) { return number(value); }
  bool number_unsigned(number_unsigned_t value) { return number(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) { return number(value); }
  bool string(const string_t& text) { return scalar(std::string_view(text)); }
  bool binary(const binary_t& /*bytes*/) { return false; } // not in JSON
  bool key(const string_t& text) {
    place(reached());
    return handle([&] { return handler_.key(text); });
  }
  bool start_object(std::size_t /*members*/) { return open(false); }
  bool start_array(std::size_t /*items*/) { return open(true); }
  bool end_object() { return close(false); }
  bool end_array() { return close(true); }

  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::json::exception& thrown) {
    const std::string_view text = thrown.what();
    const std::string_view reason = reason_in(text);
    // Points at the wrong byte of a string, else at the token after the last good one.
    const std::size_t at =
        reason.starts_with("invalid string") ? position - 1 : token_start(json_, handler_.end);
    if (thrown.id == 406) { // a number that overflows
      set_error(ErrorCode::out_of_range, at, "a number past the range of a double",
                "give a number between -1.7976931348623157e308 and 1.7976931348623157e308");
    } else {
      set_error(ErrorCode::syntax_error, at, fmt::format("not JSON: {} {}", reason, found_at(json_, at)),
                fix_for(text, json_.substr(std::min(at, json_.size()))));
    }
    return false;
  }

  std::optional<Error> parse() {
    const char* const end = json_.data() + json_.size();
    nlohmann::json::sax_parse(CountingIterator(json_.data(), &reached_), CountingIterator(end, &reached_),
                              this);
    if (!error_ && handler_.end < json_.size() && token_start(json_, handler_.end) < json_.size()) {
      // The parser takes a zero byte for the end.
      const std::size_t at = token_start(json_, handler_.end);
      set_error(ErrorCode::syntax_error, at,
                fmt::format("not JSON: expected end of input {}", found_at(json_, at)),
                fix_for("end of input", json_.substr(at)));
    }
    return std::move(error_);
  }

private:
  [[nodiscard]] std::size_t reached() const { return static_cast<std::size_t>(reached_ - json_.data()); }

  void place(std::size_t end) {
    handler_.begin = token_start(json_, handler_.end);
    handler_.end = end;
  }

  template <class Handle>
  bool handle(Handle handle) {
    handler_.stopped = handler_.stopped || !handle();
    return true;
  }

  bool scalar(const Scalar& value) {
    place(reached());
    return handle([&] { return handler_.scalar(value); });
  }

  bool number(const Scalar& value) { // the parser has read on, to see where the number ends
    const std::size_t begin = token_start(json_, handler_.end);
    place(std::min(json_.find_first_not_of("0123456789+-.eE", begin), json_.size()));
    return handle([&] { return handler_.scalar(value); });
  }

  bool open(bool is_list) {
    place(reached());
    if (++depth_ > nesting_limit) {
      set_error(ErrorCode::too_deep, handler_.begin,
                fmt::format("nesting deeper than {} levels", nesting_limit),
                "no document of tidegate nests that deep; check that this is the right file");
      return false;
    }
    return handle([&] { return handler_.open(is_list); });
  }

  bool close(bool is_list) {
    place(reached());
    --depth_;
    return handle([&] { return handler_.close(is_list); });
  }

  void set_error(ErrorCode code, std::size_t at, std::string message, std::string fix) {
    const Position position = position_of(json_, at);
    error_ = Error{.code = code,
                   .message = std::move(message),
                   .fix = std::move(fix),
                   .line = position.line,
                   .column = position.column};
  }

  std::string_view json_;
  JsonHandler& handler_;
  const char* reached_ = json_.data();
  std::size_t depth_ = 0;
  std::optional<Error> error_;
};

} // namespace

std::optional<Error> read_json(std::string_view json, JsonHandler& handler) {
  handler.begin = 0;
  handler.end = 0;
  handler.stopped = false;
  if (is_utf_16(json)) {
    return Error{.code = ErrorCode::syntax_error,
                 .message = "not JSON: the text is UTF-16",
                 .fix = "save the file as UTF-8",
                 .line = 1,
                 .column = 1};
  }
  if (json.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Error{.code = ErrorCode::empty_input,
                 .message = "the input is empty",
                 .fix = "pipe a JSON document in, or name a file that holds one"};
  }
  return Events(json, handler).parse();
}

std::optional<Error> syntax_error(std::string_view json) {
  class : public PathHandler {
  } ignores;
  return read_json(json, ignores);
}

bool PathHandler::key(std::string_view key) {
  Container& container = containers.back();
  path.resize(container.path_length);
  path += "/" + pointer_token(key);
  container.last_key = key;
  ++container.next;
  return true;
}

void PathHandler::begin_value() {
  if (!containers.empty() && containers.back().is_list) {
    path.resize(containers.back().path_length);
    path += fmt::format("/{}", containers.back().next++);
  }
}

bool PathHandler::open(bool is_list) {
  begin_value();
  containers.push_back({.is_list = is_list, .begin = begin, .path_length = path.size(), .last_key = {}});
  return opened();
}

bool PathHandler::close(bool /*is_list*/) {
  const Container container = std::move(containers.back());
  containers.pop_back();
  path.resize(container.path_length);
  return closed(container);
}

} // namespace tidegate::documents
