// A handler of the tokens walks the description.
//
//   {"policy": {"sizing": {"default_worker_count": 64}}}
//    frame 0    frame 1    frame 2                  ^ field of frame 2
//
// The stack of frames is never deeper than the description, because a container in place of a scalar is an
// error. Without errors, an event only finds a field and stores a value; locations are computed only for errors.
//
// After an error the walk continues after the invalid value, so that all errors are reported at once: it
// omits a value of the wrong type and skips the whole value of an invalid key. It records which fields the
// object lacks as a result, so that later checks skip them.
#include "core/catalogue.hpp"
#include "core/json_reader.hpp"
#include "core/json_text.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tidegate::documents {

struct Frame {
  const Record* record = nullptr;   // set for an object
  const ListAccess* list = nullptr; // set for a list
  const MapAccess* map = nullptr;   // set for an object with arbitrary keys
  void* object = nullptr;
  FieldMask seen = 0;     // bit per field that has been read
  FieldMask misspelt = 0; // bit per field that an unknown key most likely means
  bool guesses = false;   // an unknown key may mean any missing field
  std::size_t next = 0;   // objects: the field after the last one met; lists: the index of the next item
  const Field* field = nullptr; // objects: the field whose value comes next
};

// The keys of an open map: the last one, and all so far.
struct MapKeys {
  std::string last;
  std::unordered_set<std::string> seen;
};

// The top-level key outside the record whose value comes next.
enum class Envelope : std::uint8_t { none, kind, version, schema };

class DecodeHandler final : public JsonHandler {
public:
  void start(const Document& document, std::string_view json, void* object,
             std::span<const std::string_view> given, UnreadLocations& unread) {
    unread_ = &unread;
    document_ = &document;
    json_ = json;
    root_ = object;
    given_mask_ = 0;
    for (std::size_t i = 0; i < document.record->fields.size() && !given.empty(); ++i) {
      const bool is_given = std::ranges::find(given, document.record->fields[i].name) != given.end();
      given_mask_ |= FieldMask{is_given ? 1U : 0U} << i;
    }
    frames_.clear();
    map_keys_.clear();
    envelope_ = Envelope::none;
    envelope_seen_ = {};
    passing_ = 0;
    errors_ = {};
  }

  bool scalar(const Scalar& value) final {
    return std::visit([this](const auto& each) { return take(each); }, value);
  }

  bool key(std::string_view key) final {
    if (passing_ != 0) {
      return true;
    }
    Frame& frame = frames_.back();
    if (frame.map != nullptr) {
      MapKeys& keys = map_keys_.back();
      keys.last = key;
      if (key.find('\0') != key.npos) {
        return fail_key(nul_in(key));
      }
      if (!keys.seen.insert(keys.last).second) {
        return duplicate_key(key, "rename or remove one of the two");
      }
      return true;
    }
    const std::span<const Field> fields = frame.record->fields;
    // Documents mostly follow the order of the description: try the next field before searching.
    std::size_t index = frame.next;
    if (index >= fields.size() || fields[index].name != key) {
      index = 0;
      while (index < fields.size() && fields[index].name != key) {
        ++index;
      }
    }
    if (index < fields.size()) {
      index -= index != 0 && fields[index - 1].name == key ? 1 : 0; // its first form
      frame.field = &fields[index];
      const FieldMask bit = FieldMask{1} << index;
      if ((frame.seen & bit) != 0) {
        return duplicate_key(key, "keep one of the two values");
      }
      frame.seen |= bit;
      frame.next = index + 1;
      return true;
    }
    frame.field = nullptr;
    if (envelope_key_of(key)) {
      bool& seen = envelope_seen_[static_cast<std::size_t>(envelope_)];
      if (seen) {
        return duplicate_key(key, "keep one of the two values");
      }
      seen = true;
      return true;
    }
    return unknown_key(key);
  }

  bool open(bool is_list) final { return is_list ? open_list() : open_object(); }
  bool close(bool is_list) final { return is_list ? close_list() : close_object(); }

