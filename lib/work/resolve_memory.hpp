// Resolves the memory of a program: buffers, images, swaps, and the condition that ends the repetition.
#pragma once
#include "work/names.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::engine {

struct ProgramMemory {
  std::vector<ProgramBuffer> buffers; // images are among them, with the bytes of their file form
  NameIndex buffer_index;
  NameIndex image_index;
};

ProgramMemory resolve_memory(const ResolveInput& input, ErrorList& errors);

// Index pairs of swapped buffers.
std::vector<std::array<std::uint32_t, 2>> resolve_swaps(const ResolveInput& input,
                                                        const ProgramMemory& memory, ErrorList& errors);

Result<std::optional<ResolvedUntil>> resolve_until(const ResolveInput& input, const ProgramMemory& memory);

// Returns the index of a buffer; `instead` is the fix if the name is that of an image.
Result<std::uint32_t> find_buffer(const ResolveInput& input, const ProgramMemory& memory,
                                  const std::string& name, const std::string& pointer,
                                  const std::string& instead);
Result<std::uint32_t> find_argument_buffer(const ResolveInput& input, const ProgramMemory& memory,
                                           const std::string& name, const std::string& pointer);
Result<std::uint32_t> find_image(const ResolveInput& input, const ProgramMemory& memory,
                                 const std::string& name, const std::string& pointer);

} // namespace tidegate::engine
