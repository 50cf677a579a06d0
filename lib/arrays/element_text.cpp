#include <tidegate/arrays/element_text.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace tidegate::arrays {
namespace {

template <class T>
std::string number_text(const std::byte* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  if constexpr (sizeof(T) == 1) {
    return fmt::format("{}", static_cast<int>(value));
  } else {
    return fmt::format("{}", value);
  }
}

} // namespace

std::string element_text(ElementType type, const std::byte* at) {
  switch (type) {
  case ElementType::i8: return number_text<std::int8_t>(at);
  case ElementType::u8: return number_text<std::uint8_t>(at);
  case ElementType::i16: return number_text<std::int16_t>(at);
  case ElementType::u16: return number_text<std::uint16_t>(at);
  case ElementType::i32: return number_text<std::int32_t>(at);
  case ElementType::u32: return number_text<std::uint32_t>(at);
  case ElementType::i64: return number_text<std::int64_t>(at);
  case ElementType::u64: return number_text<std::uint64_t>(at);
  case ElementType::f16: {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return fmt::format("0x{:04x}", bits);
  }
  case ElementType::f32: return number_text<float>(at);
  case ElementType::f64: break;
  }
  return number_text<double>(at);
}

} // namespace tidegate::arrays
