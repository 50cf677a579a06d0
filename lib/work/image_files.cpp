// A PNG needs the bits and channels of the image; an array needs its element type and shape.
#include "core/files.hpp"
#include "core/npy.hpp"
#include "core/png.hpp"
#include "work/contents.hpp"
#include "work/program.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

// Extension with its dot, in lower case.
std::string ending(const std::string& path) {
  std::string text = std::filesystem::path(path).extension().string();
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return text;
}

bool named_png(const std::string& path) {
  return ending(path) == ".png";
}
bool named_npy(std::string_view path) {
  return path.ends_with(".npy");
}

// Channels of a texel that hold the samples of a picture: grey, grey and alpha, or red, green, blue and
// alpha. Empty for orders that PNG lacks.
std::vector<std::uint32_t> picture_channels(ChannelOrder order) {
  switch (order) {
  case ChannelOrder::r:
  case ChannelOrder::a:
  case ChannelOrder::intensity:
  case ChannelOrder::luminance:
  case ChannelOrder::depth: return {0};
  case ChannelOrder::ra: return {0, 1};
  case ChannelOrder::rgba:
  case ChannelOrder::srgba: return {0, 1, 2, 3};
  case ChannelOrder::bgra:
  case ChannelOrder::sbgra: return {2, 1, 0, 3};
  case ChannelOrder::argb: return {1, 2, 3, 0};
  case ChannelOrder::rg:
  case ChannelOrder::rgb: break;
  }
  return {};
}

bool fits_png(const ImageShape& shape) {
  const ChannelType type = row(shape.format).type;
  const bool samples = type == ChannelType::unorm8 || type == ChannelType::unorm16 ||
                       type == ChannelType::uint8 || type == ChannelType::uint16;
  constexpr std::uint64_t most = 1'000'000; // limit of libpng for width and height, in pixels
  return samples && shape.kind == ImageKind::image2d && shape.width <= most && shape.height <= most &&
         !picture_channels(row(shape.format).order).empty();
}

tl::unexpected<Error> bad_image(std::string message, std::string fix) {
  return failure(ErrorCode::bad_array, std::move(message), std::move(fix));
}

tl::unexpected<Error> wrong_size(const ProgramBuffer& image, const std::string& found) {
  return bad_image(fmt::format("the file holds {}, {} takes {}", found, describe(*image.image), image.bytes),
                   "give the image the size and format of the file, or another file");
}

// Reading stops at `most`: a larger file is wrong, whatever its size.
Result<std::string> read_file(const ProgramBuffer& image, const std::string& path, std::size_t most) {
  auto file = read_all(path, most);
  if (!file && file.error().code == ErrorCode::input_too_large) {
    return wrong_size(image, fmt::format("more than {} bytes", most));
  }
  return file;
}

// Reorders the samples of a picture to the image's channels. Grey fills all colours; missing alpha is opaque.
Result<std::vector<std::byte>> texels_of(const Picture& picture, const ImageShape& shape) {
  const auto channels = picture_channels(row(shape.format).order);
  const std::size_t size = element_bytes(element_type(shape.format));
  if (picture.bits != 8 * size) {
    return bad_image(
        fmt::format("the picture has {} bits a sample, {} has {}", picture.bits, name(shape.format),
                    8 * size),
        fmt::format("give the image a format of {} bits a channel, or another file", picture.bits));
  }
  if (picture.channels > channels.size()) {
    return bad_image(fmt::format("the picture has {} channels, {} has {}", picture.channels,
                                 name(shape.format), channels.size()),
                     "give the image a format of four channels, or another file");
  }
  const bool has_alpha = picture.channels % 2 == 0;
  const std::size_t colours = picture.channels - (has_alpha ? 1 : 0);
  std::vector<std::byte> texels(std::size_t{picture.width} * picture.height * channels.size() * size,
                                std::byte{0xff});
  const std::byte* from = picture.samples.data();
  for (std::byte* to = texels.data(); to != texels.data() + texels.size(); to += channels.size() * size) {
    for (std::size_t i = 0; i < channels.size(); ++i) {
      const bool alpha = channels.size() % 2 == 0 && i + 1 == channels.size();
      if (alpha && !has_alpha) {
        continue;
      }
      const std::size_t sample = alpha ? colours : std::min(i, colours - 1);
      std::memcpy(to + channels[i] * size, from + sample * size, size);
    }
    from += picture.channels * size;
  }
  return texels;
}

Picture picture_of(const ImageShape& shape, std::span<const std::byte> texels) {
  const auto channels = picture_channels(row(shape.format).order);
  const std::size_t size = element_bytes(element_type(shape.format));
  Picture picture{.width = static_cast<std::uint32_t>(shape.width),
                  .height = static_cast<std::uint32_t>(shape.height),
                  .channels = static_cast<std::uint32_t>(channels.size()),
                  .bits = static_cast<std::uint32_t>(8 * size)};
  picture.samples.resize(texels.size());
  for (std::size_t texel = 0; texel < texels.size(); texel += channels.size() * size) {
    for (std::size_t i = 0; i < channels.size(); ++i) {
      std::memcpy(&picture.samples[texel + i * size], &texels[texel + channels[i] * size], size);
    }
  }
  return picture;
}

Result<std::vector<std::byte>> read_png(const ProgramBuffer& image, const std::string& path) {
  // A PNG is smaller than its samples, apart from its metadata.
  constexpr std::size_t room = std::size_t{64} << 20U;
  TIDEGATE_TRY(const std::string file, read_file(image, path, image.bytes * 2 + room));
  TIDEGATE_TRY(const Picture picture, parse_png(file, static_cast<std::uint32_t>(image.image->width),
                                                static_cast<std::uint32_t>(image.image->height)));
  return texels_of(picture, *image.image);
}

