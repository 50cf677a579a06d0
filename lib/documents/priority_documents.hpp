// Requeue accounting, drain recommendations and diffused priorities as documents.
#pragma once

#include <tidegate/documents/describe.hpp>
#include <tidegate/documents/diagnostics.hpp>
#include <tidegate/policy/priority.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::documents {

struct SiblingDiffusion {
  std::vector<double> priority_stalks;
  std::vector<double> restriction_diag;
  double damping = 0;
  std::uint32_t iterations = 0;
};

struct DiffusedPriorities {
  std::vector<double> output;
  std::optional<std::vector<Diagnostic>> diagnostics;
};

template <>
struct Choices<policy::DrainReason> {
  static constexpr std::span<const std::string_view> names = policy::drain_reason_names;
};

template <>
struct Description<policy::DrainRecommendation> {
  static const Record record;
};

template <>
struct DocumentOf<policy::RequeueAccounting> {
  static const Document document;
};
template <>
struct DocumentOf<policy::DrainRecommendation> {
  static const Document document;
};
template <>
struct DocumentOf<SiblingDiffusion> {
  static const Document document;
};
template <>
struct DocumentOf<DiffusedPriorities> {
  static const Document document;
};

} // namespace tidegate::documents
