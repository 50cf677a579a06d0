// A program's buffers in device memory and their contents in host memory.
#pragma once
#include "device/session.hpp"
#include "engine/job.hpp"
#include "engine/memory_layout.hpp"
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// Contents by buffer; empty if unknown.
using BufferContents = std::vector<std::vector<std::byte>>;

// Contents of each buffer in host memory, before or after a run. All are in one block. It is pinned if the
// device is across a bus and the block is small enough: locking pages takes time, and memory from other
// programs.

using device::Transferred;

// Returns an index that was read from device memory. Throws device::Refused if it is not below `count`: `what` the device
// reports is not there.
std::uint64_t checked_index(std::uint64_t index, std::uint64_t count, std::string_view what);

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b);

class HostContents {
public:
  HostContents() = default;

  // Keeps these contents where they are.
  explicit HostContents(BufferContents contents);

  // Moves the contents to pinned memory if it is available and they need at most `most_pinned_bytes`.
  HostContents(const device::Session& session, BufferContents contents, std::uint64_t most_pinned_bytes);

  // Allocates room for these sizes, uninitialized.
  HostContents(const device::Session& session, const std::vector<std::uint64_t>& sizes,
               std::uint64_t most_pinned_bytes);

  [[nodiscard]] std::size_t size() const { return of_.size(); }
  std::span<std::byte> operator[](std::size_t buffer) { return of_[buffer]; }
  std::span<const std::byte> operator[](std::size_t buffer) const { return of_[buffer]; }

  // True if transfers may continue after the call that enqueued them: pinned memory is released after them in
  // the queue.
  [[nodiscard]] bool pinned() const { return pinned_ != nullptr; }

  // Compares byte for byte.
  friend bool operator==(const HostContents& a, const HostContents& b);

private:
  BufferContents owned_;
  std::unique_ptr<std::byte[]> block_; // neither zeroed nor touched before it is written
  std::shared_ptr<std::byte> pinned_;
  std::vector<std::span<std::byte>> of_;
};

// Returns the first contents of every buffer that has some, in memory that suits the device; without those of buffers
// that `passed_over` selects.
Result<HostContents> first_contents(const device::Session& session, const Job& program,
                                    std::uint64_t most_pinned_bytes,
                                    const std::vector<bool>& passed_over = {});

// Does the same with the contents that `read` returns for each buffer that has first contents.
Result<HostContents>
first_contents(const device::Session& session, const Job& program, std::uint64_t most_pinned_bytes,
               const std::function<Result<std::vector<std::byte>>(std::size_t buffer)>& read);

// Allocates room for the outputs.
HostContents output_room(const device::Session& session, const Job& program, std::uint64_t most_pinned_bytes);

// Device memory of a program's buffers.
struct Arena {
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = delete;
  // Releases views in the reverse order of their creation: in another order NVIDIA's driver (580) crashes where
  // sub-buffers overlap.
  ~Arena();

  struct Part {
    device::Buffer memory;
    std::uint64_t offset = 0; // bytes
  };
  device::Buffer whole;              // for a generated kernel; empty without one
  std::vector<Part> parts;           // by buffer; empty outside the arena
  std::vector<device::Buffer> views; // by buffer, for plain launches; empty outside the arena
};

enum class ArenaUse : std::uint8_t { generated_kernel, plain_launches, both, apart };

// Allocates device memory. Throws device::Refused.
device::Buffer allocate(const device::Session& session, std::uint64_t bytes);

// Allocates the arena of a layout. On a GPU, plain launches alone get a block for each buffer, or for buffers that
// share memory, because a first launch with sub-buffers takes longer. On a CPU all buffers stay in one block, where the
// layout keeps them out of the same cache sets. `apart`: each buffer has a block, whatever the layout. Throws
// device::Refused.
Arena allocate_arena(const device::Session& session, const Job& program, const MemoryLayout& layout,
                     ArenaUse use);

// Returns a view of a part of a buffer. Throws device::Refused.
device::Buffer sub_buffer(const device::Session& session, const device::Buffer& whole, std::uint64_t offset,
                          std::uint64_t bytes);

// Enqueues the migration of views to the device. On NVIDIA's driver the first launch that uses a sub-buffer
// takes an extra microsecond for each; this keeps most of it out of the dispatch time. Throws device::Refused.
void touch(const device::Session& session, const Arena& arena);

// Allocates each buffer separately; empty for images. Throws device::Refused.
std::vector<device::Buffer> allocate_apart(const device::Session& session, const Job& program);

// Enqueues a fill; `bytes` and `offset` are multiples of the pattern's size. Throws device::Refused.
void fill(const device::Session& session, const device::Buffer& to, std::uint64_t offset, std::uint64_t bytes,
          std::span<const std::byte> pattern, device::Event* event = nullptr);
void clear(const device::Session& session, const device::Buffer& to, std::uint64_t offset,
           std::uint64_t bytes);

// Enqueues the first contents of buffers in separate memory, or zeros. Throws device::Refused.
void fill_apart(const device::Session& session, const Job& program, const HostContents& first,
                const std::vector<device::Buffer>& memory);

// Writes or reads bytes. Throws device::Refused.
void upload(const device::Session& session, const device::Buffer& to, std::uint64_t offset,
            std::span<const std::byte> bytes, Transferred when = Transferred::now);
void download(const device::Session& session, const device::Buffer& from, std::uint64_t offset,
              std::span<std::byte> bytes, Transferred when = Transferred::now);

} // namespace tidegate::engine
