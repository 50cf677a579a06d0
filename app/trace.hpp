// tidegate run --trace: a timeline in the Trace Event Format of Chrome, which ui.perfetto.dev and
// chrome://tracing open.
#pragma once
#include "engine/timeline.hpp"

#include <string>
#include <string_view>

namespace tidegate::commands {

// One JSON document. Process 1 is the run with a thread for each lane, process 2 what was planned. Times are
// microseconds with three decimals.
std::string trace_json(const engine::Timeline& timeline, std::string_view title);

} // namespace tidegate::commands
