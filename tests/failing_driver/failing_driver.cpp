// An OpenCL layer that lets the Nth call of one function fail, as a driver may: for tests of what comes then.
// OPENCL_LAYERS names this library, TIDEGATE_FAILING_CALL the function and the number, as "clCreateBuffer:3".
// TIDEGATE_FAILING_SIGNAL ends the process there by a signal instead, as where a driver has its own handler
// away. It says so on standard error when it strikes; a call that never comes leaves no word.
//
// TIDEGATE_WRONG_READS=BYTES:FIRST:LAST lets reads be wrong instead: of the reads of that many bytes, the ones with
// these numbers (counted from 1) get the lowest bit of their last word changed. With TIDEGATE_WRONG_AFTER=PREFIX only
// those do whose last launch before was of a kernel with such a name.
#include <CL/cl_layer.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
  return clEnqueueNDRangeKernel_failing::call(queue, kernel, dimensions, offset, global, local, waits, events,
                                              event);
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
  layered.clEnqueueNDRangeKernel = &launch;
  layered.clEnqueueReadBuffer = &read;
  *entries_returned = ours;
  *dispatch = &layered;
  return CL_SUCCESS;
}

} // extern "C"
