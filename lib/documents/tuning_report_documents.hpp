// What `tidegate tune measure` tells, as a document.
#pragma once

#include <tidegate/documents/describe.hpp>
#include <tidegate/documents/device_documents.hpp>
#include <tidegate/documents/launch_documents.hpp>
#include <tidegate/tuning/tuning_report.hpp>

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
struct DocumentOf<tuning::TuningReport> {
  static const Document document;
};

} // namespace tidegate::documents
