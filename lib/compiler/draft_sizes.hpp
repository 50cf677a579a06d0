// How large what a draft makes up is: NDRanges, work-groups, buffers. draft.hpp has the idea.
#pragma once

#include <tidegate/opencl_c/parameter_uses.hpp>
#include <tidegate/opencl_c/translation_unit.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::compiler {

// A kernel that the program is to run.
struct DraftKernel {
  std::size_t source = 0;
  const opencl_c::TranslationUnit* unit = nullptr;
  const opencl_c::Function* function = nullptr;
  opencl_c::KernelUses uses;
};

struct Sizes {
  std::uint64_t extent = 1; // work-items in each direction, and the value of counts
  std::uint64_t items = 1;  // elements of a buffer
};

// Whether a scalar is a whole number that counts something: by what is done with it, or by its name.
bool is_count(const DraftKernel& kernel, std::size_t parameter);

Sizes sizes_of(const DraftKernel& kernel);

// Work-groups that the kernel's local arrays have room for, of a power of two; nothing where any will do.
std::optional<std::vector<std::uint64_t>> local_size_of(const DraftKernel& kernel, std::uint64_t extent);

} // namespace tidegate::compiler
