// Images and samplers as a program's document gives them. Plain data.
#pragma once

#include <tidegate/arrays/image_format.hpp>
#include <tidegate/compiler/arrays.hpp>
#include <tidegate/compiler/buffer_init.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::compiler {

// Of what kind it is follows from its size: image1d_t, image2d_t, image3d_t, with layers an array of them.
struct ImageSpec {
  ImageFormat format{};
  std::vector<std::uint64_t> size;     // width, height, depth
  std::optional<std::uint64_t> layers; // of an image1d_array_t or image2d_array_t
  bool texel_buffer = false;           // image1d_buffer_t instead of image1d_t
  std::optional<BufferInit> init;      // as a buffer's; a file may be a PNG too
  std::optional<std::string> output;   // .npy, .png, or raw bytes; relative to the program
  std::optional<std::string> note{};   // for people
};

enum class AddressMode : std::uint8_t { none, clamp_to_edge, clamp, repeat, mirrored_repeat };
inline constexpr std::array<std::string_view, 5> address_mode_names{"none", "clamp_to_edge", "clamp",
                                                                    "repeat", "mirrored_repeat"};

enum class FilterMode : std::uint8_t { nearest, linear };
inline constexpr std::array<std::string_view, 2> filter_mode_names{"nearest", "linear"};

struct SamplerSpec {
  AddressMode address = AddressMode::clamp_to_edge;
  FilterMode filter = FilterMode::nearest;
  bool normalized = false; // coordinates from 0 to 1 instead of texels

  friend bool operator==(const SamplerSpec&, const SamplerSpec&) = default;
};

} // namespace tidegate::compiler
