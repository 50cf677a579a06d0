// Makes the request of the next launch of what a run measured.
#pragma once
#include "engine/documents.hpp"
#include "engine/traversal/report.hpp"
#include <tidegate/policy/launch_request.hpp>

namespace tidegate::app {

policy::LaunchRequest next_request(const documents::RunReportDocument& document);
policy::LaunchRequest next_request(const traversal::FrontierReport& report);

} // namespace tidegate::app
