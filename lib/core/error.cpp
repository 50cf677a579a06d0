// Maps errors to exit codes and text, and collects several errors into one.
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tidegate {
namespace {

std::string place(const Error& error) {
  if (!error.line && error.source && error.message.find(*error.source) != std::string::npos &&
      (error.code == ErrorCode::cannot_read || error.code == ErrorCode::input_too_large)) {
    return ""; // the message names the file
  }
  std::string text = printable(error.source.value_or(""));
  if (error.line) {
    if (text.empty()) {
      text = "input";
    }
    text += fmt::format(":{}", *error.line);
    if (error.column) {
      text += fmt::format(":{}", *error.column);
    }
  }
  return text.empty() ? text : text + ": ";
}

// Escapes unprintable characters but keeps tabs, which align log lines.
std::string printable_line(std::string_view line) {
  std::string text;
  for (std::size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
    text += printable(line.substr(0, tab)) + '\t';
    line.remove_prefix(tab + 1);
  }
  return text + printable(line);
}

} // namespace

ExitCode exit_code(ErrorCode code) {
  switch (code) {
  case ErrorCode::overflow:
  case ErrorCode::zero_adapter_limit:
  case ErrorCode::policy_out_of_range:
  case ErrorCode::queue_too_long:
  case ErrorCode::device_out_of_memory:
  case ErrorCode::invalid_wave:
  case ErrorCode::self_dependency:
  case ErrorCode::cycle:
  case ErrorCode::group_over_budget:
  case ErrorCode::byte_count_overflow:
  case ErrorCode::invalid_plan:
  case ErrorCode::arena_over_capacity:
  case ErrorCode::arena_search_exhausted:
  case ErrorCode::incomplete_evidence:
  case ErrorCode::inconsistent_evidence:
  case ErrorCode::invalid_schedule:
  case ErrorCode::too_many_workers:
  case ErrorCode::wall_time_exceeded:
  case ErrorCode::device_hang:
  case ErrorCode::outputs_differ:
  case ErrorCode::out_of_bounds:
  case ErrorCode::queue_fault:
  case ErrorCode::queue_stalled:
  case ErrorCode::requeue_queue_full: return ExitCode::negative;
  case ErrorCode::empty_lifetime:
  case ErrorCode::bad_alignment:
  case ErrorCode::empty_input:
  case ErrorCode::syntax_error:
  case ErrorCode::too_deep:
  case ErrorCode::wrong_type:
  case ErrorCode::not_an_integer:
  case ErrorCode::out_of_range:
  case ErrorCode::wrong_length:
  case ErrorCode::unknown_name:
  case ErrorCode::duplicate_name:
  case ErrorCode::unknown_key:
  case ErrorCode::duplicate_key:
  case ErrorCode::missing_key:
  case ErrorCode::wrong_kind:
  case ErrorCode::unsupported_version:
  case ErrorCode::missing_kind:
  case ErrorCode::input_too_large:
  case ErrorCode::cannot_read:
  case ErrorCode::invalid_program:
  case ErrorCode::outside_folder:
  case ErrorCode::bad_array:
  case ErrorCode::bad_graph:
  case ErrorCode::kernel_source:
  case ErrorCode::kernel_options:
  case ErrorCode::unsupported_kernel:
  case ErrorCode::argument_mismatch:
  case ErrorCode::bad_queue:
  case ErrorCode::invalid_item:
  case ErrorCode::not_a_queue_op: return ExitCode::input;
  case ErrorCode::unknown_command:
  case ErrorCode::unknown_option:
  case ErrorCode::invalid_usage: return ExitCode::usage;
  case ErrorCode::cannot_write:
  case ErrorCode::missing_program:
  case ErrorCode::program_failed:
  case ErrorCode::host_out_of_memory:
  case ErrorCode::no_device:
  case ErrorCode::ambiguous_device:
  case ErrorCode::opencl_failure:
  case ErrorCode::driver_crash:
  case ErrorCode::kernel_does_not_fit:
  case ErrorCode::build_failure: return ExitCode::environment;
  case ErrorCode::interrupted: return ExitCode::interrupted;
  case ErrorCode::internal_error: break;
  }
  return ExitCode::bug;
}

ExitCode exit_code(const Error& error) {
  ExitCode code = exit_code(error.code);
  for (const Error& other : error.others) {
    code = worst(code, exit_code(other.code));
  }
  return code;
}

ExitCode worst(ExitCode a, ExitCode b) {
  return static_cast<int>(a) >= static_cast<int>(b) ? a : b;
}

std::string describe(const Error& error) {
  std::string text =
      fmt::format("tidegate: {}error: {} [{}]", place(error), printable(error.message), name(error.code));
  if (error.excerpt && error.line) {
    text += "\n" + describe_excerpt(*error.excerpt, *error.line, error.column);
  }
  if (error.pointer && !error.pointer->empty()) {
    text += "\n  at: " + printable(*error.pointer);
  }
  if (!error.fix.empty()) {
    text += "\n  fix: " + printable(error.fix);
  }
  if (error.log) {
    text += "\n  log:";
    std::string_view rest = *error.log;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      text += "\n    " + printable_line(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return text;
}

void ErrorList::add(Error error) {
  std::vector<Error> others = std::move(error.others);
  error.others.clear();
  if (error.message.empty()) {
    already_reported_ = true;
  } else if (!full()) {
    errors_.push_back(std::move(error));
  }
  for (Error& other : others) {
    add(std::move(other));
  }
}

Result<void> ErrorList::result() const {
  if (errors_.empty()) {
    return already_reported_ ? Result<void>(tl::unexpected(already_reported())) : Result<void>();
  }
  Error error = errors_.front();
  error.others.assign(errors_.begin() + 1, errors_.end());
  return tl::unexpected(std::move(error));
}

namespace {

bool is_within(std::string_view pointer, std::string_view whole) {
  return pointer.starts_with(whole) && (pointer.size() == whole.size() || pointer[whole.size()] == '/');
}

} // namespace

bool UnreadPlaces::cover(std::string_view pointer) const {
  return std::ranges::any_of(pointers_, [&](const std::string& each) { return is_within(pointer, each); });
}

bool UnreadPlaces::intact(std::string_view pointer) const {
  return std::ranges::none_of(pointers_, [&](const std::string& each) {
    return is_within(pointer, each) || is_within(each, pointer);
  });
}

Error with_rest(Error form, const Result<void>& rest, const UnreadPlaces& unread) {
  ErrorList all;
  all.add(std::move(form));
  if (!rest) {
    std::vector<Error> errors = rest.error().others;
    errors.insert(errors.begin(), rest.error());
    for (Error& error : errors) {
      error.others.clear();
      if (!error.pointer || unread.intact(*error.pointer)) {
        all.add(std::move(error));
      }
    }
  }
  return all.result().error();
}

} // namespace tidegate
