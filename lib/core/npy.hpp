// Reads and writes NumPy's array files, format versions 1.0 to 3.0. Source: NEP 1 and numpy.lib.format. A
// file is
//
//   \x93NUMPY  major minor  header length (2 bytes, from version 2.0 on 4)  header  data
//
// The header is a Python dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape': (3,), }, padded
// with spaces and a newline. All of it is untrusted input.
#pragma once
#include "core/files.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate {

// Element types of buffers and arguments.

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
inline bool is_signed_integer(ElementType type) {
  return type == ElementType::i8 || type == ElementType::i16 || type == ElementType::i32 ||
         type == ElementType::i64;
}
inline bool is_float(ElementType type) {
  return type >= ElementType::f16;
}

// IEEE 754 binary16, which C++20 lacks, and overloads that treat float and double alike.

struct Half {
  std::uint16_t bits = 0; // sign, 5 bits of exponent, 10 of fraction
};

// Rounds to nearest, ties to even; infinity from 65520 on.
Half half_from(double value);
double to_double(Half value);
inline double to_double(float value) {
  return value;
}
inline double to_double(double value) {
  return value;
}

template <class Function>
auto with_type(ElementType type, Function function) {
  switch (type) {
  case ElementType::i8: return function(std::int8_t{});
  case ElementType::u8: return function(std::uint8_t{});
  case ElementType::i16: return function(std::int16_t{});
  case ElementType::u16: return function(std::uint16_t{});
  case ElementType::i32: return function(std::int32_t{});
  case ElementType::u32: return function(std::uint32_t{});
  case ElementType::i64: return function(std::int64_t{});
  case ElementType::u64: return function(std::uint64_t{});
  case ElementType::f16: return function(Half{});
  case ElementType::f32: return function(float{});
  case ElementType::f64: break;
  }
  return function(double{});
}

// The next representable value after a finite value, towards an infinity.
Half next_towards(float infinity, Half value);
template <class T>
T next_towards(float infinity, T value) {
  return std::nextafter(value, static_cast<T>(infinity));
}

// Formats the element_bytes(type) bytes at `at` as a number; f16 as its bits.
std::string element_text(ElementType type, const std::byte* at);

// Stafford's mixer 13: a bijection in which every input bit flips each output bit about half the time.
constexpr std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

// Counter-based random numbers: number i is a function of i and the seed, independent of how many are drawn
// and by which thread. Source: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators (OOPSLA
// 2014): SplitMix64 reaches any of its states in one step.
class RandomNumbers {
public:
  // Mixes the seed, because sequences with nearby starts overlap.
  constexpr explicit RandomNumbers(std::uint64_t seed) : start_(mixed(seed + golden_step)) {}

  // Returns 64 uniform bits.
  [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t i) const {
    return mixed(start_ + (i + 1) * golden_step);
  }

  // Returns a multiple of 2^-53, uniform in [0, 1).
  [[nodiscard]] constexpr double unit(std::uint64_t i) const {
    return static_cast<double>(bits(i) >> 11U) * 0x1p-53;
  }

private:
  static constexpr std::uint64_t golden_step = 0x9e3779b97f4a7c15U; // 2^64 over the golden ratio, made odd

  std::uint64_t start_;
};

struct NpyArray {
  ElementType type = ElementType::f32; // NumPy's bool is u8
  std::vector<std::uint64_t> shape;    // empty for a single element
  std::vector<std::byte> bytes;        // row-major, in this machine's byte order
};

// The layout of an array's elements in its file.
struct NpyHead {
  ElementType type = ElementType::f32;
  std::vector<std::uint64_t> shape;
  std::uint64_t offset = 0; // of the data in the file
  std::uint64_t bytes = 0;  // of the data
};

// Reads what a file of this size begins with. Errors: as of parse_npy().
Result<NpyHead> parse_npy_head(std::string_view file_begin, std::uint64_t file_bytes);

// Errors: bad_array for anything but a complete array of an element type. Refuses column-major order unless
// it equals row-major order.
Result<NpyArray> parse_npy(std::string_view file_bytes);

// Numbers of documents as elements. Integers must be exact; floats are rounded to nearest, ties to even.

// Wide enough for the sum and difference of any two 64-bit integers. ISO C++ lacks the type, hence __extension__.
__extension__ typedef __int128 WideInteger;

