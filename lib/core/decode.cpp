// RapidJSON reads the text and calls a handler for every token; decode_handler.hpp walks the description.
#include "core/catalogue.hpp"
#include "core/decode_handler.hpp"
#include "core/json_text.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::documents {
namespace {

// Finds the top-level keys and the value of "kind".
class KindHandler : public rj::BaseReaderHandler<rj::UTF8<>, KindHandler> {
public:
  bool Default() {
    at_kind_ = false;
    return true;
  }
  bool String(const char* text, rj::SizeType length, bool /*copy*/) {
    if (at_kind_) {
      kind.assign(text, length);
    }
    at_kind_ = false;
    return true;
  }
  bool Key(const char* text, rj::SizeType length, bool /*copy*/) {
    const std::string_view key(text, length);
    at_kind_ = depth_ == 1 && key == "kind";
    if (depth_ == 1 && keys != nullptr) {
      keys->emplace_back(key);
    }
    return true;
  }
  bool StartObject() { return open(); }
  bool StartArray() { return open(); }
  bool EndObject(rj::SizeType /*members*/) { return close(); }
  bool EndArray(rj::SizeType /*items*/) { return close(); }

  std::string kind;
  std::vector<std::string>* keys = nullptr; // may be nullptr

private:
  bool open() {
    at_kind_ = false;
    return ++depth_ <= nesting_limit;
  }
  bool close() {
    --depth_;
    return true;
  }

  std::size_t depth_ = 0;
  bool at_kind_ = false;
};

// Only invalid UTF-8 and non-ASCII text have a byte with the top bit set; without one we use the faster
// parser.
bool is_ascii(std::string_view text) {
  std::uint64_t bits = 0;
  std::size_t i = 0;
  for (; i + sizeof(bits) <= text.size(); i += sizeof(bits)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, sizeof(word));
    bits |= word;
  }
  for (; i < text.size(); ++i) {
    bits |= static_cast<unsigned char>(text[i]);
  }
  return (bits & 0x8080808080808080U) == 0;
}

// Returns true if the whole text is one JSON value and the handler accepted it. The handlers limit the
// nesting, so the recursive reader is safe.
template <class H>
bool parse(rj::Reader& reader, std::string_view json, rj::MemoryStream& in, H& handler) {
  const bool good = is_ascii(json) ? !reader.Parse<rj::kParseNoFlags>(in, handler).IsError()
                                   : !reader.Parse<rj::kParseValidateEncodingFlag>(in, handler).IsError();
  // RapidJSON stops at a zero byte.
  return good && in.Tell() == json.size();
}

Error another_type(const Document& wanted, const Document& found, std::string_view json) {
  const Position position = position_of(json, token_start(json, 0));
  return {.code = ErrorCode::wrong_kind,
          .message = fmt::format("this has the keys of {}, not of {}", found.kind, wanted.kind),
          .fix = fix_for_kind(wanted, found),
          .pointer = "",
          .line = position.line,
          .column = position.column};
}

} // namespace

struct Decoder::Implementation {
  rj::Reader reader;
  DecodeHandler handler;
};

Decoder::Decoder() : implementation_(std::make_unique<Implementation>()) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Result<void> Decoder::decode(const Document& document, std::string_view json, void* object,
                             std::span<const std::string_view> given, UnreadPlaces* unread) {
  UnreadPlaces nowhere;
  UnreadPlaces& places = unread != nullptr ? *unread : nowhere;
  if (json.size() > document_bytes_limit) {
    places.add("");
    return tl::unexpected(too_large());
  }
  auto& [reader, handler] = *implementation_;
  rj::MemoryStream in(json.data(), json.size());
  handler.start(document, json, in, object, given, places);
  // A text that is not JSON, or is nested too deeply, gets this error alone: it may be the wrong file.
  if (!parse(reader, json, in, handler)) {
    places.add(""); // the walk has not reached the end
    if (auto error = syntax_error(json)) {
      return tl::unexpected(std::move(*error));
    }
  }
  auto read = handler.result();
  if (!read && read.error().code != ErrorCode::wrong_kind) {
    if (const Document* const found = mistaken_type(document, json)) {
      places.add(""); // errors as the wrong type are useless
      return tl::unexpected(another_type(document, *found, json));
    }
  }
  return read;
}

