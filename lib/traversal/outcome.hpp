// What the report of a traversal says: of its plan, its waves and its results.
#pragma once
#include "traversal/dispatch.hpp"
#include "traversal/report.hpp"

namespace tidegate::traversal {

Answer answer_of(const TraversalPlan& plan, const TraversalResults& results);

// Returns the report of a traversal that has not begun.
FrontierReport report_of_plan(const TraversalPlan& plan);

// Adds what was dispatched and what the waves did, of a run that may be under way, and why it did not come to its end.
void report_outcome(const TraversalPlan& plan, const TraversalOutcome& outcome, const RunOptions& options,
                    FrontierReport& report);

// Returns what a rank knows of its run without the other ranks.
runtime::RankReport rank_report(const TraversalPlan& plan, std::uint64_t dispatch_ns);

} // namespace tidegate::traversal
