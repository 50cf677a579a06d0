// `tidegate check`: verdicts on documents and on files of graphs.
#pragma once
#include "app/documents.hpp"
#include "core/table.hpp"
#include "traversal/documents.hpp"
#include "work/program.hpp"

namespace tidegate::app {

// References that plans are checked against, and the files that a program may reach.
struct CheckContext {
  std::optional<planning::WaveDag> dag;                // reference of every frontier_memory_plan
  std::optional<documents::BufferLifetimes> lifetimes; // reference of every arena_plan
  PathScope scope = PathScope::folder;                 // folders that a program's paths may reach
  bool strict = false;                                 // warnings are errors
};

// Returns the verdict on one document. `document` names its type; without it the document's own "kind" does, or
// else its keys. `file` and `line` (in a stream) go into the verdict and the errors' locations; `written`
// is the text before parameters were replaced, as in at_document().
documents::CheckedDocument check_document(std::string_view json, const std::optional<std::string>& document,
                                          const std::string& file, std::optional<std::uint64_t> line = {},
                                          const CheckContext& context = {}, std::string_view written = {});

// Decodes a document and judges it. The error and its `others` are all of its faults, each with a pointer; likely mistakes
// become warnings of the entry, which has the document's file. Errors: of decoding, of a program, incomplete_evidence,
// inconsistent_evidence, invalid_plan, outputs_differ; of a report, also that of the run.
Result<void> judge_document(const documents::Document& document, std::string_view json,
                            const CheckContext& context, documents::CheckedDocument& entry);

// Judge a report: the run reached its end, outputs are equal where they were compared, evidence is complete. Files that it
// names are not opened.
Result<void> judge(const traversal::FrontierReport& report);
Result<void> judge(const documents::RunReportDocument& document);

} // namespace tidegate::app
