// Checks one argument of a wave (a value, a buffer, an image or a sampler) against the parameter of its
// kernel, and resolves it.
#pragma once
#include "engine/job.hpp"
#include "opencl_c/translation_unit.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>

#include <span>
#include <string>

namespace tidegate::engine {

// True if the parameter takes an image or a sampler.
bool takes_object(const opencl_c::Parameter& parameter);

// Returns the argument that a program would state for this parameter: {"f32": …}.
std::string wanted_argument(const opencl_c::Parameter& parameter, const opencl_c::TranslationUnit& unit);

// Resolves the progression of a number that starts with these bytes. Errors: invalid_program, out_of_range.
Result<Progression> progression_of(const IterationSpec& spec, ElementType type,
                                   std::span<const std::byte> first, const std::string& pointer);

// Makes an argument_mismatch at this place of the program.
Error argument_mismatch(std::string message, std::string fix, const std::string& pointer);

// Resolves an argument at its place `pointer` in the program. Errors: argument_mismatch with both types when argument
// and parameter differ, or the parameter takes another type; out_of_range for numbers that its type cannot hold;
// unknown_name; invalid_program for a sampler that OpenCL does not have.
Result<ProgramArgument> resolve_argument(const WaveInput& in, const ArgumentSpec& argument,
                                         const opencl_c::Parameter& parameter,
                                         const opencl_c::TranslationUnit& unit, const std::string& pointer);

} // namespace tidegate::engine
