// The bytes of each buffer of a program in host memory, by buffer: what a run begins with, or what it leaves.
// All lie in one block, pinned where the device is on the other side of a bus and the block is not too large:
// locking pages takes time and memory from all others.
#pragma once

#include <tidegate/compiler/buffer_data.hpp>
#include <tidegate/device/pinned_memory.hpp>
#include <tidegate/run/compiled.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::run {

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

} // namespace tidegate::run
