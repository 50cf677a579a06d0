// Elements that a kernel reads and writes through its pointers, where that is certain.
//
//   const uint i = get_global_id(0);
//   if (i + 1 < n) out[i] = in[i - 1] + in[i + 1];      out: elements i to i, in: elements i - 1 to i + 1
//
// A strict parser reads the body. It accepts the statements and expressions on its list and gives every
// occurrence of a pointer a meaning; a body that contains anything else yields no knowledge. An access has a
// known element only where the subscript is the global id plus constants, and the id comes from a variable
// that only its declaration sets.
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
    writes,  // a whole element
    updates, // any mix of reading and writing an element or part of it
    escapes, // the pointer or an address is passed on or stored
  };
  Kind kind = Kind::escapes;
  std::size_t token = 0;              // the pointer's name
  TokenRange subscript;               // between the brackets; empty for escapes and *pointer
  std::optional<std::int64_t> offset; // set if the subscript is get_global_id(0) plus this constant
};

struct PointerUses {
  bool understood = false;      // if false, every use escapes and the kernel may do anything
  bool assigned_first = false;  // every work-item assigns an element before any other access
  std::vector<PointerUse> uses; // in token order
};

// Returns the uses by parameter, of pointers only. A kernel without a body is not understood.
std::vector<PointerUses> pointer_uses(const TranslationUnit& unit, const Function& kernel);

// Elements that each work-item accesses through a global pointer: `low` to `high`, relative to its global id
// in x.
struct OwnElements {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::uint32_t element_bytes = 0;
  bool assigned_first = false;

  friend bool operator==(const OwnElements&, const OwnElements&) = default;
};

// By parameter; empty where a work-item may access any element. The pointee is a scalar or vector of known
// size. Holds for ids below 2^31 and buffers of at most 2^31 elements: in larger buffers a 32-bit subscript
// wraps around to an existing element.
std::vector<std::optional<OwnElements>> own_elements(const TranslationUnit& unit, const Function& kernel);

} // namespace tidegate::opencl_c
