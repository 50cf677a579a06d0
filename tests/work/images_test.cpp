// Images: formats, shapes, and files: pictures, arrays and raw bytes.
#include "../npy_file.hpp"
#include "../temporary_folder.hpp"
#include "core/npy.hpp"
#include "work/contents.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/describe.hpp>

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using tidegate::test::npy_file;
using tidegate::test::TemporaryFolder;

namespace {

using Bytes = std::vector<std::byte>;
using Sizes = std::vector<std::uint64_t>;

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) {
    result.push_back(static_cast<std::byte>(value));
  }
  return result;
}

ImageFormat format(std::string_view wanted) {
  const auto found = std::ranges::find(image_format_names, wanted);
  REQUIRE_MESSAGE(found != image_format_names.end(), wanted);
  return static_cast<ImageFormat>(found - image_format_names.begin());
}

// "POINTER: MESSAGE; FIX".
std::string error_text(const Error& error) {
  CHECK((error.code == ErrorCode::bad_array || error.code == ErrorCode::invalid_program));
  return fmt::format("{}{}{}; {}", error.pointer.value_or(""), error.pointer ? ": " : "", error.message,
                     error.fix);
}
std::string refused_image(const auto& result) {
  return result ? "none" : error_text(result.error());
}

ProgramBuffer image(std::string_view name, std::uint64_t width, std::uint64_t height) {
  const auto shape = shape_of({.format = format(name), .size = {width, height}}, "");
  REQUIRE(shape);
  ProgramBuffer made{.name = "a", .pointer = "/a", .image = *shape};
  made.type = element_type(shape->format);
  made.count = width * height * elements_per_texel(shape->format);
  made.bytes = made.count * element_bytes(made.type);
  return made;
}

Picture picture(std::uint32_t channels, std::uint32_t bits, std::initializer_list<int> samples) {
  return {.width = 2, .height = 1, .channels = channels, .bits = bits, .samples = bytes(samples)};
}

} // namespace

TEST_CASE("formats are pairs that OpenCL has") {
  CHECK(std::set<std::string_view>(image_format_names.begin(), image_format_names.end()).size() ==
        image_format_names.size());
  for (const std::string_view unknown :
       {"rgb_unorm8", "bgra_float32", "depth_uint8", "srgba_float32", "r_unorm565", "intensity_uint8"}) {
    CHECK_MESSAGE(std::ranges::find(image_format_names, unknown) == image_format_names.end(), unknown);
  }
  for (const auto& [name, type, elements] :
       std::initializer_list<std::tuple<std::string_view, ElementType, std::uint32_t>>{
           {"rgba_unorm8", ElementType::u8, 4},
           {"r_snorm16", ElementType::i16, 1},
           {"rg_float16", ElementType::f16, 2},
           {"depth_unorm16", ElementType::u16, 1},
           {"rgb_unorm565", ElementType::u16, 1}}) { // a texel in one number
    CHECK(element_type(format(name)) == type);
    CHECK(elements_per_texel(format(name)) == elements);
  }
}

