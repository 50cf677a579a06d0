// Tensors in a .safetensors file: the length of a header in 8 bytes, a header of JSON, and the tensors' bytes.
// Source: the format's description by its authors, Hugging Face.
#include "core/json.hpp"
#include "core/npy.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace tidegate {

// A tensor in the header.
struct TensorEntry {
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::array<std::uint64_t, 2> data_offsets{};
};

namespace documents {

constexpr Field tensor_fields[] = {required<&TensorEntry::dtype>(""), required<&TensorEntry::shape>(""),
                                   required<&TensorEntry::data_offsets>("")};
TIDEGATE_RECORD(TensorEntry, tensor_fields);

} // namespace documents

namespace {

using Tensors = std::map<std::string, TensorEntry>;

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

// Names that are there in place of one that is not.
std::string some_names(const Tensors& tensors) {
  constexpr std::size_t most = 3;
  std::vector<std::string> names;
  for (auto each = tensors.begin(); each != tensors.end() && names.size() < most; ++each) {
    names.push_back(in_quotes(each->first));
  }
  return fmt::format("it has {}{}", fmt::join(names, ", "),
                     tensors.size() > most ? fmt::format(" and {} more", tensors.size() - most) : "");
}

// Reads the entries of a header. `bytes` of data follow it, and each byte must belong to one tensor. Error: the fault.
tl::expected<Tensors, std::string> read_header(std::string_view text, std::uint64_t bytes) {
  static constexpr documents::Document entry_document{
      .kind = "tensor", .record = &documents::Description<TensorEntry>::record, .has_kind = false};
  documents::JsonParser parser;
  const auto header = parser.parse(text);
  if (!header || header->first() != '{') {
    return tl::unexpected(std::string("its header is not a JSON object"));
  }
  Tensors tensors;
  std::string fault;
  std::vector<std::array<std::uint64_t, 2>> ranges{{bytes, bytes}};
  (void)find_inner(*header, [&](const std::string& name, documents::JsonValue value) {
    if (name == "__metadata__") {
      return false;
    }
    const auto [entry, added] = tensors.try_emplace(name);
    fault = !added ? fmt::format("it has {} twice", in_quotes(name))
            : !documents::decode(entry_document, value.text(), &entry->second)
                ? fmt::format("{} has no dtype, shape and data_offsets", in_quotes(name))
                : "";
    const auto& offsets = ranges.emplace_back(entry->second.data_offsets);
    if (fault.empty() && (offsets[0] > offsets[1] || offsets[1] > bytes)) {
      fault = fmt::format("{} lies outside of it", in_quotes(name));
    }
    return !fault.empty();
  });
  std::ranges::sort(ranges);
  std::uint64_t end = 0;
  for (const auto& [from, to] : ranges) {
    if (fault.empty() && from != end) {
      fault = fmt::format("byte {} of its data belongs to {}", std::min(from, end),
                          from < end ? "two tensors" : "no tensor");
    }
    end = to;
  }
  return fault.empty() ? tl::expected<Tensors, std::string>(std::move(tensors)) : tl::unexpected(fault);
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
  const auto tensors = read_header(text, size - length_bytes - length);
  if (!tensors) {
    return tl::unexpected(no_safetensors(path, tensors.error()));
  }
  const auto found = tensors->find(name);
  if (found == tensors->end()) {
    return tl::unexpected(
        bad_file(path, fmt::format("there is no tensor {}", in_quotes(name)), some_names(*tensors)));
  }
  const auto& [dtype, shape, offsets] = found->second;
  const Tensor tensor{.type = dtype,
                      .shape = shape,
                      .offset = length_bytes + length + offsets[0],
                      .bytes = offsets[1] - offsets[0]};
  std::uint64_t bits = bits_of(dtype);
  const bool fits = std::ranges::none_of(
      shape, [&bits](std::uint64_t extent) { return __builtin_mul_overflow(bits, extent, &bits); });
  if (bits_of(dtype) != 0 && (!fits || (bits + 7) / 8 != tensor.bytes)) {
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
  const auto* const found = std::ranges::find(element_type_names, lower_case(tensor.type));
  return found == element_type_names.end()
             ? std::nullopt
             : std::optional(static_cast<ElementType>(found - element_type_names.begin()));
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
