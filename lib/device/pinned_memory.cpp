#include <tidegate/device/handles.hpp>
#include <tidegate/device/pinned_memory.hpp>

namespace tidegate::device {

std::optional<PinnedMemory> PinnedMemory::allocate(const Session& session, std::size_t bytes) {
  cl_int status = CL_SUCCESS;
  cl::Buffer buffer(session.context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &status);
  if (status != CL_SUCCESS) {
    return {};
  }
  void* const mapped = session.queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                                      nullptr, nullptr, &status);
  if (status != CL_SUCCESS || mapped == nullptr) {
    return {};
  }
  return PinnedMemory(static_cast<std::byte*>(mapped), bytes,
                      [queue = session.queue, buffer](std::byte* memory) {
                        (void)queue.enqueueUnmapMemObject(buffer, memory);
                      });
}

} // namespace tidegate::device