  // Returns all errors in document order.
  [[nodiscard]] Result<void> result() const { return errors_.result(); }

private:
  bool open_object() {
    if (passing_ != 0) {
      return pass_open();
    }
    if (frames_.empty()) {
      frames_.push_back({.record = document_->record, .object = root_});
      return true;
    }
    const Type* type = expected_type();
    if (Frame& frame = frames_.back(); type != nullptr && frame.record != nullptr) {
      if (const Field* const form = second_form(*frame.record, *frame.field)) {
        frame.field = form;
        type = &form->type;
      }
    }
    const bool is_value = type != nullptr && type->kind == Kind::value;
    if (type == nullptr || (type->kind != Kind::record && type->kind != Kind::map && !is_value)) {
      return wrong_container("an object");
    }
    if (is_value && frames_.size() >= nesting_limit) { // Kind::value has no depth limit by description
      return wrong_container("an object this deep");
    }
    void* object = target();
    if (object == nullptr) {
      passing_ = 1;
      return pass_open();
    }
    if (type->kind == Kind::map || is_value) {
      const MapAccess* map = is_value ? &detail::map_access<Value::Object> : type->map;
      object = is_value ? &static_cast<Value*>(object)->is.emplace<Value::Object>() : object;
      map->clear(object);
      frames_.push_back({.map = map, .object = object});
      map_keys_.emplace_back();
      return true;
    }
    frames_.push_back({.record = type->record, .object = object});
    return true;
  }

