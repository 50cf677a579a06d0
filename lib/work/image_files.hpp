// Image contents in files: .npy and .png by name, otherwise raw bytes.
#pragma once
#include "engine/job.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tidegate::engine {

// Checks the init and output files of an image. Error: invalid_program for another picture format, or a PNG that
// cannot hold the image.
Result<void> check_image_files(const ProgramBuffer& image, const BufferSpec& spec);

// Returns the contents that the file gives the image. Errors: bad_array for a file of another format or size; those of
// reading.
Result<std::vector<std::byte>> read_image(const ProgramBuffer& image, const std::string& path);

// Writes the contents to the file, completely or not at all.
Result<void> write_image(const ProgramBuffer& image, std::span<const std::byte> contents,
                         const std::string& path);

} // namespace tidegate::engine
