// The user's kernels as in a host program: their sources built without changes, and waves as ordinary launches.
#pragma once
#include "engine/device_memory.hpp"

namespace tidegate::engine {

struct PlainPrograms {
  // Builds the kernels of these waves; both references must outlive them. Throws device::Refused: argument_mismatch if a value
  // and its parameter differ in size; kernel_source with a place if the log names one; kernel_options; build_failure, with the
  // log.
  PlainPrograms(const device::Session& session, const Job& program, std::vector<std::uint32_t> waves);

  [[nodiscard]] device::Kernel kernel(std::uint32_t op) const;

  const device::Session& session;
  const Job& program;
  std::vector<std::uint32_t> waves;
  std::map<std::uint32_t, device::Program> units;
};

// Finds the source that breaks a generated kernel by compiling each source alone, as written, so that the
// location is the user's in any strategy. Returns the error of the first source that fails; if all compile,
// returns the failure unchanged, because the fault is not the user's.
Error blame_sources(const device::Session& session, const Job& program, Error build_failure);

// Ways in which ordinary launches run a queue's items.
enum class QueueWay : std::uint8_t {
  drain, // published, in rounds by priority
  check, // as given, one per work-item, or one after another if ops publish: the reference for the other ways
  reversed, // likewise, with the items of each round in reverse
};

// The memory of a program's buffers and images; storage[phase][buffer] is the index of a buffer's memory.
struct WaveMemory {
  const std::vector<std::vector<std::uint32_t>>& storage;
  const Arena& arena;
};

// Makes the event of the next launch, or null; valid until the next call.
using NextEvent = std::function<device::Event*()>;

class Launcher;

// Kernel objects with all arguments set, one for each wave and swap phase, so that a launch does nothing
// else.
class PlainWaves {
public:
  using Clock = std::chrono::steady_clock;

  // The programs must outlive it. Throws device::Refused.
  PlainWaves(const PlainPrograms& programs, const WaveMemory& memory, QueueWay way = QueueWay::check);

  // Enqueues one wave in an iteration, with an event for each launch. Returns false if a queue was not drained, possibly
  // because of `deadline`. Throws device::Refused; of a queue that is a reference also queue_error().
  bool launch(
      std::uint32_t wave, std::uint32_t iteration, Clock::time_point deadline,
      const NextEvent& next_event = [] { return nullptr; });

  void set_range(std::uint32_t wave, const NdRange& range);

  // Returns the time that first launches spent compiling so far.
  [[nodiscard]] std::uint64_t compile_ns() const;

private:
  using Launch = std::function<bool(std::uint32_t iteration, Clock::time_point, const NextEvent&)>;

  const std::size_t phases_;
  std::map<std::pair<std::uint32_t, std::size_t>, Launch> launches_; // by wave and phase
  std::shared_ptr<Launcher> launcher_;                               // of all of them
};

// Returns true if an element has the value that `until` waits for, compared as numbers, not as bits.
bool same_value(const Job& program, const std::vector<std::byte>& value);

} // namespace tidegate::engine
