// Description of the document that `tidegate tune measure` writes.
#pragma once
#include "device/documents.hpp"
#include "tune/report.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/policy/documents.hpp>

namespace tidegate::documents {

template <>
inline constexpr Names Choices<tuning::Knob>::names = tuning::knob_names;
template <>
inline constexpr Names Choices<tuning::Verdict>::names = tuning::verdict_names;

template <>
const Document DocumentOf<tuning::TuningReport>::document;

} // namespace tidegate::documents
