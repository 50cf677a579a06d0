// The types that buffers and arguments of a program have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidegate::arrays {

enum class ElementType : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64 };
inline constexpr std::array<std::string_view, 11> element_type_names{"i8",  "u8",  "i16", "u16", "i32", "u32",
                                                                     "i64", "u64", "f16", "f32", "f64"};
inline constexpr std::array<std::size_t, 11> element_type_bytes{1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};

inline std::string_view name(ElementType type) {
  return element_type_names[static_cast<std::size_t>(type)];
}
inline std::size_t element_bytes(ElementType type) {
  return element_type_bytes[static_cast<std::size_t>(type)];
}
inline bool is_float(ElementType type) {
  return type >= ElementType::f16;
}

} // namespace tidegate::arrays
