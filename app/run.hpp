// `tidegate run`: a wave program on a device, and what there is to tell of it.
#pragma once
#include "app/plan.hpp"
#include "engine/documents.hpp"
#include "engine/run.hpp"
#include "work/program.hpp"
#include <tidegate/core/encode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <string>
#include <string_view>

namespace tidegate::commands {

// The folder that a program's paths are relative to: its own, or the current one for standard input.
std::string program_folder(const std::string& program_path);

// A frontier_memory_plan document, as a run takes it, and how it says that it was made.
struct GivenPlan {
  planning::MemoryPlan plan;
  PlanOptions made_with;
};
Result<GivenPlan> read_plan(std::string_view json);

// The report as the document that travels; its plan was made with `plan_options`.
documents::RunReportDocument run_document(engine::RunReport report, const PlanOptions& plan_options);

// For people.
std::string run_table(const documents::RunReportDocument& document, bool colour);

} // namespace tidegate::commands
