// The project's only error type: a stable code, what happened, where, and how to fix it.
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
#include <utility>
#include <vector>

namespace tidegate {

// Process exit codes, defined only here.
enum class ExitCode : int {
  done = 0,
  negative = 1,    // sound input, negative answer
  usage = 2,       // invalid command line
  input = 3,       // unreadable or invalid input
  environment = 4, // device, build, OpenCL or output failure
  bug = 70,
  interrupted = 130,
};

// Every error code with the exit code of a process that it ends.
// clang-format off
#define TIDEGATE_ERROR_CODES(X)                                                                              \
  /* launch policy */                                                                                        \
  X(overflow, negative) X(zero_adapter_limit, negative) X(policy_out_of_range, negative)                     \
  X(queue_too_long, negative) X(device_out_of_memory, negative)                                              \
  /* wave planning */                                                                                        \
  X(invalid_wave, negative) X(self_dependency, negative) X(cycle, negative)                                  \
  X(group_over_budget, negative) X(byte_count_overflow, negative) X(invalid_plan, negative)                  \
  X(empty_lifetime, input) X(bad_alignment, input) X(arena_over_capacity, negative)                          \
  X(arena_search_exhausted, negative)                                                                        \
  /* documents */                                                                                            \
  X(empty_input, input) X(syntax_error, input) X(too_deep, input) X(wrong_type, input)                       \
  X(not_an_integer, input) X(out_of_range, input) X(wrong_length, input) X(unknown_name, input)              \
  X(duplicate_name, input) X(unknown_key, input) X(duplicate_key, input) X(missing_key, input)               \
  X(wrong_kind, input) X(unsupported_version, input) X(missing_kind, input) X(input_too_large, input)        \
  /* verdicts of `check` */                                                                                  \
  X(incomplete_evidence, negative)                                                                           \
  /* command line */                                                                                         \
  X(unknown_command, usage) X(unknown_option, usage) X(invalid_usage, usage)                                 \
  /* files and programs */                                                                                   \
  X(cannot_read, input) X(cannot_write, environment) X(cannot_export, negative)                              \
  X(missing_program, environment)                                                                            \
  /* devices */                                                                                              \
  X(no_device, environment) X(ambiguous_device, environment) X(opencl_failure, environment)                  \
  X(driver_crash, environment)                                                                               \
  /* programs and their kernels */                                                                           \
  X(invalid_program, input) X(outside_folder, input) X(bad_array, input) X(bad_graph, input)                 \
  X(kernel_source, input) X(kernel_options, input) X(unsupported_kernel, input)                              \
  X(argument_mismatch, input) X(bad_queue, input) X(invalid_item, input) X(not_a_queue_op, input)            \
  X(build_failure, environment)                                                                              \
  /* runs */                                                                                                 \
  X(kernel_does_not_fit, environment) X(invalid_schedule, negative) X(too_many_workers, negative)            \
  X(wall_time_exceeded, negative) X(device_hang, negative) X(not_converged, negative)                        \
  X(slower_than_baseline, negative) X(outputs_differ, negative) X(out_of_bounds, negative)                   \
  X(queue_fault, negative) X(queue_stalled, negative) X(requeue_queue_full, negative)                        \
  X(hits_overflow, negative) X(publish_queue_full, negative) X(interrupted, interrupted)                     \
  X(host_out_of_memory, environment)                                                                         \
  /* not an error: printed, and listed in documents, like one */                                             \
  X(warning, done)                                                                                           \
  /* everything else */                                                                                      \
  X(internal_error, bug)
// clang-format on

enum class ErrorCode : std::uint8_t {
#define TIDEGATE_ERROR_CODE(code, exit_code) code,
  TIDEGATE_ERROR_CODES(TIDEGATE_ERROR_CODE)
#undef TIDEGATE_ERROR_CODE
};

// The stable names used in documents, by ErrorCode.
inline constexpr auto error_code_names = std::to_array<std::string_view>({
#define TIDEGATE_ERROR_CODE(code, exit_code) #code,
    TIDEGATE_ERROR_CODES(TIDEGATE_ERROR_CODE)
#undef TIDEGATE_ERROR_CODE
});

inline std::string_view name(ErrorCode code) {
  return error_code_names[static_cast<std::size_t>(code)];
}

struct Error;

// The exit code for this error as the final answer; with others, the worst of all.
ExitCode exit_code(ErrorCode code);
ExitCode exit_code(const Error& error);

// Returns the more severe code: the greater number.
ExitCode worst(ExitCode a, ExitCode b);

struct Error {
  ErrorCode code = ErrorCode::internal_error;
  std::string message;
  std::string fix; // how to correct it

