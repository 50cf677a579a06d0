// `tidegate check graph`: what do graph files hold, and are they graphs at all?
#pragma once
#include "engine/traversal/documents.hpp"
#include <tidegate/core/error.hpp>

#include <string>
#include <vector>

namespace tidegate::commands {

// Reads every file; one that is no graph is a verdict like any other.
documents::GraphReport check_graphs(const std::vector<std::string>& files);

// The worst exit code of the report's verdicts.
ExitCode exit_code(const documents::GraphReport& report);

// A table for each graph and the counts, for people.
std::string graph_table(const documents::GraphReport& report, bool colour);

} // namespace tidegate::commands
