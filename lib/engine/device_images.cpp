#include "engine/device_images.hpp"

#include "device/opencl.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace tidegate::engine {
namespace {

using device::require;

constexpr std::array<cl_channel_order, channel_order_names.size()> orders{
    CL_R,         CL_A,         CL_RG,    CL_RA,    CL_RGBA,  CL_BGRA, CL_ARGB,
    CL_INTENSITY, CL_LUMINANCE, CL_DEPTH, CL_sRGBA, CL_sBGRA, CL_RGB};
constexpr std::array<cl_channel_type, channel_type_names.size()> types{
    CL_SNORM_INT8,   CL_SNORM_INT16,  CL_UNORM_INT8,      CL_UNORM_INT16,     CL_SIGNED_INT8,
    CL_SIGNED_INT16, CL_SIGNED_INT32, CL_UNSIGNED_INT8,   CL_UNSIGNED_INT16,  CL_UNSIGNED_INT32,
    CL_HALF_FLOAT,   CL_FLOAT,        CL_UNORM_SHORT_565, CL_UNORM_SHORT_555, CL_UNORM_INT_101010};
constexpr std::array<cl_addressing_mode, address_mode_names.size()> address_modes{
    CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT,
    CL_ADDRESS_MIRRORED_REPEAT};

cl_image_format format_of(ImageFormat format) {
  return {.image_channel_order = orders[static_cast<std::size_t>(row(format).order)],
          .image_channel_data_type = types[static_cast<std::size_t>(row(format).type)]};
}

cl_mem_object_type object_type(ImageKind kind) {
  switch (kind) {
  case ImageKind::image1d: return CL_MEM_OBJECT_IMAGE1D;
  case ImageKind::image1d_buffer: return CL_MEM_OBJECT_IMAGE1D_BUFFER;
  case ImageKind::image1d_array: return CL_MEM_OBJECT_IMAGE1D_ARRAY;
  case ImageKind::image2d: return CL_MEM_OBJECT_IMAGE2D;
  case ImageKind::image2d_array: return CL_MEM_OBJECT_IMAGE2D_ARRAY;
  case ImageKind::image3d: break;
  }
  return CL_MEM_OBJECT_IMAGE3D;
}

// Uses of an image by waves, including images that it is swapped with.
struct ImageUse {
  bool reads = false;
  bool writes = false;
  bool both = false; // by one parameter, which is read_write