  std::optional<std::string> source;         // the file of the location
  std::optional<std::string> pointer;        // RFC 6901, into the input document
  std::optional<std::uint64_t> line, column; // 1-based; columns count characters
  std::optional<std::string> excerpt;        // that line of the source

  // Typed fields; each code documents which of them it sets.
  std::optional<std::string> field;
  std::optional<std::string> nearest;                // the known name closest to an unknown one
  std::optional<std::uint64_t> requested, available; // bytes
  std::optional<std::uint64_t> wave, wave_count;     // an index; the number of waves
  std::optional<std::uint64_t> before, after;        // the ends of a dependency, wave indices
  std::optional<std::uint64_t> unscheduled_waves;    // waves on a cycle or after one
  std::optional<std::vector<std::uint32_t>> cycle; // each wave precedes the next, the last precedes the first
  std::optional<std::uint64_t> required_bytes, budget_bytes;      // of a group, or of an arena
  std::optional<std::uint64_t> capacity_bytes, best_height_bytes; // of an arena
  std::optional<std::string> log;                                 // compiler output

  // Other errors of the same input, in its order; these have no others themselves.
  std::vector<Error> others;
};

template <class T>
using Result = tl::expected<T, Error>;

// An error as the result of a function: return failure(ErrorCode::unknown_name, "there is no …", "name one of …");
inline tl::unexpected<Error> failure(ErrorCode code, std::string message, std::string fix,
                                     std::optional<std::string> pointer = {}) {
  return tl::unexpected(Error{
      .code = code, .message = std::move(message), .fix = std::move(fix), .pointer = std::move(pointer)});
}

// Gives the error of a failed result this place.
template <class T>
Result<T> at_place(std::string pointer, Result<T> result) {
  if (!result) {
    result.error().pointer = std::move(pointer);
  }
  return result;
}

// Formats the error for a terminal, without its others and a trailing newline: "tidegate: FILE:LINE:COLUMN: error:
// MESSAGE [CODE]", then the excerpt with a caret, "at: POINTER", "fix: FIX" and the log's lines. A warning has no code.
// Errors keep names from documents, paths and drivers unescaped; this function escapes what a terminal must not receive.
std::string describe(const Error& error);

// Collects the errors of independent checks. If one check is impossible because another failed, its error is
// already_reported(), so that readers see each fault once.

// An error without a message: a consequence of an error that is reported elsewhere.
inline Error already_reported() {
  return {};
}

class ErrorList {
public:
  // Maximum number of errors reported at once; later ones rarely help before these are fixed.
  static constexpr std::size_t most = 100;

  // Adds the error and its others.
  void add(Error error);
  void add(tl::unexpected<Error> error) { add(std::move(error.value())); }

  // Adds the error of a failed result. Returns true if there is a value.
  template <class T>
  bool check(const Result<T>& result) {
    if (!result) {
      add(result.error());
    }
    return result.has_value();
  }

  [[nodiscard]] bool full() const { return errors_.size() >= most; }

  // Returns the first error with all others, or already_reported() if all are reported elsewhere.
  [[nodiscard]] Result<void> result() const;

private:
  std::vector<Error> errors_;
  bool already_reported_ = false;
};

// Part of a program that is valid but probably a mistake.
struct Warning {
  std::string message;
  std::string fix;
  std::string pointer; // into the program
};

} // namespace tidegate

// Sequences of fallible passes: each macro yields the value, and the first error returns from the function.

#define TIDEGATE_JOIN_(a, b) a##b
#define TIDEGATE_JOIN(a, b) TIDEGATE_JOIN_(a, b)
#define TIDEGATE_TRY_NAMED_(result, declaration, ...)                                                        \
  auto result = __VA_ARGS__;                                                                                 \
  if (!result) {                                                                                             \
    return tl::unexpected(std::move(result.error()));                                                        \
  }                                                                                                          \
  declaration = std::move(*result)

// TIDEGATE_TRY(const Plan plan, plan_waves(program)); moves the value of the Result into the declaration.
#define TIDEGATE_TRY(declaration, ...)                                                                       \
  TIDEGATE_TRY_NAMED_(TIDEGATE_JOIN(result_, __LINE__), declaration, __VA_ARGS__)

// TIDEGATE_CHECK(check_sizes(program)); for a Result<void>.
#define TIDEGATE_CHECK(...)                                                                                  \
  do {                                                                                                       \
    if (auto checked = __VA_ARGS__; !checked) {                                                              \
      return tl::unexpected(std::move(checked.error()));                                                     \
    }                                                                                                        \
  } while (false)
