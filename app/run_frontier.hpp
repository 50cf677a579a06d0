// `tidegate run` on a frontier program: from its document, and what there is to tell.
#pragma once
#include "engine/traversal/report.hpp"
#include "graph/program.hpp"
#include <tidegate/core/error.hpp>

#include <string>
#include <string_view>

namespace tidegate::commands {

// Whether a document is one, rather than a wave program: it says so, or names a graph.
bool is_frontier_program(std::string_view json);

// The report as a document, without a newline at its end.
std::string frontier_document(const traversal::FrontierReport& report);

// For people.
std::string frontier_table(const traversal::FrontierReport& report, bool colour);

} // namespace tidegate::commands
