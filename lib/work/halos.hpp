// How far tiles of waves reach: what a program states, and what follows from its kernels.
#pragma once
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::engine {

// Tiles in x, y and z: one number for every dimension of the range, or one for each. invalid_program for
// others.
Result<std::array<std::uint32_t, 3>> stated_halo(const std::vector<Number>& halo, const NdRange& range,
                                                 const std::string& pointer);

// The halos of arguments whose elements follow from the global id, where the program states none, and which
// buffers are overwritten whole. Only waves of one dimension: in others several work-items share an id in x.
void derive_halos(ResolvedProgram& program);

// What the program states of two waves that touch the same memory, one of them writing: tile t of `after`
// touches of it only what tiles t - halo … t + halo of `before` touch. `before` runs earlier, in the same
// iteration or in one before; it may be the same wave.
struct StatedHalo {
  std::uint32_t before = 0;
  std::uint32_t before_argument = 0;
  std::uint32_t after = 0;
  std::uint32_t after_argument = 0;
  std::array<std::uint32_t, 3> halo{};
  bool in_iteration = false; // says nothing of what `before` touched in other iterations

  friend bool operator==(const StatedHalo&, const StatedHalo&) = default;
};

// Where the two meet by their dependency, or by arguments that both have a halo, at least one of them a
// stated one. `places` says where buffers are, by swaps.
std::vector<StatedHalo> stated_halos(const ResolvedProgram& program,
                                     const std::vector<std::vector<std::uint32_t>>& places);

} // namespace tidegate::engine
