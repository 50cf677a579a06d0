// Images and samplers as devices have them. A format is a channel order and a channel type, named like
// "rgba_unorm8". OpenCL allows only some pairs; the table is generated from both lists and the rule of allowed
// pairs.
#pragma once
#include "core/npy.hpp"

namespace tidegate {

enum class ChannelOrder : std::uint8_t {
  r,
  a,
  rg,
  ra,
  rgba,
  bgra,
  argb,
  intensity,
  luminance,
  depth,
  srgba,
  sbgra,
  rgb
}; // NOLINT
inline constexpr std::array<std::string_view, 13> channel_order_names{
    "r", "a", "rg", "ra", "rgba", "bgra", "argb", "intensity", "luminance", "depth", "srgba", "sbgra", "rgb"};
inline constexpr std::array<std::uint32_t, 13> channel_counts{1, 1, 2, 2, 4, 4, 4, 1, 1, 1, 4, 4, 3};

// The last three hold a whole texel in one number.
enum class ChannelType : std::uint8_t {
  snorm8,
  snorm16,
  unorm8,
  unorm16,
  sint8,
  sint16,
  sint32,
  uint8,
  uint16,
  uint32,
  float16,
  float32,
  unorm565,
  unorm555,
  unorm101010
}; // NOLINT
inline constexpr std::array<std::string_view, 15> channel_type_names{
    "snorm8", "snorm16", "unorm8",  "unorm16", "sint8",    "sint16",   "sint32",     "uint8",
    "uint16", "uint32",  "float16", "float32", "unorm565", "unorm555", "unorm101010"};
inline constexpr std::array<ElementType, 15> channel_elements{
    ElementType::i8,  ElementType::i16, ElementType::u8,  ElementType::u16, ElementType::i8,
    ElementType::i16, ElementType::i32, ElementType::u8,  ElementType::u16, ElementType::u32,
    ElementType::f16, ElementType::f32, ElementType::u16, ElementType::u16, ElementType::u32};

// True if OpenCL has the pair (OpenCL API 3.0, table of channel orders).
constexpr bool is_format(ChannelOrder order, ChannelType type) {
  const bool packed = type >= ChannelType::unorm565;
  const bool bytes = type == ChannelType::snorm8 || type == ChannelType::unorm8 ||
                     type == ChannelType::sint8 || type == ChannelType::uint8;
  const bool norm = type <= ChannelType::unorm16;
  const bool floating = type == ChannelType::float16 || type == ChannelType::float32;
  switch (order) {
  case ChannelOrder::rgb: return packed;
  case ChannelOrder::bgra:
  case ChannelOrder::argb: return bytes;
  case ChannelOrder::intensity:
  case ChannelOrder::luminance: return norm || floating;
  case ChannelOrder::depth: return type == ChannelType::unorm16 || type == ChannelType::float32;
  case ChannelOrder::srgba:
  case ChannelOrder::sbgra: return type == ChannelType::unorm8;
  default: return !packed;
  }
}

struct ImageFormatRow {
  ChannelOrder order = ChannelOrder::r;
  ChannelType type = ChannelType::unorm8;
  std::array<char, 24> text{}; // "rgba_unorm8"
  std::size_t length = 0;
};

constexpr void for_each_format(auto use) {
  for (std::size_t order = 0; order < channel_order_names.size(); ++order) {
    for (std::size_t type = 0; type < channel_type_names.size(); ++type) {
      if (is_format(static_cast<ChannelOrder>(order), static_cast<ChannelType>(type))) {
        use(order, type);
      }
    }
  }
}
constexpr std::size_t count_formats() {
  std::size_t count = 0;
  for_each_format([&count](std::size_t, std::size_t) { ++count; });
  return count;
}

inline constexpr auto image_format_rows = [] {
  std::array<ImageFormatRow, count_formats()> rows{};
  std::size_t count = 0;
  for_each_format([&](std::size_t order, std::size_t type) {
    ImageFormatRow& row = rows[count++];
    row = {static_cast<ChannelOrder>(order), static_cast<ChannelType>(type)};
    for (const std::string_view part :
         {channel_order_names[order], std::string_view("_"), channel_type_names[type]}) {
      row.length += part.copy(row.text.data() + row.length, part.size());
    }
  });
  return rows;
}();

// Index of a row of the table.
enum class ImageFormat : std::uint8_t {};

inline constexpr auto image_format_names = [] {
  std::array<std::string_view, image_format_rows.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = std::string_view(image_format_rows[i].text.data(), image_format_rows[i].length);
  }
  return names;
}();

constexpr const ImageFormatRow& row(ImageFormat format) {
  return image_format_rows[static_cast<std::size_t>(format)];
}
constexpr std::string_view name(ImageFormat format) {
  return image_format_names[static_cast<std::size_t>(format)];
}
// Type of a texel's elements in a file.
constexpr ElementType element_type(ImageFormat format) {
  return channel_elements[static_cast<std::size_t>(row(format).type)];
}
constexpr std::uint32_t elements_per_texel(ImageFormat format) {
  return row(format).type >= ChannelType::unorm565
             ? 1
             : channel_counts[static_cast<std::size_t>(row(format).order)];
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
