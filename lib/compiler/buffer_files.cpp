#include <tidegate/arrays/npy.hpp>
#include <tidegate/compiler/arrays.hpp>
#include <tidegate/compiler/buffer_files.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>

namespace tidegate::compiler {
namespace {

bool is_npy(std::string_view path) {
  return path.ends_with(".npy");
}

Error bad_file(const std::string& path, std::string message, std::string fix) {
  return {.code = ErrorCode::bad_array, .message = std::move(message), .fix = std::move(fix), .source = path};
}

Result<void> read_npy(std::vector<std::byte>& contents, const BufferSpec& buffer, const std::string& path,
                      std::string_view file) {
  auto array = parse_npy(file);
  if (!array) {
    array.error().source = path;
    return tl::unexpected(std::move(array.error()));
  }
  if (array->type != buffer.type) {
    return tl::unexpected(
        bad_file(path, fmt::format("the array holds {}, the buffer {}", name(array->type), name(buffer.type)),
                 fmt::format("give the buffer the type {}, or convert the array", name(array->type))));
  }
  const std::uint64_t count = array->bytes.size() / element_bytes(array->type);
  if (count != buffer.count) {
    return tl::unexpected(
        bad_file(path,
                 fmt::format("the array of shape {} has {}, the buffer {}",
                             shortened(shape_text(array->shape)), plural(count, "element"), buffer.count),
                 fmt::format("give the buffer the count {}, or another file", count)));
  }
  contents = std::move(array->bytes);
  return {};
}

} // namespace

// Never the "-" that stands for a standard stream.
std::string beside(const std::string& folder, const std::string& file) {
  return folder == "." ? file : (std::filesystem::path(folder) / file).string();
}

Result<void> read_buffer_file(std::vector<std::byte>& contents, const BufferSpec& buffer,
                              const std::string& path) {
  constexpr std::size_t header_room = std::size_t{1} << 20U; // far more than numpy.save writes
  const bool npy = is_npy(path);
  // Past what fits, the file is not read to its end to find out how large it is.
  const std::size_t most = contents.size() + (npy ? header_room : 0);
  auto file = read_all(path, most);
  if (!file && file.error().code != ErrorCode::input_too_large) {
    return tl::unexpected(std::move(file.error()));
  }
  if (file && npy) {
    return read_npy(contents, buffer, path, *file);
  }
  if (!file || file->size() != contents.size()) {
    return tl::unexpected(
        bad_file(path,
                 fmt::format("the file holds {}, {} elements of {} are {}",
                             file ? plural(file->size(), "byte") : fmt::format("more than {} bytes", most),
                             buffer.count, name(buffer.type), contents.size()),
                 "give the buffer the count of the file, or another file"));
  }
  std::ranges::copy(std::as_bytes(std::span(*file)), contents.begin());
  return {};
}

Result<void> write_output(const BufferSpec& buffer, std::span<const std::byte> contents,
                          const std::string& folder) {
  if (!buffer.output) {
    return {};
  }
  auto file = Output::open(beside(folder, *buffer.output), FileKinds::no_named_pipes);
  if (!file) {
    return tl::unexpected(std::move(file.error()));
  }
  const std::array<std::uint64_t, 1> shape{contents.size() / element_bytes(buffer.type)};
  const std::string header = is_npy(*buffer.output) ? npy_header(buffer.type, shape) : std::string();
  const std::string_view data(reinterpret_cast<const char*>(contents.data()), contents.size());
  return file->write(header).and_then([&] { return file->write(data); }).and_then([&] {
    return file->commit();
  });
}

} // namespace tidegate::compiler
