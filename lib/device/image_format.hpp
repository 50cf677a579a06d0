// Images and samplers as devices have them. A format is a channel order and a channel type, named like
// "rgba_unorm8"; OpenCL has only some of the pairs.
#pragma once
#include "core/npy.hpp"

namespace tidegate {

// Indices of the tables below; only some have names here.
enum class ChannelOrder : std::uint8_t { depth = 9 };
enum class ChannelType : std::uint8_t { unorm8 = 2, unorm16 = 3, uint8 = 7, uint16 = 8, unorm565 = 12 };

inline constexpr std::array<std::string_view, 13> channel_orders{
    "r", "a", "rg", "ra", "rgba", "bgra", "argb", "intensity", "luminance", "depth", "srgba", "sbgra", "rgb"};
inline constexpr std::array<std::uint32_t, 13> order_channels{1, 1, 2, 2, 4, 4, 4, 1, 1, 1, 4, 4, 1};

// Those from unorm565 on hold a whole texel in one number.
inline constexpr std::array<std::string_view, 15> channel_types{
    "snorm8", "snorm16", "unorm8",  "unorm16", "sint8",    "sint16",   "sint32",     "uint8",
    "uint16", "uint32",  "float16", "float32", "unorm565", "unorm555", "unorm101010"};
inline constexpr auto type_elements = [] { // in a file
  using enum ElementType;
  return std::array{i8, i16, u8, u16, i8, i16, i32, u8, u16, u32, f16, f32, u16, u16, u32};
}();
static_assert(channel_orders[static_cast<std::size_t>(ChannelOrder::depth)] == "depth" &&
              channel_types[static_cast<std::size_t>(ChannelType::uint16)] == "uint16" &&
              channel_types[static_cast<std::size_t>(ChannelType::unorm565)] == "unorm565");

// All pairs that there are (OpenCL API 3.0, table of channel orders).
enum class ImageFormat : std::uint8_t {};
inline constexpr auto image_format_names = std::to_array<std::string_view>(
    {"r_snorm8",          "r_snorm16",         "r_unorm8",          "r_unorm16",         "r_sint8",
     "r_sint16",          "r_sint32",          "r_uint8",           "r_uint16",          "r_uint32",
     "r_float16",         "r_float32",         "a_snorm8",          "a_snorm16",         "a_unorm8",
     "a_unorm16",         "a_sint8",           "a_sint16",          "a_sint32",          "a_uint8",
     "a_uint16",          "a_uint32",          "a_float16",         "a_float32",         "rg_snorm8",
     "rg_snorm16",        "rg_unorm8",         "rg_unorm16",        "rg_sint8",          "rg_sint16",
     "rg_sint32",         "rg_uint8",          "rg_uint16",         "rg_uint32",         "rg_float16",
     "rg_float32",        "ra_snorm8",         "ra_snorm16",        "ra_unorm8",         "ra_unorm16",
     "ra_sint8",          "ra_sint16",         "ra_sint32",         "ra_uint8",          "ra_uint16",
     "ra_uint32",         "ra_float16",        "ra_float32",        "rgba_snorm8",       "rgba_snorm16",
     "rgba_unorm8",       "rgba_unorm16",      "rgba_sint8",        "rgba_sint16",       "rgba_sint32",
     "rgba_uint8",        "rgba_uint16",       "rgba_uint32",       "rgba_float16",      "rgba_float32",
     "bgra_snorm8",       "bgra_unorm8",       "bgra_sint8",        "bgra_uint8",        "argb_snorm8",
     "argb_unorm8",       "argb_sint8",        "argb_uint8",        "intensity_snorm8",  "intensity_snorm16",
     "intensity_unorm8",  "intensity_unorm16", "intensity_float16", "intensity_float32", "luminance_snorm8",
     "luminance_snorm16", "luminance_unorm8",  "luminance_unorm16", "luminance_float16", "luminance_float32",
     "depth_unorm16",     "depth_float32",     "srgba_unorm8",      "sbgra_unorm8",      "rgb_unorm565",
     "rgb_unorm555",      "rgb_unorm101010"});

constexpr std::string_view name(ImageFormat format) {
  return image_format_names[static_cast<std::size_t>(format)];
}
constexpr ChannelOrder order_of(ImageFormat format) {
  const std::string_view order = name(format).substr(0, name(format).find('_'));
  return static_cast<ChannelOrder>(std::ranges::find(channel_orders, order) - channel_orders.begin());
}
constexpr ChannelType type_of(ImageFormat format) {
  const std::string_view type = name(format).substr(name(format).find('_') + 1);
  return static_cast<ChannelType>(std::ranges::find(channel_types, type) - channel_types.begin());
}
// Type of a texel's elements in a file.
constexpr ElementType element_type(ImageFormat format) {
  return type_elements[static_cast<std::size_t>(type_of(format))];
}
constexpr std::uint32_t elements_per_texel(ImageFormat format) {
  return order_channels[static_cast<std::size_t>(order_of(format))];
}

} // namespace tidegate

namespace tidegate::engine {

enum class ImageKind : std::uint8_t {
  image1d,
  image1d_buffer,
  image1d_array,
  image2d,
  image2d_array,
  image3d
};

struct ImageShape {
  ImageKind kind = ImageKind::image2d;
  ImageFormat format{};
  std::uint64_t width = 1;
  std::uint64_t height = 1; // 1 if the kind has none
  std::uint64_t depth = 1;  // likewise
  std::uint64_t layers = 1; // likewise

  friend bool operator==(const ImageShape&, const ImageShape&) = default;
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

} // namespace tidegate::engine