// Accepts a flat array or one of the image's shape; a transposed array has the same count but is wrong.
Result<void> check_array(const NpyArray& array, const ProgramBuffer& image) {
  if (array.type != image.type) {
    return bad_image(fmt::format("the array holds {}, the channels of {} are {}", name(array.type),
                                 name(image.image->format), name(image.type)),
                     "give the image a format of such channels, or convert the array");
  }
  const auto shape = array_shape(*image.image);
  if (array.shape == shape || array.shape == std::vector<std::uint64_t>{image.count}) {
    return {};
  }
  return bad_image(fmt::format("the array has the shape {}, the image {}", shortened(shape_text(array.shape)),
                               shape_text(shape)),
                   "give an array of the image's shape: layers or depth, height, width, channels");
}

Result<std::vector<std::byte>> read_npy(const ProgramBuffer& image, const std::string& path) {
  constexpr std::size_t header_room = std::size_t{1} << 20U;
  TIDEGATE_TRY(const std::string file, read_file(image, path, image.bytes + header_room));
  TIDEGATE_TRY(NpyArray array, parse_npy(file));
  TIDEGATE_CHECK(check_array(array, image));
  return std::move(array.bytes);
}

Result<std::vector<std::byte>> read_raw(const ProgramBuffer& image, const std::string& path) {
  TIDEGATE_TRY(const std::string file, read_file(image, path, image.bytes));
  if (file.size() != image.bytes) {
    return wrong_size(image, plural(file.size(), "byte"));
  }
  const auto bytes = std::as_bytes(std::span(file));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<void> check_file(const ProgramBuffer& image, const std::string& file, std::string pointer) {
  if (named_png(file) && !fits_png(*image.image)) {
    return invalid_program(
        fmt::format("a PNG cannot hold the image {}, {}", in_quotes(image.name), describe(*image.image)),
        "PNG files hold two dimensions of unsigned 8 or 16 bits, in one channel or four: name an .npy file",
        std::move(pointer));
  }
  return {};
}

} // namespace

Result<void> check_image_files(const ProgramBuffer& image, const BufferSpec& spec) {
  if (spec.init && spec.init->tensor) {
    return invalid_program("tensors are for buffers", "leave it out, or make this a buffer",
                           image.pointer + "/init/tensor");
  }
  if (spec.init && spec.init->file) {
    TIDEGATE_CHECK(check_file(image, *spec.init->file, image.pointer + "/init/file"));
  }
  return spec.output ? check_file(image, *spec.output, image.pointer + "/output") : Result<void>();
}

namespace {

Result<std::vector<std::uint64_t>> stated_size(const ImageSpec& image, const std::string& path) {
  TIDEGATE_TRY(const std::string file, read_all(path, documents::document_bytes_limit));
  if (named_png(path)) {
    TIDEGATE_TRY(const auto size, png_size(file));
    return std::vector<std::uint64_t>(size.begin(), size.end());
  }
  if (!named_npy(path)) {
    return bad_image("raw bytes state no size", "give the image a size, or name a .png or .npy file");
  }
  TIDEGATE_TRY(const NpyArray array, parse_npy(file));
  std::vector<std::uint64_t> size(array.shape.rbegin(), array.shape.rend());
  if (const std::uint32_t channels = elements_per_texel(image.format); channels > 1) {
    if (size.empty() || size.front() != channels) {
      return bad_image(fmt::format("the array has the shape {}, and a texel of {} has {}",
                                   shortened(shape_text(array.shape)), name(image.format),
                                   plural(channels, "channel")),
                       "give an array whose last dimension is the channels, or the image a size");
    }
    size.erase(size.begin());
  }
  if (image.layers && (size.empty() || size.back() != *image.layers)) {
    return bad_image(fmt::format("the array has the shape {}, the image {}",
                                 shortened(shape_text(array.shape)), plural(*image.layers, "layer")),
                     "give an array whose first dimension is the layers, or the image a size");
  }
  if (image.layers) {
    size.pop_back();
  }
  return size;
}

// Gives an error of a file's contents the file.
template <class T>
Result<T> in_image_file(const std::string& path, Result<T> result) {
  if (!result && result.error().code == ErrorCode::bad_array) {
    result.error().source = path;
  }
  return result;
}

} // namespace

Result<std::vector<std::uint64_t>> size_in_file(const ImageSpec& image, const std::string& path) {
  return in_image_file(path, stated_size(image, path));
}

Result<std::vector<std::byte>> read_image(const ProgramBuffer& image, const std::string& path) {
  return in_image_file(path, named_png(path)   ? read_png(image, path)
                             : named_npy(path) ? read_npy(image, path)
                                               : read_raw(image, path));
}

Result<void> write_image(const ProgramBuffer& image, std::span<const std::byte> contents,
                         const std::string& path) {
  std::string head;
  std::string_view data(reinterpret_cast<const char*>(contents.data()), contents.size());
  if (named_png(path)) {
    TIDEGATE_TRY(head, png_file(picture_of(*image.image, contents)));
    data = {};
  } else if (named_npy(path)) {
    head = npy_header(image.type, array_shape(*image.image));
  }
  TIDEGATE_TRY(Output file, Output::open(path, FileKinds::no_named_pipes));
  TIDEGATE_CHECK(file.write(head));
  TIDEGATE_CHECK(file.write(data));
  return file.commit();
}

} // namespace tidegate::engine
