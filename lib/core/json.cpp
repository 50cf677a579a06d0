// Turns nlohmann_json's events into places and its exceptions into errors with fixes; finds places; escapes strings.
#include "core/json.hpp"

#include <nlohmann/json.hpp>

namespace tidegate::documents {
namespace {

// Returns the start of the next token at or after `offset`.
std::size_t token_start(std::string_view json, std::size_t offset) {
  const auto separates = [](char c) {
    return c == ' ' || c == ',' || c == ':' || c == '\n' || c == '\t' || c == '\r';
  };
  while (offset < json.size() && separates(json[offset])) {
    ++offset;
  }
  return offset;
}

// Returns the end of the scalar, of valid JSON, that starts at `begin`.
std::size_t scalar_end(std::string_view json, std::size_t begin) {
  std::size_t end = begin + 1;
  if (json[begin] == '"') {
    for (; json[end] != '"'; ++end) {
      end += json[end] == '\\' ? 1 : 0;
    }
    return end + 1;
  }
  const auto goes_on = [](char c) { // a word or a number
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '+' || c == 'E';
  };
  while (end < json.size() && goes_on(json[end])) {
    ++end;
  }
  return end;
}

std::string found_at(std::string_view json, std::size_t offset) {
  if (offset >= json.size()) {
    return "at the end of the input";
  }
  const std::string_view rest = json.substr(offset);
  const std::size_t length = std::min<std::size_t>(rest.find_first_of({" \t\r\n\0", 5}), 12);
  return "at " + in_quotes(rest.substr(0, std::max<std::size_t>(length, 1)));
}

std::string_view fix_for(std::string_view reason, std::string_view rest) {
  constexpr std::string_view comment =
      "JSON has no comments, but a document that is not a stream may have those that start with //";
  constexpr std::string_view not_finite =
      "JSON has no NaN and no infinity: give a finite number or leave the key out";
  constexpr std::string_view utf_8 = "save the file as UTF-8";
  constexpr std::pair<std::string_view, std::string_view> fixes_by_begin[] = {
      {"NaN", not_finite}, {"nan", not_finite}, {"Inf", not_finite}, {"-Inf", not_finite},
      {"//", comment},     {"/*", comment},     {"#", comment},      {{"\0", 1}, utf_8},
      {"\xff\xfe", utf_8}, {"\xfe\xff", utf_8}}; // those of UTF-16
  for (const auto& [begin, fix] : fixes_by_begin) {
    if (rest.starts_with(begin)) {
      return fix;
    }
  }
  return rest.empty() ? "close the open brackets and quotes; with --stream, each document is on one line"
         : reason.ends_with("end of input")
             ? "remove the text after the document; commands with --stream take several, one per line"
         : reason.find("UTF-8") != std::string_view::npos ? utf_8
         : reason.find("object key") != std::string_view::npos
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

Error not_json(std::string_view json, std::size_t at, std::string_view reason, std::string_view text) {
  return error_at(json, at,
                  {.code = ErrorCode::syntax_error,
                   .message = fmt::format("not JSON: {} {}", reason, found_at(json, at)),
                   .fix = std::string(fix_for(text, json.substr(std::min(at, json.size()))))});
}

// Notes the place of each token.
class Events final : public nlohmann::json_sax<nlohmann::json> {
public:
  Events(std::string_view json, std::vector<JsonValue::Entry>& noted) : json_(json), entries_(noted) {}

  bool null() override { return scalar(); }
  bool boolean(bool /*value*/) override { return scalar(); }
  bool number_integer(number_integer_t /*value*/) override { return scalar(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return scalar(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return scalar(); }
  bool string(string_t& /*text*/) override { return scalar(); }
  bool key(string_t& /*text*/) override { return scalar(); }
  bool binary(binary_t& /*bytes*/) override { return false; } // not in JSON
  bool start_object(std::size_t /*members*/) override { return open(); }
  bool start_array(std::size_t /*items*/) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::json::exception& thrown) override {
    const std::string_view text = thrown.what();
    const std::string_view reason = reason_in(text);
    // Points at the wrong byte of a string, else at the token after the last good one.
    const std::size_t at = reason.starts_with("invalid string") ? position - 1 : token_start(json_, end);
    constexpr int number_overflows = 406;
    error =
        thrown.id == number_overflows
            ? error_at(json_, at,
                       {.code = ErrorCode::out_of_range,
                        .message = "a number past the range of a double",
                        .fix = "give a number between -1.7976931348623157e308 and 1.7976931348623157e308"})
            : not_json(json_, at, reason, text);
    return false;
  }

  std::size_t end = 0; // of the last token
  std::optional<Error> error;

private:
  bool scalar() {
    const std::size_t begin = token_start(json_, end);
    end = scalar_end(json_, begin);
    entries_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)});
    return true;
  }

