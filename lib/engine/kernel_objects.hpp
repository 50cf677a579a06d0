// Images and samplers of the generated kernel. OpenCL C lets neither lie in memory, in arrays or in
// structures, so each that a shared wave uses is a parameter of the kernel, and a case of the kernel names
// those that it passes on:
//
//   kernel void tidegate_stage(…, uint first_entry, read_only image2d_t tg_object0, sampler_t tg_object1)
//
// Which parameter an argument is stands in the wave's descriptor; waves with different ones have different
// cases.
#pragma once
#include "engine/schedule.hpp"
#include "engine/shared_launch.hpp"
#include "work/resolved_program.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tidegate::engine {

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

// Which waves may touch images in a launch that they share. What a kernel writes to an image reaches other
// work-groups when its launch ends, and no sooner: reads go through caches that no barrier empties, and
// OpenCL's fences order images within a work-item alone. So no image that one wave of a launch writes is
// touched by another wave of it, nor by the same one in a later iteration; such a wave is launched alone.

class ImageConflicts {
public:
  // The references outlive it. With `iterations_share` a launch goes on into the next iteration.
  ImageConflicts(const ResolvedProgram& program, const std::vector<std::vector<std::uint32_t>>& places,
                 const ObjectLimits& limits, bool iterations_share);

  // Why the wave cannot join the launch as it is by now, or an empty string.
  [[nodiscard]] std::string obstacle(std::uint32_t wave) const;

  void add(std::uint32_t wave); // it is in the launch
  void next_launch();           // what follows is in another one

  [[nodiscard]] bool writes_images() const { return writes_images_; } // any of those that were added

private:
  struct Touched {
    std::uint32_t wave = 0;
    bool written = false;
  };

  [[nodiscard]] std::string conflict(const ProgramArgument& argument, std::uint32_t wave) const;
  [[nodiscard]] std::string too_many(std::uint32_t wave) const;
  [[nodiscard]] std::vector<KernelObject> with(std::uint32_t wave) const;

  const ResolvedProgram& program_;
  const std::vector<std::vector<std::uint32_t>>& places_;
  const ObjectLimits limits_;
  const bool iterations_share_;
  std::vector<KernelObject> objects_;        // parameters so far
  std::map<std::uint32_t, Touched> touched_; // in this launch, by image
  bool writes_images_ = false;
};

} // namespace tidegate::engine
