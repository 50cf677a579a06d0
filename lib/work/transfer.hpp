// Waves that fill and copy: built-in kernels (kernels/wave/transfers.cl) in a shared launch, OpenCL commands elsewhere.
#pragma once
#include "engine/job.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tidegate::engine {

struct WaveInput;

struct FillSpec {
  std::string buffer;
  Number value = std::uint64_t{0};
  std::uint64_t offset = 0;           // elements
  std::optional<std::uint64_t> count; // elements; default: to the end
};

struct CopySpec {
  std::string from;
  std::string to;
  std::uint64_t from_offset = 0;      // elements of `from`
  std::uint64_t to_offset = 0;        // elements of `to`
  std::optional<std::uint64_t> count; // elements of `from`; default: to its end
};

// Errors: out_of_range, invalid_program, unknown_name.
Result<ProgramWave> fill_wave(const WaveInput& in);
Result<ProgramWave> copy_wave(const WaveInput& in);

} // namespace tidegate::engine

namespace tidegate::documents {

TIDEGATE_HAS_RECORD(engine::FillSpec);
TIDEGATE_HAS_RECORD(engine::CopySpec);

} // namespace tidegate::documents