Result<std::string> kind_of(std::string_view json, std::vector<std::string>* keys) {
  if (json.size() > document_bytes_limit) {
    return tl::unexpected(too_large());
  }
  rj::Reader reader;
  rj::MemoryStream in(json.data(), json.size());
  KindHandler handler;
  handler.keys = keys;
  if (!parse(reader, json, in, handler)) {
    if (auto error = syntax_error(json)) {
      return tl::unexpected(std::move(*error));
    }
  }
  return std::move(handler.kind);
}

// Error texts of the decoder.

namespace {

constexpr std::size_t few_choices = 12; // at most this many are listed in one line

// Returns "a, b, …": the choices that share the longest prefix with the word.
std::string choices_like(std::string_view word, std::span<const std::string_view> choices) {
  const auto common = [word](std::string_view choice) {
    return std::ranges::mismatch(word, choice).in1 - word.begin();
  };
  const auto most = common(*std::ranges::max_element(choices, {}, common));
  std::string text;
  std::size_t count = 0;
  for (const std::string_view choice : choices) {
    if (common(choice) == most && count++ < few_choices) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", choice);
    }
  }
  return text + (count > few_choices ? ", …" : "");
}

std::string type_phrase(const Type& type) {
  switch (type.kind) {
  case Kind::boolean: return "true or false";
  case Kind::u16:
  case Kind::u32:
  case Kind::u64: return fmt::format("an integer from {} to {}", type.minimum, type.maximum);
  case Kind::f64:
  case Kind::number: return "a number";
  case Kind::text: return "a string";
  case Kind::identifier: return fmt::format("an integer from {} to {} or a name", type.minimum, type.maximum);
  case Kind::choice:
    return type.choices.size() <= few_choices
               ? "one of the names " + one_of(type.choices)
               : fmt::format("one of {} names, such as \"{}\"", type.choices.size(), type.choices.front());
  case Kind::record:
  case Kind::map: return "an object";
  case Kind::value: return "a number, a name, an array or an object";
  case Kind::list: break;
  }
  if (!type.left_out_word.empty()) {
    return fmt::format("an array or \"{}\"", type.left_out_word);
  }
  return type.or_single ? type_phrase(type.list->element) + " or an array of them" : "an array";
}

// Lists the required keys: "give an object" alone does not help a reader who has never seen one.
std::string fix_for_type(const Type& type) {
  std::string keys;
  if (type.kind == Kind::record) {
    for (const Field& field : type.record->fields) {
      if (field.presence == Presence::required) {
        keys += fmt::format("{}\"{}\": …", keys.empty() ? "" : ", ", field.name);
      }
    }
  }
  if (type.kind == Kind::record && keys.empty()) { // a record with several forms: show one
    return fmt::format("give {} such as {{\"{}\": …}}", type_phrase(type), type.record->fields.front().name);
  }
  return fmt::format("give {}{}", type_phrase(type), keys.empty() ? "" : fmt::format(": {{{}}}", keys));
}

// Returns true if the value becomes valid in brackets, as the single item of a list.
bool in_brackets(const Type& type, std::string_view found) {
  if (type.kind != Kind::list || found != "a number") {
    return false;
  }
  const Kind kind = type.list->element.kind;
  return kind == Kind::u16 || kind == Kind::u32 || kind == Kind::u64 || kind == Kind::f64 ||
         kind == Kind::number;
}

} // namespace

std::string DecodeHandler::pointer() const {
  std::string text;
  std::size_t map = 0;
  for (const Frame& frame : frames_) {
    if (frame.list != nullptr) {
      // With an inner frame, the item has begun and `next` counts it already.
      text += fmt::format("/{}", &frame == &frames_.back() ? frame.next : frame.next - 1);
    } else if (frame.map != nullptr) {
      text += "/" + pointer_token(shortened(map_keys_[map++].last));
    } else if (frame.field != nullptr) {
      text += fmt::format("/{}", frame.field->name);
    }
  }
  return text;
}

