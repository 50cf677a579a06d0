// Maps errors to exit codes and text, and collects several errors into one.
#include "core/prelude.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate {
namespace {

std::string location(const Error& error) {
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
  static constexpr auto codes = std::to_array<ExitCode>({
#define TIDEGATE_ERROR_CODE(code, exit_code) ExitCode::exit_code,
      TIDEGATE_ERROR_CODES(TIDEGATE_ERROR_CODE)
#undef TIDEGATE_ERROR_CODE
  });
  return codes[static_cast<std::size_t>(code)];
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
  const bool warning = error.code == ErrorCode::warning;
  std::string text = fmt::format("tidegate: {}{}: {}", location(error), warning ? "warning" : "error",
                                 printable(error.message));
  if (!warning) {
    text += fmt::format(" [{}]", name(error.code));
  }
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
    for (const std::string_view line : lines_of(*error.log)) {
      text += "\n    " + printable_line(line);
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

} // namespace tidegate
