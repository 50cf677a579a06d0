// `tidegate plan` and `tidegate arena`: a wave DAG becomes a frontier memory plan, buffer lifetimes become offsets in an
// arena, as documents, tables or SVG pictures.
#pragma once
#include "app/documents.hpp"
#include "core/table.hpp"
#include "work/program.hpp"
#include "work/run.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/planning/documents.hpp>

namespace tidegate::app {

// Waves.

struct NamedDag {
  planning::WaveDag dag;
  std::vector<std::string> names; // by wave, empty for one without; no items when no wave has a name
  std::uint64_t iterations = 1;   // of a program

  [[nodiscard]] std::string wave_text(std::uint64_t wave) const;  // in a sentence: "scan", or wave 3
  [[nodiscard]] std::string wave_label(std::uint64_t wave) const; // in a picture: scan, or 3
};

// Finds the waves that dependencies name. Errors come all at once, each with its location.
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
  std::vector<documents::Parameter> parameters{}; // of a program
};

struct PlannedDag {
  NamedDag named;
  planning::MemoryPlan plan;
};

// Decodes a wave_dag, or derives the DAG of a wave_program.
Result<NamedDag> read_dag(std::string_view json, const PlanOptions& options);

NamedDag dag_of(const engine::Job& program, std::uint64_t budget_bytes);

Result<PlannedDag> plan_document(std::string_view json, const PlanOptions& options);
std::string plan_table(const PlannedDag& planned, const PlanOptions& options, bool colour);

// Returns the plan of a document, whose groups are not checked.
planning::MemoryPlan memory_plan(const documents::FrontierMemoryPlan& document);

// Gives names their colours, in the order in which they come. Names that differ in a number at the end share one.
class Palette {
public:
  std::string_view operator()(const std::string& name);

private:
  std::map<std::string, std::size_t> places_;
};

// Returns the DAG as SVG: groups from top to bottom. The picture says what it leaves out, and is light or dark as the viewer
// prefers.
std::string plan_svg(const PlannedDag& planned, const PlanOptions& options, Palette palette = {});

// Returns the summary at the head of tables and pictures: "3 groups, 2 barriers, proved to be the fewest".
std::string plan_headline(const PlannedDag& planned, const PlanOptions& options);

std::string budget_text(const PlannedDag& planned); // of a group

// The value of budget_bytes that means no limit: all buffers of the program fit into the budget together.
inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

std::string share_text(std::uint64_t bytes, std::uint64_t budget); // "87.5%"; "" of no budget

// Buffers.

// Returns the buffers by id, as far as ids were read. Error: duplicate_name for every id that is given again.
using BufferIndex = std::unordered_map<std::string, std::size_t>;
Result<BufferIndex> index_buffers(const documents::BufferLifetimes& lifetimes);

// Returns the key of an id in a BufferIndex: the number 7 and the name "7" are different ids.
std::string buffer_key(const Identifier& id);

// Checks lifetimes, alignments and sizes of all buffers.
Result<void> check_lifetimes(const documents::BufferLifetimes& lifetimes);

struct PlannedArena {
  documents::BufferLifetimes lifetimes;
  planning::ArenaPlan plan;
};

// Draws an arena: time from left to right, offsets from bottom to top, a box for each buffer.
std::string arena_svg(const PlannedArena& planned, const std::string& headline);

planning::ArenaProblem arena_problem(const documents::BufferLifetimes& lifetimes);

// `tidegate check`: verdicts on documents and on files of graphs.

// References that plans are checked against, and the files that a program may reach.
struct CheckContext {
  std::optional<planning::WaveDag> dag;                // reference of every frontier_memory_plan
  std::optional<documents::BufferLifetimes> lifetimes; // reference of every arena_plan
  PathScope scope = PathScope::folder;                 // folders that a program's paths may reach
  bool strict = false;                                 // warnings are errors
  std::vector<documents::Parameter> parameters{};      // in place of those of programs
};

// Returns the verdict on one document. `document` names its type; without it the document's own "kind" does, or else its keys.
// `line`: in a stream.
documents::CheckedDocument check_document(std::string_view json, const std::optional<std::string>& document,
                                          const std::string& file, std::optional<std::uint64_t> line = {},
                                          const CheckContext& context = {});

// Judge a report: the run reached its end, outputs are equal where they were compared, evidence is complete. Files that it
// names are not opened.
Result<void> judge(const traversal::FrontierReport& report);
Result<void> judge(const engine::RunReport& document);

// Pictures, and text in XML.

inline constexpr std::array<std::string_view, 8> picture_colours{"#4a90c9", "#cf7a22", "#3f9e5d", "#cc5f95",
                                                                 "#8a70d6", "#a98a12", "#2a9d9d", "#a8744f"};

// Escapes text for an XML element; names may contain any character.
std::string xml_text(std::string_view text);

// Elements of an SVG.
struct Drawing {
  std::string svg{};

  template <class... Values>
  void add(fmt::format_string<Values...> element, Values&&... values) {
    fmt::format_to(std::back_inserter(svg), element, std::forward<Values>(values)...);
  }

  // Begins a picture of this size, with the styles of pictures.
  void begin(double width, double height);

  // `style`: its class in the styles of pictures; `anchor`: which part of the text is at x.
  void add_text(double x, double y, std::string_view style, std::string_view text,
                std::string_view anchor = "start");
};

} // namespace tidegate::app
