// Tensors in a .safetensors file: the length of a header in 8 bytes, a header of JSON, and the tensors' bytes.
// Source: the format's description by its authors, Hugging Face.
#include "core/npy.hpp"
#include <tidegate/core/text.hpp>

#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace tidegate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t most_header_bytes = 100'000'000; // the format's own limit

Error bad_file(const std::string& path, std::string message, std::string fix) {
  return {.code = ErrorCode::bad_array, .message = std::move(message), .fix = std::move(fix), .source = path};
}

Error no_safetensors(const std::string& path, const std::string& why) {
  return bad_file(path, "no .safetensors file: " + why, "check that it is the right file and complete");
}

Result<void> read_at(const Descriptor& file, const std::string& path, std::uint64_t offset,
                     std::span<std::byte> room) {
  constexpr std::size_t most = std::size_t{1} << 30U; // a call of Linux reads less than 2 GiB
  while (!room.empty()) {
    const ssize_t got =
        ::pread(file.get(), room.data(), std::min(room.size(), most), static_cast<off_t>(offset));
    if (got <= 0 && errno != EINTR) {
      return tl::unexpected(
          Error{.code = ErrorCode::cannot_read,
                .message = got == 0 ? "the file ends early" : std::system_category().message(errno),
                .fix = "check the file",
                .source = path});
    }
    const auto count = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    room = room.subspan(count);
    offset += count;
  }
  return {};
}

// Bits of an element: the first number in the type's name. 0 where it has none, such as BOOL.
std::uint64_t bits_of(std::string_view type) {
  const std::size_t begin = std::min(type.find_first_of("0123456789"), type.size());
  std::uint64_t bits = 0;
  std::from_chars(type.data() + begin, type.data() + type.size(), bits);
  return bits;
}

// The names that are most like the one that is not there.
std::string some_names(const Json& header) {
  constexpr std::size_t most = 3;
  std::string names;
  std::size_t count = 0;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__" && count++ < most) {
      names += (names.empty() ? "" : ", ") + in_quotes(name);
    }
  }
  return fmt::format("it has {}{}", names, count > most ? fmt::format(" and {} more", count - most) : "");
}

bool is_list(const Json& entry, const char* key) {
  return entry.contains(key) && entry[key].is_array() &&
         std::ranges::all_of(entry[key], [](const Json& number) { return number.is_number_unsigned(); });
}

// Checks that each of the data's bytes belongs to one tensor.
Result<void> check_layout(const Json& header, const std::string& path, std::uint64_t bytes) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      continue;
    }
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
        !is_list(entry, "shape") || !is_list(entry, "data_offsets") || entry["data_offsets"].size() != 2) {
      return tl::unexpected(
          no_safetensors(path, fmt::format("{} has no dtype, shape and data_offsets", in_quotes(name))));
    }
    ranges.emplace_back(entry["data_offsets"][0].get<std::uint64_t>(),
                        entry["data_offsets"][1].get<std::uint64_t>());
    if (ranges.back().first > ranges.back().second || ranges.back().second > bytes) {
      return tl::unexpected(no_safetensors(path, fmt::format("{} lies outside of it", in_quotes(name))));
    }
  }
  std::ranges::sort(ranges);
  std::uint64_t end = 0;
  for (const auto& [from, to] : ranges) {
    if (from != end) {
      return tl::unexpected(
          no_safetensors(path, fmt::format("byte {} of its data belongs to {}", std::min(from, end),
                                           from < end ? "two tensors" : "no tensor")));
    }
    end = to;
  }
  return end == bytes ? Result<void>()
                      : tl::unexpected(no_safetensors(
                            path, fmt::format("byte {} of its data belongs to no tensor", end)));
}

} // namespace

