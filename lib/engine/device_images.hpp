// Images and samplers on a device.
#pragma once
#include "device/session.hpp"
#include "engine/device_memory.hpp"
#include "engine/job.hpp"
#include "engine/kernel_objects.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::engine {

// Images by buffer index; empty for other buffers.
using DeviceImages = std::vector<device::Image>;

// Checks all images. Throws device::Refused with unsupported_kernel if the device lacks an image's format for
// its use in kernels, or its size.
void check_images(const device::Session& session, const Job& program);

// Throws device::Refused.
device::Image allocate_image(const device::Session& session, const Job& program, std::size_t index);

// Allocates every image. Throws device::Refused.
DeviceImages allocate_images(const device::Session& session, const Job& program);

// Reads a whole image and waits for it. Throws device::Refused.
void download_image(const device::Session& session, const device::Image& from, const ProgramBuffer& image,
                    std::span<std::byte> texels);

// Copies an image's contents on the device. Throws device::Refused.
void copy_image(const device::Session& session, const ProgramBuffer& image, const device::Image& from,
                const device::Image& to);

// Uploads the first contents of an image, or clears it if it has none. Throws device::Refused.
void fill_image(const device::Session& session, const ProgramBuffer& image, std::span<const std::byte> first,
                const device::Image& to);

// Uploads first contents and clears the other images. Throws device::Refused.
void fill_images(const device::Session& session, const Job& program, const HostContents& first,
                 const DeviceImages& images);

// Makes a sampler. Throws device::Refused.
device::Sampler make_sampler(const device::Session& session, const SamplerSpec& spec);

// Images and samplers set as arguments of a generated kernel from index `first` on; owns what it created for
// them.
class BoundObjects {
public:
  // Binds the memory of a run. Throws device::Refused.
  BoundObjects(const device::Session& session, const std::vector<KernelObject>& objects,
               const DeviceImages& images, const device::Kernel& kernel, std::uint32_t first);

  // Binds images of one texel, for a launch that accesses none. Throws device::Refused.
  BoundObjects(const device::Session& session, const Job& program, const std::vector<KernelObject>& objects,
               const device::Kernel& kernel, std::uint32_t first);

private:
  void bind(const device::Session& session, const std::vector<KernelObject>& objects,
            const device::Kernel& kernel, std::uint32_t first);

  std::vector<device::Image> images_; // by object
  std::vector<device::Sampler> samplers_;
};

} // namespace tidegate::engine
