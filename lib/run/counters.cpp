#include <tidegate/run/counters.hpp>
#include <tidegate/run/device_memory.hpp>

namespace tidegate::run {

Counters::Counters(const device::Session& session, std::uint32_t groups, Monitor& monitor)
    : monitor_(monitor) {
  const std::size_t words = (2 + std::size_t{groups}) * line_words;
  if (!session.on_host) {
    memory_ = allocate(session, words * sizeof(cl_uint));
    device::require(session.queue.enqueueFillBuffer(memory_, cl_uint{0}, 0, words * sizeof(cl_uint)),
                    "clearing counters");
    return;
  }
  shared_.resize(words);
  cl_int status = CL_SUCCESS;
  memory_ = cl::Buffer(session.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, words * sizeof(cl_uint),
                       shared_.data(), &status);
  device::require(status, "sharing the counters");
  constexpr std::size_t gave_up = line_words; // TG_GAVE_UP
  monitor_.gave_up = shared_.data() + gave_up;
}

Counters::~Counters() {
  monitor_.gave_up = nullptr;
}

} // namespace tidegate::run
