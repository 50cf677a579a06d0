// One argument of a wave against the parameter of its kernel.
#pragma once

#include <tidegate/compiler/image_arguments.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/opencl_c/translation_unit.hpp>

#include <functional>
#include <span>
#include <string>

namespace tidegate::compiler {

// The buffer that a name means, as an index.
using FindBuffer = std::function<Result<std::uint32_t>(const std::string& name, const std::string& pointer)>;

// argument_mismatch, with what the program gives and what the kernel takes, when the two do not agree.
// `pointer` is the argument's place in the program.
Result<ProgramArgument> resolve_argument(const ArgumentSpec& argument, const opencl_c::Parameter& parameter,
                                         const opencl_c::TranslationUnit& unit,
                                         std::span<const ProgramBuffer> buffers,
                                         const FindBuffer& find_buffer, const FindImage& find_image,
                                         const std::string& pointer);

} // namespace tidegate::compiler
