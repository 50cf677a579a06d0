// A program's buffers and images in device memory: their places, and their contents.
#pragma once
#include "engine/job.hpp"
#include "runtime/memory.hpp"
#include <tidegate/planning/arena.hpp>

namespace tidegate::engine {

struct MemoryLayout {
  std::vector<std::uint64_t> offsets; // bytes, by buffer; 0 outside the arena
  std::vector<planning::ArenaBuffer>
      lifetimes; // by buffer, in barrier groups; outside the arena all groups, 0 bytes
  std::uint64_t arena_bytes = 0;
  std::uint64_t sum_bytes = 0;         // without sharing
  std::uint64_t image_bytes = 0;       // outside the arena; images share no memory
  std::uint64_t lower_bound_bytes = 0; // no arena is smaller
};

std::uint64_t image_bytes(const Job& program);

// Plans the arena. A transient buffer lives from the first group of waves that accesses it to the last, and
// throughout the repeated groups unless an iteration certainly overwrites it first. Other buffers live
// throughout. Errors: arena_over_capacity and arena_search_exhausted if the arena does not fit
// `capacity_bytes` (0: no limit). Buffers of 64 KiB or more get `stagger_bytes` in addition.
Result<MemoryLayout> plan_memory(const Job& program, const planning::BarrierGroups& groups,
                                 std::uint64_t alignment, std::uint64_t capacity_bytes,
                                 std::uint64_t stagger_bytes = 0);

// Returns the first contents of every buffer that has some, in memory that suits the device; without those of buffers
// that `passed_over` selects.
Result<HostContents> first_contents(const device::Session& session, const Job& program,
                                    std::uint64_t most_pinned_bytes,
                                    const std::vector<bool>& passed_over = {});

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

// Checks all images. Throws device::Refused with unsupported_kernel if the device lacks an image's format for
// its use in kernels, or its size.
void check_images(const device::Session& session, const Job& program);

// Allocates a buffer that is an image; empty for others. Throws device::Refused.
device::Image allocate_image(const device::Session& session, const Job& program, std::size_t index);

} // namespace tidegate::engine
