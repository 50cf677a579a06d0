// A session on OpenCL. Objects are wrappers of OpenCL for C++, which hold a handle and release it.
#include "device/isolation.hpp"
#include "device/opencl.hpp"
#include "device/session.hpp"

namespace tidegate::device {

static_assert(success == CL_SUCCESS && out_of_resources == CL_OUT_OF_RESOURCES &&
              build_program_failure == CL_BUILD_PROGRAM_FAILURE &&
              invalid_work_group_size == CL_INVALID_WORK_GROUP_SIZE);

namespace {

// The names of OpenCL's error codes without CL_, from 0 down and from -30 down.
constexpr std::string_view first_names =
    "SUCCESS DEVICE_NOT_FOUND DEVICE_NOT_AVAILABLE COMPILER_NOT_AVAILABLE MEM_OBJECT_ALLOCATION_FAILURE "
    "OUT_OF_RESOURCES OUT_OF_HOST_MEMORY PROFILING_INFO_NOT_AVAILABLE MEM_COPY_OVERLAP IMAGE_FORMAT_MISMATCH "
    "IMAGE_FORMAT_NOT_SUPPORTED BUILD_PROGRAM_FAILURE MAP_FAILURE MISALIGNED_SUB_BUFFER_OFFSET "
    "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST COMPILE_PROGRAM_FAILURE LINKER_NOT_AVAILABLE LINK_PROGRAM_FAILURE "
    "DEVICE_PARTITION_FAILED KERNEL_ARG_INFO_NOT_AVAILABLE ";
constexpr std::string_view names_from_30 =
    "INVALID_VALUE INVALID_DEVICE_TYPE INVALID_PLATFORM INVALID_DEVICE INVALID_CONTEXT INVALID_QUEUE_PROPERTIES "
    "INVALID_COMMAND_QUEUE INVALID_HOST_PTR INVALID_MEM_OBJECT INVALID_IMAGE_FORMAT_DESCRIPTOR INVALID_IMAGE_SIZE "
    "INVALID_SAMPLER INVALID_BINARY INVALID_BUILD_OPTIONS INVALID_PROGRAM INVALID_PROGRAM_EXECUTABLE "
    "INVALID_KERNEL_NAME INVALID_KERNEL_DEFINITION INVALID_KERNEL INVALID_ARG_INDEX INVALID_ARG_VALUE "
    "INVALID_ARG_SIZE INVALID_KERNEL_ARGS INVALID_WORK_DIMENSION INVALID_WORK_GROUP_SIZE INVALID_WORK_ITEM_SIZE "
    "INVALID_GLOBAL_OFFSET INVALID_EVENT_WAIT_LIST INVALID_EVENT INVALID_OPERATION INVALID_GL_OBJECT "
    "INVALID_BUFFER_SIZE INVALID_MIP_LEVEL INVALID_GLOBAL_WORK_SIZE INVALID_PROPERTY INVALID_IMAGE_DESCRIPTOR "
    "INVALID_COMPILER_OPTIONS INVALID_LINKER_OPTIONS INVALID_DEVICE_PARTITION_COUNT ";

// Returns true if the device or the host is out of memory or another resource.
bool is_lack_of_memory(Status code) {
  return code == CL_OUT_OF_RESOURCES || code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
         code == CL_OUT_OF_HOST_MEMORY;
}

} // namespace

std::string opencl_error_name(Status code) {
  constexpr Status second = -30;
  std::string_view names = code <= second ? names_from_30 : first_names;
  for (Status left = code <= second ? second - code : -code; left > 0 && !names.empty(); --left) {
    names.remove_prefix(names.find(' ') + 1);
  }
  return code > 0 || names.empty() ? fmt::format("error {}", code)
                                   : fmt::format("CL_{}", names.substr(0, names.find(' ')));
}

Error opencl_failure(std::string_view what, Status code) {
  Error error{.code = ErrorCode::opencl_failure,
              .message = fmt::format("{} failed: {}", what, opencl_error_name(code)),
              .fix = "check the driver's messages; `tidegate devices` lists other devices"};
  if (is_lack_of_memory(code)) {
    error.fix = fmt::format("free memory {}, or use smaller buffers",
                            code == CL_OUT_OF_HOST_MEMORY ? "of this machine" : "on the device");
  }
  return error;
}

void require(Status status, std::string_view what) {
  if (status != success) {
    throw Refused{opencl_failure(what, status), status};
  }
}

std::uint64_t time_before_start(const Session& session, const Event& launched) {
  constexpr auto look = std::chrono::microseconds(200);
  work_notes().compiling = true;
  session.flush();
  while (!session.has_started(launched)) {
    std::this_thread::sleep_for(look);
  }
  work_notes().compiling = false;
  session.finish();
  try {
    const EventTimes times = session.times_of(launched);
    return times.started - std::min(times.started, times.submitted);
  } catch (const Refused&) {
    return 0;
  }
}

namespace {

constexpr std::array<cl_channel_order, channel_orders.size()> orders{
    CL_R,         CL_A,         CL_RG,    CL_RA,    CL_RGBA,  CL_BGRA, CL_ARGB,
    CL_INTENSITY, CL_LUMINANCE, CL_DEPTH, CL_sRGBA, CL_sBGRA, CL_RGB};
constexpr std::array<cl_channel_type, channel_types.size()> types{
    CL_SNORM_INT8,   CL_SNORM_INT16,  CL_UNORM_INT8,      CL_UNORM_INT16,     CL_SIGNED_INT8,
    CL_SIGNED_INT16, CL_SIGNED_INT32, CL_UNSIGNED_INT8,   CL_UNSIGNED_INT16,  CL_UNSIGNED_INT32,
    CL_HALF_FLOAT,   CL_FLOAT,        CL_UNORM_SHORT_565, CL_UNORM_SHORT_555, CL_UNORM_INT_101010};
constexpr std::array<cl_addressing_mode, engine::address_mode_names.size()> address_modes{
    CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT,
    CL_ADDRESS_MIRRORED_REPEAT};

using engine::ImageKind;
using engine::ImageShape;

cl_image_format format_of(ImageFormat format) {
  return {.image_channel_order = orders[static_cast<std::size_t>(order_of(format))],
          .image_channel_data_type = types[static_cast<std::size_t>(type_of(format))]};
}

cl_mem_object_type object_type(ImageKind kind) {
  constexpr std::array<cl_mem_object_type, 6> types_of_images{
      CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE1D_ARRAY,
      CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,  CL_MEM_OBJECT_IMAGE3D};
  return types_of_images[static_cast<std::size_t>(kind)];
}

cl_mem_flags flags_of(ImageUse use) {
  return use.reads && use.writes ? CL_MEM_READ_WRITE : use.writes ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY;
}

// Size of a whole image; its origin is {}.
std::array<std::size_t, 3> size_of(const ImageShape& shape) {
  const bool layers_last = shape.kind == ImageKind::image2d_array;
  return shape.kind == ImageKind::image1d_array
             ? std::array<std::size_t, 3>{shape.width, shape.layers, 1}
             : std::array<std::size_t, 3>{shape.width, shape.height,
                                          layers_last ? shape.layers : shape.depth};
}

cl_bool blocking(Transferred when) {
  return when == Transferred::now ? CL_TRUE : CL_FALSE;
}

// Holds what a call has made. Throws Refused if the call failed.
template <class Kind, class Wrapper>
Kind own(Wrapper wrapper, std::string_view what = {}, cl_int status = CL_SUCCESS) {
  static_assert(std::is_standard_layout_v<Wrapper> &&
                sizeof(Wrapper) == sizeof(cl_mem)); // its address is the handle's
  require(status, what);
  return {{std::make_shared<Wrapper>(std::move(wrapper))}};
}

template <class Wrapper>
Wrapper& as(const Object& object) {
  return *static_cast<Wrapper*>(object.of.get());
}
cl::Buffer& buffer_of(const Buffer& buffer) {
  return as<cl::Buffer>(buffer);
}
// An image of any kind: OpenCL has one type of handles, and calls do not look at the wrapper's class.
using AnyImage = cl::Image2D;

// Makes a call that may have to make an event.
void with_event(Event* into, std::string_view what, auto call) {
  cl::Event made;
  require(call(into == nullptr ? nullptr : &made), what);
  if (made() != nullptr) {
    *into = own<Event>(std::move(made));
  }
}

cl::NDRange sizes_of(const LaunchRange& range, const std::array<std::size_t, 3>& sizes) {
  const auto& [x, y, z] = sizes;
  return range.dimensions == 1   ? cl::NDRange(x)
         : range.dimensions == 2 ? cl::NDRange(x, y)
                                 : cl::NDRange(x, y, z);
}

// Returns a range without dimensions if all sizes are 0.
cl::NDRange or_none(const LaunchRange& range, const std::array<std::size_t, 3>& sizes) {
  return std::ranges::count(sizes, 0U) == 3 ? cl::NullRange : sizes_of(range, sizes);
}

class OpenClSession final : public Session {
public:
  OpenClSession(cl::Device device, cl::Context context, cl::CommandQueue queue)
      : device_(std::move(device)), context_(std::move(context)), queue_(std::move(queue)) {
    (void)device_.getInfo(CL_DEVICE_NAME, &device_name);
    device_name.erase(std::min(device_name.find('\0'), device_name.size()));
  }

