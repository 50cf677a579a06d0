// The kernels of a program as functions that a generated kernel calls.
#pragma once
#include "engine/job.hpp"
#include "opencl_c/outline.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::engine {

// The ops of a program as functions.
struct OutlinedOps {
  std::vector<std::string> texts;                // by unit; empty without a wave
  std::vector<std::uint32_t> order;              // order of the texts in the source
  std::vector<opencl_c::OutlinedKernel> kernels; // by op
  std::vector<std::string> alone;                // by op: why it is launched as the user wrote it; or empty
  std::vector<std::map<std::string, std::string>> renamed; // by unit: old and new names of file scope

  // Returns a type's name in the texts.
  [[nodiscard]] std::string type_text(std::uint32_t unit, const std::string& type) const {
    const std::size_t tag = type.rfind(' ') + 1; // "struct point"
    const auto found = renamed[unit].find(type.substr(tag));
    return found == renamed[unit].end() ? type : type.substr(0, tag) + found->second;
  }
};

// Register copies by unit; they name kernels by their original names.
using RegisterCopies = std::map<std::uint32_t, std::vector<opencl_c::RegisterCopy>>;

// Outlines every op that a wave runs. In the kernels of `idling` (indices of ops) that may, work-items outside of a
// work-group idle. Renames file-scope names that two units share or that could collide
// with generated code.
Result<OutlinedOps> outline_ops(const Job& program, const RegisterCopies& copies = {},
                                const std::set<std::uint32_t>& idling = {});

} // namespace tidegate::engine