TEST_CASE("size, layers and format say what an image is, or that none is") {
  const std::string give_size =
      "; give width, height and depth, as many of them as the image has, or an init with a .png or .npy file";
  for (
      const auto& [stated, shape] : std::vector<std::array<std::string, 2>>{
          {R"("rgba_unorm8", "size": [5])", "image1d_t 5,4: rgba_unorm8 of 5"},
          {R"("r_float32", "size": [5], "texel_buffer": true)", "image1d_buffer_t 5: r_float32 of 5"},
          {R"("r_float32", "size": [5], "layers": 3)", "image1d_array_t 3,5: r_float32 of 5 in 3 layers"},
          {R"("rgba_unorm8", "size": [5, 4])", "image2d_t 4,5,4: rgba_unorm8 of 5 x 4"},
          {R"("r_float32", "size": [5, 4], "layers": 1)",
           "image2d_array_t 1,4,5: r_float32 of 5 x 4 in 1 layers"},
          {R"("r_float32", "size": [5, 4, 3])", "image3d_t 3,4,5: r_float32 of 5 x 4 x 3"},
          {R"("depth_float32", "size": [5, 4])", "image2d_depth_t 4,5: depth_float32 of 5 x 4"},
          {R"("r_float32")", "/size: the image has no size" + give_size},
          {R"("r_float32", "size": [1, 2, 3, 4])", "/size: a size of 4 numbers" + give_size},
          {R"("r_float32", "size": [4, 0])",
           "/size: the image has no texels; give a size and layers from 1 on"},
          {R"("r_float32", "size": [4], "layers": 0)",
           "/layers: the image has no texels; give a size and layers from 1 on"},
          {R"("r_float32", "size": [4, 4, 4], "layers": 2)",
           "/layers: there are no arrays of three-dimensional images; leave layers out, or give width and height alone"},
          {R"("r_float32", "size": [4, 4], "texel_buffer": true)",
           "/texel_buffer: a texel buffer has a width and nothing else; leave texel_buffer out, or give one size and no "
           "layers"},
          {R"("depth_float32", "size": [4])",
           "/format: depth_float32 is a format of two-dimensional images; give width and height, or another format"}}) {
    const auto program = documents::decode<WaveProgram>(
        R"({"buffers": {}, "ops": {}, "waves": [], "images": {"a": {"format": )" + stated + "}}}");
    REQUIRE_MESSAGE(program, describe(program.error()));
    const auto found = shape_of(program->images[0].second, "");
    CHECK((found ? fmt::format("{} {}: {}", type_name(*found), fmt::join(array_shape(*found), ","),
                               describe(*found))
                 : error_text(found.error())) == shape);
  }
}

TEST_CASE("channels of pictures and images") {
  const Picture grey = picture(1, 8, {10, 20});
  const Picture colours = picture(3, 8, {1, 2, 3, 4, 5, 6});
  const Picture with_alpha = picture(4, 8, {1, 2, 3, 4, 5, 6, 7, 8});
  const TemporaryFolder folder;
  const auto texels = [&folder](std::string_view name, const Picture& given) {
    folder.write("in.png", *png_file(given));
    return read_png(*image(name, 2, 1).image, folder.path() / "in.png");
  };
  for (const auto& [name, given, expected] :
       std::initializer_list<std::tuple<std::string_view, Picture, Bytes>>{
           {"r_unorm8", grey, bytes({10, 20})},
           {"rgba_unorm8", grey, bytes({10, 10, 10, 255, 20, 20, 20, 255})},
           {"rgba_uint8", picture(2, 8, {10, 1, 20, 2}), bytes({10, 10, 10, 1, 20, 20, 20, 2})},
           {"rgba_unorm8", colours, bytes({1, 2, 3, 255, 4, 5, 6, 255})},
           {"rgba_unorm8", with_alpha, bytes({1, 2, 3, 4, 5, 6, 7, 8})},
           {"bgra_unorm8", with_alpha, bytes({3, 2, 1, 4, 7, 6, 5, 8})},
           {"argb_unorm8", colours, bytes({255, 1, 2, 3, 255, 4, 5, 6})},
           {"r_unorm16", picture(1, 16, {1, 2, 3, 4}), bytes({1, 2, 3, 4})}}) {
    CHECK(texels(name, given) == expected);
  }
  CHECK(
      refused_image(texels("r_unorm8", colours)) ==
      "the picture has 3 channels of 8 bits, the image 1 of 8; give the image a format of four channels of 8 bits, or another file");
  CHECK(
      refused_image(texels("rgba_unorm16", colours)) ==
      "the picture has 4 channels of 8 bits, the image 4 of 16; give the image a format of four channels of 8 bits, or another file");
  for (const std::string_view name :
       {"r_unorm8", "rgba_unorm8", "bgra_unorm8", "argb_uint8", "rgba_unorm16"}) {
    const ProgramBuffer made = image(name, 3, 2);
    Bytes contents(made.bytes);
    std::ranges::generate(contents, [i = 0]() mutable { return static_cast<std::byte>(i++ * 29 + 1); });
    REQUIRE(write_png(*made.image, contents, folder.path() / "out.png"));
    CHECK_MESSAGE(read_png(*made.image, folder.path() / "out.png") == contents, name);
  }
}