  Buffer allocate(std::uint64_t bytes) const override {
    bytes = std::max<std::uint64_t>(bytes, 1);
    return counted(make_buffer(CL_MEM_READ_WRITE, bytes, nullptr,
                               fmt::format("allocating {} of device memory", bytes_text(bytes))),
                   bytes);
  }

  Buffer share(std::span<std::byte> host) const override {
    return counted(make_buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, host.size(), host.data(),
                               "sharing memory with the device"));
  }

  Buffer part_of(const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes) const override {
    const cl_buffer_region region{offset, bytes};
    cl_int status = CL_SUCCESS;
    cl::Buffer made =
        buffer_of(buffer).createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    return own<Buffer>(std::move(made), "making a sub-buffer", status);
  }

  void migrate(std::span<const Buffer> buffers) const override {
    std::vector<cl::Memory> memories;
    std::ranges::transform(buffers, std::back_inserter(memories), buffer_of);
    require(queue_.enqueueMigrateMemObjects(memories, 0), "making sub-buffers known to the device");
  }

  void write(const Buffer& to, std::uint64_t offset, std::span<const std::byte> bytes,
             Transferred when) const override {
    in_pieces(bytes, &Calls::bytes_written, when, [&](std::uint64_t at, std::span<const std::byte> piece) {
      require(
          queue_.enqueueWriteBuffer(buffer_of(to), blocking(when), offset + at, piece.size(), piece.data()),
          "writing to device memory");
    });
  }

