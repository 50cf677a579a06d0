// Turns nlohmann_json's events into places and its exceptions into errors with fixes; finds places; escapes strings.
#include "core/json.hpp"

#include <nlohmann/json.hpp>

namespace tidegate::documents {
namespace {

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

std::string found_at(std::string_view rest) {
  const std::size_t length = std::min<std::size_t>(rest.find_first_of({" \t\r\n\0", 5}), 12);
  return rest.empty() ? "at the end of the input"
                      : "at " + in_quotes(rest.substr(0, std::max<std::size_t>(length, 1)));
}

// Returns what to do where the text goes on with `rest`, and the parser says `text`.
std::string_view fix_for(std::string_view text, std::string_view rest) {
  constexpr std::string_view comment =
      "JSON has no comments, but a document that is not a stream may have those that start with //";
  constexpr std::string_view not_finite =
      "JSON has no NaN and no infinity: give a finite number or leave the key out";
  constexpr std::string_view utf_8 = "save the file as UTF-8";
  constexpr std::pair<std::string_view, std::string_view> by_rest[] = {
      {"NaN", not_finite}, {"nan", not_finite}, {"Inf", not_finite}, {"-Inf", not_finite},
      {"//", comment},     {"/*", comment},     {"#", comment},      {{"\0", 1}, utf_8},
      {"\xff\xfe", utf_8}, {"\xfe\xff", utf_8}}; // those of UTF-16
  constexpr std::pair<std::string_view, std::string_view> by_text[] = {
      {"expected end of input",
       "remove the text after the document; commands with --stream take several, one per line"},
      {"UTF-8", utf_8},
      {"object key", "remove a trailing comma, or put the key in double quotes"},
      {"", "correct the JSON at this place"}};
  const auto* const begin =
      std::ranges::find_if(by_rest, [rest](auto& each) { return rest.starts_with(each.first); });
  const auto* const part =
      std::ranges::find_if(by_text, [text](auto& each) { return text.find(each.first) != text.npos; });
  return rest.empty() ? "close the open brackets and quotes; with --stream, each document is on one line"
         : begin != std::end(by_rest) ? begin->second
                                      : part->second;
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
    constexpr int number_overflows = 406;
    const std::string_view text = thrown.what();
    const std::string_view reason = reason_in(text);
    // Points at the wrong byte of a string, else at the token after the last good one.
    const std::size_t at = reason.starts_with("invalid string") ? position - 1 : next_token();
    return thrown.id != number_overflows
               ? not_json(at, reason, text)
               : fail(at, ErrorCode::out_of_range, "a number past the range of a double",
                      "give a number between -1.7976931348623157e308 and 1.7976931348623157e308");
  }

  Result<void> result() {
    if (const std::size_t rest = next_token();
        !error_ && rest < json_.size()) { // the parser ends at a zero byte
      not_json(rest, "expected end of input", "expected end of input");
    }
    return error_ ? Result<void>(tl::unexpected(std::move(*error_))) : Result<void>();
  }

private:
  // Returns the start of the token after the last one.
  [[nodiscard]] std::size_t next_token() const {
    const auto separates = [](char c) {
      return c == ' ' || c == ',' || c == ':' || c == '\n' || c == '\t' || c == '\r';
    };
    std::size_t begin = end_;
    while (begin < json_.size() && separates(json_[begin])) {
      ++begin;
    }
    return begin;
  }

  bool add(std::size_t begin, std::size_t end) {
    entries_.push_back(static_cast<JsonValue::Entry>(begin));
    end_ = end;
    return true;
  }

  bool scalar() {
    const std::size_t begin = next_token();
    return add(begin, scalar_end(json_, begin));
  }

  bool open() {
    const std::size_t begin = next_token();
    open_.push_back(entries_.size());
    add(begin, begin + 1);
    entries_.push_back(0); // close() knows it
    return open_.size() <= nesting_limit ||
           fail(begin, ErrorCode::too_deep, fmt::format("nesting deeper than {} levels", nesting_limit),
                "no document of tidegate nests that deep; check that this is the right file");
  }

