// Kernels become functions of one virtual work-group, so that a persistent kernel can call them.
//
//   kernel void blur(global const float* in, global float* out) {       what a person wrote
//     local float tile[66];
//     tile[get_local_id(0) + 1] = in[get_global_id(0)];
//
//   typedef struct { float tile[66]; } tg_locals_blur;                  what is called once per tile
//   static void blur(tg_item tg_self, global const float* in, global float* out, local tg_locals_blur*
//   tg_locals) {
//     tg_locals->tile[tg_get_local_id(tg_self, 0) + 1] = in[tg_get_global_id(tg_self, 0)];
//
// A tg_item (kernels/common/virtual_ndrange.cl) says where a work-item is in the NDRange of the wave. It is passed
// to every helper function that asks, directly or through others, and to every barrier: several virtual
// work-groups may run side by side in one. Only tokens are edited; everything else
// reaches the compiler as it was, with #line directives that name the user's file and line.
#pragma once
#include "opencl_c/translation_unit.hpp"
#include <tidegate/core/error.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tidegate::opencl_c {

struct OutlinedKernel {
  std::string function; // what to call; the first argument is a tg_item
  std::string locals;   // type of the last argument's target: its local variables; empty without
  bool rounds = false;  // floating-point division or functions: what is constant may be rounded otherwise
  std::set<std::string> sub_group_functions; // that it calls, directly or not
  bool needs_whole_group = false; // work-items meet at a barrier, or another function that all must reach
  std::uint32_t loop_depth = 0;   // loops inside of each other
  double accesses = 0;            // of memory by a work-item, as CallGraph counts them
  std::uint64_t local_bytes = 0;  // of its local variables, where it packs
  bool packs =
      true; // several of its work-groups may share a larger one: they meet at barrier() and nothing else
};

// A copy of a kernel that has some elements in registers: for these parameters, of which every use is a
// subscript by the global id, it takes pointers to a variable of the work-item's own.
//
//   kernel void scale(global const float* in, global float* out) { out[i] = 2 * in[i]; }
//   static void scale_kept(tg_item tg_self, global const float* in, private float* out) {
//     out[0] = 2 * in[i];
//   }
struct RegisterCopy {
  std::string kernel;
  std::set<std::size_t> parameters;
  std::string function; // its name

  friend auto operator<=>(const RegisterCopy&, const RegisterCopy&) = default;
};

// Whether the parameter is written so that a copy can have it in registers: `global T* name`.
bool may_be_register(const TranslationUnit& unit, const Parameter& parameter);

struct OutlinedUnit {
  std::string text;                              // the file's declarations, with the kernels as functions
  std::map<std::string, OutlinedKernel> kernels; // also of the copies, by function
  std::map<std::string, Error>
      fallbacks;             // kernels that mean the same only in a program of their own, and why
  bool enables_fp64 = false; // the text belongs behind those that do not
};

// Outlines `kernels` and what they call. Names of file scope that are in `renamed` get the name given there:
// sources that are compiled together may use one name for different things. Pragmas end with the text.
// unsupported_kernel with the place for what no program of tidegate may use.
// The pointers of kernels in `distinct` never point into the same memory: they are marked
// TG_RESTRICT, which whoever compiles the text defines. Copies stand behind their kernels.
Result<OutlinedUnit> outline(const TranslationUnit& unit, const std::set<std::string>& kernels,
                             const std::map<std::string, std::string>& renamed,
                             const std::set<std::string>& distinct = {},
                             const std::vector<RegisterCopy>& copies = {});

} // namespace tidegate::opencl_c
