// RapidJSON reads the text and calls a handler for every token; decode_handler.hpp walks the description.
#include <tidegate/documents/catalogue.hpp>
#include <tidegate/documents/decode.hpp>
#include <tidegate/documents/decode_handler.hpp>
#include <tidegate/documents/json_text.hpp>

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::documents {
namespace {

// Finds the top-level keys and the value of "kind"; everything else is only walked over.
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
  std::vector<std::string>* keys = nullptr; // for those who want them

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

// Broken UTF-8 needs a byte with the top bit set; without one the reader skips its slower check.
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

// True when the whole text is one JSON value and the handler took all of it. The handlers bound the nesting,
// so the recursive reader is safe.
template <class H>
bool parse(rj::Reader& reader, std::string_view json, rj::MemoryStream& in, H& handler) {
  const bool good = is_ascii(json) ? !reader.Parse<rj::kParseNoFlags>(in, handler).IsError()
                                   : !reader.Parse<rj::kParseValidateEncodingFlag>(in, handler).IsError();
  // RapidJSON takes a zero byte for the end of the text.
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
  // A text that is no JSON, or too deep to look at, says so and nothing else: it may be another file
  // altogether.
  if (!parse(reader, json, in, handler)) {
    places.add(""); // the walk has not come to the end
    if (auto error = syntax_error(json)) {
      return tl::unexpected(std::move(*error));
    }
  }
  auto read = handler.result();
  if (!read && read.error().code != ErrorCode::wrong_kind) {
    if (const Document* const found = mistaken_type(document, json)) {
      places.add(""); // what is wrong with it as another type does not matter
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

} // namespace tidegate::documents
