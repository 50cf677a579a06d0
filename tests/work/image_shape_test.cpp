// Image formats, and the shapes that size, layers and format determine.
#include "engine/job.hpp"
#include "work/resolve.hpp"

using namespace tidegate;
using namespace tidegate::engine;

namespace {

using Shape = std::vector<std::uint64_t>;

ImageFormat format(std::string_view wanted) {
  const auto found = std::ranges::find(image_format_names, wanted);
  REQUIRE_MESSAGE(found != image_format_names.end(), wanted);
  return static_cast<ImageFormat>(found - image_format_names.begin());
}

// "TYPE SHAPE", or the error.
std::string shape(const ImageSpec& spec) {
  const auto found = shape_of(spec, "/images/a");
  if (!found) {
    return fmt::format("{} {}: {}; {}", name(found.error().code), found.error().pointer.value_or("-"),
                       found.error().message, found.error().fix);
  }
  return fmt::format("{} {}: {}", type_name(*found), fmt::join(array_shape(*found), ","), describe(*found));
}

} // namespace

TEST_CASE("formats are pairs that OpenCL has") {
  CHECK(std::set<std::string_view>(image_format_names.begin(), image_format_names.end()).size() ==
        image_format_names.size());
  for (const std::string_view unknown :
       {"rgb_unorm8", "bgra_float32", "depth_uint8", "srgba_float32", "r_unorm565", "intensity_uint8"}) {
    CHECK_MESSAGE(std::ranges::find(image_format_names, unknown) == image_format_names.end(), unknown);
  }
  CHECK(element_type(format("rgba_unorm8")) == ElementType::u8);
  CHECK(element_type(format("r_snorm16")) == ElementType::i16);
  CHECK(element_type(format("rg_float16")) == ElementType::f16);
  CHECK(elements_per_texel(format("rgba_unorm8")) == 4);
  CHECK(elements_per_texel(format("depth_unorm16")) == 1);
  CHECK(element_type(format("rgb_unorm565")) == ElementType::u16); // a texel in one number
  CHECK(elements_per_texel(format("rgb_unorm565")) == 1);
}

TEST_CASE("kinds of images") {
  const ImageFormat rgba = format("rgba_unorm8");
  const ImageFormat r = format("r_float32");
  CHECK(shape({.format = rgba, .size = {5}}) == "image1d_t 5,4: rgba_unorm8 of 5");
  CHECK(shape({.format = r, .size = {5}, .texel_buffer = true}) == "image1d_buffer_t 5: r_float32 of 5");
  CHECK(shape({.format = r, .size = {5}, .layers = 3}) == "image1d_array_t 3,5: r_float32 of 5 in 3 layers");
  CHECK(shape({.format = rgba, .size = {5, 4}}) == "image2d_t 4,5,4: rgba_unorm8 of 5 x 4");
  CHECK(shape({.format = r, .size = {5, 4}, .layers = 1}) ==
        "image2d_array_t 1,4,5: r_float32 of 5 x 4 in 1 layers");
  CHECK(shape({.format = r, .size = {5, 4, 3}}) == "image3d_t 3,4,5: r_float32 of 5 x 4 x 3");
  CHECK(shape({.format = format("depth_float32"), .size = {5, 4}}) ==
        "image2d_depth_t 4,5: depth_float32 of 5 x 4");
}

TEST_CASE("what no image can be") {
  const ImageFormat r = format("r_float32");
  CHECK(
      shape({.format = r}) ==
      "invalid_program /images/a/size: the image has no size; give width, height and depth, as many of them as the "
      "image has, or an init with a .png or .npy file");
  CHECK(
      shape({.format = r, .size = {1, 2, 3, 4}}).starts_with("invalid_program /images/a/size: a size of 4"));
  CHECK(shape({.format = r, .size = {4, 0}}) ==
        "invalid_program /images/a/size: the image has no texels; give a "
        "size and layers from 1 on");
  CHECK(shape({.format = r, .size = {4}, .layers = 0}).starts_with("invalid_program /images/a/layers: "));
  CHECK(shape({.format = r, .size = {4, 4, 4}, .layers = 2}) ==
        "invalid_program /images/a/layers: there are no arrays of three-dimensional images; leave layers "
        "out, or "
        "give width and height alone");
  CHECK(shape({.format = r, .size = {4, 4}, .texel_buffer = true}) ==
        "invalid_program /images/a/texel_buffer: a texel buffer has a width and nothing else; leave "
        "texel_buffer "
        "out, or give one size and no layers");
  CHECK(
      shape({.format = format("depth_float32"), .size = {4}}) ==
      "invalid_program /images/a/format: depth_float32 is a format of two-dimensional images; give width and "
      "height, or another format");
}
