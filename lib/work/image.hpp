// Shape of an image: its OpenCL C kind, its format, and its texels in each dimension.
#pragma once
#include "work/image_format.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

enum class ImageKind : std::uint8_t {
  image1d,
  image1d_buffer,
  image1d_array,
  image2d,
  image2d_array,
  image3d
};

struct ImageShape {
  ImageKind kind = ImageKind::image2d;
  ImageFormat format{};
  std::uint64_t width = 1;
  std::uint64_t height = 1; // 1 if the kind has none
  std::uint64_t depth = 1;  // likewise
  std::uint64_t layers = 1; // likewise

  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

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
