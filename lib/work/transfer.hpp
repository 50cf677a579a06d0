// Waves that fill and copy: ops of our own (kernels/wave/transfers.cl) in a shared launch, OpenCL's own commands
// elsewhere.
#pragma once
#include "work/arguments.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace tidegate::engine {

inline constexpr std::array<std::string_view, 2> transfer_kernels{"fill_bytes", "copy_bytes"};

// The source of both.
Result<ProgramUnit> transfer_unit();

// invalid_program where a wave that is no op of the program has a range or arguments.
Result<void> no_range(const WaveSpec& spec, std::string_view what, const std::string& pointer);

// What a wave that fills or copies does, with the arguments and the range of its kernel. Errors:
// out_of_range, invalid_program, and those of `find_buffer`.
Result<ProgramWave> resolve_transfer(const WaveSpec& spec, std::span<const ProgramBuffer> buffers,
                                     const FindBuffer& find_buffer, const std::string& pointer);

} // namespace tidegate::engine