  void read(const Buffer& from, std::uint64_t offset, std::span<std::byte> bytes,
            Transferred when) const override {
    in_pieces(bytes, &Calls::bytes_read, when, [&](std::uint64_t at, std::span<std::byte> piece) {
      require(
          queue_.enqueueReadBuffer(buffer_of(from), blocking(when), offset + at, piece.size(), piece.data()),
          "reading device memory back");
    });
  }

  // NVIDIA's clEnqueueFillBuffer (driver 580) fails and breaks the queue if offset + size exceeds 2 GiB:
  // beyond that a filled piece is copied.
  void fill(const Buffer& to, std::uint64_t offset, std::uint64_t bytes, std::span<const std::byte> pattern,
            Event* event) const override {
    constexpr std::uint64_t most_end = std::uint64_t{1} << 31U;
    constexpr std::uint64_t piece_bytes = std::uint64_t{64} << 20U;
    std::size_t begin = 0; // of a part in its whole
    (void)buffer_of(to).getInfo(CL_MEM_OFFSET, &begin);
    // The wrapper's call has the size of its pattern in its type.
    const auto fill_with = [&](const Buffer& filled, std::uint64_t at, std::uint64_t size, Event* done) {
      with_event(done, "filling device memory", [&](cl::Event* made) {
        return clEnqueueFillBuffer(queue_(), buffer_of(filled)(), pattern.data(), pattern.size(), at, size, 0,
                                   nullptr, made == nullptr ? nullptr : &(*made)());
      });
    };
    if (begin + offset + bytes <= most_end) {
      return fill_with(to, offset, bytes, event);
    }
    const std::uint64_t piece = std::min(bytes, piece_bytes);
    const Buffer from = allocate(piece);
    fill_with(from, 0, piece, nullptr);
    for (std::uint64_t at = 0; at < bytes; at += piece) {
      const std::uint64_t size = std::min(piece, bytes - at);
      copy(from, 0, to, offset + at, size, at + size == bytes ? event : nullptr);
    }
  }

