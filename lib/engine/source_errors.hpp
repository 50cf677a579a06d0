// A build that failed, told as what is wrong with the user's sources.
#pragma once
#include "device/opencl.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <string_view>

namespace tidegate::engine {

// How the checks of the sizes of values begin that PlainPrograms append to sources: wave, argument and bytes
// follow.
inline constexpr std::string_view value_size_check = "tg_size_of_argument_";

// What the compiler says about a source by itself: argument_mismatch where a value has another size than its
// parameter; kernel_source at the place, with its line, where it names
// one; kernel_options at the op.
Error at_source(const ResolvedProgram& program, std::uint32_t unit, Error build_failure);

// Of a generated kernel. The compiler is asked about each source by itself, as it is written: the place that
// it names is then the user's, to the column, whichever strategy the program runs with. The first source that
// it refuses is the answer; where it takes all of them, the failure as it was: the fault is not the user's.
Error blame_sources(const device::Session& session, const ResolvedProgram& program, Error build_failure);

} // namespace tidegate::engine