  bool close_object() {
    if (passing_ != 0) {
      return pass_close();
    }
    Frame& frame = frames_.back();
    if (frame.map != nullptr) {
      frames_.pop_back();
      map_keys_.pop_back();
      return true;
    }
    frame.field = nullptr;
    const FieldMask present = frame.seen | (frames_.size() == 1 ? given_mask_ : 0);
    const FieldMask missing = frame.record->required_mask & ~present & ~frame.misspelt;
    if (missing != 0 && !missing_keys(missing)) {
      return false;
    }
    if (const FieldMask lacking = missing | frame.misspelt | (frame.guesses ? ~FieldMask{0} : 0)) {
      leave_unread(lacking & ~present);
    }
    if (frames_.size() == 1 && document_->has_kind && document_->direction == Direction::output &&
        !(envelope_seen_[static_cast<std::size_t>(Envelope::kind)] &&
          envelope_seen_[static_cast<std::size_t>(Envelope::version)]) &&
        !fail(error_here(ErrorCode::missing_key, "missing key \"kind\" or \"schema_version\"",
                         "every output document carries both"))) {
      return false;
    }
    const std::span<const Field> fields = frame.record->fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].fill != nullptr && (present >> i & 1U) == 0) {
        fields[i].fill(frame.object);
      }
    }
    frames_.pop_back();
    return true;
  }

  bool open_list() {
    if (passing_ != 0) {
      return pass_open();
    }
    const Type* type = expected_type();
    const bool is_value = type != nullptr && type->kind == Kind::value;
    if (type == nullptr || (type->kind != Kind::list && !is_value)) {
      return wrong_container("an array");
    }
    if (is_value && frames_.size() >= nesting_limit) {
      return wrong_container("an array this deep");
    }
    void* list = target();
    if (list == nullptr) {
      passing_ = 1;
      return pass_open();
    }
    const ListAccess* access = is_value ? &detail::list_access<Value::List> : type->list;
    list = is_value ? &static_cast<Value*>(list)->is.emplace<Value::List>() : list;
    access->clear(list);
    frames_.push_back({.list = access, .object = list});
    return true;
  }

  bool close_list() {
    if (passing_ != 0) {
      return pass_close();
    }
    const Frame& frame = frames_.back();
    bool go_on = true;
    if (const std::size_t wanted = frame.list->fixed_length; frame.next < wanted) {
      Error error = error_here(ErrorCode::wrong_length,
                               fmt::format("expected an array of {} items, got {}", wanted, frame.next),
                               fmt::format("give {} items", wanted));
      error.pointer->resize(error.pointer->rfind('/')); // names the array, not the missing item
      unread_->add(*error.pointer);
      go_on = fail(std::move(error));
    }
    frames_.pop_back();
    return go_on;
  }

  bool take(std::nullptr_t) {
    if (passing_ != 0) {
      return pass();
    }
    const Type* type = expected_type();
    if (type != nullptr && type->kind == Kind::f64 &&
        (type->or_null || document_->direction == Direction::output)) {
      return store(std::numeric_limits<double>::quiet_NaN());
    }
    return wrong_type("null");
  }

  bool take(bool value) {
    if (passing_ != 0) {
      return pass();
    }
    const Type* type = expected_type();
    if (type == nullptr || type->kind != Kind::boolean) {
      return wrong_type(value ? "true" : "false");
    }
    return store(value);
  }

  bool take(double value) {
    return take_number("a number", [this, value](const Type& type) {
      const std::string_view text = token();
      const bool has_point = text.find_first_of(".eE") != std::string_view::npos;
      if (is_integer(type)) { // integers beyond 64 bits come as doubles
        return has_point ? not_an_integer() : out_of_range();
      }
      if (!has_point && (type.kind == Kind::number || type.kind == Kind::value)) {
        return fail_value(error_here(ErrorCode::out_of_range,
                                     fmt::format("{} does not fit into 64 bits", text),
                                     "give a smaller integer, or one with a decimal point"));
      }
      return store_number(type, value);
    });
  }

  bool take(std::string_view value) {
    if (passing_ != 0) {
      return pass();
    }
    if (value.find('\0') != value.npos) { // the system and OpenCL would take what is before it for the whole
      envelope_ = Envelope::none;
      return frames_.empty() ? wrong_type("a string") : fail_value(nul_in(value));
    }
    if (envelope_ == Envelope::kind) {
      return envelope_kind(value);
    }
    if (envelope_ == Envelope::schema) { // for editors
      envelope_ = Envelope::none;
      return true;
    }
    const Type* type = expected_type();
    if (type != nullptr && !type->left_out_word.empty() && value == type->left_out_word) {
      return true;
    }
    switch (type == nullptr ? Kind::list : type->kind) {
    case Kind::text: return store(std::string(value));
    case Kind::value: return store(Value{std::string(value)});
    case Kind::identifier: return store(Identifier(value));
    case Kind::choice: {
      const auto found = std::ranges::find(type->choices, value);
      return found == type->choices.end() ? unknown_name(value)
                                          : store(static_cast<std::uint8_t>(found - type->choices.begin()));
    }
    default: return wrong_type("a string");
    }
  }

  // Skips a scalar.
  bool pass() {
    passing_ = passing_ == 1 ? 0 : passing_;
    return true;
  }
  bool pass_open() {
    ++passing_;
    return true;
  }
  bool pass_close() {
    passing_ = passing_ == 2 ? 0 : passing_ - 1;
    return true;
  }

  [[nodiscard]] const Type* expected_type() const {
    if (frames_.empty() || envelope_ != Envelope::none) {
      return nullptr;
    }
    const Frame& frame = frames_.back();
    if (frame.record != nullptr) {
      return &frame.field->type;
    }
    return frame.list != nullptr ? &frame.list->element : &frame.map->element;
  }

  // Returns the address for the next value, appending to a list; nullptr if a fixed-length list is full.
  void* target() {
    Frame& frame = frames_.back();
    if (frame.record != nullptr) {
      return frame.field->write(frame.object);
    }
    if (frame.map != nullptr) {
      return frame.map->append(frame.object, map_keys_.back().last);
    }
    if (frame.list->fixed_length != 0 && frame.next >= frame.list->fixed_length) {
      if (frame.next == frame.list->fixed_length) {
        fail(error_here(ErrorCode::wrong_length,
                        fmt::format("expected an array of {} items, got more", frame.list->fixed_length),
                        "remove the items past the last"));
      }
      ++frame.next;
      return nullptr;
    }
    return frame.list->append(frame.object, frame.next++);
  }

  template <class T>
  bool store(T value) {
    void* at = target();
    if (at != nullptr) {
      *static_cast<T*>(at) = std::move(value);
    }
    return true;
  }

  static bool is_integer(const Type& type) {
    return type.kind == Kind::u16 || type.kind == Kind::u32 || type.kind == Kind::u64 ||
           type.kind == Kind::identifier;
  }

  // Stores a number that is not of an integer type.
  template <class T>
  bool store_number(const Type& type, T value) {
    switch (type.kind) {
    case Kind::f64: return store(static_cast<double>(value));
    case Kind::number: return store(Number(value));
    case Kind::value: return store(Value{Number(value)});
    default: return wrong_type("a number");
    }
  }

  // Passes a number to `take` with the expected type; the list of a single number has no brackets.
  template <class Take>
  bool take_number(std::string_view found, Take take) {
    if (passing_ != 0) {
      return pass();
    }
    const Type* type = expected_type();
    if (type == nullptr) {
      return wrong_type(found);
    }
    if (!type->or_single) {
      return take(*type);
    }
    void* list = target();
    if (list == nullptr) {
      return true;
    }
    type->list->clear(list);
    frames_.push_back({.list = type->list, .object = list});
    if (!take_number(found, take)) {
      return false;
    }
    frames_.pop_back();
    return true;
  }

  // Returns the text of the token that the reader has just read.
  [[nodiscard]] std::string_view token() const { return json_.substr(begin, end - begin); }

  [[nodiscard]] std::string pointer() const {
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

  [[nodiscard]] Error error_here(ErrorCode code, std::string message, std::string fix) const {
    const Position position = position_of(json_, begin);
    return {.code = code,
            .message = std::move(message),
            .fix = std::move(fix),
            .pointer = pointer(),
            .line = position.line,
            .column = position.column};
  }

  // The fail functions record an error; false ends the walk because enough errors are known.
  bool fail(Error error) {
    errors_.add(std::move(error));
    return !errors_.full();
  }

  // leaves the value out
  bool fail_value(Error error) {
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
    return true;
  }

  // skips the key's value
  bool fail_key(Error error) {
    unread_->add(error.pointer.value_or(""));
    passing_ = 1;
    envelope_ = Envelope::none;
    return fail(std::move(error));
  }

  // discards all other errors, which follow from this one
  bool fail_alone(Error error) {
    errors_ = {};
    errors_.add(std::move(error));
    return false;
  }

  bool take(std::uint64_t value) {
    if (passing_ == 0 && envelope_ == Envelope::version) {
      return envelope_version(value);
    }
    return take_number("a number", [this, value](const Type& type) {
      if (!is_integer(type)) {
        return store_number(type, value);
      }
      if (value < type.minimum || value > type.maximum) {
        return out_of_range();
      }
      switch (type.kind) {
      case Kind::u16: return store(static_cast<std::uint16_t>(value));
      case Kind::u32: return store(static_cast<std::uint32_t>(value));
      case Kind::identifier: return store(Identifier(value));
      default: return store(value);
      }
    });
  }

  bool take(std::int64_t value) {
    return take_number("a negative number", [this, value](const Type& type) {
      if (value == 0) { // "-0"
        return is_integer(type) ? take(std::uint64_t{0}) : store_number(type, -0.0);
      }
      return is_integer(type) ? out_of_range() : store_number(type, value);
    });
  }

  bool envelope_version(std::uint64_t value) {
    if (value != document_->schema_version) {
      Error error = error_here(
          ErrorCode::unsupported_version,
          fmt::format("schema_version {} of {} is not supported", value, document_->kind),
          fmt::format("this version of tidegate reads schema_version {}", document_->schema_version));
      error.pointer = "/schema_version";
      return fail_alone(std::move(error));
    }
    envelope_ = Envelope::none;
    return true;
  }

  bool envelope_kind(std::string_view value) {
    if (value != document_->kind) {
      const auto found = find_document(value);
      Error error = error_here(ErrorCode::wrong_kind,
                               fmt::format("this is a {}, not a {}", in_quotes(value), document_->kind),
                               found ? fix_for_kind(*document_, **found) : found.error().fix);
      error.pointer = "/kind";
      return fail_alone(std::move(error));
    }
    envelope_ = Envelope::none;
    return true;
  }

  bool envelope_key_of(std::string_view key) {
    if (frames_.size() != 1) {
      return false;
    }
    if (document_->has_kind && key == "kind") {
      envelope_ = Envelope::kind;
    } else if (document_->has_kind && key == "schema_version") {
      envelope_ = Envelope::version;
    } else if (document_->direction == Direction::input && key == "$schema") {
      envelope_ = Envelope::schema;
    } else {
      return false;
    }
    return true;
  }

  [[nodiscard]] Error nul_in(std::string_view text) const {
    return error_here(ErrorCode::unknown_name, fmt::format("{} has a NUL character", in_quotes(text)),
                      "remove \\u0000");
  }

  bool duplicate_key(std::string_view key, std::string fix) {
    return fail_key(error_here(ErrorCode::duplicate_key, fmt::format("duplicate key {}", in_quotes(key)),
                               std::move(fix)));
  }

  bool unknown_key(std::string_view key) {
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
      frame.misspelt |= FieldMask{1} << (std::ranges::find(known, *nearest) - known.begin());
    } else {
      frame.guesses = true;
    }
    return fail_key(std::move(error));
  }

  bool wrong_type(std::string_view found) {
    if (envelope_ != Envelope::none) {
      const bool kind = envelope_ == Envelope::kind;
      const bool schema = envelope_ == Envelope::schema;
      const std::string wanted = schema ? "a string"
                                 : kind ? fmt::format("the string \"{}\"", document_->kind)
                                        : std::to_string(document_->schema_version);
      Error error = error_here(ErrorCode::wrong_type, fmt::format("expected {}, got {}", wanted, found),
                               "give it, or leave the key out");
      error.pointer = schema ? "/$schema" : kind ? "/kind" : "/schema_version";
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

  bool out_of_range() {
    const Type& type = *expected_type();
    return fail_value(
        error_here(ErrorCode::out_of_range,
                   fmt::format("{} is outside the range {} to {}", token(), type.minimum, type.maximum),
                   fmt::format("give {}", type_phrase(type))));
  }

  bool not_an_integer() {
    return fail_value(error_here(ErrorCode::not_an_integer,
                                 fmt::format("{} is not written as an integer", token()),
                                 fmt::format("give {}", type_phrase(*expected_type()))));
  }

  bool unknown_name(std::string_view value) {
    const Type& type = *expected_type();
    const std::vector<std::string_view> words = words_of(type);
    const auto nearest = meant_name(value, words);
    const bool few = words.size() <= few_choices;
    Error error =
        error_here(ErrorCode::unknown_name,
                   few ? fmt::format("{} is not one of {}", in_quotes(value), one_of(words))
                       : fmt::format("{} is not one of the {} known names", in_quotes(value), words.size()),
                   nearest ? fmt::format("did you mean \"{}\"?", *nearest)
                   : few   ? fmt::format("give {}", type_phrase(type))
                           : fmt::format("give one such as {}; `tidegate schema {}` has all",
                                         choices_like(value, words), document_->kind));
    if (nearest) {
      error.nearest = *nearest;
    }
    return fail_value(std::move(error));
  }

  bool wrong_container(std::string_view found) {
    if (!wrong_type(found)) {
      return false;
    }
    passing_ = 1;
    return pass_open();
  }

  bool missing_keys(FieldMask missing) {
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

  // bits of the fields of the ending object
  void leave_unread(FieldMask fields) {
    const std::span<const Field> all = frames_.back().record->fields;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((fields >> i & 1U) != 0) {
        unread_->add(fmt::format("{}/{}", pointer(), all[i].name));
      }
    }
  }

  const Document* document_ = nullptr;
  std::string_view json_;
  void* root_ = nullptr;
  FieldMask given_mask_ = 0; // fields of the outermost object that have a value already
  std::vector<Frame> frames_;
  std::vector<MapKeys> map_keys_; // one per frame that is a map
  Envelope envelope_ = Envelope::none;
  std::array<bool, 4> envelope_seen_{}; // by Envelope
  std::size_t passing_ = 0; // 0: not skipping; 1: skip the next value; n + 1: inside n open brackets of it
  ErrorList errors_;
  UnreadLocations* unread_ = nullptr;
};

namespace {

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
  DecodeHandler handler;
};

Decoder::Decoder() : implementation_(std::make_unique<Implementation>()) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Result<void> Decoder::decode(const Document& document, std::string_view json, void* object,
                             std::span<const std::string_view> given, UnreadLocations* unread) {
  UnreadLocations nowhere;
  UnreadLocations& locations = unread != nullptr ? *unread : nowhere;
  if (json.size() > document_bytes_limit) {
    locations.add("");
    return tl::unexpected(too_large());
  }
  DecodeHandler& handler = implementation_->handler;
  handler.start(document, json, object, given, locations);
  // A text that is not JSON, or is nested too deeply, gets this error alone: it may be the wrong file.
  auto broken = read_json(json, handler);
  if (broken || handler.stopped) {
    locations.add(""); // the walk has not reached the end
  }
  if (broken) {
    return tl::unexpected(std::move(*broken));
  }
  auto read = handler.result();
  if (!read && read.error().code != ErrorCode::wrong_kind) {
    if (const Document* const found = mistaken_type(document, json)) {
      locations.add(""); // errors as the wrong type are useless
      return tl::unexpected(another_type(document, *found, json));
    }
  }
  return read;
}

} // namespace tidegate::documents
