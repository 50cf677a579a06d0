// Resolves the ops of a program (kernels and queue ops, found in their sources) and the NDRanges of waves.
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
  std::map<std::string, std::optional<QueueOp>, std::less<>> queue_ops; // no value: unsound
  std::optional<std::uint32_t> transfers; // index of the first of transfer_kernels, once a wave needs them

  [[nodiscard]] const ProgramUnit& unit(std::uint32_t op) const { return units[ops[op].unit]; }
  [[nodiscard]] const opencl_c::Function& function(std::uint32_t op) const {
    return unit(op).unit.functions[ops[op].function];
  }
};

ProgramOps resolve_ops(const ResolveInput& input, ErrorList& errors);

// Returns the NDRange of a wave. The default local size is the kernel's reqd_work_group_size, otherwise the
// largest divisor of the global size up to `open_size` in x, and 1 in the other dimensions. Errors:
// invalid_program, out_of_range and unsupported_kernel, at places below `pointer`.
Result<NdRange> nd_range(const WaveSpec& spec, const opencl_c::Function& kernel, const std::string& pointer,
                         std::uint32_t open_size);

} // namespace tidegate::engine
