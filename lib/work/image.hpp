// An image's shape: its names, the array in its file, and the check of its spec.
#pragma once
#include "device/image_format.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// Parameter type that takes the image: "image2d_t", "image2d_depth_t" for depth formats.
std::string_view type_name(const ImageShape& shape);

// "rgba_unorm8 of 640 x 480", with layers "… in 4 layers".
std::string describe(const ImageShape& shape);

// Shape of the array in a file, slowest dimension first: layers or depth, height, width, and channels if
// several.
std::vector<std::uint64_t> array_shape(const ImageShape& shape);

// Checks the spec at its place `pointer` in the program. Error: invalid_program for an impossible image.
Result<ImageShape> shape_of(const ImageSpec& spec, const std::string& pointer);

} // namespace tidegate::engine
