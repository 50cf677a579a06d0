// Reads and parses one OpenCL C source with its options.
#pragma once
#include "engine/job.hpp"
#include "work/compiler_macros.hpp"
#include "work/program.hpp"
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

// The error for a function that should be a kernel.
Error no_kernel(const ProgramUnit& unit, const opencl_c::Function& function);

} // namespace tidegate::engine