  [[nodiscard]] cl_mem_flags flags() const {
    return reads && writes ? CL_MEM_READ_WRITE : writes ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY;
  }
  [[nodiscard]] std::string_view text() const {
    return both ? "read and write at once" : reads && writes ? "read and write" : writes ? "write" : "read";
  }
};

ImageUse use_of(const ResolvedProgram& program, std::uint32_t image) {
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

std::vector<ImageFormat> supported_formats(const device::Session& session, const ImageShape& shape,
                                           const ImageUse& use) {
  const cl_mem_flags flags = use.both ? CL_MEM_KERNEL_READ_AND_WRITE : use.flags();
  cl_uint count = 0;
  require(::clGetSupportedImageFormats(session.context(), flags, object_type(shape.kind), 0, nullptr, &count),
          "asking for the formats of images");
  std::vector<cl_image_format> found(count);
  require(::clGetSupportedImageFormats(session.context(), flags, object_type(shape.kind), count, found.data(),
                                       nullptr),
          "asking for the formats of images");
  std::vector<ImageFormat> formats;
  for (std::size_t i = 0; i < image_format_rows.size(); ++i) {
    const cl_image_format wanted = format_of(static_cast<ImageFormat>(i));
    if (std::ranges::any_of(found, [&wanted](const cl_image_format& each) {
          return each.image_channel_order == wanted.image_channel_order &&
                 each.image_channel_data_type == wanted.image_channel_data_type;
        })) {
      formats.push_back(static_cast<ImageFormat>(i));
    }
  }
  return formats;
}

std::string device_name(const device::Session& session) {
  std::string name;
  (void)session.device.getInfo(CL_DEVICE_NAME, &name);
  name.erase(std::min(name.find('\0'), name.size()));
  return name;
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
          .message = fmt::format("{} has no {} of format {} that kernels {}", device_name(session),
                                 type_name(*image.image), name(image.image->format), use.text()),
          .fix = others.empty() ? "use a buffer, or another device" : "give one of " + others,
          .pointer = "/images/" + pointer_token(image.name) + "/format"};
}

// Returns the largest image of this kind that the device supports.
ImageShape largest(const device::Session& session, ImageShape shape) {
  const auto limit = [&session](cl_device_info what) {
    std::size_t value = 0;
    require(::clGetDeviceInfo(session.device(), what, sizeof value, &value, nullptr),
            "asking for the largest image");
    return std::uint64_t{value};
  };
  const bool volume = shape.kind == ImageKind::image3d;
  const bool has_height =
      volume || shape.kind == ImageKind::image2d || shape.kind == ImageKind::image2d_array;
  const bool has_layers = shape.kind == ImageKind::image1d_array || shape.kind == ImageKind::image2d_array;
  shape.width = limit(shape.kind == ImageKind::image1d_buffer ? CL_DEVICE_IMAGE_MAX_BUFFER_SIZE
                      : volume                                ? CL_DEVICE_IMAGE3D_MAX_WIDTH
                                                              : CL_DEVICE_IMAGE2D_MAX_WIDTH);
  shape.height = has_height ? limit(volume ? CL_DEVICE_IMAGE3D_MAX_HEIGHT : CL_DEVICE_IMAGE2D_MAX_HEIGHT) : 1;
  shape.depth = volume ? limit(CL_DEVICE_IMAGE3D_MAX_DEPTH) : 1;
  shape.layers = has_layers ? limit(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE) : 1;
  return shape;
}

void check_size(const device::Session& session, const ProgramBuffer& image) {
  const ImageShape& shape = *image.image;
  const ImageShape most = largest(session, shape);
  if (shape.width > most.width || shape.height > most.height || shape.depth > most.depth ||
      shape.layers > most.layers) {
    throw device::Refused{{.code = ErrorCode::unsupported_kernel,
                           .message = fmt::format("{} is {}; {} takes {} at most", in_quotes(image.name),
                                                  describe(shape), device_name(session), describe(most)),
                           .fix = "cut it into several images, or use a buffer",
                           .pointer = "/images/" + pointer_token(image.name)}};
  }
}

cl::Memory create_image(const device::Session& session, const ImageShape& shape, cl_mem_flags flags,
                        const std::string& what) {
  const cl_image_format format = format_of(shape.format);
  cl_image_desc description{};
  description.image_type = object_type(shape.kind);
  description.image_width = shape.width;
  description.image_height = shape.height;
  description.image_depth = shape.depth;
  description.image_array_size = shape.layers;
  cl::Buffer texels;
  cl_int status = CL_SUCCESS;
  if (shape.kind == ImageKind::image1d_buffer) {
    const std::size_t bytes =
        shape.width * elements_per_texel(shape.format) * element_bytes(element_type(shape.format));
    texels = cl::Buffer(session.context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    require(status, "allocating " + what);
    description.mem_object = texels();
  }
  const cl_mem image = ::clCreateImage(session.context(), flags, &format, &description, nullptr, &status);
  require(status, "allocating " + what);
  return cl::Memory(image, false); // an image of a buffer retains the buffer
}

struct Region {
  std::array<std::size_t, 3> origin{0, 0, 0};
  std::array<std::size_t, 3> size{1, 1, 1};
};

Region whole(const ImageShape& shape) {
  if (shape.kind == ImageKind::image1d_array) {
    return {.size = {shape.width, shape.layers, 1}};
  }
  return {.size = {shape.width, shape.height,
                   shape.kind == ImageKind::image2d_array ? shape.layers : shape.depth}};
}

} // namespace

void check_images(const device::Session& session, const ResolvedProgram& program) {
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& image = program.buffers[i];
    if (!image.image) {
      continue;
    }
    const ImageUse use = use_of(program, i);
    const auto supported = supported_formats(session, *image.image, use);
    if (std::ranges::find(supported, image.image->format) == supported.end()) {
      throw device::Refused{lacks_format(session, image, use, supported)};
    }
    check_size(session, image);
  }
}

