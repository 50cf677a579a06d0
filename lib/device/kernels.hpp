// The OpenCL C sources under kernels/, embedded when the library is built.
#pragma once
#include <string>
#include <string_view>

namespace tidegate::device {

std::string_view device_barrier_source();  // kernels/device_barrier.cl
std::string_view occupancy_source();       // kernels/occupancy.cl
std::string_view halo_check_source();      // kernels/halo_check.cl
std::string_view self_test_source();       // kernels/self_test.cl
std::string_view virtual_ndrange_source(); // kernels/virtual_ndrange.cl
std::string_view tables_source();          // kernels/tables.h
std::string_view tasks_source();           // kernels/tasks.cl
std::string_view progress_source();        // kernels/progress.cl
std::string_view progress_state_source();  // kernels/progress_state.h
std::string_view persistent_source();      // kernels/persistent.cl
std::string_view stage_source();           // kernels/stage.cl
std::string_view progression_source();     // kernels/progression.cl
std::string_view transfers_source();       // kernels/transfers.cl
std::string_view queue_source();           // kernels/queue.cl
std::string_view queue_state_source();     // kernels/queue_state.h

// A file of a traversal, by its name under kernels/; empty where there is none.
std::string_view frontier_source(std::string_view file);

// What the self-test compiles: the barrier, the occupancy discovery and the tests themselves.
std::string whole_self_test_source();

// `source` behind a #line directive, so that a build log names the real file under kernels/.
std::string with_place(std::string_view file, std::string_view source);

} // namespace tidegate::device
