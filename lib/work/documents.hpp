// JSON description of wave programs.
#pragma once
#include "engine/documents.hpp"
#include "work/program.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/core/error.hpp>

#include <string>
#include <string_view>

namespace tidegate::documents {

TIDEGATE_CHOICES(ElementType, element_type_names);
TIDEGATE_CHOICES(engine::Access, engine::access_names);
TIDEGATE_CHOICES(engine::Combine, engine::combine_names);

TIDEGATE_CHOICES(engine::Section, engine::section_names);
TIDEGATE_CHOICES(ImageFormat, image_format_names);
TIDEGATE_CHOICES(engine::AddressMode, engine::address_mode_names);
TIDEGATE_CHOICES(engine::FilterMode, engine::filter_mode_names);

TIDEGATE_HAS_RECORD(engine::BufferInit);
TIDEGATE_HAS_RECORD(engine::ArgumentSpec);
TIDEGATE_HAS_RECORD(engine::WaveSpec);
TIDEGATE_HAS_DOCUMENT(engine::WaveProgram);

inline constexpr std::string_view note_meaning = "for people; has no effect";

// Reads a value of a structure as an argument: {"i32": 0, "iteration": {"add": 1}}. Errors: as of decoding,
// with places below `pointer`.
Result<engine::ArgumentSpec> argument_of(const Value& value, const std::string& pointer);

} // namespace tidegate::documents
