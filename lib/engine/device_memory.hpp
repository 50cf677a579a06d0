// The buffers of a program in device memory.
#pragma once
#include "device/opencl.hpp"
#include "engine/memory_layout.hpp"
#include "work/buffers.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::engine {

// The bytes of each buffer of a program in host memory, by buffer: what a run begins with, or what it leaves.
// All lie in one block, pinned where the device is on the other side of a bus and the block is not too large:
// locking pages takes time and memory from all others.

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b);

class HostContents {
public:
  HostContents() = default;

  // These contents, where they lie.
  explicit HostContents(BufferContents contents);

  // These contents; moved to pinned memory where that is to be had and they need at most so many bytes of it.
  HostContents(const device::Session& session, BufferContents contents, std::uint64_t most_pinned_bytes);

  // Room for so many bytes of each, with nothing in it yet.
  HostContents(const device::Session& session, const std::vector<std::uint64_t>& sizes,
               std::uint64_t most_pinned_bytes);

  [[nodiscard]] std::size_t size() const { return of_.size(); }
  std::span<std::byte> operator[](std::size_t buffer) { return of_[buffer]; }
  std::span<const std::byte> operator[](std::size_t buffer) const { return of_[buffer]; }

  // Whether a transfer may be under way when the call that began it has returned: pinned memory is given back
  // behind it.
  [[nodiscard]] bool pinned() const { return pinned_.has_value(); }

  // Byte for byte.
  friend bool operator==(const HostContents& a, const HostContents& b);

private:
  BufferContents owned_;
  std::unique_ptr<std::byte[]> block_; // neither zeroed nor touched before it is written
  std::optional<device::PinnedMemory> pinned_;
  std::vector<std::span<std::byte>> of_;
};

// The first contents of every buffer that has some, in memory that suits the device.
Result<HostContents> first_contents(const device::Session& session, const ResolvedProgram& program,
                                    std::uint64_t most_pinned_bytes);

// Room for the outputs; none for buffers without one.
HostContents output_room(const device::Session& session, const ResolvedProgram& program,
                         std::uint64_t most_pinned_bytes);

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

// Enqueues that the sub-buffers be made known to the device. On NVIDIA's driver the first launch that uses
// one takes a microsecond longer for each; this way it is no part of the dispatch. Throws device::Refused.
void touch(const device::Session& session, const Arena& arena);

// Each buffer by itself, empty for images. Throws device::Refused.
std::vector<cl::Buffer> allocate_apart(const device::Session& session, const ResolvedProgram& program);

// When a transfer has ended: as the call returns, or as the queue has finished.
enum class Transferred : std::uint8_t { now, later };

// Enqueues a fill; `bytes` and `offset` are multiples of the pattern's size. NVIDIA's clEnqueueFillBuffer
// (driver 580) fails, and loses the queue, where offset + size passes 2 GiB: beyond that a piece that was
// filled is copied. Throws device::Refused.
void fill(const device::Session& session, const cl::Buffer& to, std::uint64_t offset, std::uint64_t bytes,
          std::span<const std::byte> pattern, cl_event* event = nullptr);
void clear(const device::Session& session, const cl::Buffer& to, std::uint64_t offset, std::uint64_t bytes);

// Writes or reads bytes. Throws device::Refused.
void upload(const device::Session& session, const cl::Buffer& to, std::uint64_t offset,
            std::span<const std::byte> bytes, Transferred when = Transferred::now);
void download(const device::Session& session, const cl::Buffer& from, std::uint64_t offset,
              std::span<std::byte> bytes, Transferred when = Transferred::now);

} // namespace tidegate::engine
