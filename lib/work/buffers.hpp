// Buffer contents before the first wave and after the last: rules, and files (.npy by name, otherwise raw
// bytes).
#pragma once
#include "core/npy.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tidegate::engine {

// Reads the contents of a buffer from its file. Errors: bad_array for another type or count; those of
// reading.
Result<void> read_buffer_file(std::vector<std::byte>& contents, const BufferSpec& buffer,
                              const std::string& path);

// Writes the contents of a buffer to the file, completely or not at all.
Result<void> write_buffer(ElementType type, std::span<const std::byte> contents, const std::string& path);

// Stores element_bytes(type) bytes. Integers must be exact; floats are rounded to nearest, ties to even.
// Error: out_of_range if the number is too large for the type, or a fraction for an integer type.
Result<void> store_number(const Number& number, ElementType type, std::byte* at);

// Checks the buffer's fill, iota or random rule. Error: out_of_range for numbers that the type cannot hold,
// and for an empty random range.
Result<void> check_rule(const BufferSpec& buffer);

// Returns count * element_bytes(type) bytes: zeros without init. A file's path is relative to `folder`, the
// program's. Element i of a random buffer depends only on seed, type and range, not on the count. Errors:
// out_of_range for numbers that the type cannot hold, an empty random range, or a buffer beyond the memory;
// bad_array for a file of another type or count; those of reading.
Result<std::vector<std::byte>> initial_contents(const BufferSpec& buffer, const std::string& folder);

} // namespace tidegate::engine
