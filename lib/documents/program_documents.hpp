// Wave programs as documents.
#pragma once

#include <tidegate/documents/describe.hpp>
#include <tidegate/run/program.hpp>

namespace tidegate::documents {

template <>
struct Choices<run::ElementType> {
  static constexpr std::span<const std::string_view> names = run::element_type_names;
};
template <>
struct Choices<run::Access> {
  static constexpr std::span<const std::string_view> names = run::access_names;
};

template <>
struct Choices<run::WavePhase> {
  static constexpr std::span<const std::string_view> names = run::wave_phase_names;
};
template <>
struct Choices<run::ImageFormat> {
  static constexpr std::span<const std::string_view> names = run::image_format_names;
};
template <>
struct Choices<run::AddressMode> {
  static constexpr std::span<const std::string_view> names = run::address_mode_names;
};
template <>
struct Choices<run::FilterMode> {
  static constexpr std::span<const std::string_view> names = run::filter_mode_names;
};

template <>
struct DocumentOf<run::WaveProgram> {
  static const Document document;
};

} // namespace tidegate::documents
