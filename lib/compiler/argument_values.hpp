// Arguments by value: numbers, enumerators, structures by their members, and plain bytes.
#pragma once

#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/opencl_c/translation_unit.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::compiler {

// How many values of any kind an argument states.
std::size_t count_values(const ArgumentSpec& argument);

// Whether it is one number: {"f32": 1}.
bool states_one_number(const ArgumentSpec& argument);

// The value that `argument` states, as clSetKernelArg takes it. argument_mismatch when the parameter takes
// another, out_of_range for numbers that its type does not hold, unknown_name for members and enumerators.
Result<ProgramArgument> resolve_value(const ArgumentSpec& argument, const opencl_c::Parameter& parameter,
                                      const opencl_c::TranslationUnit& unit, const std::string& pointer);

// What a program would have to say for this parameter: {"f32": …}.
std::string wanted_argument(const opencl_c::Parameter& parameter, const opencl_c::TranslationUnit& unit);

// An argument_mismatch at this place of the program.
Error argument_mismatch(std::string message, std::string fix, const std::string& pointer);

// The element type that a scalar of OpenCL C has in programs: f32 for "float".
std::optional<ElementType> element_type_of(std::string_view scalar);

} // namespace tidegate::compiler
