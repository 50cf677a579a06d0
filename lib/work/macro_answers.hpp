// What compilers predefine, as the preprocessor asks for it. lib/engine/compiler_macros.hpp asks a device.
#pragma once
#include "opencl_c/macros.hpp"
#include "opencl_c/preprocessor.hpp"
#include <tidegate/core/error.hpp>

#include <functional>
#include <set>
#include <string>

namespace tidegate::engine {

// Answers all that is unknown in `macros`, for a compiler with these options: afterwards nothing is.
using AnswerMacros =
    std::function<Result<void>(const opencl_c::CompilerOptions& options, opencl_c::PredefinedMacros& macros)>;

// For planning without a device: what every compiler of OpenCL C 3.0 defines, with doubles and without
// images; other names are taken to be not defined, and conditions for what clang says. Names that were asked
// for are added to `assumed`, which must outlive it.
AnswerMacros assume_macros(std::set<std::string>& assumed);

} // namespace tidegate::engine
