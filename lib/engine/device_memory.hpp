// A program's buffers and images in device memory, and their contents.
#pragma once
#include "engine/job.hpp"
#include "engine/memory_layout.hpp"
#include "runtime/memory.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::engine {

// Returns the first contents of every buffer that has some, in memory that suits the device; without those of buffers
// that `passed_over` selects.
Result<HostContents> first_contents(const device::Session& session, const Job& program,
                                    std::uint64_t most_pinned_bytes,
                                    const std::vector<bool>& passed_over = {});

// Allocates room for the outputs.
HostContents output_room(const device::Session& session, const Job& program, std::uint64_t most_pinned_bytes);

enum class ArenaUse : std::uint8_t { generated_kernel, plain_launches, both };

// Allocates the memory of a layout, and images. On a GPU, plain launches alone get a block for each buffer, or for
// buffers that share memory, because a first launch with sub-buffers takes longer. On a CPU all buffers stay in one
// block, where the layout keeps them out of the same cache sets. Throws device::Refused.
Arena allocate_arena(const device::Session& session, const Job& program, const MemoryLayout& layout,
                     ArenaUse use);

// Allocates a block for each buffer, and images. Throws device::Refused.
Arena allocate_apart(const device::Session& session, const Job& program);

// The contents of a buffer or image: writes the first ones; zeros, if there are none, unless it is an image that waves
// write before they read it; copies all; reads the start of a buffer or a whole image. All throw device::Refused.
void write_first(const device::Session& session, const ProgramBuffer& buffer,
                 std::span<const std::byte> first, const DevicePart& to, Transferred when = Transferred::now);
void clear_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& part);
void copy_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& from,
                   const DevicePart& to);
void read_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& from,
                   std::span<std::byte> bytes, Transferred when = Transferred::now);

// Images.

// Checks all images. Throws device::Refused with unsupported_kernel if the device lacks an image's format for
// its use in kernels, or its size.
void check_images(const device::Session& session, const Job& program);

// Allocates a buffer that is an image; empty for others. Throws device::Refused.
device::Image allocate_image(const device::Session& session, const Job& program, std::size_t index);

} // namespace tidegate::engine
