// Contents of buffers and images before the first wave and after the last: by rules, or in files (.npy and .png by
// name, otherwise raw bytes).
//
// A program may come from an untrusted place, and its paths are read and written with the user's rights. They must stay
// in the program's folder, links and #include included, unless the user allows other folders (check_scope).
#pragma once
#include "work/program.hpp"

namespace tidegate::engine {

// Returns the shape of the contents of the buffer's file; of raw bytes one dimension. Errors: as of reading.
Result<std::vector<std::uint64_t>> shape_in_file(const BufferSpec& buffer, const std::string& path);

// Returns the start of a buffer's file, before its elements: the header of an .npy file, otherwise nothing.
std::string buffer_file_head(ElementType type, const std::string& path, std::span<const std::uint64_t> shape);

// Writes the contents of a buffer to the file, completely or not at all. An .npy file has the shape.
Result<void> write_buffer(ElementType type, std::span<const std::byte> contents, const std::string& path,
                          std::span<const std::uint64_t> shape);

// Checks the buffer's fill, iota or random rule. Error: out_of_range for numbers that the type cannot hold,
// and for an empty random range.
Result<void> check_rule(const BufferSpec& buffer);

// Returns count * element_bytes(type) bytes: zeros without init. A file's path is relative to `folder`, the
// program's. Element i of a random buffer depends only on seed, type and range, not on the count. Errors:
// out_of_range for numbers that the type cannot hold, an empty random range, or a buffer beyond the memory;
// bad_array for a file of another type or count; those of reading.
Result<std::vector<std::byte>> initial_contents(const BufferSpec& buffer, const std::string& folder);

// Returns `bytes` of these contents from `begin` on; both are multiples of the element size. Needs memory for no more,
// unless a file is converted. Errors: likewise.
Result<std::vector<std::byte>> initial_part(const BufferSpec& buffer, const std::string& folder,
                                            std::uint64_t begin, std::uint64_t bytes);

// Checks the init and output files of an image. Error: invalid_program for another picture format, or a PNG that
// cannot hold the image.
Result<void> check_image_files(const ProgramBuffer& image, const BufferSpec& spec);

// Returns the size (width, height, depth) that the file of an image's init states: a PNG, or an array. Errors:
// bad_array for raw bytes; those of reading.
Result<std::vector<std::uint64_t>> size_in_file(const ImageSpec& image, const std::string& path);

// PNG files have this ending in any case; others are those of a buffer of the image's shape.
bool is_png(const std::string& path);

// Reads the texels of a PNG. Errors: bad_array for a picture of another format or size; those of reading.
Result<std::vector<std::byte>> read_png(const ImageShape& shape, const std::string& path);

Result<void> write_png(const ImageShape& shape, std::span<const std::byte> contents, const std::string& path);

// Checks of data files before a device is used: none; inputs are readable and outputs writable; input
// contents also match the program. Each includes those before it, so std::min takes the weaker one.
enum class FileCheck : std::uint8_t { none, reachable, contents };

} // namespace tidegate::engine
