// The events of RapidJSON: each checks a value against the described type and stores it.
#include "core/decode_handler.hpp"

#include "core/catalogue.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/text.hpp>

#include <algorithm>
#include <charconv>
#include <limits>

namespace tidegate::documents {
namespace {

constexpr std::string_view kind_key = "kind";
constexpr std::string_view version_key = "schema_version";

} // namespace

bool DecodeHandler::unsigned_integer(std::uint64_t value) {
  if (passing_ != 0) {
    return pass();
  }
  if (envelope_ == Envelope::version) {
    return envelope_version(value);
  }
  const Type* type = expected_type();
  if (type == nullptr) {
    return wrong_type("a number");
  }
  if (type->or_single) {
    return single(*type, [&] { return unsigned_integer(value); });
  }
  if (type->kind == Kind::f64) {
    return store(static_cast<double>(value));
  }
  if (type->kind == Kind::number) {
    return store(Number(value));
  }
  if (type->kind == Kind::value) {
    return store(Value{Number(value)});
  }
  if (type->kind != Kind::u16 && type->kind != Kind::u32 && type->kind != Kind::u64 &&
      type->kind != Kind::identifier) {
    return wrong_type("a number");
  }
  if (value < type->minimum || value > type->maximum) {
    return out_of_range();
  }
  switch (type->kind) {
  case Kind::u16: return store(static_cast<std::uint16_t>(value));
  case Kind::u32: return store(static_cast<std::uint32_t>(value));
  case Kind::identifier: return store(Identifier(value));
  default: return store(value);
  }
}

bool DecodeHandler::negative_integer(std::int64_t value) {
  if (passing_ != 0) {
    return pass();
  }
  if (value == 0) { // "-0"
    const Type* type = expected_type();
    if (type != nullptr && type->kind == Kind::f64) {
      return store(-0.0);
    }
    if (type != nullptr && type->kind == Kind::number) {
      return store(Number(-0.0));
    }
    if (type != nullptr && type->kind == Kind::value) {
      return store(Value{Number(-0.0)});
    }
    return type != nullptr && type->or_single ? single(*type, [&] { return negative_integer(0); })
                                              : unsigned_integer(0);
  }
  const Type* type = expected_type();
  if (type == nullptr) {
    return wrong_type("a negative number");
  }
  if (type->or_single) {
    return single(*type, [&] { return negative_integer(value); });
  }
  switch (type->kind) {
  case Kind::u16:
  case Kind::u32:
  case Kind::u64:
  case Kind::identifier: return out_of_range();
  case Kind::f64: return store(static_cast<double>(value));
  case Kind::number: return store(Number(value));
  case Kind::value: return store(Value{Number(value)});
  default: return wrong_type("a number");
  }
}

bool DecodeHandler::Double(double value) {
  if (passing_ != 0) {
    return pass();
  }
  const Type* type = expected_type();
  if (type == nullptr) {
    return wrong_type("a number");
  }
  if (type->or_single) {
    return single(*type, [&] { return Double(value); });
  }
  const std::string_view text = token();
  switch (type->kind) {
  case Kind::u16:
  case Kind::u32:
  case Kind::u64:
  case Kind::identifier:
    // RapidJSON passes integers beyond 64 bits as doubles.
    if (text.find_first_of(".eE") == std::string_view::npos) {
      return out_of_range();
    }
    return not_an_integer();
  case Kind::number:
  case Kind::value:
    if (text.find_first_of(".eE") == std::string_view::npos) {
      return fail_value(error_here(ErrorCode::out_of_range, fmt::format("{} does not fit into 64 bits", text),
                                   "give a smaller integer, or one with a decimal point"));
    }
    [[fallthrough]];
  case Kind::f64: {
    // from_chars rounds correctly; RapidJSON may be off in the last place. Its only out-of-range case here is
    // a value below the smallest double, where RapidJSON's zero is right.
    double exact = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), exact);
    const double rounded = result.ec == std::errc() ? exact : value;
    return type->kind == Kind::f64      ? store(rounded)
           : type->kind == Kind::number ? store(Number(rounded))
                                        : store(Value{Number(rounded)});
  }
  default: return wrong_type("a number");
  }
}

