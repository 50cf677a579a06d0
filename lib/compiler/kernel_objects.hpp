// Images and samplers of the generated kernel. OpenCL C lets neither lie in memory, in arrays or in
// structures, so each that a shared wave uses is a parameter of the kernel, and a case of the kernel names
// those that it passes on:
//
//   kernel void tidegate_stage(…, uint first_entry, read_only image2d_t tg_object0, sampler_t tg_object1)
//
// Which parameter an argument is stands in the wave's descriptor; waves with different ones have different
// cases.
#pragma once

#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/compiler/schedule.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tidegate::compiler {

struct KernelObject {
  bool is_sampler = false;
  std::uint32_t image = 0; // in whose memory, by index of the program's buffers
  Access access = Access::read;
  SamplerSpec sampler{};

  friend bool operator==(const KernelObject&, const KernelObject&) = default;
};

// What the argument of a wave is in a phase; only of images and samplers.
KernelObject kernel_object(const ProgramArgument& argument, const std::vector<std::uint32_t>& places);

// Those of the schedule's shared stages, each once.
std::vector<KernelObject> kernel_objects(const ResolvedProgram& program, const Schedule& schedule);

// ", read_only image2d_t tg_object0, sampler_t tg_object1", and ", tg_object0, tg_object1".
std::string object_parameters(const ResolvedProgram& program, const std::vector<KernelObject>& objects);
std::string object_arguments(const std::vector<KernelObject>& objects);
std::string object_name(std::uint64_t index);

} // namespace tidegate::compiler