TEST_CASE("arrays have the shape of the image, or one dimension; raw bytes are as many as it has") {
  const TemporaryFolder folder;
  const ProgramBuffer made = image("rgba_uint8", 3, 2);
  const auto loaded = [&](const std::string& file, bool convert = false) {
    return refused_image(initial_contents({.type = made.type,
                                           .count = made.count,
                                           .init = BufferInit{.file = file, .convert = convert},
                                           .shape = array_shape(*made.image)},
                                          folder.path()));
  };
  folder.write("rows.npy", npy_file(ElementType::u8, Sizes{2, 3, 4}, Bytes(24)));
  folder.write("flat.npy", npy_file(ElementType::u8, Sizes{24}, Bytes(24)));
  folder.write("turned.npy", npy_file(ElementType::u8, Sizes{3, 2, 4}, Bytes(24)));
  folder.write("floats.npy", npy_file(ElementType::f32, Sizes{2, 3, 4}, Bytes(96)));
  folder.write("24.raw", std::string(24, 'x'));
  for (const char* const file : {"rows.npy", "flat.npy", "24.raw"}) {
    CHECK_MESSAGE(loaded(file) == "none", file);
  }
  CHECK(
      loaded("turned.npy") ==
      "the array has the shape (3, 2, 4), and (2, 3, 4) is needed; state the shape or size of the array, or name "
      "another file");
  CHECK(loaded("floats.npy", true) == "none");
}

TEST_CASE("an image without a size has that of its file") {
  const TemporaryFolder folder;
  folder.write("in.png", *png_file(picture(1, 8, {1, 2})));
  folder.write("in.npy", npy_file(ElementType::u8, Sizes{2, 3, 4}, Bytes(24)));
  folder.write("in.raw", "1234");
  for (const auto& [name, file, layers, size] :
       std::vector<std::tuple<std::string_view, std::string, std::uint64_t, std::string>>{
           {"r_unorm8", "in.png", 0, "(2, 1)"},
           {"rgba_uint8", "in.npy", 0, "(3, 2)"},
           {"rgba_uint8", "in.npy", 2, "(3,)"},
           {"r_uint8", "in.npy", 0, "(4, 3, 2)"},
           {"r_uint8", "in.npy", 2, "(4, 3)"},
           {"r_uint8", "in.npy", 3, "(4, 3)"},  // 24 elements do not fit it
           {"rg_uint8", "in.npy", 0, "(3, 2)"}, // likewise
           {"r_uint8", "in.raw", 0,
            "raw bytes state no size; give the image a size, or name a .png or .npy file"}}) {
    const auto found =
        size_in_file({.format = format(name), .layers = layers == 0 ? std::nullopt : std::optional(layers)},
                     folder.file(file));
    CHECK((found ? shape_text(*found) : error_text(found.error())) == size);
  }
}

TEST_CASE("no PNG holds these") {
  const std::string holds =
      " of 3 x 2; PNG files hold two dimensions of unsigned 8 or 16 bits, in one channel or four: name an .npy file";
  for (const auto& [name, input, output, place] : std::vector<std::array<std::string, 4>>{
           {"rgba_unorm8", "in.png", "out.png", "none"},
           {"rgba_float32", "in.png", "out.npy",
            "/a/init/file: a PNG cannot hold the image \"a\", rgba_float32" + holds},
           {"rg_unorm8", "in.npy", "out.PNG",
            "/a/output: a PNG cannot hold the image \"a\", rg_unorm8" + holds},
           {"rg_float32", "in.raw", "out.raw", "none"}}) {
    CHECK(refused_image(check_image_files(image(name, 3, 2),
                                          {.init = BufferInit{.file = input}, .output = output})) == place);
  }
}
