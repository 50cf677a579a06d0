// An OpenCL layer that lets the Nth call of one function fail, as a driver may: for tests of what comes then.
// OPENCL_LAYERS names this library, TIDEGATE_FAILING_CALL the function and the number, as "clCreateBuffer:3".
// TIDEGATE_FAILING_SIGNAL ends the process there by a signal instead, as where a driver has its own handler
// away; 0 calls exit(1), as LLVM does. Taken for a driver, the library aborts. It says so on standard error when it strikes; a call that never comes leaves no word.
//
// TIDEGATE_WRONG_READS=BYTES:FIRST:LAST lets reads be wrong instead: of the reads of that many bytes, the ones with
// these numbers (counted from 1) get the lowest bit of their last word changed. With TIDEGATE_WRONG_AFTER=PREFIX only
// those do whose last launch before was of a kernel with such a name.
//
// TIDEGATE_LOGGED_CALLS=FILE appends a line for each call that moves bytes, launches, waits or has to do with blocks of
// memory: "write BYTES BLOCKING", "read BYTES BLOCKING", "launch KERNEL", "wait", "allocate ADDRESS", "retain ADDRESS",
// "release ADDRESS". Blocks of the host's memory that a driver pins are left out.
//
// TIDEGATE_ENDLESS_KERNEL=PREFIX never returns a kernel with such a name, and from then on no build ends either: PoCL compiles under one
// lock.
#include <CL/cl_layer.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace {

cl_icd_dispatch driver{};  // what the calls are passed on to
cl_icd_dispatch layered{}; // that, with the functions below in place of some

// Whether this call of `function` is the one that fails.
bool strikes(std::string_view function) {
  static const char* const asked = std::getenv("TIDEGATE_FAILING_CALL");
  static std::atomic<long> calls{0};
  if (asked == nullptr) {
    return false;
  }
  const char* const colon = std::strchr(asked, ':');
  if (colon == nullptr || function != std::string_view(asked, static_cast<std::size_t>(colon - asked)) ||
      ++calls != std::atol(colon + 1)) {
    return false;
  }
  std::fprintf(stderr, "failing_driver: %s\n", asked);
  if (const char* const number = std::getenv("TIDEGATE_FAILING_SIGNAL")) {
    if (std::atoi(number) == 0) {
      std::exit(1);
    }
    std::signal(std::atoi(number), SIG_DFL);
    std::raise(std::atoi(number));
  }
  return true;
}

// Functions that make something, whose last parameter is where the error goes, and functions that return it.
template <auto Member, const char* const& Name, cl_int Error>
struct Failing;

template <class Made, class... Parameters, Made (CL_API_CALL* cl_icd_dispatch::*Member)(Parameters...),
          const char* const& Name, cl_int Error>
struct Failing<Member, Name, Error> {
  static Made CL_API_CALL call(Parameters... arguments) {
    if constexpr (std::is_same_v<Made, cl_int>) {
      return strikes(Name) ? Error : (driver.*Member)(arguments...);
    } else {
      if (!strikes(Name)) {
        return (driver.*Member)(arguments...);
      }
      cl_int* const error = std::get<sizeof...(arguments) - 1>(std::tuple(arguments...));
      if (error != nullptr) {
        *error = Error;
      }
      return nullptr;
    }
  }
};

