// An image's shape: its names, and the array in its file.
#pragma once
#include "device/image_format.hpp"

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

} // namespace tidegate::engine
