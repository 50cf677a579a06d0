// Image contents in files: .npy and .png by name, otherwise raw bytes.
#pragma once
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tidegate::engine {

// Checks the init and output files of an image at its place `pointer`. Error: invalid_program for another
// picture format, or a PNG that cannot hold the image.
Result<void> check_image_files(const ProgramBuffer& image, const std::string& pointer);

// Returns the first contents: by the rules of buffers, or from a picture. Errors: bad_array for a file of
// another format or size; those of reading.
Result<std::vector<std::byte>> initial_image(const ProgramBuffer& image, const std::string& folder);

// Writes the output file of the image, if any, completely or not at all.
Result<void> write_image(const ProgramBuffer& image, std::span<const std::byte> contents,
                         const std::string& folder);

} // namespace tidegate::engine
