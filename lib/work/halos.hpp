// Halos: the distance, in tiles, between dependent tiles of two waves, as stated by the program or derived
// from kernels.
#pragma once
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::engine {

// Tiles in x, y and z, from one number for all dimensions or one for each. Error: invalid_program.
Result<std::array<std::uint32_t, 3>> stated_halo(const std::vector<Number>& halo, const NdRange& range,
                                                 const std::string& pointer);

// Derives missing halos for arguments indexed by the global id, and finds buffers that are wholly
// overwritten. Only for one-dimensional waves: in others several work-items share an id in x.
void derive_halos(ResolvedProgram& program);

// A halo between two waves that access the same memory, one of them writing: there tile t of `after` touches
// only elements of tiles t - halo … t + halo of `before`. `before` runs earlier, in the same or a previous
// iteration; it may be the same wave.
struct StatedHalo {
  std::uint32_t before = 0;
  std::uint32_t before_argument = 0;
  std::uint32_t after = 0;
  std::uint32_t after_argument = 0;
  std::array<std::uint32_t, 3> halo{};
  bool in_iteration = false; // holds only for accesses in the same iteration

  friend bool operator==(const StatedHalo&, const StatedHalo&) = default;
};

// Collects the halos of dependencies, and of argument pairs that both have a halo, at least one of them
// stated. `places` maps buffers to memory for each phase of the swaps.
std::vector<StatedHalo> stated_halos(const ResolvedProgram& program,
                                     const std::vector<std::vector<std::uint32_t>>& places);

} // namespace tidegate::engine
