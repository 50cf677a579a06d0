// Any bytes as a picture: a sound error, or a picture that is written and read again as it is. The sums over
// the chunks are put right first: mutations would end there. The size that is asked for is the header's, as
// far as it is small: others are refused before anything is read.
#include "core/npy.hpp"
#include "fuzz.hpp"

#include <zlib.h>

#include <algorithm>
#include <string>

using namespace tidegate;

namespace {

std::uint32_t number_at(const std::string& file, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    value = value << 8U | static_cast<std::uint8_t>(file[i]);
  }
  return value;
}

// A chunk is its length, a name, so many bytes, and a sum over name and bytes.
void mend_sums(std::string& file) {
  constexpr std::size_t signature = 8;
  for (std::size_t at = signature; at + 12 <= file.size();) {
    const std::size_t length = number_at(file, at);
    if (length > file.size() - at - 12) {
      return;
    }
    const auto sum =
        ::crc32(0, reinterpret_cast<const Bytef*>(file.data() + at + 4), static_cast<uInt>(length + 4));
    for (std::size_t i = 0; i < 4; ++i) {
      file[at + 8 + length + i] = static_cast<char>(sum >> (24 - 8 * i));
    }
    at += 12 + length;
  }
}

} // namespace

FUZZ_TARGET(png) {
  std::string file(reinterpret_cast<const char*>(data), size);
  mend_sums(file);
  constexpr std::size_t size_at = 16; // behind the signature, and length and name of the first chunk
  const bool has_size = file.size() >= size_at + 8;
  const std::uint32_t width = has_size ? std::min(number_at(file, size_at), 64U) : 1;
  const std::uint32_t height = has_size ? std::min(number_at(file, size_at + 4), 64U) : 1;
  const auto picture = parse_png(file, width, height);
  if (!picture) {
    fuzz::require_sound(picture.error());
    return 0;
  }
  const std::size_t bytes = std::size_t{width} * height * picture->channels * picture->bits / 8;
  fuzz::require(bytes == picture->samples.size(), "there is a sample for each channel of each pixel");
  const auto written = png_file(*picture);
  fuzz::require(written.has_value(), "a picture that was read can be written");
  const auto again = parse_png(*written, width, height);
  fuzz::require(again && again->channels == picture->channels && again->bits == picture->bits &&
                    again->samples == picture->samples,
                "what was written is read");
  return 0;
}
