// Images and samplers as devices have them. A format is a channel order and a channel type, named like
// "rgba_unorm8"; OpenCL has only some of the pairs.
#pragma once
#include "core/npy.hpp"

namespace tidegate {

// Indices of the tables below; only some have names here.
enum class ChannelOrder : std::uint8_t { depth = 9 };
enum class ChannelType : std::uint8_t { unorm8 = 2, unorm16 = 3, uint8 = 7, uint16 = 8, unorm565 = 12 };

struct ChannelTypeRow {
  std::string_view name;
  ElementType element; // of a file
};
// Those from unorm565 on hold a whole texel in one number.
inline constexpr std::array<ChannelTypeRow, 15> channel_types{{{"snorm8", ElementType::i8},
                                                               {"snorm16", ElementType::i16},
                                                               {"unorm8", ElementType::u8},
                                                               {"unorm16", ElementType::u16},
                                                               {"sint8", ElementType::i8},
                                                               {"sint16", ElementType::i16},
                                                               {"sint32", ElementType::i32},
                                                               {"uint8", ElementType::u8},
                                                               {"uint16", ElementType::u16},
                                                               {"uint32", ElementType::u32},
                                                               {"float16", ElementType::f16},
                                                               {"float32", ElementType::f32},
                                                               {"unorm565", ElementType::u16},
                                                               {"unorm555", ElementType::u16},
                                                               {"unorm101010", ElementType::u32}}};

// Sets of channel types, a bit for each.
inline constexpr std::uint32_t plain_types = 0xfff, byte_types = 0x95, norm_or_float_types = 0xc0f;

struct ChannelOrderRow {
  std::string_view name;
  std::uint32_t channels;
  std::uint32_t types; // that OpenCL has with it (OpenCL API 3.0, table of channel orders)
};
inline constexpr std::array<ChannelOrderRow, 13> channel_orders{{{"r", 1, plain_types},
                                                                 {"a", 1, plain_types},
                                                                 {"rg", 2, plain_types},
                                                                 {"ra", 2, plain_types},
                                                                 {"rgba", 4, plain_types},
                                                                 {"bgra", 4, byte_types},
                                                                 {"argb", 4, byte_types},
                                                                 {"intensity", 1, norm_or_float_types},
                                                                 {"luminance", 1, norm_or_float_types},
                                                                 {"depth", 1, 0x808}, // unorm16 and float32
                                                                 {"srgba", 4, 0x4},   // unorm8
                                                                 {"sbgra", 4, 0x4},
                                                                 {"rgb", 1, 0x7000}}}; // in one number
static_assert(channel_orders[static_cast<std::size_t>(ChannelOrder::depth)].name == "depth" &&
              channel_types[static_cast<std::size_t>(ChannelType::uint16)].name == "uint16" &&
              channel_types[static_cast<std::size_t>(ChannelType::unorm565)].name == "unorm565");

struct ImageFormatRow {
  ChannelOrder order{};
  ChannelType type{};
  std::array<char, 24> text{}; // "rgba_unorm8"
  std::size_t length = 0;
};

// All pairs that there are.
inline constexpr auto image_format_rows = [] {
  constexpr std::size_t all = [] {
    std::size_t count = 0;
    for (const ChannelOrderRow& order : channel_orders) {
      count += static_cast<std::size_t>(std::popcount(order.types));
    }
    return count;
  }();
  std::array<ImageFormatRow, all> rows{};
  std::size_t count = 0;
  for (std::size_t order = 0; order < channel_orders.size(); ++order) {
    for (std::size_t type = 0; type < channel_types.size(); ++type) {
      if ((channel_orders[order].types >> type & 1U) != 0) {
        ImageFormatRow& row = rows[count++];
        row = {static_cast<ChannelOrder>(order), static_cast<ChannelType>(type)};
        for (const std::string_view part :
             {channel_orders[order].name, std::string_view("_"), channel_types[type].name}) {
          row.length += part.copy(row.text.data() + row.length, part.size());
        }
      }
    }
  }
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
  return channel_types[static_cast<std::size_t>(row(format).type)].element;
}
constexpr std::uint32_t elements_per_texel(ImageFormat format) {
  return channel_orders[static_cast<std::size_t>(row(format).order)].channels;
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
