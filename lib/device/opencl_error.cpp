#include <tidegate/device/opencl.hpp>
#include <tidegate/device/opencl_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tidegate::device {
namespace {

struct Name {
  int code;
  std::string_view name;
};

#define NAMED(code)                                                                                          \
  Name {                                                                                                     \
    code, #code                                                                                              \
  }
constexpr std::array names{NAMED(CL_SUCCESS),
                           NAMED(CL_DEVICE_NOT_FOUND),
                           NAMED(CL_DEVICE_NOT_AVAILABLE),
                           NAMED(CL_COMPILER_NOT_AVAILABLE),
                           NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
                           NAMED(CL_OUT_OF_RESOURCES),
                           NAMED(CL_OUT_OF_HOST_MEMORY),
                           NAMED(CL_PROFILING_INFO_NOT_AVAILABLE),
                           NAMED(CL_MEM_COPY_OVERLAP),
                           NAMED(CL_IMAGE_FORMAT_MISMATCH),
                           NAMED(CL_IMAGE_FORMAT_NOT_SUPPORTED),
                           NAMED(CL_BUILD_PROGRAM_FAILURE),
                           NAMED(CL_MAP_FAILURE),
                           NAMED(CL_MISALIGNED_SUB_BUFFER_OFFSET),
                           NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
                           NAMED(CL_COMPILE_PROGRAM_FAILURE),
                           NAMED(CL_LINKER_NOT_AVAILABLE),
                           NAMED(CL_LINK_PROGRAM_FAILURE),
                           NAMED(CL_DEVICE_PARTITION_FAILED),
                           NAMED(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
                           NAMED(CL_INVALID_VALUE),
                           NAMED(CL_INVALID_DEVICE_TYPE),
                           NAMED(CL_INVALID_PLATFORM),
                           NAMED(CL_INVALID_DEVICE),
                           NAMED(CL_INVALID_CONTEXT),
                           NAMED(CL_INVALID_QUEUE_PROPERTIES),
                           NAMED(CL_INVALID_COMMAND_QUEUE),
                           NAMED(CL_INVALID_HOST_PTR),
                           NAMED(CL_INVALID_MEM_OBJECT),
                           NAMED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
                           NAMED(CL_INVALID_IMAGE_SIZE),
                           NAMED(CL_INVALID_SAMPLER),
                           NAMED(CL_INVALID_BINARY),
                           NAMED(CL_INVALID_BUILD_OPTIONS),
                           NAMED(CL_INVALID_PROGRAM),
                           NAMED(CL_INVALID_PROGRAM_EXECUTABLE),
                           NAMED(CL_INVALID_KERNEL_NAME),
                           NAMED(CL_INVALID_KERNEL_DEFINITION),
                           NAMED(CL_INVALID_KERNEL),
                           NAMED(CL_INVALID_ARG_INDEX),
                           NAMED(CL_INVALID_ARG_VALUE),
                           NAMED(CL_INVALID_ARG_SIZE),
                           NAMED(CL_INVALID_KERNEL_ARGS),
                           NAMED(CL_INVALID_WORK_DIMENSION),
                           NAMED(CL_INVALID_WORK_GROUP_SIZE),
                           NAMED(CL_INVALID_WORK_ITEM_SIZE),
                           NAMED(CL_INVALID_GLOBAL_OFFSET),
                           NAMED(CL_INVALID_EVENT_WAIT_LIST),
                           NAMED(CL_INVALID_EVENT),
                           NAMED(CL_INVALID_OPERATION),
                           NAMED(CL_INVALID_BUFFER_SIZE),
                           NAMED(CL_INVALID_GLOBAL_WORK_SIZE),
                           NAMED(CL_INVALID_PROPERTY),
                           NAMED(CL_INVALID_COMPILER_OPTIONS),
                           NAMED(CL_INVALID_LINKER_OPTIONS),
                           NAMED(CL_INVALID_DEVICE_PARTITION_COUNT)};
#undef NAMED

} // namespace

std::string opencl_error_name(int code) {
  const auto* const found = std::ranges::find(names, code, &Name::code);
  return found != names.end() ? std::string(found->name) : fmt::format("error {}", code);
}

bool is_lack_of_memory(int code) {
  return code == CL_OUT_OF_RESOURCES || code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
         code == CL_OUT_OF_HOST_MEMORY;
}

Error opencl_failure(std::string_view what, int code) {
  Error error{.code = ErrorCode::opencl_failure,
              .message = fmt::format("{} failed: {}", what, opencl_error_name(code)),
              .fix = "see what the driver says; `tidegate devices` lists other devices"};
  if (is_lack_of_memory(code)) {
    error.fix = fmt::format("free memory {}, or ask for less",
                            code == CL_OUT_OF_HOST_MEMORY ? "of this machine" : "on the device");
  }
  return error;
}

} // namespace tidegate::device
