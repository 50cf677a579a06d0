// The walk of a decoder over a description, one RapidJSON event at a time. Private to this folder.
//
//   {"policy": {"sizing": {"default_worker_count": 64}}}
//    frame 0    frame 1    frame 2                  ^ field of frame 2
//
// The stack of frames never grows past the depth of the description, because a container where the
// description has a scalar is an error before anything recurses. The happy path does no more than find a
// field and store a value; the place of an error is worked out when there is one.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/documents/describe.hpp>
#include <tidegate/documents/json_text.hpp>

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
  const Record* record = nullptr;   // an object, or
  const ListAccess* list = nullptr; // a list, or
  const MapAccess* map = nullptr;   // an object with keys of its own
  void* object = nullptr;
  std::uint64_t seen = 0; // fields met, by index
  std::size_t next = 0;   // objects: the field after the last one met; lists: the index of the next item
  const Field* field = nullptr; // objects: the field whose value comes next
};

// The keys of a map that is being read: the last one, and all of them.
struct MapKeys {
  std::string last;
  std::unordered_set<std::string> seen;
};

// What the value after a top-level key outside the record is for.
enum class Envelope : std::uint8_t { none, kind, version };

class DecodeHandler : public rj::BaseReaderHandler<rj::UTF8<>, DecodeHandler> {
public:
  void start(const Document& document, std::string_view json, rj::MemoryStream& in, void* object,
             std::span<const std::string_view> given) {
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
    previous_end_ = 0;
    error_.reset();
  }

  bool Null() {
    const Type* type = expected_type();
    if (type != nullptr && type->kind == Kind::f64 && document_->direction == Direction::output) {
      return store(std::numeric_limits<double>::quiet_NaN());
    }
    return wrong_type("null");
  }

  bool Bool(bool value) {
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

  [[nodiscard]] bool failed() const { return error_.has_value(); }
  Error take_error() { return std::move(*error_); }

private:
  // Every event ends here: the next token starts after this one.
  bool ok() {
    previous_end_ = in_->Tell();
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

  // The address of the value that comes next, which makes room in a list; nullptr after an error.
  void* target() {
    Frame& frame = frames_.back();
    if (frame.record != nullptr) {
      return frame.field->write(frame.object);
    }
    if (frame.map != nullptr) {
      return frame.map->append(frame.object, map_keys_.back().last);
    }
    if (frame.list->fixed_length != 0 && frame.next == frame.list->fixed_length) {
      fail(ErrorCode::wrong_length,
           fmt::format("expected an array of {} items, got more", frame.list->fixed_length),
           "remove the items past the last");
      return nullptr;
    }
    return frame.list->append(frame.object, frame.next++);
  }

  template <class T>
  bool store(T value) {
    void* at = target();
    if (at == nullptr) {
      return false;
    }
    *static_cast<T*>(at) = std::move(value);
    return ok();
  }

  // Opens a list that a single item stands for, and closes it again behind the item.
  template <class Item>
  bool single(const Type& type, Item item) {
    void* list = target();
    if (list == nullptr) {
      return false;
    }
    type.list->clear(list);
    frames_.push_back({.list = type.list, .object = list});
    if (!item()) {
      return false;
    }
    frames_.pop_back();
    return true;
  }

  // The text of the token that the reader has just passed.
  [[nodiscard]] std::string_view token() const {
    const std::size_t start = token_start(json_, previous_end_);
    return json_.substr(start, in_->Tell() - start);
  }

  [[nodiscard]] std::string pointer() const;

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
  bool missing_keys(std::uint64_t missing);
  bool fail(ErrorCode code, std::string message, std::string fix);

  const Document* document_ = nullptr;
  std::string_view json_;
  rj::MemoryStream* in_ = nullptr;
  void* root_ = nullptr;
  std::uint64_t given_mask_ = 0; // fields of the outermost object that hold a value already
  std::vector<Frame> frames_;
  std::vector<MapKeys> map_keys_; // of the frames that are maps
  Envelope envelope_ = Envelope::none;
  std::array<bool, 3> envelope_seen_{}; // by Envelope
  std::size_t previous_end_ = 0;
  std::optional<Error> error_;
};

} // namespace tidegate::documents
