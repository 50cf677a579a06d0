// Memory of the device and of the host, transfers between them, and what a stream of runs keeps of both.
#pragma once
#include "device/session.hpp"

namespace tidegate::runtime {

using device::Transferred;

// Returns the value. Throws device::Refused with the error if there is none.
template <class T>
T or_refuse(Result<T> result) {
  if (!result) {
    throw device::Refused{std::move(result.error())};
  }
  if constexpr (!std::is_void_v<T>) {
    return *std::move(result);
  }
}

// Contents by buffer; empty if unknown.
using BufferContents = std::vector<std::vector<std::byte>>;

// Returns an index that was read from device memory. Throws device::Refused if it is not below `count`: `what` the device
// reports is not there.
std::uint64_t checked_index(std::uint64_t index, std::uint64_t count, std::string_view what);

// Returns a number of 64 bits that is in two words, the lower ones first.
inline std::uint64_t two_words(std::span<const std::uint32_t> words, std::size_t at) {
  return words[at] | std::uint64_t{words[at + 1]} << 32U;
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b);

// Contents of each buffer in host memory, before or after a run. All are in one block. It is pinned if the
// device is across a bus and the block is small enough: locking pages takes time, and memory from other
// programs.
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

  friend bool operator==(const HostContents& a, const HostContents& b);

private:
  BufferContents owned_;
  std::unique_ptr<std::byte[]> block_; // neither zeroed nor touched before it is written
  std::shared_ptr<std::byte> pinned_;
  std::vector<std::span<std::byte>> of_;
};

// A place in device memory, or an image.
struct DevicePart {
  device::Buffer memory;
  std::uint64_t offset = 0; // bytes
  device::Image object = {};
};

// Device memory of a program's buffers and images.
struct Arena {
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = delete;
  // Releases views in the reverse order of their creation: in another order NVIDIA's driver (580) crashes where
  // sub-buffers overlap.
  ~Arena();

  device::Buffer whole;              // for a generated kernel; empty without one
  std::vector<DevicePart> parts;     // by buffer
  std::vector<device::Buffer> views; // by buffer, for plain launches; empty outside the arena
};

// Memory of the device that stays after a run: a program's arena, an input outside of all arenas whose contents runs
// change, or a graph.
struct Holding : NotCopied {
  std::uint64_t bytes = 0;
  std::uint64_t last_run = 0; // that used it
  Arena arena;
  std::vector<std::string> contents; // by part, the name of what it holds; empty: unknown
  HostContents outputs;              // of a program: room for them, between two runs

  Holding() = default;
  explicit Holding(Arena made) : arena(std::move(made)), contents(arena.parts.size()) {}
  virtual ~Holding() = default;
};

struct KeptProgram : NotCopied {
  virtual ~KeptProgram() = default;
};

struct Kept {
  static constexpr std::size_t most_programs = 64;

  std::shared_ptr<device::Session> session; // released after the memory
  std::vector<std::shared_ptr<Holding>> holdings;
  std::map<std::string, std::shared_ptr<KeptProgram>> programs; // by all but their inputs' contents
  std::uint64_t run = 0;                                        // counts runs

  // Marks it as used by this run and holds it, if it is not held yet.
  void use(const std::shared_ptr<Holding>& holding);

  // Returns where the device has these contents, and marks them as used; an empty name is unknown.
  std::optional<DevicePart> find(const std::string& content);

  // Drops what the current run does not use, the least recently used first, until `bytes` more are within the budget
  // (0: none). Returns false if they are not.
  bool make_room(std::uint64_t bytes, std::uint64_t budget_bytes);

  void forget();

  // Keeps a program; once there are too many, drops the others.
  void keep(const std::string& key, std::shared_ptr<KeptProgram> program);
};

} // namespace tidegate::runtime
