// The access table of a job: which waves use which memory, and how their tiles conflict. Passes read it; what checks
// them (wait_check.cpp, window_violation) compares arguments itself.
#pragma once
#include "engine/job.hpp"

namespace tidegate::engine {

// Returns the uses of each buffer or image, in order of waves; uses_of() has those of a wave.
std::vector<std::vector<MemoryUse>> uses_by_buffer(const Job& program);

// In x, y and z.
using Tiles = std::array<std::uint32_t, 3>;

// Two waves use the same memory, and one of them writes it.
struct Conflict {
  std::optional<Tiles> halo = Tiles{}; // tile t conflicts with tiles t - halo … t + halo; empty: with any
  bool by_element = true;              // a work-item conflicts only with the one that has its number

  void widen(const Conflict& other);
};

// The memory that two buffers have in common.
enum class Sharing : std::uint8_t { nothing, bytes, all };

class Conflicts {
public:
  explicit Conflicts(const Job& program); // which must outlive it

  // Returns the conflict of a wave with one that runs after it, `distance` iterations later. `sharing` compares the memory
  // of a buffer of the first with that of one of the second; without it, only a buffer itself shares.
  using SharingOf = std::function<Sharing(std::uint32_t, std::uint32_t)>;
  [[nodiscard]] std::optional<Conflict> between(std::uint32_t first, std::uint32_t second,
                                                std::uint32_t distance = 0,
                                                const SharingOf& sharing = {}) const;

private:
  const Job& program_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, const ResolvedDependency*> listed_;
};

} // namespace tidegate::engine
