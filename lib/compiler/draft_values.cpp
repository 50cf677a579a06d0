#include <tidegate/compiler/argument_values.hpp>
#include <tidegate/compiler/draft_values.hpp>
#include <tidegate/opencl_c/type_layout.hpp>
#include <tidegate/opencl_c/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::compiler {
namespace {

using opencl_c::Parameter;
using opencl_c::TypeLayout;

Value zero_of(const TypeLayout& type, std::span<const std::uint64_t> dimensions);

Value zero_of(const TypeLayout& type) {
  if (type.kind == TypeLayout::Kind::structure) {
    Value::Object members;
    for (const opencl_c::MemberLayout& member : type.members) {
      members.emplace_back(member.name, zero_of(member.type, member.dimensions));
    }
    return Value{std::move(members)};
  }
  if (type.kind == TypeLayout::Kind::enumeration && !type.enumerators.empty()) {
    return Value{type.enumerators.front().first};
  }
  const auto arithmetic = opencl_c::arithmetic_type(type.name);
  if (arithmetic && arithmetic->width > 1) {
    return Value{Value::List(arithmetic->width, Value{Number(std::uint64_t{0})})};
  }
  return Value{Number(std::uint64_t{0})};
}

Value zero_of(const TypeLayout& type, std::span<const std::uint64_t> dimensions) {
  if (dimensions.empty()) {
    return zero_of(type);
  }
  return Value{Value::List(dimensions.front(), zero_of(type, dimensions.subspan(1)))};
}

void set_numbers(ArgumentSpec& argument, ElementType type, std::vector<Number> numbers) {
  const std::array<std::optional<std::vector<Number>>*, element_type_names.size()> all{
      &argument.i8,  &argument.u8,  &argument.i16, &argument.u16, &argument.i32, &argument.u32,
      &argument.i64, &argument.u64, &argument.f16, &argument.f32, &argument.f64};
  *all[static_cast<std::size_t>(type)] = std::move(numbers);
}

} // namespace

ArgumentSpec draft_value(const DraftKernel& kernel, std::size_t index, std::uint64_t extent) {
  const Parameter& parameter = kernel.function->parameters[index];
  ArgumentSpec argument;
  const auto layout = opencl_c::layout_of(*kernel.unit, parameter.tokens);
  if (!layout) {
    constexpr std::size_t bytes = 16;
    argument.bytes = std::string(2 * bytes, '0');
    argument.note = fmt::format("{}: give as many bytes as it has ({})", parameter.name, layout.error());
  } else if (layout->kind == TypeLayout::Kind::structure) {
    argument.structure = zero_of(*layout);
    argument.note = parameter.name + ": made up";
  } else if (layout->kind == TypeLayout::Kind::enumeration) {
    argument.enumeration = layout->enumerators.empty() ? Identifier(std::uint64_t{0})
                                                       : Identifier(layout->enumerators.front().first);
    argument.note = parameter.name + ": made up";
  } else {
    const auto type = *opencl_c::arithmetic_type(layout->name);
    const bool count = is_count(kernel, index);
    const ElementType element = *element_type_of(type.scalar);
    const std::uint64_t most = element == ElementType::i8 ? std::numeric_limits<std::int8_t>::max()
                                                          : std::numeric_limits<std::uint8_t>::max();
    const std::uint64_t value = count ? (element_bytes(element) == 1 ? std::min(extent, most) : extent) : 1;
    set_numbers(argument, element, std::vector<Number>(type.width, Number(value)));
    argument.note = parameter.name + (count ? ": made up, the extent of the range" : ": made up");
  }
  return argument;
}

ImageSpec draft_image(const Parameter& parameter, const DraftKernel& kernel, std::uint64_t extent) {
  const std::string_view type = parameter.type;
  const auto calls = [&](std::string_view ending) {
    const auto& tokens = kernel.unit->source.tokens;
    return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(kernel.function->begin),
                       tokens.begin() + static_cast<std::ptrdiff_t>(kernel.function->end),
                       [&](const opencl_c::Token& token) {
                         return token.text.starts_with("read_image") || token.text.starts_with("write_image")
                                    ? token.text.ends_with(ending)
                                    : false;
                       });
  };
  const std::size_t dimensions = type.starts_with("image1d") ? 1 : type.starts_with("image3d") ? 3 : 2;
  ImageSpec image{.size = std::vector<std::uint64_t>(dimensions, extent)};
  const std::string_view format = type.find("depth") != std::string_view::npos ? "depth_float32"
                                  : calls("imageui")                           ? "rgba_uint8"
                                  : calls("imagei")                            ? "rgba_sint32"
                                                                               : "rgba_unorm8";
  const auto* const row = std::ranges::find(image_format_names, format);
  image.format = static_cast<ImageFormat>(row - image_format_names.begin());
  if (type.find("array") != std::string_view::npos) {
    constexpr std::uint64_t layers = 4;
    image.layers = layers;
  }
  image.texel_buffer = type.find("buffer") != std::string_view::npos;
  return image;
}

} // namespace tidegate::compiler
