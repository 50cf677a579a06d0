// Checks images and samplers of a wave against the parameters of its kernel.
#pragma once
#include "opencl_c/translation_unit.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <functional>
#include <span>
#include <string>

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

// Error: invalid_program if a wave reads an image by one argument and writes it by another, which OpenCL
// leaves undefined. `pointer` is the wave's place.
Result<void> check_image_uses(std::span<const ProgramArgument> arguments,
                              std::span<const ProgramBuffer> buffers, const std::string& pointer);

} // namespace tidegate::engine
