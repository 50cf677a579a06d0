// Description of the document that `tidegate tune measure` writes.
#pragma once
#include "device/documents.hpp"
#include "tune/report.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/policy/documents.hpp>

namespace tidegate::documents {

template <>
struct Choices<tuning::Knob> {
  static constexpr std::span<const std::string_view> names = tuning::knob_names;
};
template <>
struct Choices<tuning::Verdict> {
  static constexpr std::span<const std::string_view> names = tuning::verdict_names;
};

template <>
const Document DocumentOf<tuning::TuningReport>::document;

} // namespace tidegate::documents