  void copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
            std::uint64_t bytes, Event* event) const override {
    with_event(event, "copying device memory", [&](cl::Event* made) {
      return queue_.enqueueCopyBuffer(buffer_of(from), buffer_of(to), from_offset, to_offset, bytes, nullptr,
                                      made);
    });
  }

  std::shared_ptr<std::byte> pin(std::size_t bytes) const override {
    cl_int status = CL_SUCCESS;
    const cl::Buffer buffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &status);
    if (status != CL_SUCCESS) {
      return {};
    }
    ++calls()->waits;
    void* const mapped = queue_.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                                 nullptr, nullptr, &status);
    if (status != CL_SUCCESS || mapped == nullptr) {
      return {};
    }
    return {static_cast<std::byte*>(mapped), [queue = queue_, buffer](std::byte* pinned) {
              (void)queue.enqueueUnmapMemObject(buffer, pinned);
            }};
  }

  std::vector<ImageFormat> image_formats(ImageKind kind, ImageUse use) const override {
    const cl_mem_flags flags = use.both ? CL_MEM_KERNEL_READ_AND_WRITE : flags_of(use);
    std::vector<cl::ImageFormat> found;
    require(context_.getSupportedImageFormats(flags, object_type(kind), &found),
            "asking for the formats of images");
    std::vector<ImageFormat> formats;
    for (std::size_t i = 0; i < image_format_names.size(); ++i) {
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

  ImageShape largest_image(ImageKind kind) const override {
    const auto limit = [&](bool has, cl_device_info what) {
      std::size_t value = 1;
      require(has ? device_.getInfo(what, &value) : CL_SUCCESS, "asking for the largest image");
      return std::uint64_t{value};
    };
    const bool volume = kind == ImageKind::image3d;
    const bool has_height = volume || kind == ImageKind::image2d || kind == ImageKind::image2d_array;
    const bool has_layers = kind == ImageKind::image1d_array || kind == ImageKind::image2d_array;
    return {.kind = kind,
            .width = limit(true, kind == ImageKind::image1d_buffer ? CL_DEVICE_IMAGE_MAX_BUFFER_SIZE
                                 : volume                          ? CL_DEVICE_IMAGE3D_MAX_WIDTH
                                                                   : CL_DEVICE_IMAGE2D_MAX_WIDTH),
            .height = limit(has_height, volume ? CL_DEVICE_IMAGE3D_MAX_HEIGHT : CL_DEVICE_IMAGE2D_MAX_HEIGHT),
            .depth = limit(volume, CL_DEVICE_IMAGE3D_MAX_DEPTH),
            .layers = limit(has_layers, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE)};
  }

  Image make_image(const ImageShape& shape, ImageUse use) const override {
    const cl_image_format format = format_of(shape.format);
    constexpr std::string_view allocating_image = "allocating an image";
    cl_image_desc description{};
    description.image_type = object_type(shape.kind);
    description.image_width = shape.width;
    description.image_height = shape.height;
    description.image_depth = shape.depth;
    description.image_array_size = shape.layers;
    Buffer texels; // an image of a buffer retains it
    if (shape.kind == ImageKind::image1d_buffer) {
      const std::uint64_t texel_bytes =
          elements_per_texel(shape.format) * element_bytes(element_type(shape.format));
      texels = make_buffer(CL_MEM_READ_WRITE, shape.width * texel_bytes, nullptr, allocating_image);
      description.mem_object = buffer_of(texels)();
    }
    cl_int status = CL_SUCCESS;
    const cl_mem image = clCreateImage(context_(), flags_of(use), &format, &description, nullptr, &status);
    return counted(own<Image>(AnyImage(image, false), allocating_image, status));
  }

  void write_image(const Image& to, const ImageShape& shape,
                   std::span<const std::byte> texels) const override {
    count_transfer(&Calls::bytes_written, texels.size(), Transferred::now);
    require(queue_.enqueueWriteImage(as<AnyImage>(to), CL_TRUE, {}, size_of(shape), 0, 0, texels.data()),
            "writing an image");
  }

  void read_image(const Image& from, const ImageShape& shape, std::span<std::byte> texels) const override {
    count_transfer(&Calls::bytes_read, texels.size(), Transferred::now);
    require(queue_.enqueueReadImage(as<AnyImage>(from), CL_TRUE, {}, size_of(shape), 0, 0, texels.data()),
            "reading an image back");
  }

  void copy_image(const Image& from, const Image& to, const ImageShape& shape) const override {
    require(queue_.enqueueCopyImage(as<AnyImage>(from), as<AnyImage>(to), {}, {}, size_of(shape)),
            "copying an image");
  }

  Sampler make_sampler(const engine::SamplerSpec& spec) const override {
    cl_int status = CL_SUCCESS;
    // OpenCL 1 function, which every device supports.
    const cl_sampler sampler = clCreateSampler(
        context_(), spec.normalized ? CL_TRUE : CL_FALSE,
        address_modes[static_cast<std::size_t>(spec.address)],
        spec.filter == engine::FilterMode::linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &status);
    return own<Sampler>(cl::Sampler(sampler), "making a sampler", status);
  }

  // PoCL lets std::bad_alloc out of its C interface and keeps the program locked: a release would wait forever.
  cl_int build_or_leave(std::unique_ptr<const cl::Program>& program, const std::string& options) const {
    try {
      return program->build(device_, options.c_str());
    } catch (const std::bad_alloc&) {
      (void)program.release();
      throw;
    }
  }

  Result<Program> build(std::string_view source, const std::string& options) const override {
    CapturedErrors printed;
    cl_int status = CL_SUCCESS;
    auto made = std::make_unique<const cl::Program>(context_, std::string(source), false, &status);
    if (status == CL_SUCCESS) {
      status = build_or_leave(made, options);
    }
    const cl::Program& program = *made;
    if (status == CL_SUCCESS) {
      (void)printed.take(); // "1 warning generated."
      return own<Program>(program);
    }
    const Error refused = opencl_failure("building a kernel", status);
    std::string log;
    if (program() != nullptr) {
      (void)program.getBuildInfo(device_, CL_PROGRAM_BUILD_LOG, &log);
    }
    Error error = build_error(source, log + printed.take());
    if (error.message.empty()) {
      error.message = refused.message;
      error.fix = refused.fix;
      if (is_lack_of_memory(status)) {
        error.code = refused.code;
      }
    }
    if (status == CL_INVALID_BUILD_OPTIONS) {
      error.code = ErrorCode::kernel_options;
      error.message = fmt::format("the compiler of the device refuses the options {}", in_quotes(options));
      error.fix = "remove the options that it does not support";
    }
    return tl::unexpected(std::move(error));
  }

  Program load(std::span<const unsigned char> binary, const std::string& options) const override {
    cl_int status = CL_SUCCESS;
    auto made = std::make_unique<const cl::Program>(
        context_, cl::vector<cl::Device>{device_},
        cl::Program::Binaries{std::vector<unsigned char>(binary.begin(), binary.end())}, nullptr, &status);
    if (status != CL_SUCCESS || build_or_leave(made, options) != CL_SUCCESS) {
      return {};
    }
    return own<Program>(*made);
  }

  std::vector<unsigned char> binary_of(const Program& program) const override {
    std::vector<std::vector<unsigned char>> binaries(1);
    return as<cl::Program>(program).getInfo(CL_PROGRAM_BINARIES, &binaries) == CL_SUCCESS && !binaries.empty()
               ? std::move(binaries.front())
               : std::vector<unsigned char>();
  }

  Kernel make_kernel(const Program& program, const std::string& name) const override {
    cl_int status = CL_SUCCESS;
    cl::Kernel made(as<cl::Program>(program), name.c_str(), &status);
    return own<Kernel>(std::move(made), "making the kernel " + in_quotes(name), status);
  }

  void set_object(const Kernel& kernel, std::uint32_t index, const Object& object) const override {
    set(kernel, index, sizeof(cl_mem), object.of.get());
  }

  void set_bytes(const Kernel& kernel, std::uint32_t index, std::span<const std::byte> value) const override {
    set(kernel, index, value.size(), value.data());
  }

  void set_local(const Kernel& kernel, std::uint32_t index, std::size_t bytes) const override {
    set(kernel, index, bytes, nullptr);
  }

  void launch(const Kernel& kernel, const LaunchRange& range, Event* event) const override {
    ++calls()->launches;
    with_event(event, "launching a kernel", [&](cl::Event* made) {
      return queue_.enqueueNDRangeKernel(as<cl::Kernel>(kernel), or_none(range, range.offset),
                                         sizes_of(range, range.global), or_none(range, range.local), nullptr,
                                         made);
    });
  }

  Event mark() const override {
    Event event;
    with_event(&event, "marking the end of the queue",
               [&](cl::Event* made) { return queue_.enqueueMarkerWithWaitList(nullptr, made); });
    return event;
  }

  void wait(const Event& event) const override {
    ++calls()->waits;
    require(as<cl::Event>(event).wait(), running);
  }

  bool has_ended(const Event& event) const override { return has_reached(event, CL_COMPLETE); }
  bool has_started(const Event& event) const override { return has_reached(event, CL_RUNNING); }

  void flush() const override { require(queue_.flush(), running); }
  void finish() const override {
    ++calls()->waits;
    require(queue_.finish(), running);
  }

  EventTimes times_of(const Event& event) const override {
    EventTimes times;
    for (const auto& [what, time] : {std::pair(CL_PROFILING_COMMAND_QUEUED, &times.queued),
                                     std::pair(CL_PROFILING_COMMAND_SUBMIT, &times.submitted),
                                     std::pair(CL_PROFILING_COMMAND_START, &times.started),
                                     std::pair(CL_PROFILING_COMMAND_END, &times.ended)}) {
      require(as<cl::Event>(event).getProfilingInfo(static_cast<cl_profiling_info>(what), time),
              "asking when a launch ran");
    }
    return times;
  }

private:
  static constexpr std::string_view running = "running what was launched";

  Buffer make_buffer(cl_mem_flags flags, std::uint64_t bytes, void* host, std::string_view what) const {
    cl_int status = CL_SUCCESS;
    cl::Buffer made(context_, flags, bytes, host, &status);
    return own<Buffer>(std::move(made), what, status);
  }

  static void set(const Kernel& kernel, std::uint32_t index, std::size_t bytes, const void* value) {
    if (const Status status = as<cl::Kernel>(kernel).setArg(index, bytes, value); status != success) {
      require(status, fmt::format("setting argument {} of a kernel", index));
    }
  }

  // Drivers take long for each transfer, and a run can be interrupted only between them.
  template <class Byte>
  void in_pieces(std::span<Byte> bytes, std::atomic<std::uint64_t> Calls::*direction, Transferred when,
                 auto transfer) const {
    constexpr std::uint64_t most = std::uint64_t{256} << 20U;
    for (std::uint64_t at = 0; at < bytes.size(); at += most) {
      const auto piece = bytes.subspan(at, std::min<std::uint64_t>(most, bytes.size() - at));
      count_transfer(direction, piece.size(), when);
      transfer(at, piece);
    }
  }

  // True if the event has this state or a later one, which have smaller numbers, or an error, which are negative.
  static bool has_reached(const Event& event, cl_int state) {
    cl_int now = CL_COMPLETE;
    const cl_int status = as<cl::Event>(event).getInfo(CL_EVENT_COMMAND_EXECUTION_STATUS, &now);
    return status != CL_SUCCESS || now <= state;
  }

  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
};

} // namespace

