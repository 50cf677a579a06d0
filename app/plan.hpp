// `tidegate plan`: a wave DAG becomes a frontier memory plan, as a document or as a picture.
#pragma once
#include "app/drawing.hpp"
#include "engine/job.hpp"
#include <tidegate/core/encode.hpp>
#include <tidegate/planning/documents.hpp>

namespace tidegate::app {

struct NamedDag {
  planning::WaveDag dag;
  std::vector<std::string> names; // by wave, empty for one without; no items when no wave has a name
  std::vector<engine::Section> sections = {}; // by wave of a program; no items of a DAG
  std::uint64_t iterations = 1;               // of a program

  // Names a wave in a sentence: its name in quotes, or "wave 3".
  [[nodiscard]] std::string wave_text(std::uint64_t wave) const;

  // Names a wave in a picture: its name, or its index.
  [[nodiscard]] std::string wave_label(std::uint64_t wave) const;
};

// Finds the waves that dependencies name. Errors, all at once and each with its location: duplicate_name,
// invalid_wave, self_dependency.
Result<NamedDag> resolve(documents::NamedWaveDag&& document);

// Adds names, a pointer into the document and a fix to a planner's refusal.
Error to_error(Error error, const NamedDag& named);

struct PlanOptions {
  documents::Planner planner = documents::Planner::layered;
  documents::PlanObjective objective = documents::PlanObjective::groups; // compact only
  std::optional<std::uint64_t> budget_bytes;                             // instead of the document's
  std::string folder = ".";            // of a program: its paths are relative to it
  PathScope scope = PathScope::folder; // of a program's paths
  FileUses files;                      // of the command line; outputs may not be sources of the program
};

struct PlannedDag {
  NamedDag named;
  planning::MemoryPlan plan;
};

// Decodes a wave_dag, or derives the DAG of a wave_program. Errors: of decoding, of names, and of a program's kernels.
Result<NamedDag> read_dag(std::string_view json, const PlanOptions& options);

// Reads a DAG with read_dag() and plans it. Errors: of both.
Result<PlannedDag> plan_document(std::string_view json, const PlanOptions& options);

// Returns the document for a plan that was made with these options.
documents::FrontierMemoryPlan plan_to_document(const planning::MemoryPlan& plan, const PlanOptions& options);

// Returns the plan in a document in the planners' form, for the checker. The groups are not checked here.
planning::MemoryPlan memory_plan(const documents::FrontierMemoryPlan& document);

// Returns a table with the waves, bytes, share of the budget and free bytes of each group, and the lower bound.
std::string plan_table(const PlannedDag& planned, const PlanOptions& options, bool colour);

// Returns the DAG as SVG: groups from top to bottom, one critical path marked, a bracket at groups that repeat, and an
// overview of all groups if there are many. The picture says what it leaves out, and is light or dark as the viewer
// prefers. `colours`: by wave; empty: waves of a common name share one.
std::string plan_svg(const PlannedDag& planned, const PlanOptions& options,
                     std::vector<std::size_t> colours = {});

// Returns the summary at the head of tables and pictures: "3 groups, 2 barriers, proved to be the fewest".
std::string plan_headline(const PlannedDag& planned, const PlanOptions& options);

// The value of budget_bytes that means no limit: all buffers of the program fit into the budget together.
inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// Returns "87.5%" of a budget; "" of none.
std::string share_text(std::uint64_t bytes, std::uint64_t budget);

// Content of a picture of a plan: a box for similar waves of a group, and dependencies between boxes.

struct PlanBox {
  std::uint32_t group = 0;
  std::vector<std::uint32_t> waves; // at least one
  std::string name;                 // "mProject ×28"
  std::string bytes;                // "9.1 MiB", or "9 MiB to 9.3 MiB" from the smallest to the largest
};

struct BoxedPlan {
  std::vector<PlanBox> boxes;                      // by group, within one in the order of their first waves
  std::vector<std::uint32_t> box_of;               // by wave
  std::vector<std::array<std::uint32_t, 2>> edges; // between boxes, each once, sorted
  std::size_t implied = 0;                         // dependencies between boxes that are not among the edges
};

// Collects similar waves in boxes. `kept_path` lists waves; edges between consecutive ones are never left out.
BoxedPlan box_plan(const PlannedDag& planned, const std::vector<std::uint32_t>& kept_path);

// Returns the common part of the names of similar waves: "mProject_ID0000001" -> "mProject".
std::string common_name(const std::string& name);

} // namespace tidegate::app
