// The calls that a session makes of its device, counted as they are made.
#pragma once
#include "core/prelude.hpp"

namespace tidegate::device {

template <class Count>
struct CallsOf {
  Count launches{0};      // of kernels
  Count waits{0};         // calls that return when the device has done its part
  Count bytes_written{0}; // from the host's memory
  Count bytes_read{0};    // into the host's memory
  Count blocks{0};        // of device memory that are allocated now: buffers and images
  Count buffer_bytes{0};  // of the buffers among them
};

using CallCounts = CallsOf<std::uint64_t>;

// Counts that other threads may read.
struct Calls : CallsOf<std::atomic<std::uint64_t>> {
  [[nodiscard]] CallCounts now() const {
    return {.launches = launches,
            .waits = waits,
            .bytes_written = bytes_written,
            .bytes_read = bytes_read,
            .blocks = blocks,
            .buffer_bytes = buffer_bytes};
  }
  // Returns the calls after `before`, and the memory that is allocated now.
  [[nodiscard]] CallCounts since(const CallCounts& before) const {
    CallCounts counts = now();
    counts.launches -= before.launches;
    counts.waits -= before.waits;
    counts.bytes_written -= before.bytes_written;
    counts.bytes_read -= before.bytes_read;
    return counts;
  }
};

} // namespace tidegate::device
