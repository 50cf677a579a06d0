// Images and samplers on a device.
#pragma once
#include "device/opencl.hpp"
#include "engine/device_memory.hpp"
#include "engine/kernel_objects.hpp"
#include "work/resolved_program.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::engine {

// By index of the program's buffers; empty where that is no image.
using DeviceImages = std::vector<cl::Memory>;

// Throws device::Refused with unsupported_kernel when the device has not the format of an image for what
// kernels do to it, or no images of its size.
void check_images(const device::Session& session, const ResolvedProgram& program);

// The memory of every image. Throws device::Refused.
DeviceImages allocate_images(const device::Session& session, const ResolvedProgram& program);

// Writes or reads a whole image, waiting for it. Throws device::Refused.
void upload_image(const device::Session& session, const cl::Memory& to, const ImageShape& shape,
                  std::span<const std::byte> texels);
void download_image(const device::Session& session, const cl::Memory& from, const ImageShape& shape,
                    std::span<std::byte> texels);

// Uploads first contents, and clears what a program may rely on; returns the bytes that had contents. Throws
// device::Refused.
std::uint64_t fill_images(const device::Session& session, const ResolvedProgram& program,
                          const HostContents& first, const DeviceImages& images);

// Throws device::Refused.
cl::Sampler make_sampler(const device::Session& session, const SamplerSpec& spec);

// The objects of a generated kernel, set from argument `first` on; what was made for them lives as long.
class BoundObjects {
public:
  // With the memory of a run. Throws device::Refused.
  BoundObjects(const device::Session& session, const std::vector<KernelObject>& objects,
               const DeviceImages& images, cl::Kernel& kernel, std::uint32_t first);

  // With an image of one texel for each: for a launch that touches none. Throws device::Refused.
  BoundObjects(const device::Session& session, const ResolvedProgram& program,
               const std::vector<KernelObject>& objects, cl::Kernel& kernel, std::uint32_t first);

private:
  void bind(const device::Session& session, const std::vector<KernelObject>& objects, cl::Kernel& kernel,
            std::uint32_t first);

  std::vector<cl::Memory> images_; // by object
  std::vector<cl::Sampler> samplers_;
};

} // namespace tidegate::engine