  bool open() {
    const std::size_t begin = token_start(json_, end);
    end = begin + 1;
    open_.push_back(entries_.size());
    entries_.push_back({static_cast<std::uint32_t>(begin), 0});
    if (open_.size() > nesting_limit) {
      error = error_at(json_, begin,
                       {.code = ErrorCode::too_deep,
                        .message = fmt::format("nesting deeper than {} levels", nesting_limit),
                        .fix = "no document of tidegate nests that deep; check that this is the right file"});
    }
    return !error;
  }

  bool close() {
    end = token_start(json_, end) + 1;
    entries_[open_.back()].extent = static_cast<std::uint32_t>(entries_.size() - open_.back() - 1);
    open_.pop_back();
    return true;
  }

  std::string_view json_;
  std::vector<JsonValue::Entry>& entries_;
  std::vector<std::size_t> open_;
};

} // namespace

Result<JsonValue> JsonParser::parse(std::string_view json) {
  if (json.size() > document_bytes_limit) {
    return failure(ErrorCode::input_too_large,
                   fmt::format("the document is larger than {} bytes", document_bytes_limit), "split it");
  }
  if (json.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return failure(ErrorCode::empty_input, "the input is empty",
                   "pipe a JSON document in, or name a file that holds one");
  }
  entries_.clear();
  entries_.reserve(json.size() / sizeof(JsonValue::Entry));
  Events events(json, entries_);
  nlohmann::json::sax_parse(json.data(), json.data() + json.size(), &events);
  if (const std::size_t rest = token_start(json, events.end); !events.error && rest < json.size()) {
    events.error =
        not_json(json, rest, "expected end of input", "end of input"); // the parser ends at a zero byte
  }
  return events.error ? Result<JsonValue>(tl::unexpected(std::move(*events.error)))
                      : JsonValue(json, entries_.data());
}

std::size_t JsonValue::end() const {
  if (!is_container()) {
    return begin() + entry_->extent;
  }
  std::optional<JsonValue> last;
  for (JsonValue value = inner(); value != next(); value = value.next()) {
    last = value;
  }
  return token_start(json_, last ? last->end() : begin() + 1) + 1;
}

std::string_view JsonValue::string(std::string& room) const {
  const std::string_view contents = json_.substr(begin() + 1, entry_->extent - 2);
  if (contents.find('\\') == std::string_view::npos) {
    return contents;
  }
  return room = nlohmann::json::parse(text()).get<std::string>();
}

std::string pointer_of(JsonValue whole, JsonValue value) {
  std::string pointer;
  for (std::optional<JsonValue> outer = whole; outer && *outer < value;) {
    outer = find_inner(*outer, [&](const std::string& name, JsonValue inner) {
      const bool around = value < inner.next();
      pointer += around ? '/' + pointer_token(shortened(name)) : "";
      return around;
    });
  }
  return pointer;
}

