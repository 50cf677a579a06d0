#include "terminal.hpp"

#include <tidegate/core/error_list.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/interrupt.hpp>
#include <tidegate/documents/encode.hpp>
#include <tidegate/documents/json_text.hpp>
#include <tidegate/documents/report_documents.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace tidegate::app {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

} // namespace

bool use_colour(int descriptor) {
  if (!environment("NO_COLOR").empty()) {
    return false;
  }
  const std::string_view forced = environment("CLICOLOR_FORCE");
  if (!forced.empty() && forced != "0") {
    return true;
  }
  return is_terminal(descriptor);
}

bool is_terminal(int descriptor) {
  return ::isatty(descriptor) == 1 && environment("TERM") != "dumb" && !environment("TERM").empty();
}

void hint_at_terminal(const std::string& input) {
  if (input == standard_stream && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1) {
    std::fputs("tidegate: reading standard input; Ctrl-D ends it\n", stderr);
  }
}

namespace {

std::string error_text(const Error& error, bool as_json) {
  std::string text = as_json ? documents::encode(error, documents::Style::compact) : describe(error);
  if (!as_json && use_colour(STDERR_FILENO)) {
    constexpr std::string_view word = "error:";
    if (const std::size_t at = text.find(word); at != std::string::npos) {
      text.replace(at, word.size(), "\x1b[1;31merror:\x1b[0m");
    }
  }
  return text + '\n';
}

void print_one(const Error& error, bool as_json) {
  std::fputs(error_text(error, as_json).c_str(), stderr);
}

} // namespace

Error interrupt_error() {
  return {.code = ErrorCode::interrupted,
          .message = "interrupted",
          .fix = "run it again; a file that was not complete is removed"};
}

void explain_interrupts(bool as_json) {
  Error error = interrupt_error();
  std::string message = error_text(error, as_json);
  error.message = "interrupted again";
  handle_interrupts(std::move(message), error_text(error, as_json));
}

void print_warning(const compiler::Warning& warning, const std::string& program, bool as_json) {
  if (as_json) {
    std::string line = R"({"warning": )";
    documents::encode(documents::Description<compiler::Warning>::record, &warning, documents::Style::compact,
                      line);
    line += R"(, "source": )";
    documents::append_string(line, display_name(program));
    std::fputs((line + "}\n").c_str(), stderr);
    return;
  }
  const std::string at = warning.pointer.empty() ? "" : fmt::format("  at: {}\n", warning.pointer);
  std::fputs(fmt::format("tidegate: {}: warning: {}\n{}  fix: {}\n", display_name(program), warning.message,
                         at, warning.fix)
                 .c_str(),
             stderr);
}

void print_error(const Error& error, bool as_json) {
  print_one(error, as_json);
  for (const Error& other : error.others) {
    print_one(other, as_json);
  }
  if (error.others.size() + 1 == ErrorList::most && !as_json) {
    std::fputs("tidegate: there may be more errors: these are told at once\n", stderr);
  }
}

} // namespace tidegate::app
