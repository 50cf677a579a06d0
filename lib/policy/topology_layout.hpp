// The topology rules that devices also compile, as C++. Not installed.
#pragma once
#include "core/prelude.hpp"

namespace tidegate::policy {

using tg_u32 = std::uint32_t;
using tg_u64 = std::uint64_t;
#define TG_U32(value) static_cast<tg_u32>(value)

#include "frontier/policy.h"

} // namespace tidegate::policy
