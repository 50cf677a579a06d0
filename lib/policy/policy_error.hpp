// Why the policy refuses a request. Plain data: building one costs nothing on the hot path.
#pragma once

#include <tidegate/core/error.hpp>

#include <tl/expected.hpp>

#include <cstdint>
#include <string_view>

namespace tidegate::policy {

struct PolicyError {
  ErrorCode code = ErrorCode::overflow; // overflow, zero_adapter_limit, policy_out_of_range, queue_too_long
                                        // or device_out_of_memory
  std::string_view field;               // the field that overflowed or is out of range; empty for memory
  std::uint64_t requested = 0;          // device_out_of_memory: peak bytes
  std::uint64_t available = 0;          // device_out_of_memory: budget bytes

  friend bool operator==(const PolicyError&, const PolicyError&) = default;
};

template <class T>
using PolicyResult = tl::expected<T, PolicyError>;

// The error with its message, its fix and the pointer to the field in a launch request document.
Error to_error(const PolicyError& error);

} // namespace tidegate::policy
