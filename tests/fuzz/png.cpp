// Any bytes as a picture: a sound error, or a picture that is written and read again as it is. The sizes that
// are asked for are those of the header, as far as small ones go: others are refused before anything is read.
#include "fuzz.hpp"
#include <tidegate/arrays/png.hpp>

#include <algorithm>

using namespace tidegate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t width_at = 16; // behind the signature and the head of the first chunk
  constexpr std::size_t height_at = 20;
  const std::uint32_t width = size > width_at + 3 ? data[width_at + 3] : 1;
  const std::uint32_t height = size > height_at + 3 ? data[height_at + 3] : 1;
  const auto picture = arrays::parse_png({reinterpret_cast<const char*>(data), size}, width, height);
  if (!picture) {
    fuzz::require_sound(picture.error());
    return 0;
  }
  const std::size_t bytes = std::size_t{width} * height * picture->channels * picture->bits / 8;
  fuzz::require(bytes == picture->samples.size(), "there is a sample for each channel of each pixel");
  const auto file = arrays::png_file(*picture);
  fuzz::require(file.has_value(), "a picture that was read can be written");
  const auto again = arrays::parse_png(*file, width, height);
  fuzz::require(again && again->channels == picture->channels && again->bits == picture->bits &&
                    again->samples == picture->samples,
                "what was written is read");
  return 0;
}
