// PNG files: round trips, and files that are not PNG.
#include "core/npy.hpp"
#include "core/prelude.hpp"

#include <doctest/doctest.h>

using namespace tidegate;

namespace {

std::string refusal(const Result<Picture>& result) {
  return result ? "none"
                : fmt::format("{}: {}; {}", name(result.error().code), result.error().message,
                              result.error().fix);
}

std::string text_of(const Picture& picture) {
  std::string text;
  for (const std::byte sample : picture.samples) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", static_cast<unsigned>(sample));
  }
  return text;
}

} // namespace

TEST_CASE("a picture comes back as it was") {
  for (const std::uint32_t channels : {1U, 2U, 3U, 4U}) {
    for (const std::uint32_t bits : {8U, 16U}) {
      Picture made{.width = 5, .height = 3, .channels = channels, .bits = bits};
      for (std::uint32_t i = 0; i < 15 * channels * bits / 8; ++i) {
        made.samples.push_back(static_cast<std::byte>(i * 37));
      }
      const auto file = png_file(made);
      REQUIRE(file);
      const auto found = parse_png(*file, 5, 3);
      REQUIRE_MESSAGE(found, found.error().message);
      CHECK(found->channels == channels);
      CHECK(found->bits == bits);
      CHECK(found->samples == made.samples);
      CHECK(refusal(parse_png(*file, 5, 4)) ==
            "bad_array: the picture has 5 x 3 pixels, the image 5 x 4; give the image the size [5, 3], or "
            "another file");
      for (std::size_t end = 0; end + 12 < file->size(); end += 7) { // the last chunk is not needed
        CHECK_FALSE(parse_png(file->substr(0, end), 5, 3));
      }
    }
  }
  CHECK(refusal(parse_png("no picture", 1, 1)) ==
        "bad_array: not a valid PNG file: Not a PNG file; write the picture again");
}

// Palettes, low bit depths and interlacing: files of other programs.
TEST_CASE("pictures of every kind become samples of 8 or 16 bits") {
  using namespace std::string_view_literals;
  struct Case {
    std::string_view file, samples;
    std::uint32_t width, height, channels;
  };
  for (const auto& [file, samples, width, height, channels] :
       {// two colours of a palette, one bit a pixel
        Case{"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x03\x00\x00"
             "\x00\x01\x01\x03\x00\x00\x00\x21\x2e\x86\xf7\x00\x00\x00\x06\x50\x4c\x54\x45\xff\x00\x00"
             "\x00\x00\xff\x6c\xa1\xfd\x8e\x00\x00\x00\x0a\x49\x44\x41\x54\x78\xda\x63\x70\x00\x00\x00"
             "\x42\x00\x41\x84\xbf\x8e\x62\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82"sv,
             "255 0 0 0 0 255 255 0 0", 3, 1, 3},
        // grey of four bits
        Case{"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x02\x00\x00"
             "\x00\x02\x04\x00\x00\x00\x00\x92\x2d\xbf\xf9\x00\x00\x00\x0c\x49\x44\x41\x54\x78\xda\x63"
             "\x60\x64\x78\x0f\x00\x00\xf6\x00\xf1\xe2\x3a\xd0\xdd\x00\x00\x00\x00\x49\x45\x4e\x44\xae"
             "\x42\x60\x82"sv,
             "0 17 238 255", 2, 2, 1},
        // interlaced
        Case{"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x02\x00\x00"
             "\x00\x02\x08\x00\x00\x00\x01\x20\xda\x62\x6e\x00\x00\x00\x0f\x49\x44\x41\x54\x78\xda\x63"
             "\x60\x64\x60\x62\x60\x66\x01\x00\x00\x1f\x00\x0b\x2a\x19\x78\x13\x00\x00\x00\x00\x49\x45"
             "\x4e\x44\xae\x42\x60\x82"sv,
             "1 2 3 4", 2, 2, 1}}) {
    const auto found = parse_png(file, width, height);
    REQUIRE_MESSAGE(found, refusal(found));
    CHECK(found->channels == channels);
    CHECK(found->bits == 8);
    CHECK(text_of(*found) == samples);
  }
}
