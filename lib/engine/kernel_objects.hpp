// Images and samplers of the generated kernel. OpenCL C forbids them in memory, arrays and structures. So
// each one that a shared wave uses is a parameter of the kernel, and a case names those that it passes on:
//
//   kernel void tidegate_stage(…, uint first_entry, read_only image2d_t tg_object0, sampler_t tg_object1)
//
// A wave's descriptor holds the index of the parameter; waves with different ones have different cases.
#pragma once
#include "engine/job.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::engine {

struct KernelObject {
  bool is_sampler = false;
  std::uint32_t image = 0; // index of the buffer whose memory it uses
  Access access = Access::read;
  SamplerSpec sampler{};

  friend bool operator==(const KernelObject&, const KernelObject&) = default;
};

// Returns the object of a wave's argument in a swap phase; for images and samplers only.
KernelObject kernel_object(const ProgramArgument& argument, const std::vector<std::uint32_t>& storage);

// Adds the objects of a wave that are not there yet.
void add_objects(const ProgramWave& wave, const std::vector<std::uint32_t>& storage,
                 std::vector<KernelObject>& objects);

// Return ", read_only image2d_t tg_object0, sampler_t tg_object1" and ", tg_object0, tg_object1".
std::string object_parameters(const Job& program, const std::vector<KernelObject>& objects);
std::string object_arguments(const std::vector<KernelObject>& objects);
std::string object_name(std::uint64_t index);

} // namespace tidegate::engine
