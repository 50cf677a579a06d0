#include "engine/device_images.hpp"

#include "engine/job.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tidegate::engine {
namespace {

using device::require;

using device::ImageUse;

std::string_view text(ImageUse use) {
  return use.both                  ? "read and write at once"
         : use.reads && use.writes ? "read and write"
         : use.writes              ? "write"
                                   : "read";
}

// Uses of an image by waves, including images that it is swapped with.
ImageUse use_of(const Job& program, std::uint32_t image) {
  ImageUse use{.reads = program.buffers[image].swapped, .writes = program.buffers[image].swapped};
  for (const ProgramWave& wave : program.waves) {
    for (const ProgramArgument& argument : wave.arguments) {
      if (argument.kind == ProgramArgument::Kind::image &&
          (argument.buffer == image || program.buffers[image].swapped)) {
        use.reads |= argument.buffer == image && argument.access != Access::write;
        use.writes |= argument.buffer == image && argument.access != Access::read;
        use.both |= argument.access == Access::read_write;
      }
    }
  }
  return use;
}

Error lacks_format(const device::Session& session, const ProgramBuffer& image, const ImageUse& use,
                   const std::vector<ImageFormat>& supported) {
  std::string others; // with the same number of elements
  for (const ImageFormat format : supported) {
    if (elements_per_texel(format) == elements_per_texel(image.image->format)) {
      others += fmt::format("{}{}", others.empty() ? "" : ", ", name(format));
    }
  }
  return {.code = ErrorCode::unsupported_kernel,
          .message = fmt::format("{} has no {} of format {} that kernels {}", session.device_name,
                                 type_name(*image.image), name(image.image->format), text(use)),
          .fix = others.empty() ? "use a buffer, or another device" : "give one of " + others,
          .pointer = "/images/" + pointer_token(image.name) + "/format"};
}

void check_size(const device::Session& session, const ProgramBuffer& image) {
  const ImageShape& shape = *image.image;
  ImageShape most = require(session.largest_image(shape.kind), "asking for the largest image");
  most.format = shape.format;
  if (shape.width > most.width || shape.height > most.height || shape.depth > most.depth ||
      shape.layers > most.layers) {
    throw device::Refused{{.code = ErrorCode::unsupported_kernel,
                           .message = fmt::format("{} is {}; {} takes {} at most", in_quotes(image.name),
                                                  describe(shape), session.device_name, describe(most)),
                           .fix = "cut it into several images, or use a buffer",
                           .pointer = "/images/" + pointer_token(image.name)}};
  }
}

} // namespace

void check_images(const device::Session& session, const Job& program) {
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& image = program.buffers[i];
    if (!image.image) {
      continue;
    }
    const ImageUse use = use_of(program, i);
    const auto supported =
        require(session.image_formats(image.image->kind, use), "asking for the formats of images");
    if (std::ranges::find(supported, image.image->format) == supported.end()) {
      throw device::Refused{lacks_format(session, image, use, supported)};
    }
    check_size(session, image);
  }
}

device::Image allocate_image(const device::Session& session, const Job& program, std::size_t index) {
  const ProgramBuffer& image = program.buffers[index];
  return require(session.make_image(*image.image, use_of(program, static_cast<std::uint32_t>(index))),
                 "allocating the image " + in_quotes(image.name));
}

DeviceImages allocate_images(const device::Session& session, const Job& program) {
  DeviceImages images(program.buffers.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (program.buffers[i].image) {
      images[i] = allocate_image(session, program, i);
    }
  }
  return images;
}

void download_image(const device::Session& session, const device::Image& from, const ProgramBuffer& image,
                    std::span<std::byte> texels) {
  require(session.read_image(from, *image.image, texels), "reading an image back");
}

void copy_image(const device::Session& session, const ProgramBuffer& image, const device::Image& from,
                const device::Image& to) {
  require(session.copy_image(from, to, *image.image), "copying an image");
}

void fill_image(const device::Session& session, const ProgramBuffer& image, std::span<const std::byte> first,
                const device::Image& to) {
  if (!first.empty()) {
    require(session.write_image(to, *image.image, first), "writing an image");
  } else if (!image.transient()) {
    require(session.write_image(to, *image.image, std::vector<std::byte>(image.bytes)), "clearing an image");
  }
}

