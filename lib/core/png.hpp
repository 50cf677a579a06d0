// Reads and writes PNG files through libpng. Files are untrusted input: allocates a picture's memory only
// after its size has been compared with the expected one.
#pragma once
#include <tidegate/core/error.hpp>

namespace tidegate {

// Samples by row, pixel and channel, of 8 bits or of 16 in this machine's byte order.
struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 0; // 1 grey, 2 with alpha, 3 red, green and blue, 4 with alpha
  std::uint32_t bits = 8;     // of a sample: 8 or 16
  std::vector<std::byte> samples;
};

// Expands palettes and depths below 8 bits; ignores gamma and colour profiles. Errors: bad_array if the file
// is not a PNG or has another size.
Result<Picture> parse_png(std::string_view file, std::uint32_t width, std::uint32_t height);

// Returns the width and height that the file states. Errors: bad_array.
Result<std::array<std::uint32_t, 2>> png_size(std::string_view file);

// Returns the complete file. Errors: internal_error if libpng fails.
Result<std::string> png_file(const Picture& picture);

} // namespace tidegate
