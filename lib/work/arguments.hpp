// Checks one argument of a wave (a value, a buffer, an image or a sampler) against the parameter of its
// kernel, and resolves it.
#pragma once
#include "engine/job.hpp"
#include "opencl_c/translation_unit.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// True if the parameter takes an image or a sampler.
bool takes_object(const opencl_c::Parameter& parameter);

// Returns the index of the named image among the program's buffers.
using FindImage = std::function<Result<std::uint32_t>(const std::string& name, const std::string& pointer)>;

// Resolves an image or sampler argument; `wanted` is the argument that the parameter would accept. Errors:
// argument_mismatch if the two differ; invalid_program for a sampler that OpenCL does not have.
Result<ProgramArgument> resolve_object(const ArgumentSpec& argument, const opencl_c::Parameter& parameter,
                                       const std::string& declaration, const std::string& wanted,
                                       std::span<const ProgramBuffer> buffers, const FindImage& find_image,
                                       const std::string& pointer);

// Refuses a wave that reads an image by one argument and writes it by another, which OpenCL leaves undefined.
// Error: invalid_program. `pointer` is the wave's place.
Result<void> check_image_uses(std::span<const ProgramArgument> arguments,
                              std::span<const ProgramBuffer> buffers, const std::string& pointer);

// Returns the number of values of any kind that an argument states.
std::size_t count_values(const ArgumentSpec& argument);

// True for a single number: {"f32": 1}.
bool states_one_number(const ArgumentSpec& argument);

// Returns the stated value as clSetKernelArg takes it. Errors: argument_mismatch if the parameter takes
// another type, out_of_range for numbers that its type cannot hold, unknown_name for members and enumerators.
Result<ProgramArgument> resolve_value(const ArgumentSpec& argument, const opencl_c::Parameter& parameter,
                                      const opencl_c::TranslationUnit& unit, const std::string& pointer);

// Returns the argument that a program would state for this parameter: {"f32": …}.
std::string wanted_argument(const opencl_c::Parameter& parameter, const opencl_c::TranslationUnit& unit);

// Resolves the progression of a number that starts with these bytes. Errors: invalid_program, out_of_range.
Result<Progression> progression_of(const IterationSpec& spec, ElementType type,
                                   std::span<const std::byte> first, const std::string& pointer);

// Makes an argument_mismatch at this place of the program.
Error argument_mismatch(std::string message, std::string fix, const std::string& pointer);

// Returns the index of the named buffer.
using FindBuffer = std::function<Result<std::uint32_t>(const std::string& name, const std::string& pointer)>;

// Resolves an argument at its place `pointer` in the program; `find_hits` finds lists of hits. Error:
// argument_mismatch with both types when argument and parameter differ.
Result<ProgramArgument> resolve_argument(const ArgumentSpec& argument, const opencl_c::Parameter& parameter,
                                         const opencl_c::TranslationUnit& unit,
                                         std::span<const ProgramBuffer> buffers,
                                         const FindBuffer& find_buffer, const FindImage& find_image,
                                         const FindBuffer& find_hits, const std::string& pointer);

} // namespace tidegate::engine
