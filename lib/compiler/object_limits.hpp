// How many images and samplers a kernel may have as parameters.
#pragma once

#include <cstdint>
#include <limits>

namespace tidegate::compiler {

struct ObjectLimits {
  std::uint32_t read_images = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t write_images = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t read_write_images = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t samplers = std::numeric_limits<std::uint32_t>::max();
};

} // namespace tidegate::compiler
