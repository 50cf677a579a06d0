// Which waves may touch images in a launch that they share. What a kernel writes to an image reaches other
// work-groups when its launch ends, and no sooner: reads go through caches that no barrier empties, and
// OpenCL's fences order images within a work-item alone. So no image that one wave of a launch writes is
// touched by another wave of it, nor by the same one in a later iteration; such a wave is launched alone.
#pragma once

#include <tidegate/compiler/kernel_objects.hpp>
#include <tidegate/compiler/object_limits.hpp>
#include <tidegate/compiler/resolved_program.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tidegate::compiler {

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

} // namespace tidegate::compiler
