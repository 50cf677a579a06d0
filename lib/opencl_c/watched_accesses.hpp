// Rewrites a source so that its kernels report the elements that they access, with kernels/wave/halo_check.cl:
//
//   kernel void k(global const float* a, global float* b) { b[i] = a[i + 1]; }
//   kernel void k(global const float* a, global float* b, global const ulong* tg_rows, …) {
//     b[tg_touch(…, TG_WRITES, sizeof(*b), (i))] = a[tg_touch(…, TG_READS, sizeof(*a), (i + 1))]; }
//
// Watches subscripts of the parameters, also in functions that receive them unchanged; reports every other
// use of a pointer as unwatched.
#pragma once
#include "opencl_c/translation_unit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tidegate::opencl_c {

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

// `watched`: by kernel, the indices of parameters.
WatchedUnit watch_accesses(const TranslationUnit& unit,
                           const std::map<std::string, std::set<std::size_t>>& watched);

} // namespace tidegate::opencl_c
