// Images in PNG files, which need their bits and channels, and the sizes that files state. Other files of images are
// those of buffers of the image's shape (contents.cpp).
#include "core/files.hpp"
#include "core/npy.hpp"
#include "work/contents.hpp"
#include "work/program.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

// By ChannelOrder: channels of a texel that hold the samples of a picture: grey, grey and alpha, or red, green, blue
// and alpha. Empty for orders that PNG lacks.
constexpr std::array<std::string_view, 13> picture_orders{"0", "0", "",  "01",   "0123", "2103", "1230",
                                                          "0", "0", "0", "0123", "2103", ""};

// The form of an image's samples.
struct Samples {
  std::string_view order;
  std::size_t bytes; // of a sample

  explicit Samples(const ImageShape& shape)
      : order(picture_orders[static_cast<std::size_t>(row(shape.format).order)]),
        bytes(element_bytes(element_type(shape.format))) {}

  [[nodiscard]] std::size_t texel() const { return order.size() * bytes; }
  // Where a texel has the sample.
  [[nodiscard]] std::size_t place(std::size_t sample) const {
    return static_cast<std::size_t>(order[sample] - '0') * bytes;
  }
};

bool fits_png(const ImageShape& shape) {
  const ChannelType type = row(shape.format).type;
  const bool samples = type == ChannelType::unorm8 || type == ChannelType::unorm16 ||
                       type == ChannelType::uint8 || type == ChannelType::uint16;
  constexpr std::uint64_t most = 1'000'000; // limit of libpng for width and height, in pixels
  return samples && shape.kind == ImageKind::image2d && shape.width <= most && shape.height <= most &&
         !Samples(shape).order.empty();
}

tl::unexpected<Error> bad_image(std::string message, std::string fix) {
  return failure(ErrorCode::bad_array, std::move(message), std::move(fix));
}

template <class T>
Result<T> in_image_file(const std::string& path, Result<T> result) {
  if (!result && result.error().code == ErrorCode::bad_array) {
    result.error().source = path;
  }
  return result;
}

// Reorders the samples of a picture to the image's channels. Grey fills all colours; missing alpha is opaque.
Result<std::vector<std::byte>> texels_of(const Picture& picture, const ImageShape& shape) {
  const Samples samples(shape);
  const std::size_t channels = samples.order.size();
  if (picture.bits != 8 * samples.bytes) {
    return bad_image(
        fmt::format("the picture has {} bits a sample, {} has {}", picture.bits, name(shape.format),
                    8 * samples.bytes),
        fmt::format("give the image a format of {} bits a channel, or another file", picture.bits));
  }
  if (picture.channels > channels) {
    return bad_image(
        fmt::format("the picture has {} channels, {} has {}", picture.channels, name(shape.format), channels),
        "give the image a format of four channels, or another file");
  }
  const bool has_alpha = picture.channels % 2 == 0;
  const std::size_t colours = picture.channels - (has_alpha ? 1 : 0);
  std::vector<std::byte> texels(std::size_t{picture.width} * picture.height * samples.texel(),
                                std::byte{0xff});
  const std::byte* from = picture.samples.data();
  for (std::size_t at = 0; at < texels.size();
       at += samples.texel(), from += picture.channels * samples.bytes) {
    for (std::size_t i = 0; i < channels; ++i) {
      const bool alpha = channels % 2 == 0 && i + 1 == channels;
      if (!alpha || has_alpha) {
        const std::size_t sample = alpha ? colours : std::min(i, colours - 1);
        std::memcpy(&texels[at + samples.place(i)], from + sample * samples.bytes, samples.bytes);
      }
    }
  }
  return texels;
}

Picture picture_of(const ImageShape& shape, std::span<const std::byte> texels) {
  const Samples samples(shape);
  Picture picture{.width = static_cast<std::uint32_t>(shape.width),
                  .height = static_cast<std::uint32_t>(shape.height),
                  .channels = static_cast<std::uint32_t>(samples.order.size()),
                  .bits = static_cast<std::uint32_t>(8 * samples.bytes)};
  picture.samples.resize(texels.size());
  for (std::size_t texel = 0; texel < texels.size(); texel += samples.texel()) {
    for (std::size_t i = 0; i < samples.order.size(); ++i) {
      std::memcpy(&picture.samples[texel + i * samples.bytes], &texels[texel + samples.place(i)],
                  samples.bytes);
    }
  }
  return picture;
}

} // namespace