#define FOR_EACH_FUNCTION(DO)                                                                                \
  DO(clCreateContext, CL_OUT_OF_HOST_MEMORY)                                                                 \
  DO(clCreateCommandQueue, CL_OUT_OF_RESOURCES)                                                              \
  DO(clCreateCommandQueueWithProperties, CL_OUT_OF_RESOURCES)                                                \
  DO(clCreateBuffer, CL_MEM_OBJECT_ALLOCATION_FAILURE)                                                       \
  DO(clCreateSubBuffer, CL_OUT_OF_RESOURCES)                                                                 \
  DO(clCreateProgramWithSource, CL_OUT_OF_HOST_MEMORY)                                                       \
  DO(clCreateProgramWithBinary, CL_INVALID_BINARY)                                                           \
  DO(clBuildProgram, CL_BUILD_PROGRAM_FAILURE)                                                               \
  DO(clCreateKernel, CL_OUT_OF_RESOURCES)                                                                    \
  DO(clSetKernelArg, CL_OUT_OF_RESOURCES)                                                                    \
  DO(clEnqueueNDRangeKernel, CL_OUT_OF_RESOURCES)                                                            \
  DO(clEnqueueWriteBuffer, CL_OUT_OF_HOST_MEMORY)                                                            \
  DO(clEnqueueReadBuffer, CL_OUT_OF_HOST_MEMORY)                                                             \
  DO(clEnqueueFillBuffer, CL_OUT_OF_RESOURCES)                                                               \
  DO(clEnqueueMapBuffer, CL_MAP_FAILURE)                                                                     \
  DO(clEnqueueUnmapMemObject, CL_OUT_OF_RESOURCES)                                                           \
  DO(clFlush, CL_OUT_OF_RESOURCES)                                                                           \
  DO(clFinish, CL_OUT_OF_RESOURCES)

#define DECLARE(function, error)                                                                             \
  constexpr const char* function##_name = #function;                                                         \
  using function##_failing = Failing<&cl_icd_dispatch::function, function##_name, error>;
FOR_EACH_FUNCTION(DECLARE)

// Appends a line to the log, if there is one.
template <class... Arguments>
void note(const char* format, Arguments... arguments) {
  static std::FILE* const file = [] {
    const char* const path = std::getenv("TIDEGATE_LOGGED_CALLS");
    std::FILE* const opened = path == nullptr ? nullptr : std::fopen(path, "a");
    if (opened != nullptr) {
      std::setvbuf(opened, nullptr, _IOLBF, 1 << 12);
    }
    return opened;
  }();
  if (file != nullptr) {
    std::fprintf(file, format, arguments...);
  }
}

// The last kernel that was launched.
std::string& launched() {
  static std::string name;
  return name;
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                          const size_t* global, const size_t* local, cl_uint waits, const cl_event* events,
                          cl_event* event) {
  char name[256] = "";
  driver.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr);
  launched() = name;
  note("launch %s\n", name);
  return clEnqueueNDRangeKernel_failing::call(queue, kernel, dimensions, offset, global, local, waits, events,
                                              event);
}

std::mutex compiler;

cl_kernel CL_API_CALL create_kernel(cl_program program, const char* name, cl_int* status) {
  static const char* const endless = std::getenv("TIDEGATE_ENDLESS_KERNEL");
  if (endless != nullptr && std::string_view(name).starts_with(endless)) {
    const std::lock_guard compiling(compiler);
    while (true) {
      ::pause();
    }
  }
  return clCreateKernel_failing::call(program, name, status);
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                         void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  const std::lock_guard compiling(compiler);
  return clBuildProgram_failing::call(program, count, devices, options, notify, data);
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                                 cl_int* status) {
  const cl_mem made = clCreateBuffer_failing::call(context, flags, size, host, status);
  if (made != nullptr && (flags & CL_MEM_ALLOC_HOST_PTR) == 0) {
    note("allocate %p\n", static_cast<void*>(made));
  }
  return made;
}

cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                                const cl_image_desc* description, void* host, cl_int* status) {
  const cl_mem made = driver.clCreateImage(context, flags, format, description, host, status);
  if (made != nullptr) {
    note("allocate %p\n", static_cast<void*>(made));
  }
  return made;
}

cl_int CL_API_CALL retain(cl_mem memory) {
  note("retain %p\n", static_cast<void*>(memory));
  return driver.clRetainMemObject(memory);
}

cl_int CL_API_CALL release(cl_mem memory) {
  note("release %p\n", static_cast<void*>(memory));
  return driver.clReleaseMemObject(memory);
}

cl_int CL_API_CALL write(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                         const void* from, cl_uint waits, const cl_event* events, cl_event* event) {
  note("write %zu %u\n", size, blocking);
  return clEnqueueWriteBuffer_failing::call(queue, buffer, blocking, offset, size, from, waits, events,
                                            event);
}

