// JSON description of wave programs.
#pragma once
#include "work/program.hpp"
#include <tidegate/core/describe.hpp>

namespace tidegate::documents {

template <>
struct Choices<ElementType> {
  static constexpr std::span<const std::string_view> names = element_type_names;
};
template <>
struct Choices<engine::Access> {
  static constexpr std::span<const std::string_view> names = engine::access_names;
};

template <>
struct Choices<engine::WavePhase> {
  static constexpr std::span<const std::string_view> names = engine::wave_phase_names;
};
template <>
struct Choices<ImageFormat> {
  static constexpr std::span<const std::string_view> names = image_format_names;
};
template <>
struct Choices<engine::AddressMode> {
  static constexpr std::span<const std::string_view> names = engine::address_mode_names;
};
template <>
struct Choices<engine::FilterMode> {
  static constexpr std::span<const std::string_view> names = engine::filter_mode_names;
};

template <>
struct DocumentOf<engine::WaveProgram> {
  static const Document document;
};

} // namespace tidegate::documents
