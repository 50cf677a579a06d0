// The words of OpenCL C that matter when reading declarations.
#pragma once
#include "opencl_c/lexer.hpp"
#include "opencl_c/translation_unit.hpp"

namespace tidegate::opencl_c {

// True for one of the words between blanks.
bool is_one_of(std::string_view words, std::string_view word);

bool is_attribute(std::string_view word); // __attribute__
bool is_qualifier(std::string_view word); // const, volatile, restrict, inline, … and the address spaces
bool is_type_word(std::string_view word); // a word of a built-in type, void included

// The address space named by a qualifier, or none.
AddressSpace address_space(std::string_view word);

// A built-in function of the language (OpenCL C 3.0, 6.15), or a name that begins like one.
struct Builtin {
  enum class Kind : std::uint8_t {
    id, // asks where the work-item is; a tile answers it differently from a launch
    barrier,
    work_group, // other functions that all work-items of a work-group must reach together
    sub_group,  // the compiler divides work-groups into sub-groups again for every kernel
    fence,
    arithmetic, // computes from its arguments alone; any values will do
    math,       // may store results through pointers
    conversion,
    memory, // loads, stores and prefetches elements
    atomic,
    image, // reads or writes elements
    print,
    other,
  };
  Kind kind = Kind::other;
  bool is_exact = false;  // a name of its own, not only one of a family
  bool of_launch = false; // ids: describes the launch, which is another one for a part of the range
};
std::optional<Builtin> builtin(std::string_view name);

// True for a built-in function of one of these kinds.
template <class... Kinds>
bool is_builtin(std::string_view name, Kinds... kinds) {
  const auto found = builtin(name);
  return found && ((found->kind == kinds) || ...);
}

// Built-in functions that all work-items of a work-group must reach together.
bool is_collective(std::string_view name);

// True for a built-in function after which a work-item sees no more of what others have written than before it.
bool orders_nothing(std::string_view name);

// Image types: image2d_t, image1d_array_t and so on, except multisampled ones.
bool is_image_type(std::string_view word);

// The access named by a qualifier: read_only, write_only, read_write, with or without underscores in front.
std::optional<ImageAccess> image_access(std::string_view word);

// Types and functions that a persistent kernel cannot support: pipes, device-side enqueue, multisampled
// images.
bool is_unsupported(std::string_view word);

// End of the fix for a word that is_unsupported().
inline constexpr std::string_view see_unsupported =
    "`tidegate schema wave_program --format table` ends with what cannot be run";

// One spelling for the words of a built-in type: "uint" for "unsigned int".
std::string canonical_type(std::span<const std::string_view> words);

// A scalar or vector type of OpenCL C.
struct ArithmeticType {
  std::string_view scalar; // "float"
  std::uint32_t width = 1; // 1, 2, 3, 4, 8 or 16
  std::uint32_t scalar_bytes = 0;

  [[nodiscard]] std::uint32_t bytes() const { return scalar_bytes * (width == 3 ? 4 : width); }
};
std::optional<ArithmeticType> arithmetic_type(std::string_view type);

// True if a macro of the OpenCL C specification begins like the name, which is not a reserved one.
bool is_standard_macro(std::string_view name);

// True if compilers may predefine the name: a standard macro or a reserved name.
bool may_be_predefined(std::string_view name);

// True for a preprocessor operator such as __has_builtin, which is allowed in conditions only.
bool is_condition_operator(std::string_view name);

} // namespace tidegate::opencl_c
