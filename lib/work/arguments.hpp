// One argument of a wave against the parameter of its kernel.
#pragma once
#include "opencl_c/translation_unit.hpp"
#include "work/image_arguments.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// Arguments by value: numbers, enumerators, structures by their members, and plain bytes.

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

// The buffer that a name means, as an index.
using FindBuffer = std::function<Result<std::uint32_t>(const std::string& name, const std::string& pointer)>;

// argument_mismatch, with what the program gives and what the kernel takes, when the two do not agree.
// `pointer` is the argument's place in the program.
Result<ProgramArgument> resolve_argument(const ArgumentSpec& argument, const opencl_c::Parameter& parameter,
                                         const opencl_c::TranslationUnit& unit,
                                         std::span<const ProgramBuffer> buffers,
                                         const FindBuffer& find_buffer, const FindImage& find_image,
                                         const std::string& pointer);

} // namespace tidegate::engine
