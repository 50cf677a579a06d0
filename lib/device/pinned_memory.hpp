// Host memory in which a GPU reads and writes by itself, at the full rate of the bus. Of a process's other
// memory the driver first makes a copy in such pages, which takes several times as long as the transfer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace tidegate::device {

struct Session;

class PinnedMemory {
public:
  // A buffer in host memory, mapped once, of at least one byte. Nothing where the driver has none to give:
  // other memory serves as well, more slowly.
  static std::optional<PinnedMemory> allocate(const Session& session, std::size_t bytes);

  [[nodiscard]] std::span<std::byte> bytes() const { return {memory_.get(), size_}; }

private:
  using GiveBack = std::function<void(std::byte*)>; // behind what was enqueued before, waiting for nothing
  PinnedMemory(std::byte* memory, std::size_t size, GiveBack give_back)
      : memory_(memory, std::move(give_back)), size_(size) {}

  std::unique_ptr<std::byte, GiveBack> memory_;
  std::size_t size_;
};

} // namespace tidegate::device