bool is_png(const std::string& path) {
  constexpr std::string_view png = ".png";
  return std::ranges::equal(std::filesystem::path(path).extension().string(), png, [](char a, char b) {
    return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
  });
}

Result<void> check_image_files(const ProgramBuffer& image, const BufferSpec& spec) {
  if (spec.init && spec.init->tensor) {
    return invalid_program("tensors are for buffers", "leave it out, or make this a buffer",
                           image.pointer + "/init/tensor");
  }
  const std::optional<std::string>& input = spec.init ? spec.init->file : std::nullopt;
  for (const auto& [file, place] : {std::pair(input, "/init/file"), std::pair(spec.output, "/output")}) {
    if (file && is_png(*file) && !fits_png(*image.image)) {
      return invalid_program(
          fmt::format("a PNG cannot hold the image {}, {}", in_quotes(image.name), describe(*image.image)),
          "PNG files hold two dimensions of unsigned 8 or 16 bits, in one channel or four: name an .npy file",
          image.pointer + place);
    }
  }
  return {};
}

namespace {

Result<std::vector<std::uint64_t>> stated_size(const ImageSpec& image, const std::string& path) {
  if (is_png(path)) {
    TIDEGATE_TRY(const std::string file, read_all(path, documents::document_bytes_limit));
    return png_size(file).map(
        [](const auto& size) { return std::vector<std::uint64_t>(size.begin(), size.end()); });
  }
  if (!path.ends_with(".npy")) {
    return bad_image("raw bytes state no size", "give the image a size, or name a .png or .npy file");
  }
  TIDEGATE_TRY(const auto shape, shape_in_file({.init = BufferInit{.file = path}}, path));
  std::vector<std::uint64_t> size(shape.rbegin(), shape.rend());
  const std::uint32_t channels = elements_per_texel(image.format);
  if (channels > 1 && size.front() != channels) {
    return bad_image(fmt::format("the array has the shape {}, and a texel of {} has {}",
                                 shortened(shape_text(shape)), name(image.format),
                                 plural(channels, "channel")),
                     "give an array whose last dimension is the channels, or the image a size");
  }
  size.erase(size.begin(), size.begin() + (channels > 1 ? 1 : 0));
  if (image.layers && (size.empty() || size.back() != *image.layers)) {
    return bad_image(fmt::format("the array has the shape {}, the image {}", shortened(shape_text(shape)),
                                 plural(*image.layers, "layer")),
                     "give an array whose first dimension is the layers, or the image a size");
  }
  size.resize(size.size() - (image.layers ? 1 : 0));
  return size;
}

} // namespace

Result<std::vector<std::uint64_t>> size_in_file(const ImageSpec& image, const std::string& path) {
  return in_image_file(path, stated_size(image, path));
}

Result<std::vector<std::byte>> read_png(const ImageShape& shape, const std::string& path) {
  // A PNG is smaller than its samples, apart from its metadata.
  constexpr std::size_t room = std::size_t{64} << 20U;
  const std::size_t bytes = shape.width * shape.height * Samples(shape).texel();
  TIDEGATE_TRY(const std::string file, read_all(path, bytes * 2 + room));
  const auto [width, height] =
      std::pair(static_cast<std::uint32_t>(shape.width), static_cast<std::uint32_t>(shape.height));
  return in_image_file(path, parse_png(file, width, height).and_then([&](const Picture& picture) {
    return texels_of(picture, shape);
  }));
}

Result<void> write_png(const ImageShape& shape, std::span<const std::byte> contents,
                       const std::string& path) {
  TIDEGATE_TRY(const std::string picture, png_file(picture_of(shape, contents)));
  TIDEGATE_TRY(Output file, Output::open(path, FileKinds::no_named_pipes));
  return file.write(picture).and_then([&] { return file.commit(); });
}

} // namespace tidegate::engine
