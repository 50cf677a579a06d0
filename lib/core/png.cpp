// libpng reports errors by longjmp, which skips destructors: what succeed() calls owns nothing. The message is in the Stream.
#include "core/npy.hpp"

#include <png.h>

#include <csetjmp>

namespace tidegate {
namespace {

struct Stream {
  std::string_view input; // the unread bytes
  std::string* output = nullptr;
  std::array<char, 128> message{};
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto& stream = *static_cast<Stream*>(png_get_error_ptr(png));
  std::strncpy(stream.message.data(), message, stream.message.size() - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, std::size_t size) {
  auto& stream = *static_cast<Stream*>(png_get_io_ptr(png));
  if (stream.input.size() < size) {
    png_error(png, "the file ends too early");
  }
  std::memcpy(to, stream.input.data(), size);
  stream.input.remove_prefix(size);
}

void write_bytes(png_structp png, png_bytep from, std::size_t size) {
  static_cast<Stream*>(png_get_io_ptr(png))->output->append(reinterpret_cast<const char*>(from), size);
}

void flush_bytes(png_structp) {}

// A libpng structure with its info, for reading or writing.
struct Png : NotCopied {
  Png(bool for_writing, Stream& stream)
      : writes(for_writing),
        png(writes ? png_create_write_struct(PNG_LIBPNG_VER_STRING, &stream, on_error, on_warning)
                   : png_create_read_struct(PNG_LIBPNG_VER_STRING, &stream, on_error, on_warning)),
        info(png == nullptr ? nullptr : png_create_info_struct(png)) {}
  ~Png() {
    if (writes) {
      png_destroy_write_struct(&png, &info);
    } else {
      png_destroy_read_struct(&png, &info, nullptr);
    }
  }

  bool writes;
  png_structp png;
  png_infop info;
};

// Makes calls of libpng; returns false on an error.
bool succeed(const Png& png, auto calls) {
  if (setjmp(png_jmpbuf(png.png)) != 0) { // NOLINT(cert-err52-cpp): libpng's way
    return false;
  }
  calls();
  return true;
}

bool read_header(const Png& reader, Stream& stream) {
  return reader.info != nullptr && succeed(reader, [&] {
           png_set_read_fn(reader.png, &stream, read_bytes);
           png_read_info(reader.png, reader.info);
         });
}

// Makes libpng exchange samples, which a file has as red, green, blue and alpha, with the first byte the highest.
void reorder(const Png& png, const Picture& form) {
  if (form.blue_first) {
    png_set_bgr(png.png);
  }
  if (form.alpha_first) {
    png_set_swap_alpha(png.png);
  }
  if (std::endian::native == std::endian::little) {
    png_set_swap(png.png);
  }
}

// Makes libpng expand palettes, low bit depths and interlacing, and add the colours and the alpha of the form.
void expand(const Png& reader, const Picture& form) {
  png_set_expand(reader.png);
  if (form.channels > 2) {
    png_set_gray_to_rgb(reader.png);
  }
  if (form.channels != 0 && form.channels % 2 == 0) {
    // reorder() moves the alpha of the file alone.
    png_set_add_alpha(reader.png, 0xffff, form.alpha_first ? PNG_FILLER_BEFORE : PNG_FILLER_AFTER);
  }
  reorder(reader, form);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
}

void write_picture(const Png& writer, Stream& stream, const Picture& picture, png_bytepp rows) {
  constexpr std::array<int, 5> types{0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                     PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_write_fn(writer.png, &stream, write_bytes, flush_bytes);
  png_set_IHDR(writer.png, writer.info, picture.width, picture.height, static_cast<int>(picture.bits),
               types[picture.channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writer.png, writer.info);
  reorder(writer, picture);
  png_write_image(writer.png, rows);
  png_write_end(writer.png, nullptr);
}

std::vector<png_bytep> rows_of(Picture& picture) {
  const std::size_t row_bytes = std::size_t{picture.width} * picture.channels * picture.bits / 8;
  std::vector<png_bytep> rows(picture.height);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    rows[row] = reinterpret_cast<png_bytep>(picture.samples.data()) + row * row_bytes;
  }
  return rows;
}

Error bad_picture(std::string message, std::string fix) {
  return {.code = ErrorCode::bad_array, .message = std::move(message), .fix = std::move(fix)};
}

Error not_a_png(const Stream& stream) {
  return bad_picture(fmt::format("not a valid PNG file: {}", stream.message.data()),
                     "write the picture again");
}

} // namespace

Result<Picture> parse_png(std::string_view file, std::uint32_t width, std::uint32_t height,
                          const Picture& form) {
  Stream stream{.input = file};
  const Png reader(false, stream);
  if (!read_header(reader, stream)) {
    return tl::unexpected(not_a_png(stream));
  }
  Picture picture{.width = png_get_image_width(reader.png, reader.info),
                  .height = png_get_image_height(reader.png, reader.info)};
  if (picture.width != width || picture.height != height) {
    return tl::unexpected(bad_picture(
        fmt::format("the picture has {} x {} pixels, the image {} x {}", picture.width, picture.height, width,
                    height),
        fmt::format("give the image the size [{}, {}], or another file", picture.width, picture.height)));
  }
  if (!succeed(reader, [&] { expand(reader, form); })) {
    return tl::unexpected(not_a_png(stream));
  }
  picture.channels = png_get_channels(reader.png, reader.info);
  picture.bits = png_get_bit_depth(reader.png, reader.info);
  if (form.channels != 0 && (picture.channels != form.channels || picture.bits != form.bits)) {
    return tl::unexpected(bad_picture(
        fmt::format("the picture has {} of {} bits, the image {} of {}", plural(picture.channels, "channel"),
                    picture.bits, form.channels, form.bits),
        fmt::format("give the image a format of four channels of {} bits, or another file", picture.bits)));
  }
  picture.samples.resize(std::size_t{picture.height} * png_get_rowbytes(reader.png, reader.info));
  std::vector<png_bytep> rows = rows_of(picture);
  if (!succeed(reader, [&] { png_read_image(reader.png, rows.data()), png_read_end(reader.png, nullptr); })) {
    return tl::unexpected(not_a_png(stream));
  }
  return picture;
}

Result<std::array<std::uint32_t, 2>> png_size(std::string_view file) {
  Stream stream{.input = file};
  const Png reader(false, stream);
  if (!read_header(reader, stream)) {
    return tl::unexpected(not_a_png(stream));
  }
  return std::array{png_get_image_width(reader.png, reader.info),
                    png_get_image_height(reader.png, reader.info)};
}

Result<std::string> png_file(Picture picture) {
  std::string file;
  Stream stream{.output = &file};
  const Png writer(true, stream);
  std::vector<png_bytep> rows = rows_of(picture);
  if (writer.info == nullptr ||
      !succeed(writer, [&] { write_picture(writer, stream, picture, rows.data()); })) {
    return failure(ErrorCode::internal_error,
                   fmt::format("libpng cannot write the picture: {}", stream.message.data()),
                   "write an .npy file instead");
  }
  return file;
}

} // namespace tidegate