DeviceImages allocate_images(const device::Session& session, const ResolvedProgram& program) {
  DeviceImages images(program.buffers.size());
  for (std::uint32_t i = 0; i < images.size(); ++i) {
    if (const ProgramBuffer& image = program.buffers[i]; image.image) {
      images[i] = create_image(session, *image.image, use_of(program, i).flags(),
                               "the image " + in_quotes(image.name));
    }
  }
  return images;
}

void upload_image(const device::Session& session, const cl::Memory& to, const ImageShape& shape,
                  std::span<const std::byte> texels) {
  const Region region = whole(shape);
  require(::clEnqueueWriteImage(session.queue(), to(), CL_TRUE, region.origin.data(), region.size.data(), 0,
                                0, texels.data(), 0, nullptr, nullptr),
          "writing an image");
}

void download_image(const device::Session& session, const cl::Memory& from, const ImageShape& shape,
                    std::span<std::byte> texels) {
  const Region region = whole(shape);
  require(::clEnqueueReadImage(session.queue(), from(), CL_TRUE, region.origin.data(), region.size.data(), 0,
                               0, texels.data(), 0, nullptr, nullptr),
          "reading an image back");
}

std::uint64_t fill_images(const device::Session& session, const ResolvedProgram& program,
                          const HostContents& first, const DeviceImages& images) {
  std::uint64_t uploaded = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const ProgramBuffer& image = program.buffers[i];
    if (!image.image) {
      continue;
    }
    if (!first[i].empty()) {
      upload_image(session, images[i], *image.image, first[i]);
      uploaded += first[i].size();
    } else if (!image.transient()) {
      upload_image(session, images[i], *image.image, std::vector<std::byte>(image.bytes));
    }
  }
  return uploaded;
}

cl::Sampler make_sampler(const device::Session& session, const SamplerSpec& spec) {
  cl_int status = CL_SUCCESS;
  // OpenCL 1 function, which every device supports.
  const cl_sampler sampler =
      ::clCreateSampler(session.context(), spec.normalized ? CL_TRUE : CL_FALSE,
                        address_modes[static_cast<std::size_t>(spec.address)],
                        spec.filter == FilterMode::linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &status);
  require(status, "making a sampler");
  return cl::Sampler(sampler);
}

BoundObjects::BoundObjects(const device::Session& session, const std::vector<KernelObject>& objects,
                           const DeviceImages& images, cl::Kernel& kernel, std::uint32_t first) {
  for (const KernelObject& object : objects) {
    images_.push_back(object.is_sampler ? cl::Memory() : images[object.image]);
  }
  bind(session, objects, kernel, first);
}

BoundObjects::BoundObjects(const device::Session& session, const ResolvedProgram& program,
                           const std::vector<KernelObject>& objects, cl::Kernel& kernel,
                           std::uint32_t first) {
  for (const KernelObject& object : objects) {
    if (object.is_sampler) {
      images_.emplace_back();
      continue;
    }
    ImageShape shape = *program.buffers[object.image].image;
    shape.width = shape.height = shape.depth = shape.layers = 1;
    images_.push_back(
        create_image(session, shape, use_of(program, object.image).flags(), "an image of one texel"));
  }
  bind(session, objects, kernel, first);
}

void BoundObjects::bind(const device::Session& session, const std::vector<KernelObject>& objects,
                        cl::Kernel& kernel, std::uint32_t first) {
  for (std::uint32_t i = 0; i < objects.size(); ++i) {
    if (objects[i].is_sampler) {
      samplers_.push_back(make_sampler(session, objects[i].sampler));
      require(kernel.setArg(first + i, samplers_.back()), "setting a sampler of the generated kernel");
    } else {
      require(kernel.setArg(first + i, images_[i]), "setting an image of the generated kernel");
    }
  }
}

} // namespace tidegate::engine
