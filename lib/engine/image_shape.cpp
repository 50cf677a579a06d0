// Type names and size rules of OpenCL images.
#include "engine/job.hpp"

#include <fmt/format.h>

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

} // namespace tidegate::engine
