// The ops of a program: kernels and queue ops, found in their sources.
#pragma once

#include <tidegate/compiler/program_names.hpp>
#include <tidegate/compiler/queue_wave.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/core/error_list.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::compiler {

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

} // namespace tidegate::compiler