Error DecodeHandler::error_here(ErrorCode code, std::string message, std::string fix) const {
  const Position position = position_of(json_, token_start(json_, previous_end_));
  return {.code = code,
          .message = std::move(message),
          .fix = std::move(fix),
          .pointer = pointer(),
          .line = position.line,
          .column = position.column};
}

bool DecodeHandler::fail(Error error) {
  errors_.add(std::move(error));
  return !errors_.full();
}

bool DecodeHandler::fail_value(Error error) {
  unread_->add(error.pointer.value_or(""));
  if (!fail(std::move(error))) {
    return false;
  }
  Frame& frame = frames_.back(); // a default takes the place of an invalid list or map item
  if (frame.map != nullptr) {
    frame.map->append(frame.object, map_keys_.back().last);
  } else if (frame.list != nullptr) {
    if (frame.list->fixed_length == 0) {
      frame.list->append(frame.object, frame.next);
    }
    ++frame.next;
  }
  return ok();
}

bool DecodeHandler::fail_key(Error error) {
  unread_->add(error.pointer.value_or(""));
  passing_ = 1;
  envelope_ = Envelope::none;
  return fail(std::move(error)) && ok();
}

void DecodeHandler::leave_unread(std::uint64_t fields) {
  const std::span<const Field> all = frames_.back().record->fields;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((fields >> i & 1U) != 0) {
      unread_->add(fmt::format("{}/{}", pointer(), all[i].name));
    }
  }
}

bool DecodeHandler::fail_alone(Error error) {
  errors_ = {};
  errors_.add(std::move(error));
  return false;
}

bool DecodeHandler::wrong_type(std::string_view found) {
  if (envelope_ == Envelope::kind || envelope_ == Envelope::version) {
    const bool kind = envelope_ == Envelope::kind;
    const std::string wanted =
        kind ? fmt::format("the string \"{}\"", document_->kind) : std::to_string(document_->schema_version);
    Error error = error_here(ErrorCode::wrong_type, fmt::format("expected {}, got {}", wanted, found),
                             "give it, or leave the key out");
    error.pointer = kind ? "/kind" : "/schema_version";
    envelope_ = Envelope::none;
    return fail_value(std::move(error));
  }
  if (frames_.empty()) {
    return fail_alone(error_here(ErrorCode::wrong_type, fmt::format("expected an object, got {}", found),
                                 fmt::format("a {} is one JSON object", document_->kind)));
  }
  const Type& type = *expected_type();
  return fail_value(error_here(
      ErrorCode::wrong_type, fmt::format("expected {}, got {}", type_phrase(type), found),
      in_brackets(type, found) ? fmt::format("put it into brackets: [{}]", token()) : fix_for_type(type)));
}

bool DecodeHandler::wrong_container(std::string_view found) {
  if (!wrong_type(found)) {
    return false;
  }
  passing_ = 1;
  return pass_open();
}

bool DecodeHandler::out_of_range() {
  const Type& type = *expected_type();
  return fail_value(
      error_here(ErrorCode::out_of_range,
                 fmt::format("{} is outside the range {} to {}", token(), type.minimum, type.maximum),
                 fmt::format("give {}", type_phrase(type))));
}

bool DecodeHandler::not_an_integer() {
  return fail_value(error_here(ErrorCode::not_an_integer,
                               fmt::format("{} is not written as an integer", token()),
                               fmt::format("give {}", type_phrase(*expected_type()))));
}

bool DecodeHandler::unknown_name(std::string_view value) {
  const Type& type = *expected_type();
  const auto nearest = meant_name(value, type.choices);
  const bool few = type.choices.size() <= few_choices;
  Error error = error_here(
      ErrorCode::unknown_name,
      few ? fmt::format("{} is not one of {}", in_quotes(value), one_of(type.choices))
          : fmt::format("{} is not one of the {} known names", in_quotes(value), type.choices.size()),
      nearest ? fmt::format("did you mean \"{}\"?", *nearest)
      : few   ? fmt::format("give {}", type_phrase(type))
              : fmt::format("give one such as {}; `tidegate schema {}` has all",
                            choices_like(value, type.choices), document_->kind));
  if (nearest) {
    error.nearest = *nearest;
  }
  return fail_value(std::move(error));
}

