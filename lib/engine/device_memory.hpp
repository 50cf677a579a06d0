// A program's buffers and images in device memory, their contents in host memory, and what a stream of runs keeps of both.
#pragma once
#include "device/session.hpp"
#include "engine/job.hpp"
#include "engine/memory_layout.hpp"
#include <tidegate/core/error.hpp>

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

// Returns a number of 64 bits that is in two words, the lower ones first.
inline std::uint64_t two_words(std::span<const std::uint32_t> words, std::size_t at) {
  return words[at] | std::uint64_t{words[at + 1]} << 32U;
}

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

// Allocates room for the outputs.
HostContents output_room(const device::Session& session, const Job& program, std::uint64_t most_pinned_bytes);

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
  std::vector<DevicePart> parts;     // by buffer; empty for those in registers
  std::vector<device::Buffer> views; // by buffer, for plain launches; empty outside the arena
};

enum class ArenaUse : std::uint8_t { generated_kernel, plain_launches, both };

// Allocates device memory. Throws device::Refused.
device::Buffer allocate(const device::Session& session, std::uint64_t bytes);

// Allocates the memory of a layout, and images. On a GPU, plain launches alone get a block for each buffer, or for
// buffers that share memory, because a first launch with sub-buffers takes longer. On a CPU all buffers stay in one
// block, where the layout keeps them out of the same cache sets. Throws device::Refused.
Arena allocate_arena(const device::Session& session, const Job& program, const MemoryLayout& layout,
                     ArenaUse use);

// Allocates a block for each buffer, and images. Throws device::Refused.
Arena allocate_apart(const device::Session& session, const Job& program);

// Returns a view of a part of a buffer. Throws device::Refused.
device::Buffer sub_buffer(const device::Session& session, const device::Buffer& whole, std::uint64_t offset,
                          std::uint64_t bytes);

// Enqueues the migration of views to the device. On NVIDIA's driver the first launch that uses a sub-buffer
// takes an extra microsecond for each; this keeps most of it out of the dispatch time. Throws device::Refused.
void touch(const device::Session& session, const Arena& arena);

// Enqueues a fill; `bytes` and `offset` are multiples of the pattern's size. Throws device::Refused.
void fill(const device::Session& session, const device::Buffer& to, std::uint64_t offset, std::uint64_t bytes,
          std::span<const std::byte> pattern, device::Event* event = nullptr);

// The contents of a buffer or image: writes the first ones; zeros, if there are none, unless it is an image that waves
// write before they read it; copies all; reads the start of a buffer or a whole image. All throw device::Refused.
void write_first(const device::Session& session, const ProgramBuffer& buffer,
                 std::span<const std::byte> first, const DevicePart& to, Transferred when = Transferred::now);
void clear_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& part);
void copy_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& from,
                   const DevicePart& to);
void read_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& from,
                   std::span<std::byte> bytes, Transferred when = Transferred::now);

// Writes or reads bytes. Throws device::Refused.
void upload(const device::Session& session, const device::Buffer& to, std::uint64_t offset,
            std::span<const std::byte> bytes, Transferred when = Transferred::now);
void download(const device::Session& session, const device::Buffer& from, std::uint64_t offset,
              std::span<std::byte> bytes, Transferred when = Transferred::now);

// Images and samplers.

// Checks all images. Throws device::Refused with unsupported_kernel if the device lacks an image's format for
// its use in kernels, or its size.
void check_images(const device::Session& session, const Job& program);

// Allocates a buffer that is an image; empty for others. Throws device::Refused.
device::Image allocate_image(const device::Session& session, const Job& program, std::size_t index);

// Makes a sampler. Throws device::Refused.
device::Sampler make_sampler(const device::Session& session, const SamplerSpec& spec);

struct Prepared;

// Memory of the device that stays after a run: a program's arena, an input outside of all arenas whose contents runs
// change, or a graph.
struct Holding {
  std::uint64_t bytes = 0;
  std::uint64_t last_run = 0; // that used it
  Arena arena;
  std::vector<std::string>
      contents;         // by part, the name of what it holds (ProgramBuffer::content); empty: unknown
  HostContents outputs; // of a program: room for them, between two runs

  Holding() = default;
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;
  explicit Holding(Arena made) : arena(std::move(made)), contents(arena.parts.size()) {}
  virtual ~Holding() = default;
};

struct Kept {
  static constexpr std::size_t most_programs = 64;

  std::shared_ptr<device::Session> session; // released after the memory
  std::vector<std::shared_ptr<Holding>> holdings;
  struct Program {
    std::shared_ptr<Prepared> prepared;
    std::uint64_t last_run = 0; // that used it
  };
  std::map<std::string, Program> programs; // by all but their inputs' contents
  std::uint64_t run = 0;                   // counts runs

  // Marks it as used by this run and holds it, if it is not held yet.
  void use(const std::shared_ptr<Holding>& holding);

  // Returns where the device has these contents, and marks them as used; an empty name is unknown.
  std::optional<DevicePart> find(const std::string& content);

  // Drops what the current run does not use, the least recently used first, until `bytes` more are within the budget
  // (0: none). Returns false if they are not.
  bool make_room(std::uint64_t bytes, std::uint64_t budget_bytes);

  // Drops everything.
  void forget();

  // Keeps a program; of too many, drops the least recently used.
  void keep(const std::string& key, std::shared_ptr<Prepared> program);
};

} // namespace tidegate::engine