// Returns nothing for a fraction, and far beyond 64 bits.
std::optional<WideInteger> as_integer(const Number& number);
double as_double(const Number& number);
std::string number_text(const Number& number);
std::string range_text(ElementType type); // "-128 to 127"

// Makes the out_of_range of a number that the type cannot hold, or of a fraction for an integer type.
Error does_not_fit(const Number& number, ElementType type);

// The nearest float of type T, or infinity.
template <class T>
T rounded(auto value) {
  if constexpr (std::same_as<T, Half>) {
    return half_from(static_cast<double>(value)); // numbers above 2^53 become infinite anyway
  } else {
    return static_cast<T>(value);
  }
}

template <std::integral T>
bool fits(WideInteger value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

template <class T>
std::optional<T> converted(const Number& number) {
  if constexpr (std::integral<T>) {
    const auto value = as_integer(number);
    return value && fits<T>(*value) ? std::optional(static_cast<T>(*value)) : std::nullopt;
  } else {
    const T value = std::visit([](auto stated) { return rounded<T>(stated); }, number);
    return std::isfinite(to_double(value)) ? std::optional(value) : std::nullopt;
  }
}

// Stores element_bytes(type) bytes. Error: does_not_fit().
Result<void> store_number(const Number& number, ElementType type, std::byte* at);

// Converts the elements. Error: bad_array with the number of an element that does not fit.
Result<NpyArray> converted(const NpyArray& array, ElementType type);

// Returns the header that numpy.save writes before a row-major array, in version 1.0; its size is a multiple
// of 64 bytes. At most 64 dimensions, as in NumPy.
std::string npy_header(ElementType type, std::span<const std::uint64_t> shape);

// Files other than .npy hold raw bytes. Refuses a name whose ending promises something else: only .raw, .bin, .dat, the name
// of an element type or no ending mean raw bytes, and `other` (".png") a further format. Error: invalid_program.
Result<void> check_array_name(const std::string& path, std::string_view other = {});

std::string shape_text(std::span<const std::uint64_t> shape);

// OpenCL C scalars by element type.
inline constexpr std::array<std::string_view, 11> scalar_names{
    "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double"};

// The element type of an OpenCL C scalar: f32 for "float".
std::optional<ElementType> element_type_of(std::string_view scalar);

// A tensor in a .safetensors file.
struct Tensor {
  std::string type; // F32, BF16, I64, …
  std::vector<std::uint64_t> shape;
  std::uint64_t offset = 0; // in the file
  std::uint64_t bytes = 0;
};

// Finds a tensor by its name. Errors: cannot_read; bad_array for a file that is none or is cut off, and for a name that
// it does not have.
Result<Tensor> find_tensor(const Descriptor& file, const std::string& path, const std::string& name);

// The element type of its elements, if there is one.
std::optional<ElementType> type_of(const Tensor& tensor);

// Reads its elements as an array; BF16 elements, the upper halves of f32, become f32. Errors: cannot_read; bad_array for
// elements of another type.
Result<NpyArray> read_array(const Descriptor& file, const std::string& path, const Tensor& tensor);

// Reads the tensor's bytes, as many as `contents` has. Error: cannot_read.
Result<void> read_tensor(const Descriptor& file, const std::string& path, const Tensor& tensor,
                         std::span<std::byte> contents);

// PNG files, through libpng. They are untrusted input: a picture's memory is allocated after its size has been compared
// with the expected one.

// Samples by row, pixel and channel, of 8 bits or of 16 in this machine's byte order.
struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 0; // 1 grey, 2 with alpha, 3 red, green and blue, 4 with alpha
  std::uint32_t bits = 8;     // of a sample: 8 or 16
  bool blue_first = false;    // blue, green, red
  bool alpha_first = false;
  std::vector<std::byte> samples;
};

// Expands palettes and depths below 8 bits; ignores gamma and colour profiles. With the channels of `form`, grey fills all
// colours, and missing alpha is opaque. Errors: bad_array if the file is not a PNG, has another size, or other samples.
Result<Picture> parse_png(std::string_view file, std::uint32_t width, std::uint32_t height,
                          const Picture& form = {});

// Returns the width and height that the file states. Errors: bad_array.
Result<std::array<std::uint32_t, 2>> png_size(std::string_view file);

// Returns the complete file. Errors: internal_error if libpng fails.
Result<std::string> png_file(Picture picture);

} // namespace tidegate
