#include "terminal.hpp"

#include <tidegate/core/files.hpp>
#include <tidegate/documents/encode.hpp>
#include <tidegate/documents/report_documents.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

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
  return ::isatty(descriptor) == 1 && environment("TERM") != "dumb" && !environment("TERM").empty();
}

void hint_at_terminal(const std::string& input) {
  if (input == standard_stream && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1) {
    std::fputs("tidegate: reading standard input; Ctrl-D ends it\n", stderr);
  }
}

void print_error(const Error& error, bool as_json) {
  std::string text = as_json ? documents::encode(error, documents::Style::compact) : describe(error);
  if (!as_json && use_colour(STDERR_FILENO)) {
    constexpr std::string_view word = "error:";
    if (const std::size_t at = text.find(word); at != std::string::npos) {
      text.replace(at, word.size(), "\x1b[1;31merror:\x1b[0m");
    }
  }
  text += '\n';
  std::fputs(text.c_str(), stderr);
}

} // namespace tidegate::app
