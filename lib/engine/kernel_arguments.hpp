// The arguments of the generated kernels: tidegate_persistent (kernels/wave/persistent.cl) and tidegate_stage
// (kernels/wave/stage.cl).
#pragma once
#include "device/session.hpp"

namespace tidegate::engine {

// Room for local arguments, never 0, so that the parameter can be set.
inline std::size_t local_room(std::uint64_t dynamic_local_bytes) {
  constexpr std::size_t largest_element = 128; // a vector of 16 numbers of 64 bits
  return std::max<std::size_t>(dynamic_local_bytes, largest_element);
}

namespace in_kernels {
using uint = std::uint32_t;
#include "wave/arguments.h"
} // namespace in_kernels

struct PersistentArguments {
  std::array<const device::Buffer*, in_kernels::TG_MEMORY_COUNT> memory{};
  in_kernels::tg_numbers numbers{};

  // Throws device::Refused.
  void set(const device::Session& session, const device::Kernel& kernel,
           std::uint64_t dynamic_local_bytes) const {
    constexpr std::string_view what = "setting an argument of the persistent kernel";
    std::uint32_t index = 0;
    for (const device::Buffer* const buffer : memory) {
      device::require(session.set_object(kernel, index++, *buffer), what);
    }
    using Numbers = std::array<std::uint32_t, sizeof numbers / sizeof(std::uint32_t)>;
    for (const std::uint32_t value : std::bit_cast<Numbers>(numbers)) {
      device::require(session.set_value(kernel, index++, value), what);
    }
    device::require(session.set_local(kernel, index++, local_room(dynamic_local_bytes)),
                    "setting the local memory of the persistent kernel");
  }
};

struct StageArguments {
  static constexpr std::uint32_t nothing = ~std::uint32_t{0}; // as first entry: an empty launch

  const device::Buffer* arena = nullptr;
  const device::Buffer* entries = nullptr;
  const device::Buffer* words = nullptr;
  std::uint32_t first_entry = nothing;
  std::uint32_t iteration = 0;

  // Throws device::Refused.
  void set(const device::Session& session, const device::Kernel& kernel,
           std::uint64_t dynamic_local_bytes) const {
    constexpr std::string_view what = "setting an argument of a stage";
    std::uint32_t index = 0;
    for (const device::Buffer* const buffer : {arena, entries, words}) {
      device::require(session.set_object(kernel, index++, *buffer), what);
    }
    device::require(session.set_local(kernel, index++, local_room(dynamic_local_bytes)),
                    "setting the local memory of a stage");
    for (const std::uint32_t value : {first_entry, iteration}) {
      device::require(session.set_value(kernel, index++, value), what);
    }
  }
};

} // namespace tidegate::engine
