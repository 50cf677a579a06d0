// Pictures in PNG files, through libpng. Files are input that nobody vouches for: no memory is taken for a
// picture before its size is known to be the wanted one.
#pragma once
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate {

// Samples row by row, channel by channel, of 8 bits or of 16 in the byte order of this machine.
struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 0; // 1 grey, 2 with alpha, 3 red, green and blue, 4 with alpha
  std::uint32_t bits = 8;     // of a sample: 8 or 16
  std::vector<std::byte> samples;
};

// Palettes and fewer than 8 bits come as the colours that they stand for; gamma and colour profiles are
// passed over. bad_array for what is no PNG, and for one of another size.
Result<Picture> parse_png(std::string_view file, std::uint32_t width, std::uint32_t height);

// The whole file. internal_error when libpng refuses it.
Result<std::string> png_file(const Picture& picture);

} // namespace tidegate
