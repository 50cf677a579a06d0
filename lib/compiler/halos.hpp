// How far tiles of waves reach: what a program states, and what follows from its kernels.
#pragma once

#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/core/number.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::compiler {

// Tiles in x, y and z: one number for every dimension of the range, or one for each. invalid_program for
// others.
Result<std::array<std::uint32_t, 3>> stated_halo(const std::vector<Number>& halo, const NdRange& range,
                                                 const std::string& pointer);

// The halos of arguments whose elements follow from the global id, where the program states none, and which
// buffers are overwritten whole. Only waves of one dimension: in others several work-items share an id in x.
void derive_halos(ResolvedProgram& program);

// What the program states of two waves, `before` running earlier in an iteration: of the buffer, tile t of
// `after` touches only what tiles t - halo … t + halo of `before` touch.
struct StatedHalo {
  std::uint32_t before = 0;
  std::uint32_t after = 0;
  std::uint32_t buffer = 0;
  std::array<std::uint32_t, 3> halo{};

  friend bool operator==(const StatedHalo&, const StatedHalo&) = default;
};

// For every buffer that two waves share, one of them writing: by their dependency, or by arguments that both
// have a halo, at least one of them a stated one.
std::vector<StatedHalo> stated_halos(const ResolvedProgram& program);

} // namespace tidegate::compiler