  bool close() {
    const std::size_t begin = next_token();
    entries_[open_.back() + 1] = static_cast<JsonValue::Entry>(entries_.size() - open_.back());
    open_.pop_back();
    return add(begin, begin + 1);
  }

  bool not_json(std::size_t at, std::string_view reason, std::string_view text) {
    const std::string_view rest = json_.substr(std::min(at, json_.size()));
    return fail(at, ErrorCode::syntax_error, fmt::format("not JSON: {} {}", reason, found_at(rest)),
                fix_for(text, rest));
  }

  bool fail(std::size_t at, ErrorCode code, std::string message, std::string_view fix) {
    error_ = error_at(json_, at, {.code = code, .message = std::move(message), .fix = std::string(fix)});
    return false;
  }

  std::string_view json_;
  std::vector<JsonValue::Entry>& entries_;
  std::vector<std::size_t> open_; // entries of open brackets
  std::size_t end_ = 0;           // of the last token
  std::optional<Error> error_;
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
  return events.result().map([&] { return JsonValue(json, entries_.data()); });
}

std::size_t JsonValue::end() const {
  return is_container() ? close().begin() + 1 : scalar_end(json_, begin());
}

std::string_view JsonValue::string(std::string& room) const {
  const std::string_view contents = json_.substr(begin() + 1, json_.find('"', begin() + 1) - begin() - 1);
  if (contents.find('\\') == std::string_view::npos) {
    return contents;
  }
  return room = nlohmann::json::parse(text()).get<std::string>();
}

std::string pointer_of(JsonValue whole, JsonValue value) {
  std::string pointer;
  for (std::optional<JsonValue> outer = whole; outer && outer->begin() < value.begin();) {
    outer = find_inner(*outer, [&](const std::string& name, JsonValue inner) {
      const bool around = value.begin() < inner.end();
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

Error error_at(std::string_view text, std::size_t offset, Error error) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  error.line = 1 + static_cast<std::uint64_t>(std::ranges::count(before, '\n'));
  error.column = 1 + character_count(before.substr(before.rfind('\n') + 1)); // npos + 1 is 0
  return error;
}

JsonValue value_at(JsonValue value, std::string_view pointer) {
  while (!pointer.empty()) {
    const std::string_view token = pointer.substr(1, pointer.find('/', 1) - 1);
    const auto inner = find_inner(
        value, [token](const std::string& name, JsonValue) { return pointer_token(name) == token; });
    if (!inner) {
      break;
    }
    value = *inner;
    pointer.remove_prefix(1 + token.size());
  }
  return value;
}

void append_string(std::string& json, std::string_view text) {
  constexpr std::string_view escaped = "\"\\\n\r\t", letters = "\"\\nrt";
  const auto is_plain = [](unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  json += '"';
  while (!text.empty()) {
    const auto* const special = std::ranges::find_if_not(text, is_plain);
    std::size_t length = static_cast<std::size_t>(special - text.begin());
    if (length > 0) {
      json += text.substr(0, length);
    } else if (length = utf8_sequence_length(text); length > 1) {
      json +=
          printable(text.substr(0, length)); // JSON may be printed on terminals, and \uNNNN is valid in it
    } else if (const std::size_t letter = escaped.find(text[0]); letter != std::string_view::npos) {
      json += {'\\', letters[letter]};
    } else {
      json += length == 0 ? "\ufffd" : fmt::format("\\u{:04x}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  json += '"';
}

void append_number(std::string& json, const Number& value) {
  std::array<char, 32> text; // "-2.2250738585072014e-308" has 24 characters
  const auto write = [&text](auto each) {
    return std::to_chars(text.data(), text.data() + text.size(), each).ptr;
  };
  const std::string_view digits(text.data(),
                                static_cast<std::size_t>(std::visit(write, value) - text.data()));
  const double* const real = std::get_if<double>(&value);
  const bool is_finite = real == nullptr || std::isfinite(*real);
  json += is_finite ? digits : "null";
  json += real != nullptr && is_finite && digits.find_first_of(".e") == digits.npos ? ".0" : "";
}

} // namespace tidegate::documents
