// Every policy error: its complete text, its place in the document and its typed fields.
#include <tidegate/core/error.hpp>
#include <tidegate/policy/launch_request.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace tidegate::policy {
namespace {

TEST_CASE("every policy error says what happened, where and what to change") {
  struct Case {
    PolicyError error;
    std::string_view text;
  };
  for (const Case& c : {
           Case{{ErrorCode::overflow, "hit_capacity"},
                "tidegate: error: hit_capacity does not fit its integer type [overflow]\n"
                "  fix: lower queue_len, expected_hits_per_item or the policy's hit_capacity_multiplier, or "
                "set "
                "requested_hit_capacity"},
           Case{{ErrorCode::overflow, "estimated_peak_device_bytes"},
                "tidegate: error: estimated_peak_device_bytes does not fit its integer type [overflow]\n"
                "  fix: lower resident_device_bytes, the hit capacity or the policy's scratch_bytes_per_hit"},
           Case{{ErrorCode::overflow, "requeue_count"},
                "tidegate: error: requeue_count does not fit its integer type [overflow]\n"
                "  at: /requeue_count\n"
                "  fix: drain the queue and start the counter again from zero"},
           Case{{ErrorCode::overflow, "aged_promotions"},
                "tidegate: error: aged_promotions does not fit its integer type [overflow]\n"
                "  at: /aged_promotions\n"
                "  fix: drain the queue and start the counter again from zero"},
           Case{{ErrorCode::zero_adapter_limit, "max_workgroup_size_x"},
                "tidegate: error: the adapter limit max_workgroup_size_x is 0 [zero_adapter_limit]\n"
                "  at: /max_workgroup_size_x\n"
                "  fix: give the device's limit"},
           Case{{ErrorCode::zero_adapter_limit, "max_compute_workgroups_per_dimension"},
                "tidegate: error: the adapter limit max_compute_workgroups_per_dimension is 0 "
                "[zero_adapter_limit]\n  at: /max_compute_workgroups_per_dimension\n  fix: give the device's "
                "limit; left out, it is requested_worker_groups, which may be 0"},
           Case{{ErrorCode::zero_adapter_limit, "max_compute_invocations_per_workgroup"},
                "tidegate: error: the adapter limit max_compute_invocations_per_workgroup is 0 "
                "[zero_adapter_limit]\n"
                "  at: /max_compute_invocations_per_workgroup\n"
                "  fix: give the device's limit"},
           Case{{ErrorCode::policy_out_of_range, "memory_pressure_threshold_bps"},
                "tidegate: error: the policy's memory_pressure_threshold_bps is above 10000 bps (100 %) "
                "[policy_out_of_range]\n"
                "  at: /policy/memory_pressure_threshold_bps\n"
                "  fix: set it to at most 10000"},
           Case{{ErrorCode::queue_too_long, "queue_len"},
                "tidegate: error: queue_len does not fit 32 bits [queue_too_long]\n  fix: split the queue "
                "into several launches"},
           Case{{ErrorCode::queue_too_long, "slot_count"},
                "tidegate: error: slot_count does not fit 32 bits [queue_too_long]\n  fix: split the queue "
                "into several launches"},
           Case{{ErrorCode::device_out_of_memory, {}, 18'446'744'073'709'551'615U, 4'096},
                "tidegate: error: the launch needs 18446744073709551615 bytes at its peak and the device "
                "memory "
                "budget is 4096 bytes [device_out_of_memory]\n"
                "  at: /device_memory_budget_bytes\n"
                "  fix: raise device_memory_budget_bytes, or lower requested_hit_capacity, queue_len or "
                "resident_device_bytes"},
       }) {
    const Error error = to_error(c.error);
    CHECK(describe(error) == c.text);
    CHECK(error.code == c.error.code);
    CHECK(exit_code(error.code) == ExitCode::negative);
  }
}

TEST_CASE("a policy error carries the fields of its code and no others") {
  const Error overflow = to_error({ErrorCode::overflow, "hit_capacity", 1, 2});
  CHECK(overflow.field.value_or("") == "hit_capacity");
  CHECK_FALSE(overflow.requested.has_value());
  CHECK_FALSE(overflow.available.has_value());
  CHECK_FALSE(overflow.pointer.has_value()); // computed, so it has no place in the document

  const Error memory = to_error({ErrorCode::device_out_of_memory, "ignored", 2, 1});
  CHECK_FALSE(memory.field.has_value());
  CHECK(memory.requested.value_or(0) == 2);
  CHECK(memory.available.value_or(0) == 1);

  for (const Error& error : {overflow, memory}) {
    CHECK_FALSE(error.source.has_value());
    CHECK_FALSE(error.line.has_value());
    CHECK_FALSE(error.column.has_value());
    CHECK_FALSE(error.nearest.has_value());
  }
}

} // namespace
} // namespace tidegate::policy