// Bytes of a region of an image.
size_t region_bytes(cl_mem image, const size_t* region) {
  size_t element = 0;
  driver.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr);
  return element * region[0] * region[1] * region[2];
}

cl_int CL_API_CALL write_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                               const size_t* region, size_t row, size_t slice, const void* from,
                               cl_uint waits, const cl_event* events, cl_event* event) {
  note("write %zu %u\n", region_bytes(image, region), blocking);
  return driver.clEnqueueWriteImage(queue, image, blocking, origin, region, row, slice, from, waits, events,
                                    event);
}

cl_int CL_API_CALL read_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                              const size_t* region, size_t row, size_t slice, void* to, cl_uint waits,
                              const cl_event* events, cl_event* event) {
  note("read %zu %u\n", region_bytes(image, region), blocking);
  return driver.clEnqueueReadImage(queue, image, blocking, origin, region, row, slice, to, waits, events,
                                   event);
}

cl_int CL_API_CALL finish(cl_command_queue queue) {
  note("%s\n", "wait");
  return clFinish_failing::call(queue);
}

cl_int CL_API_CALL wait(cl_uint count, const cl_event* events) {
  note("%s\n", "wait");
  return driver.clWaitForEvents(count, events);
}

bool is_wrong(size_t bytes) {
  static const char* const asked = std::getenv("TIDEGATE_WRONG_READS");
  static const char* const after = std::getenv("TIDEGATE_WRONG_AFTER");
  static long number = 0;
  unsigned long size = 0;
  long first = 0;
  long last = 0;
  return asked != nullptr && std::sscanf(asked, "%lu:%ld:%ld", &size, &first, &last) == 3 && bytes == size &&
         first <= ++number && number <= last && (after == nullptr || launched().rfind(after, 0) == 0);
}

cl_int CL_API_CALL read(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                        void* to, cl_uint waits, const cl_event* events, cl_event* event) {
  note("read %zu %u\n", size, blocking);
  const cl_int status =
      clEnqueueReadBuffer_failing::call(queue, buffer, blocking, offset, size, to, waits, events, event);
  if (status == CL_SUCCESS && is_wrong(size)) {
    driver.clFinish(queue);
    static_cast<unsigned char*>(to)[size - sizeof(cl_uint)] ^= 1;
  }
  return status;
}

} // namespace

extern "C" {

// What loaders ask a driver for first.
CL_API_ENTRY void* CL_API_CALL clGetExtensionFunctionAddress(const char* /*name*/) {
  std::abort();
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void* value,
                                               size_t* returned) {
  if (what != CL_LAYER_API_VERSION) {
    return CL_INVALID_VALUE;
  }
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (value != nullptr) {
    if (size < sizeof(version)) {
      return CL_INVALID_VALUE;
    }
    std::memcpy(value, &version, sizeof(version));
  }
  if (returned != nullptr) {
    *returned = sizeof(version);
  }
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch* target,
                                            cl_uint* entries_returned, const cl_icd_dispatch** dispatch) {
  const cl_uint ours = sizeof(cl_icd_dispatch) / sizeof(void*);
  if (entries < ours) {
    return CL_INVALID_VALUE;
  }
  driver = *target;
  layered = driver;
#define PUT(function, error) layered.function = &function##_failing::call;
  FOR_EACH_FUNCTION(PUT)
  layered.clCreateKernel = &create_kernel;
  layered.clBuildProgram = &build;
  layered.clEnqueueNDRangeKernel = &launch;
  layered.clEnqueueReadBuffer = &read;
  layered.clEnqueueWriteBuffer = &write;
  layered.clEnqueueReadImage = &read_image;
  layered.clEnqueueWriteImage = &write_image;
  layered.clCreateBuffer = &create_buffer;
  layered.clCreateImage = &create_image;
  layered.clRetainMemObject = &retain;
  layered.clReleaseMemObject = &release;
  layered.clFinish = &finish;
  layered.clWaitForEvents = &wait;
  *entries_returned = ours;
  *dispatch = &layered;
  return CL_SUCCESS;
}

} // extern "C"
