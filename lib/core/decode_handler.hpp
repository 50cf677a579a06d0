// Walks a description while RapidJSON reads, one event at a time. Private to this folder.
//
//   {"policy": {"sizing": {"default_worker_count": 64}}}
//    frame 0    frame 1    frame 2                  ^ field of frame 2
//
// The stack of frames is never deeper than the description, because a container in place of a scalar is an
// error. Without errors, an event only finds a field and stores a value; places are computed only for errors.
//
// After an error the walk continues after the invalid value, so that all errors are reported at once: it
// omits a value of the wrong type and skips the whole value of an invalid key. It records which fields the
// object lacks as a result, so that later checks skip them.
#pragma once
#include "core/json_text.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/describe.hpp>
#include <tidegate/core/error.hpp>

#include <fmt/format.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tidegate::documents {

namespace rj = rapidjson;

struct Frame {
  const Record* record = nullptr;   // set for an object
  const ListAccess* list = nullptr; // set for a list
  const MapAccess* map = nullptr;   // set for an object with arbitrary keys
  void* object = nullptr;
  std::uint64_t seen = 0;     // bit per field that has been read
  std::uint64_t misspelt = 0; // bit per field that an unknown key most likely means
  bool guesses = false;       // an unknown key may mean any missing field
  std::size_t next = 0;       // objects: the field after the last one met; lists: the index of the next item
  const Field* field = nullptr; // objects: the field whose value comes next
};

// The keys of an open map: the last one, and all so far.
struct MapKeys {
  std::string last;
  std::unordered_set<std::string> seen;
};

// The top-level key outside the record whose value comes next.
enum class Envelope : std::uint8_t { none, kind, version };

class DecodeHandler : public rj::BaseReaderHandler<rj::UTF8<>, DecodeHandler> {
public:
  void start(const Document& document, std::string_view json, rj::MemoryStream& in, void* object,
             std::span<const std::string_view> given, UnreadPlaces& unread) {
    unread_ = &unread;
    document_ = &document;
    json_ = json;
    in_ = &in;
    root_ = object;
    given_mask_ = 0;
    for (std::size_t i = 0; i < document.record->fields.size() && !given.empty(); ++i) {
      const bool is_given = std::ranges::find(given, document.record->fields[i].name) != given.end();
      given_mask_ |= std::uint64_t{is_given ? 1U : 0U} << i;
    }
    frames_.clear();
    map_keys_.clear();
    envelope_ = Envelope::none;
    envelope_seen_ = {};
    passing_ = 0;
    previous_end_ = 0;
    errors_ = {};
  }

  bool Null() {
    if (passing_ != 0) {
      return pass();
    }
    const Type* type = expected_type();
    if (type != nullptr && type->kind == Kind::f64 && document_->direction == Direction::output) {
      return store(std::numeric_limits<double>::quiet_NaN());
    }
    return wrong_type("null");
  }

  bool Bool(bool value) {
    if (passing_ != 0) {
      return pass();
    }
    const Type* type = expected_type();
    if (type == nullptr || type->kind != Kind::boolean) {
      return wrong_type(value ? "true" : "false");
    }
    return store(value);
  }

  bool Uint(unsigned value) { return unsigned_integer(value); }
  bool Uint64(std::uint64_t value) { return unsigned_integer(value); }
  bool Int(int value) { return negative_integer(value); }
  bool Int64(std::int64_t value) { return negative_integer(value); }
  bool Double(double value);
  bool String(const char* text, rj::SizeType length, bool /*copy*/);
  bool Key(const char* text, rj::SizeType length, bool /*copy*/);
  bool StartObject();
  bool EndObject(rj::SizeType /*members*/);
  bool StartArray();
  bool EndArray(rj::SizeType /*items*/);

  // Returns all errors in document order.
  [[nodiscard]] Result<void> result() const { return errors_.result(); }

private:
  // Ends every event; the next token starts after this position.
  bool ok() {
    previous_end_ = in_->Tell();
    return true;
  }

  // Skips a scalar.
  bool pass() {
    passing_ = passing_ == 1 ? 0 : passing_;
    return ok();
  }
  bool pass_open() {
    ++passing_;
    return frames_.size() + passing_ <= nesting_limit + 1 && ok(); // too_deep; syntax_error() finds it again
  }
  bool pass_close() {
    passing_ = passing_ == 2 ? 0 : passing_ - 1;
    return ok();
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
    return ok();
  }

  // Opens a list for a single item without brackets, and closes it after the item.
  template <class Item>
  bool single(const Type& type, Item item) {
    void* list = target();
    if (list == nullptr) {
      return ok();
    }
    type.list->clear(list);
    frames_.push_back({.list = type.list, .object = list});
    if (!item()) {
      return false;
    }
    frames_.pop_back();
    return true;
  }

  // Returns the text of the token that the reader has just read.
  [[nodiscard]] std::string_view token() const {
    const std::size_t start = token_start(json_, previous_end_);
    return json_.substr(start, in_->Tell() - start);
  }

  [[nodiscard]] std::string pointer() const;

  [[nodiscard]] Error error_here(ErrorCode code, std::string message, std::string fix) const;

  // The fail functions record an error; false ends the walk because enough errors are known.
  bool fail(Error error);
  bool fail_value(Error error); // leaves the value out
  bool fail_key(Error error);   // skips the key's value
  bool fail_alone(Error error); // discards all other errors, which follow from this one

  bool unsigned_integer(std::uint64_t value);
  bool negative_integer(std::int64_t value);
  bool envelope_version(std::uint64_t value);
  bool envelope_kind(std::string_view value);
  bool envelope_key_of(std::string_view key);
  bool unknown_key(std::string_view key);
  bool wrong_type(std::string_view found);
  bool out_of_range();
  bool not_an_integer();
  bool unknown_name(std::string_view value);
  bool wrong_container(std::string_view found);
  bool missing_keys(std::uint64_t missing);
  void leave_unread(std::uint64_t fields); // bits of the fields of the ending object

  const Document* document_ = nullptr;
  std::string_view json_;
  rj::MemoryStream* in_ = nullptr;
  void* root_ = nullptr;
  std::uint64_t given_mask_ = 0; // fields of the outermost object that have a value already
  std::vector<Frame> frames_;
  std::vector<MapKeys> map_keys_; // one per frame that is a map
  Envelope envelope_ = Envelope::none;
  std::array<bool, 3> envelope_seen_{}; // by Envelope
  std::size_t passing_ = 0; // 0: not skipping; 1: skip the next value; n + 1: inside n open brackets of it
  std::size_t previous_end_ = 0;
  ErrorList errors_;
  UnreadPlaces* unread_ = nullptr;
};

} // namespace tidegate::documents
