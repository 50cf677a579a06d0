// State that kernels and host share, from the kernels' headers.
#pragma once
#include "policy/topology_layout.hpp"

namespace tidegate::traversal {

using policy::tg_policy;
using policy::tg_u32;
using policy::tg_u64;

#include "frontier/state.h"

struct ChoicePolicy;
tg_policy layout_of(const ChoicePolicy& policy); // as kernels have it

} // namespace tidegate::traversal
