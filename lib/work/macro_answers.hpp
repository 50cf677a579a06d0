// Answers the preprocessor's questions about predefined macros. lib/engine/compiler_macros.hpp asks a device.
#pragma once
#include "opencl_c/macros.hpp"
#include "opencl_c/preprocessor.hpp"
#include <tidegate/core/error.hpp>

#include <functional>
#include <set>
#include <string>

namespace tidegate::engine {

// Answers all unknown names and conditions of `macros`, for a compiler with these options.
using AnswerMacros =
    std::function<Result<void>(const opencl_c::CompilerOptions& options, opencl_c::PredefinedMacros& macros)>;

// For planning without a device: assumes the macros of every OpenCL C 3.0 compiler with doubles and without
// images, all other names undefined, and clang's results for conditions. Adds each answered name and
// condition to `assumed`, which must outlive the result.
AnswerMacros assume_macros(std::set<std::string>& assumed);

} // namespace tidegate::engine
