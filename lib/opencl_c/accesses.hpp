// The accesses of a kernel's parameter, and what follows from all of them.
#pragma once
#include "opencl_c/footprint.hpp"

namespace tidegate::opencl_c {

struct Access {
  Linear element;
  Ids ids;
  std::size_t token = 0;
  bool is_certain = false;
};

// The accesses through a parameter that a footprint has found so far.
struct Use {
  Footprint footprint{.only_accessed = true}; // its obstacle: it may touch any element
  std::vector<Access> accesses;
  std::size_t count = 0; // of accesses, also of those that never run, and of other uses
  bool mixed = false;    // some use is no reduction, or another one
};

// Fills in what follows from the accesses of a parameter.
void sum_up(const std::vector<Access>& accesses, const LaunchSetting& setting, Footprint& footprint);

} // namespace tidegate::opencl_c
