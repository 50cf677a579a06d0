// Converts build failures into errors in the user's sources.
#pragma once
#include "device/session.hpp"
#include "engine/job.hpp"
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <string_view>

namespace tidegate::engine {

// Prefix of the size checks for values that PlainPrograms appends to sources; wave, argument and bytes
// follow.
inline constexpr std::string_view value_size_check = "tg_size_of_argument_";

// Sets the location of a failure to the call of a function that the linker did not find, if its log names one.
void place_missing_function(const opencl_c::TokenStream& source, Error& build_failure);

// Converts the failure of a source that was compiled alone: argument_mismatch if a value and its parameter
// differ in size; kernel_source with location and line if the log names one; kernel_options with the location
// of the op.
Error at_source(const Job& program, std::uint32_t unit, Error build_failure);

// Finds the source that breaks a generated kernel by compiling each source alone, as written, so that the
// location is the user's in any strategy. Returns the error of the first source that fails; if all compile,
// returns the failure unchanged, because the fault is not the user's.
Error blame_sources(const device::Session& session, const Job& program, Error build_failure);

} // namespace tidegate::engine