bool DecodeHandler::unknown_key(std::string_view key) {
  Frame& frame = frames_.back();
  const Record& record = *frame.record;
  std::vector<std::string_view> known;
  for (const Field& field : record.fields) {
    known.push_back(field.name);
  }
  const auto nearest = meant_name(key, known);
  Error error =
      error_here(ErrorCode::unknown_key, fmt::format("unknown key {}", in_quotes(key)),
                 nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                 : known.size() > few_choices
                     ? fmt::format("remove it; `tidegate schema {} --format table` lists the known keys",
                                   document_->kind)
                     : fmt::format("remove it, or give {}", one_of(known)));
  *error.pointer += "/" + pointer_token(shortened(key));
  error.field = shortened(key);
  if (nearest) {
    error.nearest = *nearest;
    // Correcting the key supplies the intended field, so that field is not reported as missing.
    frame.misspelt |= std::uint64_t{1} << (std::ranges::find(known, *nearest) - known.begin());
  } else {
    frame.guesses = true;
  }
  return fail_key(std::move(error));
}

bool DecodeHandler::missing_keys(std::uint64_t missing) {
  const std::span<const Field> fields = frames_.back().record->fields;
  std::string names;
  std::string_view first;
  std::size_t count = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if ((missing >> i & 1U) != 0) {
      first = first.empty() ? fields[i].name : first;
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", fields[i].name);
      ++count;
    }
  }
  Error error =
      error_here(ErrorCode::missing_key, fmt::format("missing {} {}", count == 1 ? "key" : "keys", names),
                 count == 1 ? "add it" : "add them");
  error.field = first;
  return fail(std::move(error));
}

namespace {

struct TypeName {
  std::string_view name;
  std::array<std::string_view, 4> also;
};
constexpr std::array names{TypeName{"i8", {"char", "int8", "int8_t", "schar"}},
                           TypeName{"u8", {"uchar", "uint8", "uint8_t", "byte"}},
                           TypeName{"i16", {"short", "int16", "int16_t", ""}},
                           TypeName{"u16", {"ushort", "uint16", "uint16_t", ""}},
                           TypeName{"i32", {"int", "int32", "int32_t", "signed"}},
                           TypeName{"u32", {"uint", "uint32", "uint32_t", "unsigned"}},
                           TypeName{"i64", {"long", "int64", "int64_t", ""}},
                           TypeName{"u64", {"ulong", "uint64", "uint64_t", "size_t"}},
                           TypeName{"f16", {"half", "float16", "", ""}},
                           TypeName{"f32", {"float", "float32", "single", ""}},
                           TypeName{"f64", {"double", "float64", "", ""}}};

// Returns the scalar type of a vector type: float for float4, f32 for f32x4.
std::string_view scalar_of(std::string_view vector) {
  for (const std::string_view width : {"16", "2", "3", "4", "8"}) {
    if (vector.ends_with("x" + std::string(width))) {
      return vector.substr(0, vector.size() - width.size() - 1);
    }
    if (vector.ends_with(width)) {
      return vector.substr(0, vector.size() - width.size());
    }
  }
  return vector;
}

} // namespace

std::optional<std::string_view> meant_name(std::string_view word, std::span<const std::string_view> known) {
  for (const std::string_view type : {word, scalar_of(word)}) {
    const auto* const found = std::ranges::find_if(names, [type](const TypeName& names_of) {
      return names_of.name == type || std::ranges::find(names_of.also, type) != names_of.also.end();
    });
    if (!type.empty() && found != names.end() && std::ranges::find(known, found->name) != known.end()) {
      return found->name;
    }
  }
  return nearest_name(word, known);
}

} // namespace tidegate::documents
