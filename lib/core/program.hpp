// Runs other programs as filters.
#pragma once
#include <tidegate/core/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tidegate {

// Runs a program found on PATH with `input` as its standard input and returns its standard output. Its standard
// error goes to the file `errors`, or is ours if that is empty. Errors: missing_program; program_failed if it
// cannot be started or does not exit with 0.
Result<std::string> filter(const std::vector<std::string>& command, std::string_view input,
                           const std::string& errors = {});

} // namespace tidegate