Result<std::unique_ptr<Session>> open_session(const DeviceInfo& info, Profiling profiling) {
  std::vector<cl::Platform> platforms;
  (void)cl::Platform::get(&platforms);
  std::vector<cl::Device> devices; // of all platforms
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> found;
    (void)platform.getDevices(CL_DEVICE_TYPE_ALL, &found);
    devices.insert(devices.end(), found.begin(), found.end());
  }
  std::string name;
  if (info.index >= devices.size() || devices[info.index].getInfo(CL_DEVICE_NAME, &name) != CL_SUCCESS ||
      name.find(info.name) == std::string::npos) {
    return failure(ErrorCode::no_device, "the device has gone since it was listed",
                   "try again; `tidegate devices` lists the devices");
  }
  const cl::Device& device = devices[info.index];
  const bool on_host = info.type == DeviceType::cpu;
  const bool profiled = on_host || profiling == Profiling::always;
  try {
    cl_int status = CL_SUCCESS;
    const cl::Context context(device, nullptr, nullptr, nullptr, &status);
    require(status, "making a context");
    const cl_command_queue_properties properties = profiled ? CL_QUEUE_PROFILING_ENABLE : 0;
    const cl::CommandQueue queue(context, device, properties, &status);
    require(status, "making a queue");
    auto session = std::make_unique<OpenClSession>(device, context, queue);
    session->on_host = on_host;
    return session;
  } catch (Refused& refused) {
    return tl::unexpected(std::move(refused.error));
  }
}

} // namespace tidegate::device