Result<Tensor> find_tensor(const Descriptor& file, const std::string& path, const std::string& name) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return tl::unexpected(no_safetensors(path, "its size is not known"));
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::uint64_t length = 0; // the format and all hosts are little-endian
  if (size < length_bytes) {
    return tl::unexpected(no_safetensors(path, "it is shorter than the length of a header"));
  }
  TIDEGATE_CHECK(read_at(file, path, 0, std::as_writable_bytes(std::span(&length, 1))));
  if (length > std::min(most_header_bytes, size - length_bytes)) {
    return tl::unexpected(no_safetensors(path, "its header would be longer than it"));
  }
  std::string text(length, '\0');
  TIDEGATE_CHECK(read_at(file, path, length_bytes, std::as_writable_bytes(std::span(text))));
  std::set<std::string> names;
  std::optional<std::string> twice;
  const auto note = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  const Json header = Json::parse(text, note, /*allow_exceptions=*/false);
  if (!header.is_object()) {
    return tl::unexpected(no_safetensors(path, "its header is not a JSON object"));
  }
  const auto found = header.find(name);
  if (found == header.end() || name == "__metadata__") {
    return tl::unexpected(
        bad_file(path, fmt::format("there is no tensor {}", in_quotes(name)), some_names(header)));
  }
  if (twice) {
    return tl::unexpected(no_safetensors(path, fmt::format("it has {} twice", in_quotes(*twice))));
  }
  TIDEGATE_CHECK(check_layout(header, path, size - length_bytes - length));
  const Json& entry = *found;
  const std::uint64_t begin = entry["data_offsets"][0].get<std::uint64_t>();
  const std::uint64_t end = entry["data_offsets"][1].get<std::uint64_t>();
  Tensor tensor{.type = entry["dtype"].get<std::string>(),
                .shape = {},
                .offset = length_bytes + length + begin,
                .bytes = end - begin};
  std::uint64_t bits = bits_of(tensor.type);
  bool fits = true;
  for (const Json& extent : entry["shape"]) {
    tensor.shape.push_back(extent.get<std::uint64_t>());
    fits = !__builtin_mul_overflow(bits, tensor.shape.back(), &bits) && fits;
  }
  if (bits_of(tensor.type) != 0 && (!fits || (bits + 7) / 8 != tensor.bytes)) {
    return tl::unexpected(no_safetensors(path, fmt::format("{} has {}, and its shape and dtype need others",
                                                           in_quotes(name), plural(tensor.bytes, "byte"))));
  }
  return tensor;
}

Result<void> read_tensor(const Descriptor& file, const std::string& path, const Tensor& tensor,
                         std::span<std::byte> contents) {
  return read_at(file, path, tensor.offset,
                 contents.first(std::min<std::uint64_t>(contents.size(), tensor.bytes)));
}

std::optional<ElementType> type_of(const Tensor& tensor) {
  constexpr std::array<std::string_view, element_type_names.size()> names{
      "I8", "U8", "I16", "U16", "I32", "U32", "I64", "U64", "F16", "F32", "F64"};
  const auto found = std::ranges::find(names, tensor.type);
  return found == names.end() ? std::nullopt : std::optional(static_cast<ElementType>(found - names.begin()));
}

Result<NpyArray> read_array(const Descriptor& file, const std::string& path, const Tensor& tensor) {
  const bool brain_float = tensor.type == "BF16";
  const auto type = brain_float ? ElementType::f32 : type_of(tensor);
  if (!type) {
    return tl::unexpected(bad_file(
        path, fmt::format("elements of {} cannot be converted", printable(tensor.type)),
        "leave convert out, and give the buffer an unsigned type, which takes the bytes as they are"));
  }
  NpyArray array{.type = *type, .shape = tensor.shape, .bytes = std::vector<std::byte>(tensor.bytes)};
  TIDEGATE_CHECK(read_tensor(file, path, tensor, array.bytes));
  if (brain_float) {
    std::vector<std::byte> wide(2 * array.bytes.size());
    for (std::size_t i = 0; i < array.bytes.size(); ++i) {
      wide[2 * i + (i % 2 == 0 ? 2 : 1)] = array.bytes[i];
    }
    array.bytes = std::move(wide);
  }
  return array;
}

} // namespace tidegate
