// IEEE 754 binary16, which C++20 has no type for, and by the same functions the floats that it has.
#pragma once

#include <cmath>
#include <cstdint>

namespace tidegate::arrays {

struct Half {
  std::uint16_t bits = 0; // sign, 5 bits of exponent, 10 of fraction
};

// The nearest one, of two equally near the even one; infinity from 65520 on.
Half half_from(double value);

double to_double(Half value);
inline double to_double(float value) {
  return value;
}
inline double to_double(double value) {
  return value;
}

// The neighbours of a finite value.
Half next_above(Half value);
Half next_below(Half value);
template <class T>
T next_above(T value) {
  return std::nextafter(value, static_cast<T>(INFINITY));
}
template <class T>
T next_below(T value) {
  return std::nextafter(value, -static_cast<T>(INFINITY));
}

} // namespace tidegate::arrays
