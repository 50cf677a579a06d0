// The first contents of a buffer or an image, as a program's document gives them. Plain data.
#pragma once

#include <tidegate/core/number.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tidegate::compiler {

struct Iota { // element i is start + i * step
  Number start = std::uint64_t{0};
  Number step = std::uint64_t{1};
};

struct Random { // uniform in [low, high); for integers all values of the type when both are left out
  std::uint64_t seed = 0;
  std::optional<Number> low;
  std::optional<Number> high;
};

// Exactly one of them.
struct BufferInit {
  std::optional<Number> fill;
  std::optional<Iota> iota;
  std::optional<Random> random;
  std::optional<std::string> file; // .npy, or raw bytes; relative to the program
};

} // namespace tidegate::compiler
