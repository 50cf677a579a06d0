// One OpenCL C source with its options, read and taken apart.
#pragma once
#include "work/macro_answers.hpp"
#include "work/program.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <string>
#include <vector>

namespace tidegate::engine {

// `answer` tells what the compiler predefines, and is asked only for what the source depends on. Errors of
// options, of reading, also from out of the scope, of the preprocessor and of the declarations; those without
// a line of their own stand at the op, `pointer`.
Result<ProgramUnit> read_unit(const OpSpec& spec, const std::string& folder, const AnswerMacros& answer,
                              PathScope scope, const std::string& pointer, const SourceFrame& frame = {});

// The error with the line that it stands in, if that is in one of these files, which were read.
Error with_line_of(const std::vector<std::string>& files, Error error,
                   ColumnCounts counts = ColumnCounts::characters);

// A function of the unit that should be a kernel.
Error no_kernel(const ProgramUnit& unit, const opencl_c::Function& function);

} // namespace tidegate::engine
