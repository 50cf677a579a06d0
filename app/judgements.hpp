// Judges decoded documents by what their schemas cannot say.
#pragma once
#include "app/documents.hpp"
#include "engine/traversal/documents.hpp"
#include "work/documents.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/planning/documents.hpp>
#include <tidegate/planning/wave_dag.hpp>
#include <tidegate/policy/documents.hpp>

namespace tidegate::app {

// Each returns every fault with its pointer. Errors: incomplete_evidence, inconsistent_evidence, invalid_plan, outputs_differ.
Result<void> judge(const documents::LaunchRecommendationDocument& document);
Result<void> judge(const documents::FrontierMemoryPlan& document);
Result<void> judge(const documents::FrontierMemoryPlan& document, const planning::WaveDag& dag);
Result<void> judge(const documents::ArenaPlanDocument& document, const documents::BufferLifetimes& lifetimes);
// Reports are also held against the outputs that they name, unless these were written after the report's `file`.
Result<void> judge(const traversal::FrontierReport& report, const std::string& file);
Result<void> judge(const documents::RunReportDocument& document, const std::string& file);

} // namespace tidegate::app
