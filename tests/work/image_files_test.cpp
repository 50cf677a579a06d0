// Images in files: pictures, arrays, and refusals.
#include "../npy_file.hpp"
#include "../temporary_folder.hpp"
#include "core/npy.hpp"
#include "work/contents.hpp"
#include "work/resolve.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using tidegate::test::npy_file;
using tidegate::test::TemporaryFolder;

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) {
    result.push_back(static_cast<std::byte>(value));
  }
  return result;
}

ProgramBuffer image(std::string_view format, std::uint64_t width, std::uint64_t height) {
  const auto row = std::ranges::find(image_format_names, format) - image_format_names.begin();
  const auto shape =
      shape_of({.format = static_cast<ImageFormat>(row), .size = {width, height}}, "/images/a");
  REQUIRE(shape);
  ProgramBuffer made{.name = "a", .pointer = "/images/a", .image = *shape};
  made.type = element_type(shape->format);
  made.count = width * height * elements_per_texel(shape->format);
  made.bytes = made.count * element_bytes(made.type);
  return made;
}

Picture picture(std::uint32_t channels, std::uint32_t bits, Bytes samples) {
  return {.width = 2, .height = 1, .channels = channels, .bits = bits, .samples = std::move(samples)};
}

// The texels that an image of 2 x 1 gets from the picture, or the error.
Result<Bytes> texels(std::string_view format, const Picture& given) {
  const TemporaryFolder folder;
  const auto file = png_file(given);
  REQUIRE(file);
  folder.write("in.png", *file);
  return read_png(*image(format, 2, 1).image, folder.path() / "in.png");
}

// Files of images that are no PNG.
BufferSpec as_buffer(const ProgramBuffer& image, const std::string& file) {
  return {.type = image.type,
          .count = image.count,
          .init = BufferInit{.file = file},
          .shape = array_shape(*image.image)};
}

std::string refused_image(const auto& result) {
  return result ? "none"
                : fmt::format("{}: {}; {}", name(result.error().code), result.error().message,
                              result.error().fix);
}

} // namespace

