// Wave programs as documents.
#pragma once

#include <tidegate/compiler/program.hpp>
#include <tidegate/documents/describe.hpp>

namespace tidegate::documents {

template <>
struct Choices<compiler::ElementType> {
  static constexpr std::span<const std::string_view> names = compiler::element_type_names;
};
template <>
struct Choices<compiler::Access> {
  static constexpr std::span<const std::string_view> names = compiler::access_names;
};

template <>
struct Choices<compiler::WavePhase> {
  static constexpr std::span<const std::string_view> names = compiler::wave_phase_names;
};
template <>
struct Choices<compiler::ImageFormat> {
  static constexpr std::span<const std::string_view> names = compiler::image_format_names;
};
template <>
struct Choices<compiler::AddressMode> {
  static constexpr std::span<const std::string_view> names = compiler::address_mode_names;
};
template <>
struct Choices<compiler::FilterMode> {
  static constexpr std::span<const std::string_view> names = compiler::filter_mode_names;
};

template <>
struct DocumentOf<compiler::WaveProgram> {
  static const Document document;
};

} // namespace tidegate::documents
