// Images and samplers of the generated kernel. OpenCL C forbids them in memory, arrays and structures. So
// each one that a shared wave uses is a parameter of the kernel, and a case names those that it passes on:
//
//   kernel void tidegate_stage(…, uint first_entry, read_only image2d_t tg_object0, sampler_t tg_object1)
//
// A wave's descriptor holds the index of the parameter; waves with different ones have different cases.
#pragma once
#include "engine/job.hpp"
#include "engine/schedule.hpp"
#include "engine/shared_launch.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
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

// Returns the distinct objects of the schedule's shared stages.
std::vector<KernelObject> kernel_objects(const Job& program, const Schedule& schedule);

// Return ", read_only image2d_t tg_object0, sampler_t tg_object1" and ", tg_object0, tg_object1".
std::string object_parameters(const Job& program, const std::vector<KernelObject>& objects);
std::string object_arguments(const std::vector<KernelObject>& objects);
std::string object_name(std::uint64_t index);

// Decides which waves may use images in a shared launch. Writes to an image reach other work-groups only at
// the end of the launch: reads use caches that no barrier invalidates, and OpenCL's fences order images only
// within a work-item. So an image that one wave of a launch writes may not be used by another wave of it, nor
// by the same wave in a later iteration; such a wave is launched alone.

class ImageConflicts {
public:
  // References must outlive the object. With `iterations_share` a launch covers several iterations.
  ImageConflicts(const Job& program, const std::vector<std::vector<std::uint32_t>>& storage,
                 const ObjectLimits& limits, bool iterations_share);

  // Returns why the wave cannot join the current launch, or an empty string.
  [[nodiscard]] std::string obstacle(std::uint32_t wave) const;

  void add(std::uint32_t wave); // adds it to the launch
  void next_launch();           // starts another launch

  [[nodiscard]] bool writes_images() const { return writes_images_; } // any of the added waves

private:
  struct Touched {
    std::uint32_t wave = 0;
    bool written = false;
  };

  [[nodiscard]] std::string conflict(const ProgramArgument& argument, std::uint32_t wave) const;
  [[nodiscard]] std::string too_many(std::uint32_t wave) const;
  [[nodiscard]] std::vector<KernelObject> with(std::uint32_t wave) const;

  const Job& program_;
  const std::vector<std::vector<std::uint32_t>>& storage_;
  const ObjectLimits limits_;
  const bool iterations_share_;
  std::vector<KernelObject> objects_;        // parameters so far
  std::map<std::uint32_t, Touched> touched_; // in this launch, by image
  bool writes_images_ = false;
};

} // namespace tidegate::engine
