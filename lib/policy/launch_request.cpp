// Puts policy errors into words.
#include <tidegate/policy/launch_request.hpp>

#include <fmt/format.h>

namespace tidegate::policy {
namespace {

void describe_overflow(const PolicyError& error, Error& result) {
  result.message = fmt::format("{} does not fit its integer type", error.field);
  if (error.field == "hit_capacity") {
    result.fix = "lower queue_len, expected_hits_per_item or the policy's hit_capacity_multiplier, or set "
                 "requested_hit_capacity";
  } else if (error.field == "estimated_peak_device_bytes") {
    result.fix = "lower resident_device_bytes, the hit capacity or the policy's scratch_bytes_per_hit";
  } else {
    result.fix = "drain the queue and start the counter again from zero";
    result.pointer = fmt::format("/{}", error.field);
  }
}

void describe_zero_limit(const PolicyError& error, Error& result) {
  result.pointer = fmt::format("/{}", error.field);
  result.message = fmt::format("the adapter limit {} is 0", error.field);
  result.fix = error.field == "max_compute_workgroups_per_dimension"
                   ? "give the device's limit; left out, it is requested_worker_groups, which may be 0"
                   : "give the device's limit";
}

} // namespace

Error to_error(const PolicyError& error) {
  Error result;
  result.code = error.code;
  if (error.code != ErrorCode::device_out_of_memory) {
    result.field = std::string(error.field);
  }
  switch (error.code) {
  case ErrorCode::overflow: describe_overflow(error, result); break;
  case ErrorCode::zero_adapter_limit: describe_zero_limit(error, result); break;
  case ErrorCode::policy_out_of_range:
    result.pointer = fmt::format("/policy/{}", error.field);
    result.message = fmt::format("the policy's {} is above 10000 bps (100 %)", error.field);
    result.fix = "set it to at most 10000";
    break;
  case ErrorCode::queue_too_long:
    result.message = fmt::format("{} does not fit 32 bits", error.field);
    result.fix = "split the queue into several launches";
    break;
  case ErrorCode::device_out_of_memory:
    result.requested = error.requested;
    result.available = error.available;
    result.pointer = "/device_memory_budget_bytes";
    result.message =
        fmt::format("the launch needs {} bytes at its peak and the device memory budget is {} bytes",
                    error.requested, error.available);
    result.fix = "raise device_memory_budget_bytes, or lower requested_hit_capacity, queue_len or "
                 "resident_device_bytes";
    break;
  default: result.message = "unexpected policy error"; break;
  }
  return result;
}

} // namespace tidegate::policy
