#include <tidegate/commands/plan.hpp>
#include <tidegate/commands/run.hpp>
#include <tidegate/documents/decode.hpp>
#include <tidegate/documents/program_documents.hpp>
#include <tidegate/policy/evidence.hpp>

#include <filesystem>
#include <utility>

namespace tidegate::commands {

std::string program_folder(const std::string& program_path) {
  if (program_path == "-") {
    return ".";
  }
  const std::filesystem::path folder = std::filesystem::path(program_path).parent_path();
  return folder.empty() ? "." : folder.string();
}

Result<GivenPlan> read_plan(std::string_view json) {
  return documents::decode<documents::FrontierMemoryPlan>(json).map(
      [](const documents::FrontierMemoryPlan& document) {
        GivenPlan given{.plan = memory_plan(document), .made_with = {.strategy = document.strategy}};
        given.made_with.objective = document.objective.value_or(given.made_with.objective);
        return given;
      });
}

documents::RunReportDocument run_document(run::RunReport report, const PlanOptions& plan_options) {
  documents::RunReportDocument document;
  document.memory.figures = report.memory;
  for (auto& [buffer, offset] : report.memory.offsets) {
    document.memory.offsets.push_back({.buffer = buffer, .offset = offset});
  }
  document.plan = plan_to_document(report.plan, plan_options);
  document.evidence = {.topology = report.topology_evidence,
                       .promotion = report.promotion_evidence,
                       .complete = {.topology = !policy::incomplete_field(report.topology_evidence),
                                    .promotion = !policy::incomplete_field(report.promotion_evidence)}};
  document.report = std::move(report);
  return document;
}

} // namespace tidegate::commands
