// Type names and size rules of OpenCL images.
#include "work/image.hpp"

#include "work/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidegate::engine {
namespace {

bool is_depth(const ImageShape& shape) {
  return row(shape.format).order == ChannelOrder::depth;
}

} // namespace

std::string_view type_name(const ImageShape& shape) {
  switch (shape.kind) {
  case ImageKind::image1d: return "image1d_t";
  case ImageKind::image1d_buffer: return "image1d_buffer_t";
  case ImageKind::image1d_array: return "image1d_array_t";
  case ImageKind::image2d: return is_depth(shape) ? "image2d_depth_t" : "image2d_t";
  case ImageKind::image2d_array: return is_depth(shape) ? "image2d_array_depth_t" : "image2d_array_t";
  case ImageKind::image3d: break;
  }
  return "image3d_t";
}

std::string describe(const ImageShape& shape) {
  std::string text = fmt::format("{} of {}", name(shape.format), shape.width);
  if (shape.kind == ImageKind::image2d || shape.kind == ImageKind::image2d_array ||
      shape.kind == ImageKind::image3d) {
    text += fmt::format(" x {}", shape.height);
  }
  if (shape.kind == ImageKind::image3d) {
    text += fmt::format(" x {}", shape.depth);
  }
  if (shape.kind == ImageKind::image1d_array || shape.kind == ImageKind::image2d_array) {
    text += fmt::format(" in {} layers", shape.layers);
  }
  return text;
}

std::vector<std::uint64_t> array_shape(const ImageShape& shape) {
  std::vector<std::uint64_t> dimensions;
  switch (shape.kind) {
  case ImageKind::image1d:
  case ImageKind::image1d_buffer: dimensions = {shape.width}; break;
  case ImageKind::image1d_array: dimensions = {shape.layers, shape.width}; break;
  case ImageKind::image2d: dimensions = {shape.height, shape.width}; break;
  case ImageKind::image2d_array: dimensions = {shape.layers, shape.height, shape.width}; break;
  case ImageKind::image3d: dimensions = {shape.depth, shape.height, shape.width}; break;
  }
  if (const std::uint32_t elements = elements_per_texel(shape.format); elements > 1) {
    dimensions.push_back(elements);
  }
  return dimensions;
}

Result<ImageShape> shape_of(const ImageSpec& spec, const std::string& pointer) {
  const std::size_t dimensions = spec.size.size();
  if (dimensions < 1 || dimensions > 3) {
    return tl::unexpected(invalid_program(fmt::format("a size of {} numbers", dimensions),
                                          "give width, height and depth, as many of them as the image has",
                                          pointer + "/size"));
  }
  if (std::ranges::find(spec.size, 0U) != spec.size.end() || spec.layers == std::uint64_t{0}) {
    return tl::unexpected(invalid_program("the image has no texels", "give a size and layers from 1 on",
                                          pointer + (spec.layers == std::uint64_t{0} ? "/layers" : "/size")));
  }
  if (spec.layers && dimensions == 3) {
    return tl::unexpected(invalid_program("there are no arrays of three-dimensional images",
                                          "leave layers out, or give width and height alone",
                                          pointer + "/layers"));
  }
  if (spec.texel_buffer && (dimensions != 1 || spec.layers)) {
    return tl::unexpected(invalid_program("a texel buffer has a width and nothing else",
                                          "leave texel_buffer out, or give one size and no layers",
                                          pointer + "/texel_buffer"));
  }
  ImageShape shape{.format = spec.format, .width = spec.size[0], .layers = spec.layers.value_or(1)};
  shape.height = dimensions > 1 ? spec.size[1] : 1;
  shape.depth = dimensions > 2 ? spec.size[2] : 1;
  shape.kind = dimensions == 3     ? ImageKind::image3d
               : dimensions == 2   ? (spec.layers ? ImageKind::image2d_array : ImageKind::image2d)
               : spec.layers       ? ImageKind::image1d_array
               : spec.texel_buffer ? ImageKind::image1d_buffer
                                   : ImageKind::image1d;
  if (is_depth(shape) && dimensions != 2) {
    return tl::unexpected(
        invalid_program(fmt::format("{} is a format of two-dimensional images", name(spec.format)),
                        "give width and height, or another format", pointer + "/format"));
  }
  return shape;
}

} // namespace tidegate::engine
