// The kernels of a program as functions that a generated kernel calls.
#pragma once
#include "opencl_c/outline.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tidegate::engine {

// A kernel as a function, by op.
struct OutlinedOps {
  std::vector<std::string> texts;                // by unit; empty for one without a wave
  std::vector<std::uint32_t> order;              // of the texts, one behind the other
  std::vector<opencl_c::OutlinedKernel> kernels; // by op
  std::vector<std::string> alone;                // by op why it is launched as the user wrote it; or empty
  std::vector<std::map<std::string, std::string>>
      renamed; // by unit, names of file scope that have others now
};

// By unit, with the names of kernels as they are written.
using RegisterCopies = std::map<std::uint32_t, std::vector<opencl_c::RegisterCopy>>;

// Outlines every op that a wave runs. Names of file scope that two units share are renamed, and so are those
// that could be met by what is generated.
Result<OutlinedOps> outline_ops(const ResolvedProgram& program, const RegisterCopies& copies = {});

} // namespace tidegate::engine
