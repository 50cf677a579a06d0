// Memory layout of types by the rules of OpenCL C (6.1.5, 6.11.1): every scalar and vector is aligned to its
// size, members are in order, `packed` and `aligned` work as in GNU C.
//
//   struct particle { float3 at; uchar kind; int n[2]; };      at: 0   kind: 16   n: 20   of 32 bytes
//
// Layouts follow from declarations alone. Where compilers may differ (bit-fields, unions, #pragma pack) the
// result is a reason instead of a layout.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <tl/expected.hpp>

namespace tidegate::opencl_c {

struct MemberLayout;

struct TypeLayout {
  enum class Kind : std::uint8_t { arithmetic, enumeration, structure };
  Kind kind = Kind::arithmetic;
  std::string name;                  // "float3", "struct particle"; an enumeration's integer type, "uint"
  std::uint64_t bytes = 0;           // a vector of 3 takes the space of 4
  std::uint64_t alignment = 1;       // bytes
  std::vector<MemberLayout> members; // structures only
  std::vector<std::pair<std::string, std::int64_t>> enumerators; // enumerations only
};

struct MemberLayout {
  std::string name;
  std::uint64_t offset = 0;              // bytes
  std::vector<std::uint64_t> dimensions; // arrays only, outermost first
  TypeLayout type;                       // type of an element
};

// Returns the layout of a parameter that is not a pointer. The error is the reason why the layout is uncertain, for example
// "it has bit-fields".
tl::expected<TypeLayout, std::string> layout_of(const TranslationUnit& unit, const Parameter& parameter);

// Returns the bytes of a variable declared without an initial value; of an array, those of all its elements.
tl::expected<std::uint64_t, std::string> bytes_of(const TranslationUnit& unit, const Decl& variable);

// Returns the layout of what a parameter such as "global float* restrict in" or "global float in[]" points to.
tl::expected<TypeLayout, std::string> layout_of_pointee(const TranslationUnit& unit,
                                                        const Parameter& parameter);

} // namespace tidegate::opencl_c
