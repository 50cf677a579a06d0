// `tidegate check`: is a document well formed, does its evidence hold, and is a plan right?
#pragma once
#include "engine/documents.hpp"
#include "engine/traversal/documents.hpp"
#include "work/files.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/planning/documents.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::commands {

// Documents to check plans against, and permissions of programs.
struct Premises {
  std::optional<planning::WaveDag> dag;                // of every frontier_memory_plan
  std::optional<documents::BufferLifetimes> lifetimes; // of every arena_plan
  engine::PathScope scope = engine::PathScope::folder; // where the paths of programs may lead
};

// The verdict on one document. `document` names its type; without it the document's own "kind" does, or else
// its keys. `file` and `line` (in a stream) go into the verdict and the errors' places.
documents::CheckedDocument check_document(std::string_view json, const std::optional<std::string>& document,
                                          const std::string& file, std::optional<std::uint64_t> line = {},
                                          const Premises& premises = {});

struct CheckRequest {
  std::optional<std::string> document;         // the type of every document; without it each says its own
  std::vector<std::string> files;              // paths, or - for standard input
  bool stream = false;                         // each line of a file is a document
  std::optional<std::string> dag;              // path of a wave_dag, or of a wave_program
  std::optional<std::uint64_t> budget_bytes;   // instead of that document's
  std::optional<std::string> lifetimes;        // path of buffer_lifetimes
  std::optional<std::uint64_t> capacity_bytes; // instead of that document's
  engine::PathScope scope = engine::PathScope::folder; // of the paths of programs
};

// Checks every document of every file. A file that cannot be read is a verdict like any other; premises that
// cannot be read are an error.
Result<documents::CheckReport> check(const CheckRequest& request);

// The error of a document that has one, with the others.
Error all_of(const documents::CheckedDocument& checked);

// The worst exit code of the report's verdicts.
ExitCode exit_code(const documents::CheckReport& report);

// One line per document and the counts, for people.
std::string check_table(const documents::CheckReport& report, bool colour);

// Reads every file; one that is no graph is a verdict like any other.
documents::GraphReport check_graphs(const std::vector<std::string>& files);

// The worst exit code of the report's verdicts.
ExitCode exit_code(const documents::GraphReport& report);

// A table for each graph and the counts, for people.
std::string graph_table(const documents::GraphReport& report, bool colour);

} // namespace tidegate::commands
