// The OpenCL functions that the project calls, each passed on to the loader.
#include "device/loader.hpp"

#include "device/opencl.hpp"

#include <dlfcn.h>

#include <array>
#include <cstddef>

namespace tidegate::device {
namespace {

constexpr const char* loader_file = "libOpenCL.so.1";

// Never closed: ocl-icd forgets what it has allocated when it is unloaded.
void* library() {
  static void* const handle = ::dlopen(loader_file, RTLD_LAZY | RTLD_LOCAL);
  return handle;
}

// The function of the loader, or nullptr.
template <class Function>
Function* loaded(const char* name) {
  return library() == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library(), name));
}

// What a function that makes something returns without a loader.
std::nullptr_t not_there(cl_int* error) {
  if (error != nullptr) {
    *error = CL_INVALID_OPERATION;
  }
  return nullptr;
}

// The query of the extension cl_loader_info: clGetICDLoaderInfoOCLICD(name, size, value, size_returned).
using LoaderInfo = int(unsigned name, std::size_t size, void* value, std::size_t* size_returned);
constexpr unsigned loader_info_opencl = 1;
constexpr unsigned loader_info_version = 2;
constexpr unsigned loader_info_name = 3;

std::string query(LoaderInfo* info, unsigned name) {
  std::array<char, 256> value{};
  return info(name, value.size(), value.data(), nullptr) == 0 ? value.data() : "";
}

} // namespace

std::string loader_version() {
  if (library() == nullptr) {
    return "none";
  }
  // The query is an extension, which a loader hands out by name and does not export.
  using ExtensionAddress = void*(const char* name);
  auto* const address = loaded<ExtensionAddress>("clGetExtensionFunctionAddress");
  auto* const info =
      address == nullptr ? nullptr : reinterpret_cast<LoaderInfo*>(address("clGetICDLoaderInfoOCLICD"));
  if (info == nullptr) {
    return loader_file;
  }
  return query(info, loader_info_name) + " " + query(info, loader_info_version) + " (" +
         query(info, loader_info_opencl) + ")";
}

Result<void> load_opencl() {
  if (library() == nullptr) {
    return tl::unexpected(Error{.code = ErrorCode::no_opencl,
                                .message = std::string("there is no OpenCL loader (") + loader_file + ")",
                                .fix =
                                    "install one and a driver (Debian: ocl-icd-libopencl1 and, for the CPU, "
                                    "pocl-opencl-icd)"});
  }
  return {};
}

} // namespace tidegate::device

