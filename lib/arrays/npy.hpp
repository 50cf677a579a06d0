// NumPy's array files, format versions 1.0 to 3.0. Source: NEP 1 and numpy.lib.format. A file is
//
//   \x93NUMPY  major minor  header length (2 bytes, from version 2.0 on 4)  header  data
//
// The header is a Python dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape': (3,), }, padded
// with spaces and a newline. All of it is input that nobody vouches for.
#pragma once

#include <tidegate/arrays/element_type.hpp>
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::arrays {

struct NpyArray {
  ElementType type = ElementType::f32; // NumPy's bool is u8
  std::vector<std::uint64_t> shape;    // without dimensions for a single element
  std::vector<std::byte> bytes;        // row by row, in the byte order of this machine
};

// bad_array for anything but a whole array of one of the element types. Column-major order is refused where
// it differs from row-major.
Result<NpyArray> parse_npy(std::string_view file_bytes);

// What numpy.save writes ahead of the data of a row-major array, in version 1.0: a multiple of 64 bytes. At
// most 64 dimensions, as in NumPy.
std::string npy_header(ElementType type, std::span<const std::uint64_t> shape);

// The whole file.
std::string npy_file(ElementType type, std::span<const std::uint64_t> shape,
                     std::span<const std::byte> bytes);

// "(2, 3)", as Python writes a shape.
std::string shape_text(std::span<const std::uint64_t> shape);

} // namespace tidegate::arrays
