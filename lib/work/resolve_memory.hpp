// The memory of a program: its buffers and images, which of them change places, and what ends the repetition.
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
  std::vector<ProgramBuffer> buffers; // an image has a place among them, and the bytes that a file of it has
  NameIndex buffer_index;
  NameIndex image_index;
};

ProgramMemory resolve_memory(const ResolveInput& input, ErrorList& errors);

// Places of buffers that are swapped.
std::vector<std::array<std::uint32_t, 2>> resolve_swaps(const ResolveInput& input,
                                                        const ProgramMemory& memory, ErrorList& errors);

Result<std::optional<ResolvedUntil>> resolve_until(const ResolveInput& input, const ProgramMemory& memory);

// The place of a buffer; `instead` is what to do where the name is that of an image.
Result<std::uint32_t> find_buffer(const ResolveInput& input, const ProgramMemory& memory,
                                  const std::string& name, const std::string& pointer,
                                  const std::string& instead);
Result<std::uint32_t> find_argument_buffer(const ResolveInput& input, const ProgramMemory& memory,
                                           const std::string& name, const std::string& pointer);
Result<std::uint32_t> find_image(const ResolveInput& input, const ProgramMemory& memory,
                                 const std::string& name, const std::string& pointer);

} // namespace tidegate::engine
