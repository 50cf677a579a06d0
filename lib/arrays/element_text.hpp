// An element of a buffer as a person writes it.
#pragma once

#include <tidegate/arrays/element_type.hpp>

#include <cstddef>
#include <string>

namespace tidegate::arrays {

// The element_bytes(type) bytes at `at` as a number; of f16 the bits.
std::string element_text(ElementType type, const std::byte* at);

} // namespace tidegate::arrays