TEST_CASE("channels of pictures and images") {
  const Picture grey = picture(1, 8, bytes({10, 20}));
  const Picture colours = picture(3, 8, bytes({1, 2, 3, 4, 5, 6}));
  const Picture with_alpha = picture(4, 8, bytes({1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(*texels("r_unorm8", grey) == bytes({10, 20}));
  CHECK(*texels("rgba_unorm8", grey) == bytes({10, 10, 10, 255, 20, 20, 20, 255}));
  CHECK(*texels("rgba_uint8", picture(2, 8, bytes({10, 1, 20, 2}))) == bytes({10, 10, 10, 1, 20, 20, 20, 2}));
  CHECK(*texels("rgba_unorm8", colours) == bytes({1, 2, 3, 255, 4, 5, 6, 255}));
  CHECK(*texels("rgba_unorm8", with_alpha) == bytes({1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(*texels("bgra_unorm8", with_alpha) == bytes({3, 2, 1, 4, 7, 6, 5, 8}));
  CHECK(*texels("argb_unorm8", colours) == bytes({255, 1, 2, 3, 255, 4, 5, 6}));
  CHECK(*texels("r_unorm16", picture(1, 16, bytes({1, 2, 3, 4}))) == bytes({1, 2, 3, 4}));
  CHECK(refused_image(texels("r_unorm8", colours)) ==
        "bad_array: the picture has 3 channels, r_unorm8 has 1; give the image a format of four channels, or "
        "another file");
  CHECK(
      refused_image(texels("rgba_unorm16", colours)) ==
      "bad_array: the picture has 8 bits a sample, rgba_unorm16 has 16; give the image a format of 8 bits a "
      "channel, or another file");
}

TEST_CASE("a picture that is written can be read again") {
  const TemporaryFolder folder;
  for (const std::string_view format :
       {"r_unorm8", "rgba_unorm8", "bgra_unorm8", "argb_uint8", "rgba_unorm16"}) {
    const ProgramBuffer made = image(format, 3, 2);
    Bytes contents(made.bytes);
    for (std::size_t i = 0; i < contents.size(); ++i) {
      contents[i] = static_cast<std::byte>(i * 29 + 1);
    }
    REQUIRE(write_png(*made.image, contents, folder.path() / "out.png"));
    const auto found = read_png(*made.image, folder.path() / "out.png");
    REQUIRE_MESSAGE(found, refused_image(found));
    CHECK(*found == contents);
  }
}

TEST_CASE("arrays have the shape of the image, or one dimension; raw bytes are as many as it has") {
  const TemporaryFolder folder;
  const ProgramBuffer made = image("rgba_uint8", 3, 2);
  const auto with_shape = [&](const std::vector<std::uint64_t>& shape) {
    folder.write("in.npy", npy_file(ElementType::u8, shape, Bytes(24)));
    return refused_image(initial_contents(as_buffer(made, "in.npy"), folder.path()));
  };
  CHECK(with_shape({2, 3, 4}) == "none");
  CHECK(with_shape({24}) == "none");
  CHECK(
      with_shape({3, 2, 4}) ==
      "bad_array: the array has the shape (3, 2, 4), and (2, 3, 4) is needed; state the shape or size of the "
      "array, or name another file");
  folder.write("in.npy", npy_file(ElementType::f32, std::vector<std::uint64_t>{2, 3, 4}, Bytes(96)));
  BufferSpec other = as_buffer(made, "in.npy");
  CHECK(
      refused_image(initial_contents(other, folder.path())) ==
      "bad_array: the array holds f32, and u8 is needed; state a type or format of f32, or say \"convert\": "
      "true");
  other.init->convert = true;
  CHECK(refused_image(initial_contents(other, folder.path())) == "none");
  const auto with_bytes = [&](std::size_t count) {
    folder.write("in.raw", std::string(count, 'x'));
    return refused_image(initial_contents(as_buffer(made, "in.raw"), folder.path()));
  };
  CHECK(with_bytes(24) == "none");
  CHECK(with_bytes(23) ==
        "bad_array: the file holds 23 bytes, 24 elements of u8 are 24; state the count or size "
        "of the file, or name another file");
}

TEST_CASE("an image without a size has that of its file") {
  const TemporaryFolder folder;
  folder.write("in.png", *png_file(picture(1, 8, bytes({1, 2}))));
  folder.write("in.npy", npy_file(ElementType::u8, std::vector<std::uint64_t>{2, 3, 4}, Bytes(24)));
  folder.write("in.raw", "1234");
  const auto size = [&](std::string_view format, const char* file, std::optional<std::uint64_t> layers = {}) {
    const auto row = std::ranges::find(image_format_names, format) - image_format_names.begin();
    const auto found = size_in_file({.format = static_cast<ImageFormat>(row), .layers = layers},
                                    (folder.path() / file).string());
    return found ? shape_text(*found) : found.error().message + "; " + found.error().fix;
  };
  CHECK(size("r_unorm8", "in.png") == "(2, 1)");
  CHECK(size("rgba_uint8", "in.npy") == "(3, 2)");
  CHECK(size("rgba_uint8", "in.npy", 2) == "(3,)");
  CHECK(size("r_uint8", "in.npy") == "(4, 3, 2)");
  CHECK(size("r_uint8", "in.npy", 2) == "(4, 3)");
  CHECK(size("r_uint8", "in.npy", 3) ==
        "the array has the shape (2, 3, 4), the image 3 layers; give an array whose "
        "first dimension is the layers, or the image a size");
  CHECK(size("rg_uint8", "in.npy") ==
        "the array has the shape (2, 3, 4), and a texel of rg_uint8 has 2 channels; give an array whose last "
        "dimension is the channels, or the image a size");
  CHECK(size("r_uint8", "in.raw") ==
        "raw bytes state no size; give the image a size, or name a .png or .npy file");
}

TEST_CASE("no PNG holds these") {
  const auto checked = [](std::string_view format, bool from_file, const std::string& end = ".png") {
    BufferSpec files;
    if (from_file) {
      files.init = BufferInit{.file = "in" + end};
    } else {
      files.output = "out" + end;
    }
    const auto found = check_image_files(image(format, 3, 2), files);
    return found ? std::string("none") : *found.error().pointer + " " + refused_image(found);
  };
  CHECK(checked("rgba_unorm8", true) == "none");
  CHECK(checked("rgba_float32", true) ==
        "/images/a/init/file invalid_program: a PNG cannot hold the image \"a\", rgba_float32 of 3 x 2; PNG "
        "files "
        "hold two dimensions of unsigned 8 or 16 bits, in one channel or four: name an .npy file");
  CHECK(checked("rg_unorm8", false).starts_with("/images/a/output invalid_program: a PNG cannot hold"));
  CHECK(
      checked("rg_unorm8", false, ".PNG").starts_with("/images/a/output invalid_program: a PNG cannot hold"));
  CHECK(checked("rg_float32", false, ".raw") == "none");
}
