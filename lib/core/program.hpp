// Other programs as filters.
#pragma once
#include <tidegate/core/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tidegate {

// What the program, found on PATH, writes to standard output when `input` is its standard input; its standard
// error is this process's. missing_program when there is none, program_failed when it ends with anything but
// 0 or cannot be started.
Result<std::string> filter(const std::vector<std::string>& command, std::string_view input);

} // namespace tidegate
