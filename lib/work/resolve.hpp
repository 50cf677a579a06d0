// The ops of a program: kernels and queue ops, found in their sources.
#pragma once
#include "opencl_c/translation_unit.hpp"
#include "work/names.hpp"
#include "work/program.hpp"
#include "work/queue.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::engine {

struct ProgramOps {
  std::vector<ProgramUnit> units;
  std::vector<ProgramOp> ops;
  NameIndex op_index;
  std::map<std::string, std::optional<QueueOp>, std::less<>> queue_ops; // without a value, an unsound one
  std::optional<std::uint32_t> transfers; // the first of transfer_kernels, once a wave needs them

  [[nodiscard]] const ProgramUnit& unit(std::uint32_t op) const { return units[ops[op].unit]; }
  [[nodiscard]] const opencl_c::Function& function(std::uint32_t op) const {
    return unit(op).unit.functions[ops[op].function];
  }
};

ProgramOps resolve_ops(const ResolveInput& input, ErrorList& errors);

// The NDRange of a wave, from what its program says.

// A local size that is left out is the kernel's reqd_work_group_size, or else the largest divisor of the
// global size up to `open_size` in x and 1 in the other dimensions. invalid_program, out_of_range and
// unsupported_kernel, with the place behind `pointer`.
Result<NdRange> nd_range(const WaveSpec& spec, const opencl_c::Function& kernel, const std::string& pointer,
                         std::uint32_t open_size);

} // namespace tidegate::engine
