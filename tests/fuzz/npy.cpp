// Any bytes as an array file: a sound error, or an array that is written and read again as it is.
#include "../npy_file.hpp"
#include "fuzz.hpp"

using namespace tidegate;

FUZZ_TARGET(npy) {
  const auto array = parse_npy({reinterpret_cast<const char*>(data), size});
  if (!array) {
    fuzz::require_sound(array.error());
    return 0;
  }
  std::uint64_t bytes = element_bytes(array->type);
  for (const std::uint64_t extent : array->shape) {
    bytes *= extent;
  }
  fuzz::require(bytes == array->bytes.size(), "there is an element for each place of the shape");
  constexpr std::size_t most_dimensions = 64; // that npy_header() writes
  if (array->shape.size() <= most_dimensions) {
    const auto again = parse_npy(test::npy_file(array->type, array->shape, array->bytes));
    fuzz::require(again && again->type == array->type && again->shape == array->shape &&
                      again->bytes == array->bytes,
                  "what was written is read");
  }
  return 0;
}
