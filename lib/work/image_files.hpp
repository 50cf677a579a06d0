// Images in files: .npy and .png by their endings, raw bytes otherwise.
#pragma once
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tidegate::engine {

// invalid_program when the image has a picture of another kind for its init or output, or a PNG that cannot
// hold it. `pointer` is its place in the program.
Result<void> check_image_files(const ProgramBuffer& image, const std::string& pointer);

// The first contents of an image: those of a buffer of its elements, or a picture. bad_array for a file of
// another format or size, and errors of reading.
Result<std::vector<std::byte>> initial_image(const ProgramBuffer& image, const std::string& folder);

// Writes the output file of the image if it has one, complete or not at all.
Result<void> write_image(const ProgramBuffer& image, std::span<const std::byte> contents,
                         const std::string& folder);

} // namespace tidegate::engine