void fill_images(const device::Session& session, const Job& program, const HostContents& first,
                 const DeviceImages& images) {
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (program.buffers[i].image) {
      fill_image(session, program.buffers[i], first[i], images[i]);
    }
  }
}

device::Sampler make_sampler(const device::Session& session, const SamplerSpec& spec) {
  return require(session.make_sampler(spec), "making a sampler");
}

BoundObjects::BoundObjects(const device::Session& session, const std::vector<KernelObject>& objects,
                           const DeviceImages& images, const device::Kernel& kernel, std::uint32_t first) {
  for (const KernelObject& object : objects) {
    images_.push_back(object.is_sampler ? device::Image() : images[object.image]);
  }
  bind(session, objects, kernel, first);
}

BoundObjects::BoundObjects(const device::Session& session, const Job& program,
                           const std::vector<KernelObject>& objects, const device::Kernel& kernel,
                           std::uint32_t first) {
  for (const KernelObject& object : objects) {
    if (object.is_sampler) {
      images_.emplace_back();
      continue;
    }
    ImageShape shape = *program.buffers[object.image].image;
    shape.width = shape.height = shape.depth = shape.layers = 1;
    images_.push_back(require(session.make_image(shape, use_of(program, object.image)),
                              "allocating an image of one texel"));
  }
  bind(session, objects, kernel, first);
}

void BoundObjects::bind(const device::Session& session, const std::vector<KernelObject>& objects,
                        const device::Kernel& kernel, std::uint32_t first) {
  for (std::uint32_t i = 0; i < objects.size(); ++i) {
    if (objects[i].is_sampler) {
      samplers_.push_back(make_sampler(session, objects[i].sampler));
      require(session.set_object(kernel, first + i, samplers_.back()),
              "setting a sampler of the generated kernel");
    } else {
      require(session.set_object(kernel, first + i, images_[i]), "setting an image of the generated kernel");
    }
  }
}

// Type names and size rules of OpenCL images.

namespace {

bool is_depth(const ImageShape& shape) {
  return row(shape.format).order == ChannelOrder::depth;
}

} // namespace

std::string_view type_name(const ImageShape& shape) {
  switch (shape.kind) {
  case ImageKind::image1d: return "image1d_t";
  case ImageKind::image1d_buffer: return "image1d_buffer_t";
  case ImageKind::image1d_array: return "image1d_array_t";
  case ImageKind::image2d: return is_depth(shape) ? "image2d_depth_t" : "image2d_t";
  case ImageKind::image2d_array: return is_depth(shape) ? "image2d_array_depth_t" : "image2d_array_t";
  case ImageKind::image3d: break;
  }
  return "image3d_t";
}

std::string describe(const ImageShape& shape) {
  std::string text = fmt::format("{} of {}", name(shape.format), shape.width);
  if (shape.kind == ImageKind::image2d || shape.kind == ImageKind::image2d_array ||
      shape.kind == ImageKind::image3d) {
    text += fmt::format(" x {}", shape.height);
  }
  if (shape.kind == ImageKind::image3d) {
    text += fmt::format(" x {}", shape.depth);
  }
  if (shape.kind == ImageKind::image1d_array || shape.kind == ImageKind::image2d_array) {
    text += fmt::format(" in {} layers", shape.layers);
  }
  return text;
}

std::vector<std::uint64_t> array_shape(const ImageShape& shape) {
  std::vector<std::uint64_t> dimensions;
  switch (shape.kind) {
  case ImageKind::image1d:
  case ImageKind::image1d_buffer: dimensions = {shape.width}; break;
  case ImageKind::image1d_array: dimensions = {shape.layers, shape.width}; break;
  case ImageKind::image2d: dimensions = {shape.height, shape.width}; break;
  case ImageKind::image2d_array: dimensions = {shape.layers, shape.height, shape.width}; break;
  case ImageKind::image3d: dimensions = {shape.depth, shape.height, shape.width}; break;
  }
  if (const std::uint32_t elements = elements_per_texel(shape.format); elements > 1) {
    dimensions.push_back(elements);
  }
  return dimensions;
}

} // namespace tidegate::engine
