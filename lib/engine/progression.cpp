#include "engine/progression.hpp"

namespace tidegate::engine {
namespace {

// The formula itself is the kernels' own source.
namespace on_device_too {
using uint = std::uint32_t;
using ulong = std::uint64_t;
using std::fma;
using std::min;
float as_float(uint bits) {
  return std::bit_cast<float>(bits);
}
double as_double(ulong bits) {
  return std::bit_cast<double>(bits);
}
#define global
#define TG_DOUBLE_PROGRESSIONS
#include "wave/progression.cl"
#undef TG_DOUBLE_PROGRESSIONS
#undef global
} // namespace on_device_too

} // namespace

Progression constant_progression(ElementType type, std::span<const std::byte> bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), element_bytes(type));
  const auto unused = static_cast<unsigned>(64 - 8 * element_bytes(type));
  return {.type = type,
          .first = is_signed_integer(type)
                       ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused)
                       : bits};
}

std::vector<std::byte> value_in(const Progression& progression, std::uint32_t iteration) {
  const auto words = descriptor_words(progression);
  const std::uint64_t bits =
      progression.type == ElementType::f32
          ? std::bit_cast<std::uint32_t>(on_device_too::tg_progression_float(words.data(), iteration))
      : progression.type == ElementType::f64
          ? std::bit_cast<std::uint64_t>(on_device_too::tg_progression_double(words.data(), iteration))
          : on_device_too::tg_progression(words.data(), iteration, is_signed_integer(progression.type));
  std::vector<std::byte> value(element_bytes(progression.type));
  std::memcpy(value.data(), &bits, value.size());
  return value;
}

std::vector<std::byte> value_in(std::vector<std::byte> value, std::span<const Change> changes,
                                std::uint32_t iteration) {
  for (const Change& change : changes) {
    std::ranges::copy(value_in(change.progression, iteration),
                      value.begin() + static_cast<std::ptrdiff_t>(change.offset));
  }
  return value;
}

std::array<std::uint64_t, progression_words> descriptor_words(const Progression& progression) {
  return {progression.first, progression.by,    static_cast<std::uint64_t>(progression.form),
          progression.every, progression.cycle, progression.modulo};
}

} // namespace tidegate::engine
