// The buffers of a program in device memory.
#pragma once

#include <tidegate/compiler/buffer_data.hpp>
#include <tidegate/compiler/memory_layout.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/device/handles.hpp>
#include <tidegate/run/compiled.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::run {

// The first contents of every buffer that has some, by buffer.
Result<BufferContents> first_contents(const ResolvedProgram& program);

// One block of memory and a view of each buffer in it.
struct Arena {
  cl::Buffer memory;
  std::vector<cl::Buffer> views; // by buffer, empty for those beside the arena; made when they are asked for
};

// A block of device memory. Throws device::Refused.
cl::Buffer allocate(const device::Session& session, std::uint64_t bytes,
                    cl_mem_flags flags = CL_MEM_READ_WRITE);

// The arena of a layout, with views when plain launches need them. Throws device::Refused.
Arena allocate_arena(const device::Session& session, const ResolvedProgram& program,
                     const MemoryLayout& layout, bool views);

// Each buffer by itself, empty for images. Throws device::Refused.
std::vector<cl::Buffer> allocate_apart(const device::Session& session, const ResolvedProgram& program);

// Writes or reads bytes, waiting for them. Throws device::Refused.
void upload(const device::Session& session, const cl::Buffer& to, std::uint64_t offset,
            std::span<const std::byte> bytes);
void download(const device::Session& session, const cl::Buffer& from, std::uint64_t offset,
              std::span<std::byte> bytes);

} // namespace tidegate::run