// PASS_ON(return type, name, parameters, arguments, what is returned without a loader)
#define PASS_ON(type, name, parameters, arguments, otherwise)                                                \
  extern "C" CL_API_ENTRY type CL_API_CALL name parameters {                                                 \
    static auto* const function = tidegate::device::loaded<type CL_API_CALL parameters>(#name);              \
    return function == nullptr ? (otherwise) : function arguments;                                           \
  }

// clang-format off
PASS_ON(cl_int, clGetPlatformIDs, (cl_uint n, cl_platform_id* ids, cl_uint* count), (n, ids, count), CL_INVALID_PLATFORM)
PASS_ON(cl_int, clGetPlatformInfo, (cl_platform_id platform, cl_platform_info what, size_t size, void* value, size_t* returned), (platform, what, size, value, returned), CL_INVALID_PLATFORM)
PASS_ON(cl_int, clGetDeviceIDs, (cl_platform_id platform, cl_device_type type, cl_uint n, cl_device_id* ids, cl_uint* count), (platform, type, n, ids, count), CL_INVALID_PLATFORM)
PASS_ON(cl_int, clGetDeviceInfo, (cl_device_id device, cl_device_info what, size_t size, void* value, size_t* returned), (device, what, size, value, returned), CL_INVALID_DEVICE)
PASS_ON(cl_int, clRetainDevice, (cl_device_id device), (device), CL_INVALID_DEVICE)
PASS_ON(cl_int, clReleaseDevice, (cl_device_id device), (device), CL_INVALID_DEVICE)
PASS_ON(cl_int, clReleaseContext, (cl_context context), (context), CL_INVALID_CONTEXT)
PASS_ON(cl_int, clReleaseCommandQueue, (cl_command_queue queue), (queue), CL_INVALID_COMMAND_QUEUE)
PASS_ON(cl_int, clRetainContext, (cl_context context), (context), CL_INVALID_CONTEXT)
PASS_ON(cl_int, clRetainCommandQueue, (cl_command_queue queue), (queue), CL_INVALID_COMMAND_QUEUE)
PASS_ON(cl_context, clCreateContext, (const cl_context_properties* properties, cl_uint n, const cl_device_id* devices, void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data, cl_int* error), (properties, n, devices, notify, data, error), tidegate::device::not_there(error))
PASS_ON(cl_int, clGetContextInfo, (cl_context context, cl_context_info what, size_t size, void* value, size_t* returned), (context, what, size, value, returned), CL_INVALID_CONTEXT)
PASS_ON(cl_command_queue, clCreateCommandQueue, (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int* error), (context, device, properties, error), tidegate::device::not_there(error))
PASS_ON(cl_command_queue, clCreateCommandQueueWithProperties, (cl_context context, cl_device_id device, const cl_queue_properties* properties, cl_int* error), (context, device, properties, error), tidegate::device::not_there(error))
PASS_ON(cl_int, clFinish, (cl_command_queue queue), (queue), CL_INVALID_COMMAND_QUEUE)
PASS_ON(cl_int, clGetEventProfilingInfo,
        (cl_event event, cl_profiling_info name, size_t size, void* value, size_t* size_ret),
        (event, name, size, value, size_ret), CL_INVALID_EVENT)
PASS_ON(cl_mem, clCreateBuffer, (cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* error), (context, flags, size, host, error), tidegate::device::not_there(error))
PASS_ON(cl_int, clRetainMemObject, (cl_mem object), (object), CL_INVALID_MEM_OBJECT)
PASS_ON(cl_int, clReleaseMemObject, (cl_mem object), (object), CL_INVALID_MEM_OBJECT)
PASS_ON(cl_int, clEnqueueWriteBuffer, (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void* source, cl_uint n, const cl_event* events, cl_event* event), (queue, buffer, blocking, offset, size, source, n, events, event), CL_INVALID_COMMAND_QUEUE)
PASS_ON(cl_int, clEnqueueReadBuffer, (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void* target, cl_uint n, const cl_event* events, cl_event* event), (queue, buffer, blocking, offset, size, target, n, events, event), CL_INVALID_COMMAND_QUEUE)
PASS_ON(void*, clEnqueueMapBuffer, (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset, size_t size, cl_uint n, const cl_event* events, cl_event* event, cl_int* error), (queue, buffer, blocking, flags, offset, size, n, events, event, error), tidegate::device::not_there(error))
PASS_ON(cl_int, clEnqueueUnmapMemObject, (cl_command_queue queue, cl_mem object, void* mapped, cl_uint n, const cl_event* events, cl_event* event), (queue, object, mapped, n, events, event), CL_INVALID_COMMAND_QUEUE)
PASS_ON(cl_program, clCreateProgramWithSource, (cl_context context, cl_uint n, const char** texts, const size_t* lengths, cl_int* error), (context, n, texts, lengths, error), tidegate::device::not_there(error))
PASS_ON(cl_program, clCreateProgramWithBinary, (cl_context context, cl_uint n, const cl_device_id* devices, const size_t* lengths, const unsigned char** binaries, cl_int* statuses, cl_int* error), (context, n, devices, lengths, binaries, statuses, error), tidegate::device::not_there(error))
PASS_ON(cl_mem, clCreateSubBuffer, (cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* info, cl_int* error), (buffer, flags, type, info, error), tidegate::device::not_there(error))
PASS_ON(cl_int, clFlush, (cl_command_queue queue), (queue), CL_INVALID_COMMAND_QUEUE)
PASS_ON(cl_int, clEnqueueFillBuffer, (cl_command_queue queue, cl_mem buffer, const void* pattern, size_t pattern_size, size_t offset, size_t size, cl_uint n, const cl_event* events, cl_event* event), (queue, buffer, pattern, pattern_size, offset, size, n, events, event), CL_INVALID_COMMAND_QUEUE)
PASS_ON(void*, clGetExtensionFunctionAddressForPlatform, (cl_platform_id platform, const char* name), (platform, name), nullptr)
PASS_ON(cl_int, clEnqueueCopyBuffer, (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size, cl_uint n, const cl_event* events, cl_event* event), (queue, from, to, from_offset, to_offset, size, n, events, event), CL_INVALID_COMMAND_QUEUE)
PASS_ON(cl_int, clBuildProgram, (cl_program program, cl_uint n, const cl_device_id* devices, const char* options, void(CL_CALLBACK* notify)(cl_program, void*), void* data), (program, n, devices, options, notify, data), CL_INVALID_PROGRAM)
PASS_ON(cl_int, clGetProgramInfo, (cl_program program, cl_program_info what, size_t size, void* value, size_t* returned), (program, what, size, value, returned), CL_INVALID_PROGRAM)
PASS_ON(cl_int, clGetProgramBuildInfo, (cl_program program, cl_device_id device, cl_program_build_info what, size_t size, void* value, size_t* returned), (program, device, what, size, value, returned), CL_INVALID_PROGRAM)
PASS_ON(cl_int, clRetainProgram, (cl_program program), (program), CL_INVALID_PROGRAM)
PASS_ON(cl_int, clReleaseProgram, (cl_program program), (program), CL_INVALID_PROGRAM)
PASS_ON(cl_kernel, clCreateKernel, (cl_program program, const char* name, cl_int* error), (program, name, error), tidegate::device::not_there(error))
PASS_ON(cl_int, clRetainKernel, (cl_kernel kernel), (kernel), CL_INVALID_KERNEL)
PASS_ON(cl_int, clReleaseKernel, (cl_kernel kernel), (kernel), CL_INVALID_KERNEL)
PASS_ON(cl_int, clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void* value), (kernel, index, size, value), CL_INVALID_KERNEL)
PASS_ON(cl_mem, clCreateImage, (cl_context context, cl_mem_flags flags, const cl_image_format* format, const cl_image_desc* description, void* host, cl_int* error), (context, flags, format, description, host, error), tidegate::device::not_there(error))
PASS_ON(cl_int, clGetSupportedImageFormats, (cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint n, cl_image_format* formats, cl_uint* count), (context, flags, type, n, formats, count), CL_INVALID_CONTEXT)
PASS_ON(cl_int, clEnqueueWriteImage, (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin, const size_t* region, size_t row_pitch, size_t slice_pitch, const void* source, cl_uint n, const cl_event* events, cl_event* event), (queue, image, blocking, origin, region, row_pitch, slice_pitch, source, n, events, event), CL_INVALID_COMMAND_QUEUE)
PASS_ON(cl_int, clEnqueueReadImage, (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin, const size_t* region, size_t row_pitch, size_t slice_pitch, void* target, cl_uint n, const cl_event* events, cl_event* event), (queue, image, blocking, origin, region, row_pitch, slice_pitch, target, n, events, event), CL_INVALID_COMMAND_QUEUE)
PASS_ON(cl_sampler, clCreateSampler, (cl_context context, cl_bool normalized, cl_addressing_mode address, cl_filter_mode filter, cl_int* error), (context, normalized, address, filter, error), tidegate::device::not_there(error))
PASS_ON(cl_int, clRetainSampler, (cl_sampler sampler), (sampler), CL_INVALID_SAMPLER)
PASS_ON(cl_int, clReleaseSampler, (cl_sampler sampler), (sampler), CL_INVALID_SAMPLER)
PASS_ON(cl_int, clGetMemObjectInfo, (cl_mem object, cl_mem_info what, size_t size, void* value, size_t* returned), (object, what, size, value, returned), CL_INVALID_MEM_OBJECT)
PASS_ON(cl_int, clGetKernelWorkGroupInfo, (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size, void* value, size_t* returned), (kernel, device, what, size, value, returned), CL_INVALID_KERNEL)
PASS_ON(cl_int, clEnqueueMarkerWithWaitList, (cl_command_queue queue, cl_uint n, const cl_event* events, cl_event* event), (queue, n, events, event), CL_INVALID_COMMAND_QUEUE)
PASS_ON(cl_int, clWaitForEvents, (cl_uint n, const cl_event* events), (n, events), CL_INVALID_EVENT)
PASS_ON(cl_int, clEnqueueMigrateMemObjects, (cl_command_queue queue, cl_uint count, const cl_mem* objects, cl_mem_migration_flags flags, cl_uint n, const cl_event* events, cl_event* event), (queue, count, objects, flags, n, events, event), CL_INVALID_COMMAND_QUEUE)
PASS_ON(cl_int, clRetainEvent, (cl_event event), (event), CL_INVALID_EVENT)
PASS_ON(cl_int, clReleaseEvent, (cl_event event), (event), CL_INVALID_EVENT)
PASS_ON(cl_int, clEnqueueNDRangeKernel, (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset, const size_t* global_size, const size_t* local_size, cl_uint n, const cl_event* events, cl_event* event), (queue, kernel, dimensions, offset, global_size, local_size, n, events, event), CL_INVALID_COMMAND_QUEUE)
// clang-format on
