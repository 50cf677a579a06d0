// A source whose kernels tell of the elements that they touch, by kernels/wave/halo_check.cl:
//
//   kernel void k(global const float* a, global float* b) { b[i] = a[i + 1]; }
//   kernel void k(global const float* a, global float* b, global const ulong* tg_rows, …) {
//     b[tg_touch(…, TG_WRITES, sizeof(*b), (i))] = a[tg_touch(…, TG_READS, sizeof(*a), (i + 1))]; }
//
// Subscripts of the parameters themselves are watched, also in functions that they are handed to as they are;
// what a pointer is otherwise used for is told of.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tidegate::opencl_c {

// A use of a pointer that is neither.
struct UnwatchedUse {
  std::string kernel;
  std::string parameter;
  std::string file;
  std::uint32_t line = 0;
};

struct WatchedUnit {
  std::string text;
  std::set<std::string> kernels; // that take the parameters: those that no function calls
  std::vector<UnwatchedUse> unwatched;
};

// `watched`: by kernel, the numbers of parameters.
WatchedUnit watch_accesses(const TranslationUnit& unit,
                           const std::map<std::string, std::set<std::size_t>>& watched);

} // namespace tidegate::opencl_c
