// The words of OpenCL C that a reader of declarations has to know.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tidegate::opencl_c {

bool is_attribute(std::string_view word); // __attribute__
bool is_qualifier(std::string_view word); // const, volatile, restrict, inline, … and the address spaces
bool is_type_word(std::string_view word); // a word of a built-in type, void included

// The address space that a qualifier names, or none.
AddressSpace address_space(std::string_view word);

// Built-in functions that tell a work-item where it is; a tile answers them differently from the launch.
bool is_work_item_function(std::string_view name);

// Built-in functions that all work-items of a work-group must reach together.
bool is_collective(std::string_view name);

// Functions of the language that programs may overload (OpenCL C 3.0, 6.15).
bool is_built_in_function(std::string_view name);

// Built-in functions of sub-groups. How a work-group falls apart into them is the compiler's to choose, anew
// for every kernel.
bool is_sub_group_function(std::string_view name);

// The types of images: image2d_t, image1d_array_t and so on, those of multisampled images excepted.
bool is_image_type(std::string_view word);

// The access that a qualifier names: read_only, write_only, read_write, also with underscores in front.
std::optional<ImageAccess> image_access(std::string_view word);

// Types and functions that no persistent kernel can carry: pipes, device-side enqueue, multisampled images.
bool is_unsupported(std::string_view word);

// Where everything that cannot be run is listed: ends the fix of what is refused for being in the list.
inline constexpr std::string_view see_unsupported =
    "`tidegate schema wave_program --format table` ends with what cannot be run";

// The type that the words of a declaration name, in one spelling and without qualifiers: "unsigned int" is
// "uint", a typedef what it stands for, a structure "struct point".
std::string canonical_type(std::span<const std::string_view> words,
                           const std::map<std::string, std::string>& typedefs);

// A scalar or vector type of OpenCL C.
struct ArithmeticType {
  std::string_view scalar; // "float"
  std::uint32_t width = 1; // 1, 2, 3, 4, 8 or 16
  std::uint32_t scalar_bytes = 0;

  [[nodiscard]] std::uint32_t bytes() const { return scalar_bytes * (width == 3 ? 4 : width); }
};
std::optional<ArithmeticType> arithmetic_type(std::string_view type);

} // namespace tidegate::opencl_c
