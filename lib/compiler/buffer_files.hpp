// Buffers in files: .npy by its ending, raw bytes otherwise.
#pragma once

#include <tidegate/compiler/program.hpp>
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tidegate::compiler {

// A path of a program document, whose folder is given. Never the "-" that stands for a standard stream.
std::string beside(const std::string& folder, const std::string& file);

// The contents of a buffer from its file. bad_array for another type or count, and errors of reading.
Result<void> read_buffer_file(std::vector<std::byte>& contents, const BufferSpec& buffer,
                              const std::string& path);

// Writes the output file of the buffer if it has one, complete or not at all.
Result<void> write_output(const BufferSpec& buffer, std::span<const std::byte> contents,
                          const std::string& folder);

} // namespace tidegate::compiler
