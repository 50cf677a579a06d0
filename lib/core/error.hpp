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
#include <utility>
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

// What is wrong with things that are each looked at, whether or not another was right.
//
//   ErrorList errors;
//   for (const Item& item : items) {
//     errors.check(look_at(item));
//   }
//   return errors.result();
//
// Where one thing cannot be looked at because another is wrong, its error is already_reported(): nobody reads
// twice what is to be mended once.

// Stands for what follows from an error that is told where it comes from. An error without words.
inline Error already_reported() {
  return {};
}

class ErrorList {
public:
  // Errors that are told at once; a reader mends these before the next are of use.
  static constexpr std::size_t most = 100;

  // Takes the error and its others.
  void add(Error error);

  // Takes the error that is there instead of a value. True when there is the value.
  template <class T>
  bool check(const Result<T>& result) {
    if (!result) {
      add(result.error());
    }
    return result.has_value();
  }

  [[nodiscard]] bool full() const { return errors_.size() >= most; }

  // The first error with all others; already_reported() where all are told elsewhere.
  [[nodiscard]] Result<void> result() const;

private:
  std::vector<Error> errors_;
  bool told_elsewhere_ = false;
};

} // namespace tidegate

// Passes that may fail, written one after the other: each hands its value on, and the first error ends the
// function.

#define TIDEGATE_JOIN_(a, b) a##b
#define TIDEGATE_JOIN(a, b) TIDEGATE_JOIN_(a, b)
#define TIDEGATE_TRY_NAMED_(result, declaration, ...)                                                        \
  auto result = __VA_ARGS__;                                                                                 \
  if (!result) {                                                                                             \
    return tl::unexpected(std::move(result.error()));                                                        \
  }                                                                                                          \
  declaration = std::move(*result)

// TIDEGATE_TRY(const Plan plan, plan_waves(program)); the value of the Result is moved into the declaration.
#define TIDEGATE_TRY(declaration, ...)                                                                       \
  TIDEGATE_TRY_NAMED_(TIDEGATE_JOIN(result_, __LINE__), declaration, __VA_ARGS__)

// TIDEGATE_CHECK(check_sizes(program)); for a Result<void>.
#define TIDEGATE_CHECK(...)                                                                                  \
  do {                                                                                                       \
    if (auto checked = __VA_ARGS__; !checked) {                                                              \
      return tl::unexpected(std::move(checked.error()));                                                     \
    }                                                                                                        \
  } while (false)

namespace tidegate {

// The places of a document that could not be read. Whoever looks at the rest of it tells nothing that follows
// from them: it was told where it comes from.
//
//   {"buffers": {"a": {"type": "f33", "count": 0}}, "wave": […]}     unread: /buffers/a/type, /waves
//
// What is said of /buffers/a as a whole is uncertain, and so is all that stands in /waves; /buffers/a/count
// is read, and has an error of its own.

class UnreadPlaces {
public:
  // Takes an RFC 6901 pointer; the empty one is the whole document.
  void add(std::string pointer) { pointers_.push_back(std::move(pointer)); }

  [[nodiscard]] bool empty() const { return pointers_.empty(); }

  // Whether what stands at `pointer` is, or is part of, what could not be read.
  [[nodiscard]] bool cover(std::string_view pointer) const;

  // Whether all that stands at `pointer` was read.
  [[nodiscard]] bool intact(std::string_view pointer) const;

private:
  std::vector<std::string> pointers_;
};

// The errors of a document's form, with those about the rest of it that do not follow from them.
Error with_rest(Error form, const Result<void>& rest, const UnreadPlaces& unread);

} // namespace tidegate