bool DecodeHandler::String(const char* text, rj::SizeType length, bool /*copy*/) {
  if (passing_ != 0) {
    return pass();
  }
  const std::string_view value(text, length);
  if (envelope_ == Envelope::kind) {
    return envelope_kind(value);
  }
  const Type* type = expected_type();
  if (type != nullptr && !type->left_out_word.empty() && value == type->left_out_word) {
    return ok();
  }
  if (type != nullptr && type->kind == Kind::text) {
    return store(std::string(value));
  }
  if (type != nullptr && type->kind == Kind::value) {
    return store(Value{std::string(value)});
  }
  if (type != nullptr && type->kind == Kind::identifier) {
    return store(Identifier(value));
  }
  if (type != nullptr && type->kind == Kind::choice) {
    const auto found = std::ranges::find(type->choices, value);
    if (found != type->choices.end()) {
      return store(static_cast<std::uint8_t>(found - type->choices.begin()));
    }
    return unknown_name(value);
  }
  return wrong_type("a string");
}

bool DecodeHandler::envelope_kind(std::string_view value) {
  if (value != document_->kind) {
    const auto found = find_document(value);
    Error error = error_here(ErrorCode::wrong_kind,
                             fmt::format("this is a {}, not a {}", in_quotes(value), document_->kind),
                             fix_for_kind(*document_, found ? **found : *document_));
    error.pointer = "/kind";
    return fail_alone(std::move(error));
  }
  envelope_ = Envelope::none;
  return ok();
}

bool DecodeHandler::envelope_version(std::uint64_t value) {
  if (value != document_->schema_version) {
    Error error = error_here(
        ErrorCode::unsupported_version,
        fmt::format("schema_version {} of {} is not supported", value, document_->kind),
        fmt::format("this version of tidegate reads schema_version {}", document_->schema_version));
    error.pointer = "/schema_version";
    return fail_alone(std::move(error));
  }
  envelope_ = Envelope::none;
  return ok();
}

bool DecodeHandler::envelope_key_of(std::string_view key) {
  if (frames_.size() != 1) {
    return false;
  }
  if (document_->has_kind && key == kind_key) {
    envelope_ = Envelope::kind;
  } else if (document_->has_kind && key == version_key) {
    envelope_ = Envelope::version;
  } else {
    return false;
  }
  return true;
}

bool DecodeHandler::Key(const char* text, rj::SizeType length, bool /*copy*/) {
  if (passing_ != 0) {
    return ok();
  }
  const std::string_view key(text, length);
  Frame& frame = frames_.back();
  if (frame.map != nullptr) {
    MapKeys& keys = map_keys_.back();
    keys.last = key;
    if (!keys.seen.insert(keys.last).second) {
      return fail_key(error_here(ErrorCode::duplicate_key, fmt::format("duplicate key {}", in_quotes(key)),
                                 "rename or remove one of the two"));
    }
    return ok();
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
    frame.field = &fields[index];
    const std::uint64_t bit = std::uint64_t{1} << index;
    if ((frame.seen & bit) != 0) {
      return fail_key(error_here(ErrorCode::duplicate_key, fmt::format("duplicate key {}", in_quotes(key)),
                                 "keep one of the two values"));
    }
    frame.seen |= bit;
    frame.next = index + 1;
    return ok();
  }
  frame.field = nullptr;
  if (envelope_key_of(key)) {
    bool& seen = envelope_seen_[static_cast<std::size_t>(envelope_)];
    if (seen) {
      return fail_key(error_here(ErrorCode::duplicate_key, fmt::format("duplicate key {}", in_quotes(key)),
                                 "keep one of the two values"));
    }
    seen = true;
    return ok();
  }
  return unknown_key(key);
}

bool DecodeHandler::StartObject() {
  if (passing_ != 0) {
    return pass_open();
  }
  if (frames_.empty()) {
    frames_.push_back({.record = document_->record, .object = root_});
    return ok();
  }
  const Type* type = expected_type();
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
    return ok();
  }
  frames_.push_back({.record = type->record, .object = object});
  return ok();
}

bool DecodeHandler::EndObject(rj::SizeType /*members*/) {
  if (passing_ != 0) {
    return pass_close();
  }
  Frame& frame = frames_.back();
  if (frame.map != nullptr) {
    frames_.pop_back();
    map_keys_.pop_back();
    return ok();
  }
  frame.field = nullptr;
  const std::uint64_t present = frame.seen | (frames_.size() == 1 ? given_mask_ : 0);
  const std::uint64_t missing = frame.record->required_mask & ~present & ~frame.misspelt;
  if (missing != 0 && !missing_keys(missing)) {
    return false;
  }
  if (const std::uint64_t lacking = missing | frame.misspelt | (frame.guesses ? ~std::uint64_t{0} : 0)) {
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
  return ok();
}

bool DecodeHandler::StartArray() {
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
  return ok();
}

bool DecodeHandler::EndArray(rj::SizeType /*items*/) {
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
  return go_on && ok();
}

} // namespace tidegate::documents
