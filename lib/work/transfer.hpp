// Fill and copy waves: built-in ops (kernels/wave/transfers.cl) in a shared launch, OpenCL commands
// elsewhere.
#pragma once
#include "engine/job.hpp"
#include "work/arguments.hpp"
#include <tidegate/core/error.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace tidegate::engine {

inline constexpr std::array<std::string_view, 2> transfer_kernels{"fill_bytes", "copy_bytes"};

// Reads the source of both ops.
Result<ProgramUnit> transfer_unit();

// Error: invalid_program if a fill, copy or queue wave has a range or arguments.
Result<void> no_range(const WaveSpec& spec, std::string_view what, const std::string& pointer);

// Resolves a fill or copy, with its kernel's arguments and range. Errors: out_of_range, invalid_program, and
// those of `find_buffer`.
Result<ProgramWave> resolve_transfer(const WaveSpec& spec, std::span<const ProgramBuffer> buffers,
                                     const FindBuffer& find_buffer, const std::string& pointer);

} // namespace tidegate::engine
