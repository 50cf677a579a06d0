// What an image is: its kind in OpenCL C, its format, and how many texels it has in each direction.
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
  std::uint64_t height = 1; // 1 where the kind has none
  std::uint64_t depth = 1;  // likewise
  std::uint64_t layers = 1; // likewise

  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

// The type of a parameter that takes the image: "image2d_t", for depth formats "image2d_depth_t".
std::string_view type_name(const ImageShape& shape);

// "rgba_unorm8 of 640 x 480", with layers "… in 4 layers".
std::string describe(const ImageShape& shape);

// The shape of its array in a file, the slowest dimension first: layers or depth, height, width, and the
// channels where there are several.
std::vector<std::uint64_t> array_shape(const ImageShape& shape);

// invalid_program for what no image can be, at `pointer`, the image's place in the program.
Result<ImageShape> shape_of(const ImageSpec& spec, const std::string& pointer);

} // namespace tidegate::engine
