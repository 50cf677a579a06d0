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
#include <string_view>
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

// Decides where a launch ends because of images. Writes to an image reach other work-groups only at the end of
// the launch: reads use caches that no barrier invalidates, and OpenCL's fences order images only within a
// work-item. So an image that one wave of a launch writes may not be used by another wave of it.
class ImageConflicts {
public:
  // References must outlive the object.
  ImageConflicts(const Job& program, const std::vector<std::vector<std::uint32_t>>& storage,
                 const ObjectLimits& limits);

  // Returns why the kernel cannot have the wave's images and samplers as parameters, or an empty string.
  [[nodiscard]] std::string obstacle(std::uint32_t wave) const;

  // Returns why the current launch has to end before the wave, or an empty string.
  [[nodiscard]] std::string ends_before(std::uint32_t wave) const;

  void add(std::uint32_t wave); // adds it to the launch
  void next_launch();           // starts another launch

  // Returns why the current launch may not go on to another iteration or section, or an empty string. `when`:
  // "in every iteration".
  [[nodiscard]] std::string ends(std::string_view when) const;

private:
  struct Touched {
    std::uint32_t wave = 0;
    bool written = false;
  };

  [[nodiscard]] std::vector<KernelObject> with(std::uint32_t wave) const;

  const Job& program_;
  const std::vector<std::vector<std::uint32_t>>& storage_;
  const ObjectLimits limits_;
  std::vector<KernelObject> objects_;        // parameters so far
  std::map<std::uint32_t, Touched> touched_; // in this launch, by image
};

} // namespace tidegate::engine
