// How a value of a type lies in memory, by the rules of OpenCL C (6.1.5, 6.11.1): every scalar and vector on
// a multiple of its own size, members in their order, `packed` and `aligned` as GNU C has them.
//
//   struct particle { float3 at; uchar kind; int n[2]; };      at: 0   kind: 16   n: 20   of 32 bytes
//
// Layouts are worked out from declarations alone. Where compilers have a say of their own (bit-fields,
// unions, #pragma pack) there is no answer but a reason.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::opencl_c {

struct MemberLayout;

struct TypeLayout {
  enum class Kind : std::uint8_t { arithmetic, enumeration, structure };
  Kind kind = Kind::arithmetic;
  std::string name;            // "float3", "struct particle"; of an enumeration its integer type, "uint"
  std::uint64_t bytes = 0;     // a vector of 3 has the room of 4
  std::uint64_t alignment = 1; // bytes
  std::vector<MemberLayout> members;                             // of a structure
  std::vector<std::pair<std::string, std::int64_t>> enumerators; // of an enumeration
};

struct MemberLayout {
  std::string name;
  std::uint64_t offset = 0;              // bytes
  std::vector<std::uint64_t> dimensions; // of an array, the outermost first
  TypeLayout type;                       // of an element
};

// The layout of what a declaration declares, such as a parameter of a kernel that is no pointer. Otherwise
// why it is not certain: "it has bit-fields".
tl::expected<TypeLayout, std::string> layout_of(const TranslationUnit& unit, TokenRange declaration);

// Bytes of a variable without a value, all elements of its arrays and of those that its type is.
tl::expected<std::uint64_t, std::string> bytes_of(const TranslationUnit& unit, const Name& variable);

// The layout of what a parameter such as "global float* restrict in" or "global float in[]" points to.
tl::expected<TypeLayout, std::string> layout_of_pointee(const TranslationUnit& unit, TokenRange parameter);

} // namespace tidegate::opencl_c
