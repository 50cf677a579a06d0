// Buffers in files: .npy by its ending, raw bytes otherwise.
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

// A path of a program document, whose folder is given. Never the "-" that stands for a standard stream.
std::string beside(const std::string& folder, const std::string& file);

// The contents of a buffer from its file. bad_array for another type or count, and errors of reading.
Result<void> read_buffer_file(std::vector<std::byte>& contents, const BufferSpec& buffer,
                              const std::string& path);

// Writes the output file of the buffer if it has one, complete or not at all.
Result<void> write_output(const BufferSpec& buffer, std::span<const std::byte> contents,
                          const std::string& folder);

// What is in a buffer before the first wave, and what becomes of it after the last.

// The bytes of each buffer of a program, by buffer; empty for one that none are known of.
using BufferContents = std::vector<std::vector<std::byte>>;

// Stores the number's element_bytes(type) bytes. Integers are exact or an error; floats are rounded to the
// nearest, ties to even. out_of_range for what does not fit: it is too large, or a fraction among integers.
Result<void> store_number(const Number& number, ElementType type, std::byte* at);

// Whether the buffer can have the contents that fill, iota or random says: out_of_range for numbers that the
// type does not hold, and for an empty random range.
Result<void> check_rule(const BufferSpec& buffer);

// count * element_bytes(type) bytes: zeros without init. A file's path is relative to `folder`, the
// program's. Element i of a random buffer depends on the seed, the type and the range only, not on the count.
// Errors: out_of_range for numbers that the type does not hold, an empty random range, and a buffer larger
// than the memory; bad_array for a file of another type or count; and those of reading a file.
Result<std::vector<std::byte>> initial_contents(const BufferSpec& buffer, const std::string& folder);

} // namespace tidegate::engine
