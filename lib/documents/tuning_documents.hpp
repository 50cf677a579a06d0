// Measured costs, natural-gradient steps and their answers as documents.
#pragma once

#include <tidegate/documents/describe.hpp>
#include <tidegate/documents/diagnostics.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::documents {

struct MeasuredCosts {
  std::vector<std::uint32_t> candidates;
  std::vector<double> costs;
  std::uint32_t current = 0;
};

struct TuningChoice {
  std::uint32_t value = 0;
};

struct NaturalGradient {
  std::vector<double> m_inv_sqrt; // row-major
  std::vector<double> grad;
  std::uint32_t n = 0;
  double learning_rate = 0;
};

struct NaturalGradientStep {
  std::vector<double> output;
  std::optional<std::vector<Diagnostic>> diagnostics;
};

template <>
struct DocumentOf<MeasuredCosts> {
  static const Document document;
};
template <>
struct DocumentOf<TuningChoice> {
  static const Document document;
};
template <>
struct DocumentOf<NaturalGradient> {
  static const Document document;
};
template <>
struct DocumentOf<NaturalGradientStep> {
  static const Document document;
};

} // namespace tidegate::documents
