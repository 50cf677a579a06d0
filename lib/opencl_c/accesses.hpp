// Elements that a kernel reads and writes through its pointers, where that is certain.
//
//   const uint i = get_global_id(0);
//   if (i + 1 < n) out[i] = in[i - 1] + in[i + 1];      out: elements i to i, in: elements i - 1 to i + 1
//
// A strict parser reads the body. It accepts the statements and expressions on its list and gives every
// occurrence of a pointer a meaning; a body that contains anything else yields no knowledge. An access has a
// known element only where the subscript is the global id plus constants, and the id comes from a variable
// that only its declaration sets. In a function that runs one item, the id is the parameter with the item's number.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tidegate::opencl_c {

// The change of an element by an atomic function, which does not depend on the order of the calls.
enum class Reduction : std::uint8_t { sum, min, max };

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
  std::optional<std::int64_t> offset; // set if the subscript is the id plus this constant
  // Set if a statement consists of one atomic function that changes the element, so that its result is not used:
  // atomic_inc(p), atomic_add(p + e, v) or atomic_max(&p[e], v).
  std::optional<Reduction> reduction = {};
};

struct PointerUses {
  bool understood = false;      // if false, every use escapes and the kernel may do anything
  bool assigned_first = false;  // every work-item assigns an element before any other access
  std::vector<PointerUse> uses; // in token order
};

// Returns the uses of each pointer parameter. A kernel without a body is not understood. The id is
// get_global_id(0).
std::vector<PointerUses> pointer_uses(const TranslationUnit& unit, const Function& kernel);

// Elements that each work-item accesses through a global pointer: `low` to `high`, relative to its id.
struct OwnElements {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::uint32_t element_bytes = 0;
  bool assigned_first = false;

  friend bool operator==(const OwnElements&, const OwnElements&) = default;
};

// Returns, by parameter, the elements of each work-item; nullopt if it may access any. The pointee is a scalar or
// vector of known size. Holds for ids below 2^31 and buffers of at most 2^31 elements: in larger buffers a 32-bit
// subscript wraps around to an existing element.
std::vector<std::optional<OwnElements>> own_elements(const TranslationUnit& unit, const Function& kernel);

// The range of a launch, and the values of parameters that are known before it.
struct KernelSetting {
  std::uint32_t dimensions = 1;
  std::array<std::int64_t, 3> begin{}; // first global id in each dimension
  std::array<std::int64_t, 3> size{1, 1, 1};
  std::map<std::size_t, std::int64_t> values; // by parameter
  // One launch has all ids, starts with id 0 and is never cut; the kernel's functions are read where it calls them.
  bool is_whole = false;
  std::array<std::int64_t, 3> local_size{}; // of such a launch, which it divides; 0: not known
};

// Elements that all work-items with number i in the outermost dimension access through a global pointer: from
// i * per_id + low to i * per_id + high. With `wraps`, rows are those of a torus, whose first one follows the last.
struct RowElements {
  std::int64_t per_id = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t wraps = 0; // rows of the torus; 0: no torus
  std::uint32_t element_bytes = 0;

  friend bool operator==(const RowElements&, const RowElements&) = default;
};

// Returns, by parameter, the elements; nullopt if any may be accessed. Holds as own_elements() does. Knows sums of
// ids and numbers with constant factors, min, max, clamp, remainders, loops with constant bounds, and conditions
// such as `if (x >= width) return;`.
std::vector<std::optional<RowElements>> row_elements(const TranslationUnit& unit, const Function& kernel,
                                                     const KernelSetting& setting);

// Elements that a launch accesses through a pointer. The elements of an image are the coordinates in each dimension.
struct Reach {
  std::int64_t last = -1; // greatest element that is known to be accessed; -1: none is
  bool known = false;     // true if every access is to one of the elements 0 to `last`
};

struct LaunchReach {
  std::vector<Reach> parameters;
  bool others_known = false; // every other access is to an element that its array has
};

// Returns the reach of each parameter. Knows more than row_elements() of a setting that is whole: variables in ranges,
// and functions that are called. The kernel has a body.
LaunchReach reach_of(const TranslationUnit& unit, const Function& kernel, const KernelSetting& setting);

// Returns, by parameter, the reduction that every use of a pointer is; nullopt if some use is anything else.
std::vector<std::optional<Reduction>> reductions(const TranslationUnit& unit, const Function& kernel);

// Returns the first token of the body that may read memory that changes; the closing brace if none does. Statements
// before it use only the pointers among the parameters `steady`; no work-item returns or waits at a barrier there.
//
//   const uint i = get_local_id(0);
//   const uint4 weight = weights[i];           steady: weights
//   out[i] = f(weight, in[i]);                 the result is this statement
std::size_t end_of_early_statements(const TranslationUnit& unit, const Function& kernel,
                                    const std::set<std::size_t>& steady);

// Rewrites a source so that its kernels report the elements that they access, with kernels/wave/halo_check.cl:
//
//   kernel void k(global const float* a, global float* b) { b[i] = a[i + 1]; }
//   kernel void k(global const float* a, global float* b, global const ulong* tg_rows, …) {
//     b[tg_touch(…, TG_WRITES, sizeof(*b), (i))] = a[tg_touch(…, TG_READS, sizeof(*a), (i + 1))]; }
//
// watch_accesses() watches subscripts of the parameters, also in functions that receive them unchanged, and reports
// every other use of a pointer as unwatched.

// A use of a pointer that cannot be watched.
struct UnwatchedUse {
  std::string kernel;
  std::string parameter;
  std::string file;
  std::uint32_t line = 0;
};

struct WatchedUnit {
  std::string text;
  std::set<std::string> kernels; // kernels with the added parameters: those that no function calls
  std::vector<UnwatchedUse> unwatched;
};

// Returns the rewritten source. `watched` has the indices of parameters by kernel.
WatchedUnit watch_accesses(const TranslationUnit& unit,
                           const std::map<std::string, std::set<std::size_t>>& watched);

// Lets a kernel run where only a part of its buffer is in memory: the pointer to that part, which starts at byte
// tg_begin of the buffer, is moved back to where byte 0 would be.
//
//   kernel void k(global float* a) { a[get_global_id(0)] = 0; }
//   kernel void k(global float* a, ulong tg_begin0) {
//     a = (global void*)((uintptr_t)a - (uintptr_t)tg_begin0); a[get_global_id(0)] = 0; }

// Returns why this pointer cannot be moved (the kernel compares, stores or passes it on); empty if the kernel only
// accesses elements.
std::string obstacle_to_moving(const TranslationUnit& unit, const Function& kernel, std::size_t parameter);

using MovedPointers = std::map<std::string, std::set<std::size_t>>; // parameters by kernel

// Returns the source with one more parameter for each of these, after all others and in their order.
std::string move_pointers(const TranslationUnit& unit, const MovedPointers& moved);

} // namespace tidegate::opencl_c
