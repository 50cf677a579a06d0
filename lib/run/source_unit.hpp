// One OpenCL C source with its options, read and taken apart.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/run/compiler_macros.hpp>
#include <tidegate/run/program.hpp>
#include <tidegate/run/resolved_program.hpp>

#include <string>

namespace tidegate::run {

// `answer` tells what the compiler predefines, and is asked only for what the source depends on. Errors of
// options, of reading, also from out of the scope, of the preprocessor and of the declarations; those without
// a line of their own stand at the op, `pointer`.
Result<ProgramUnit> read_unit(const OpSpec& spec, const std::string& folder, const AnswerMacros& answer,
                              PathScope scope, const std::string& pointer);

} // namespace tidegate::run
