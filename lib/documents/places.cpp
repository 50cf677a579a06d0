#include <tidegate/core/text.hpp>
#include <tidegate/documents/json_text.hpp>
#include <tidegate/documents/places.hpp>

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
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

// The byte at which each pointer's value begins, by pointer.
using Offsets = std::unordered_map<std::string, std::optional<std::size_t>>;

// Walks over a document and notes where the wanted values begin. The text is known to be sound JSON.
class PlaceHandler : public rj::BaseReaderHandler<rj::UTF8<>, PlaceHandler> {
public:
  PlaceHandler(std::string_view json, rj::MemoryStream& in, Offsets& wanted)
      : json_(json), in_(in), wanted_(wanted) {}

  bool Default() { return value() && behind(); }
  bool String(const char* /*text*/, rj::SizeType /*length*/, bool /*copy*/) { return value() && behind(); }
  bool Key(const char* text, rj::SizeType length, bool /*copy*/) {
    path_.resize(open_.back().path_length);
    path_ += "/" + pointer_token(std::string_view(text, length));
    return behind();
  }
  bool StartObject() { return open(false); }
  bool StartArray() { return open(true); }
  bool EndObject(rj::SizeType /*members*/) { return close(); }
  bool EndArray(rj::SizeType /*items*/) { return close(); }

private:
  struct Container {
    bool is_list = false;
    std::size_t next = 0;        // of a list
    std::size_t path_length = 0; // of its own pointer
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
    return behind();
  }
  bool close() {
    open_.pop_back();
    return behind();
  }
  bool behind() {
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

bool wants_place(const Error& error) {
  return error.pointer && !error.pointer->empty() && !error.line && !error.source;
}

// The pointer with those of all that it is in, the outermost object excepted.
template <class Visit>
void for_each_prefix(std::string pointer, Visit visit) {
  for (; !pointer.empty(); pointer.resize(pointer.rfind('/'))) {
    if (!visit(pointer)) {
      return;
    }
  }
}

// Errors of the document by their place; cycles behind them, as they are of several dependencies, each of
// which may be right; and all others.
auto order(const Error& error) {
  constexpr auto last = std::numeric_limits<std::uint64_t>::max();
  const bool has_place = error.line && !error.source;
  return std::tuple(!has_place, error.code == ErrorCode::cycle, has_place ? *error.line : last,
                    has_place ? error.column.value_or(0) : last);
}

} // namespace

void locate(Error& error, std::string_view json) {
  std::vector<Error> errors = std::move(error.others);
  error.others.clear();
  errors.insert(errors.begin(), std::move(error));

  Offsets offsets;
  for (const Error& each : errors) {
    if (wants_place(each)) {
      for_each_prefix(*each.pointer, [&](const std::string& prefix) {
        return offsets.try_emplace(prefix).second; // else its own prefixes are known
      });
    }
  }
  if (!offsets.empty()) {
    rj::Reader reader;
    rj::MemoryStream in(json.data(), json.size());
    PlaceHandler handler(json, in, offsets);
    reader.Parse(in, handler);
  }
  for (Error& each : errors) {
    if (!wants_place(each)) {
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
