#pragma once

#include "core/npy.hpp"

namespace tidegate::test {

inline std::string npy_file(ElementType type, std::span<const std::uint64_t> shape,
                            std::span<const std::byte> bytes) {
  return npy_header(type, shape) + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

} // namespace tidegate::test
