// Halos: the distance, in tiles, between dependent tiles of two waves, as stated by the program or derived
// from kernels.
#pragma once
#include "engine/job.hpp"
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
void derive_halos(Job& program);

} // namespace tidegate::engine
