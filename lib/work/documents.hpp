// JSON description of wave programs.
#pragma once
#include "engine/documents.hpp"
#include "work/program.hpp"
#include <tidegate/core/describe.hpp>

namespace tidegate::documents {

template <>
inline constexpr Names Choices<ElementType>::names = element_type_names;
template <>
inline constexpr Names Choices<engine::Access>::names = engine::access_names;

template <>
inline constexpr Names Choices<engine::Section>::names = engine::section_names;
template <>
inline constexpr Names Choices<ImageFormat>::names = image_format_names;
template <>
inline constexpr Names Choices<engine::AddressMode>::names = engine::address_mode_names;
template <>
inline constexpr Names Choices<engine::FilterMode>::names = engine::filter_mode_names;

template <>
const Record Description<engine::BufferInit>::record;
template <>
const Document DocumentOf<engine::WaveProgram>::document;

} // namespace tidegate::documents
