// Reads and parses one OpenCL C source with its options.
#pragma once
#include "work/program.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <string>
#include <vector>

namespace tidegate::engine {

// `answer` supplies predefined macros, and is called only for macros that the source depends on. Errors:
// those of options, reading, scope, preprocessor and declarations; an error without a source line gets the
// op's place, `pointer`.
Result<ProgramUnit> read_unit(const OpSpec& spec, const std::string& folder, const AnswerMacros& answer,
                              PathScope scope, const std::string& pointer, const SourceFrame& frame = {});

// Adds an excerpt of the error's line, if its file is one of `files`.
Error with_line_of(const std::vector<std::string>& files, Error error,
                   ColumnCounts counts = ColumnCounts::characters);

// The error for a function that should be a kernel.
Error no_kernel(const ProgramUnit& unit, const opencl_c::Function& function);

} // namespace tidegate::engine