Number number_of(std::string_view text) {
  if (const auto natural = number_in<std::uint64_t>(text)) {
    return *natural;
  }
  if (const auto negative = number_in<std::int64_t>(text); negative && *negative != 0) {
    return *negative;
  }
  return number_in<double>(text).value_or(text.starts_with('-') ? -0.0 : 0.0); // closer to 0 than any other
}

void remove_comments(std::string& json) {
  json.erase(0, json.size() - without_byte_order_mark(json).size());
  bool in_string = false;
  for (std::size_t at = json.find("//") == std::string::npos ? json.size() : 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string && c == '\\') {
      ++at;
    } else if (c == '"' || c == '\n') { // no string goes on in the next line
      in_string = c == '"' && !in_string;
    } else if (!in_string && c == '/' && json.compare(at, 2, "//") == 0) {
      for (; at < json.size() && json[at] != '\n'; ++at) {
        json[at] = ' ';
      }
    }
  }
}

Position position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t line_start = before.rfind('\n') + 1; // npos + 1 is 0
  return {.line = 1 + static_cast<std::uint64_t>(std::ranges::count(before, '\n')),
          .column = 1 + character_count(before.substr(line_start))};
}

Error error_at(std::string_view text, std::size_t offset, Error error) {
  const Position position = position_of(text, offset);
  error.line = position.line;
  error.column = position.column;
  return error;
}

namespace {

// Adds the place of the value that the error points to, or of the innermost one around it but the whole document.
void add_place(Error& error, std::string_view json, JsonValue value) {
  std::string_view rest = *error.pointer;
  const auto is_next = [&rest](const std::string& name, JsonValue /*value*/) {
    return pointer_token(name) == rest.substr(0, rest.find('/'));
  };
  std::optional<JsonValue> found;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const auto inner = find_inner(found.value_or(value), is_next);
    if (!inner) {
      break;
    }
    found = inner;
    rest.remove_prefix(std::min(rest.find('/'), rest.size()));
  }
  if (found) {
    error = error_at(json, found->begin(), std::move(error));
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

Error located(Error error, std::string_view json) {
  std::vector<Error> errors = std::move(error.others);
  error.others.clear();
  errors.insert(errors.begin(), std::move(error));
  JsonParser parser;
  std::optional<Result<JsonValue>> document; // parsed if an error needs it
  for (Error& each : errors) {
    if (each.pointer && !each.pointer->empty() && !each.line && !each.source) {
      document = document ? document : parser.parse(json);
      if (*document) {
        add_place(each, json, **document);
      }
    }
  }
  std::ranges::stable_sort(errors, {}, order);
  error = std::move(errors.front());
  error.others.assign(std::make_move_iterator(errors.begin() + 1), std::make_move_iterator(errors.end()));
  return error;
}

void append_string(std::string& json, std::string_view text) {
  constexpr std::string_view escaped = "\"\\\n\r\t";
  constexpr std::string_view letters = "\"\\nrt";
  json += '"';
  while (true) {
    const auto special = std::ranges::find_if(
        text, [](unsigned char c) { return c < 0x20 || c >= 0x7f || c == '"' || c == '\\'; });
    json.append(text.begin(), special);
    text.remove_prefix(static_cast<std::size_t>(special - text.begin()));
    if (text.empty()) {
      break;
    }
    const std::size_t length = utf8_sequence_length(text);
    if (length == 0) {
      json += "\ufffd";
    } else if (length > 1) {
      json +=
          printable(text.substr(0, length)); // JSON may be printed on terminals, and \uNNNN is valid in it
    } else if (const std::size_t at = escaped.find(text[0]); at != std::string_view::npos) {
      json += {'\\', letters[at]};
    } else {
      json += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  json += '"';
}

void append_number(std::string& json, double value) {
  std::array<char, 32> text; // "-2.2250738585072014e-308" has 24 characters
  const auto* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
  json += std::isfinite(value) ? digits : "null";
  json += std::isfinite(value) && digits.find_first_of(".e") == std::string_view::npos ? ".0" : "";
}

} // namespace tidegate::documents
