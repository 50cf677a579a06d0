// Lets a kernel run where only a part of its buffer is in memory: the pointer to that part, which starts at byte
// tg_begin of the buffer, is moved back to where byte 0 would be.
//
//   kernel void k(global float* a) { a[get_global_id(0)] = 0; }
//   kernel void k(global float* a, ulong tg_begin0) {
//     a = (global void*)((uintptr_t)a - (uintptr_t)tg_begin0); a[get_global_id(0)] = 0; }
#pragma once
#include "opencl_c/translation_unit.hpp"

namespace tidegate::opencl_c {

// Returns why this pointer cannot be moved (the kernel compares, stores or passes it on); empty if the kernel only
// accesses elements.
std::string obstacle_to_moving(const TranslationUnit& unit, const Function& kernel, std::size_t parameter);

using MovedPointers = std::map<std::string, std::set<std::size_t>>; // parameters by kernel

// Returns the source with one more parameter for each of these, after all others and in their order.
std::string move_pointers(const TranslationUnit& unit, const MovedPointers& moved);

} // namespace tidegate::opencl_c
