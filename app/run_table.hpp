// What the table of a run says of the files that it has written.
#pragma once
#include "engine/run_report.hpp"

#include <string>
#include <vector>

namespace tidegate::commands {

// A row for each, with its name, what it holds and its size.
void add_written(const std::vector<engine::WrittenFile>& files, std::vector<std::vector<std::string>>& rows);

} // namespace tidegate::commands
