// The one error type of the project: a stable code, what happened, where, and what to change.
//
// A library function that can fail returns Result<T>; nothing below app/ prints or exits.
#pragma once

#include <tl/expected.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate {

// Process exit codes; the only place where they are defined.
enum class ExitCode : int {
  done = 0,
  negative = 1,    // sound input, negative answer
  usage = 2,       // wrong command line
  input = 3,       // input that cannot be read
  environment = 4, // device, build, OpenCL or output failure
  bug = 70,
  interrupted = 130,
};

enum class ErrorCode : std::uint8_t {
  // launch policy
  overflow,
  zero_adapter_limit,
  policy_out_of_range,
  queue_too_long,
  device_out_of_memory,
  // wave planning
  invalid_wave,
  self_dependency,
  cycle,
  group_over_budget,
  byte_count_overflow,
  invalid_plan,
  empty_lifetime,
  bad_alignment,
  arena_over_capacity,
  arena_search_exhausted,
  // documents
  empty_input,
  syntax_error,
  too_deep,
  wrong_type,
  not_an_integer,
  out_of_range,
  wrong_length,
  unknown_name,
  duplicate_name,
  unknown_key,
  duplicate_key,
  missing_key,
  wrong_kind,
  unsupported_version,
  missing_kind,
  input_too_large,
  // verdicts of `check`
  incomplete_evidence,
  inconsistent_evidence,
  // command line
  unknown_command,
  unknown_option,
  invalid_usage,
  // files and programs
  cannot_read,
  cannot_write,
  missing_program,
  program_failed,
  // devices
  no_opencl,
  no_device,
  ambiguous_device,
  opencl_failure,
  driver_crash,
  // programs and their kernels
  invalid_program,
  outside_folder,
  bad_array,
  bad_graph,
  kernel_source,
  kernel_options,
  unsupported_kernel,
  argument_mismatch,
  bad_queue,
  invalid_item,
  not_a_queue_op,
  build_failure,
  // runs
  kernel_does_not_fit,
  invalid_schedule,
  too_many_workers,
  wall_time_exceeded,
  device_hang,
  outputs_differ,
  out_of_bounds,
  queue_fault,
  queue_stalled,
  requeue_queue_full,
  interrupted,
  host_out_of_memory,
  // everything else
  internal_error,
};

// The stable names as they stand in documents, by ErrorCode.
inline constexpr auto error_code_names = std::to_array<std::string_view>({
    "overflow",
    "zero_adapter_limit",
    "policy_out_of_range",
    "queue_too_long",
    "device_out_of_memory",
    "invalid_wave",
    "self_dependency",
    "cycle",
    "group_over_budget",
    "byte_count_overflow",
    "invalid_plan",
    "empty_lifetime",
    "bad_alignment",
    "arena_over_capacity",
    "arena_search_exhausted",
    "empty_input",
    "syntax_error",
    "too_deep",
    "wrong_type",
    "not_an_integer",
    "out_of_range",
    "wrong_length",
    "unknown_name",
    "duplicate_name",
    "unknown_key",
    "duplicate_key",
    "missing_key",
    "wrong_kind",
    "unsupported_version",
    "missing_kind",
    "input_too_large",
    "incomplete_evidence",
    "inconsistent_evidence",
    "unknown_command",
    "unknown_option",
    "invalid_usage",
    "cannot_read",
    "cannot_write",
    "missing_program",
    "program_failed",
    "no_opencl",
    "no_device",
    "ambiguous_device",
    "opencl_failure",
    "driver_crash",
    "invalid_program",
    "outside_folder",
    "bad_array",
    "bad_graph",
    "kernel_source",
    "kernel_options",
    "unsupported_kernel",
    "argument_mismatch",
    "bad_queue",
    "invalid_item",
    "not_a_queue_op",
    "build_failure",
    "kernel_does_not_fit",
    "invalid_schedule",
    "too_many_workers",
    "wall_time_exceeded",
    "device_hang",
    "outputs_differ",
    "out_of_bounds",
    "queue_fault",
    "queue_stalled",
    "requeue_queue_full",
    "interrupted",
    "host_out_of_memory",
    "internal_error",
});
static_assert(error_code_names.size() == static_cast<std::size_t>(ErrorCode::internal_error) + 1);

inline std::string_view name(ErrorCode code) {
  return error_code_names[static_cast<std::size_t>(code)];
}

struct Error;

// The exit code a process ends with when this error is its answer; the worst, where there are others.
ExitCode exit_code(ErrorCode code);
ExitCode exit_code(const Error& error);

// The exit code to report for several answers: bad input outranks a negative answer outranks success.
ExitCode worst(ExitCode a, ExitCode b);

struct Error {
  ErrorCode code = ErrorCode::internal_error;
  std::string message;
  std::string fix; // what the reader should change

  std::optional<std::string> source;         // the file that the place is in
  std::optional<std::string> pointer;        // RFC 6901, into the input document
  std::optional<std::uint64_t> line, column; // 1-based; columns count characters
  std::optional<std::string> excerpt;        // that line of the source

  // Typed fields; a code says which of them it carries.
  std::optional<std::string> field;
  std::optional<std::string> nearest;                // the known name closest to an unknown one
  std::optional<std::uint64_t> requested, available; // bytes
  std::optional<std::uint64_t> wave, wave_count;     // an index; how many there are
  std::optional<std::uint64_t> before, after;        // a dependency, by wave indices
  std::optional<std::uint64_t> unscheduled_waves;    // on a cycle or behind one
  std::optional<std::vector<std::uint32_t>> cycle;   // each wave before the next, the last before the first
  std::optional<std::uint64_t> required_bytes, budget_bytes;      // of a group, or of an arena
  std::optional<std::uint64_t> capacity_bytes, best_height_bytes; // of an arena
  std::optional<std::string> log;                                 // what a compiler said, with its lines

  // What else is wrong with the same input, in its order; none of these has others of its own.
  std::vector<Error> others;
};

template <class T>
using Result = tl::expected<T, Error>;

// The error as text for a terminal, without a trailing newline:
//   tidegate: FILE:LINE:COLUMN: error: MESSAGE [CODE]
//     LINE | EXCERPT
//          |     ^
//     at: POINTER
//     fix: FIX
//     log:
//       LINES
// without the others, which are texts like it. Names from documents, paths and drivers stand in an error as
// they are; what no terminal should get of them is escaped here.
std::string describe(const Error& error);

} // namespace tidegate
