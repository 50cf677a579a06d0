// A number as a document states it: exact where it is an integer.
#pragma once

#include <cstdint>
#include <variant>

namespace tidegate {

// Integers are never rounded on their way through; the std::int64_t is below 0.
using Number = std::variant<std::uint64_t, std::int64_t, double>;

} // namespace tidegate
