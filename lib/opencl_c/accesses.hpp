// What a kernel does with the memory that its pointers point to, where that is certain.
//
//   const uint i = get_global_id(0);
//   if (i + 1 < n) out[i] = in[i - 1] + in[i + 1];      out: elements i to i, in: elements i - 1 to i + 1
//
// A strict parser reads the body. It accepts the statements and expressions on its list and gives every
// occurrence of a pointer a meaning; of a body that holds anything else nothing is known. An access has a
// known element only where the subscript is the global id and constants, and the id comes from a variable
// that nothing but its declaration sets.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::opencl_c {

// One occurrence of a pointer in the body.
struct PointerUse {
  enum class Kind : std::uint8_t {
    reads,   // an element
    writes,  // all of an element
    updates, // an element: reads it, writes it or a part of it, or any of these
    escapes, // the pointer or an address goes elsewhere
  };
  Kind kind = Kind::escapes;
  std::size_t token = 0;              // the pointer's name
  TokenRange subscript;               // between the brackets; empty where it escapes, and of *pointer
  std::optional<std::int64_t> offset; // the subscript is the global id in x and this constant
};

struct PointerUses {
  bool understood = false;      // otherwise every use escapes, and the kernel may do anything
  bool assigned_first = false;  // every work-item assigns an element before it touches any other
  std::vector<PointerUse> uses; // in the order of the tokens
};

// By parameter. Only uses of pointers are listed. Nothing is understood of a kernel without a body.
std::vector<PointerUses> pointer_uses(const TranslationUnit& unit, const Function& kernel);

// What each work-item touches through a global pointer: elements `low` to `high`, counted from the one that
// has the number of the work-item in x.
struct OwnElements {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::uint32_t element_bytes = 0;
  bool assigned_first = false;

  friend bool operator==(const OwnElements&, const OwnElements&) = default;
};

// By parameter; nothing where a work-item may touch any element. The pointee is a scalar or vector of certain
// size. Holds for ids below 2^31 and buffers of at most 2^31 elements: in larger ones 32-bit subscripts wrap
// round to elements that exist.
std::vector<std::optional<OwnElements>> own_elements(const TranslationUnit& unit, const Function& kernel);

} // namespace tidegate::opencl_c
