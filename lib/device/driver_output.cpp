#include "device/driver_output.hpp"

#include "core/files.hpp"
#include <tidegate/core/text.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tidegate::device {
namespace {

// A standard stream that goes elsewhere while there are users, of any thread.
struct Redirection {
  int stream;
  int real = -1; // where the stream goes otherwise
  int users = 0;

  void begin(int to) {
    const std::scoped_lock lock(redirecting);
    constexpr int past_the_standard_streams = 3;
    if (users++ == 0 && to >= 0) {
      real = ::fcntl(stream, F_DUPFD_CLOEXEC, past_the_standard_streams);
      if (real >= 0) {
        ::dup2(to, stream);
      }
    }
  }
  void end(bool with_all_users = false) {
    const std::scoped_lock lock(redirecting);
    users -= with_all_users ? 0 : 1;
    if (real >= 0 && (users == 0 || with_all_users)) {
      ::dup2(real, stream);
      ::close(std::exchange(real, -1));
    }
  }

  std::mutex redirecting{};
};
Redirection redirected_output{.stream = STDOUT_FILENO};
Redirection redirected_errors{.stream = STDERR_FILENO};

// The memory file that collects standard error.
int captured_errors() {
  static const int file = ::memfd_create("tidegate", MFD_CLOEXEC);
  return file;
}

void print_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return;
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

} // namespace

PrintsToStandardError::PrintsToStandardError() {
  std::fflush(stdout);
  redirected_output.begin(STDERR_FILENO);
}

PrintsToStandardError::~PrintsToStandardError() {
  std::fflush(stdout); // drivers print through it
  redirected_output.end();
}

void PrintsToStandardError::end() {
  redirected_output.end(true);
}

std::string take_captured_errors() {
  const int captured = captured_errors();
  std::string text;
  if (captured < 0 || ::lseek(captured, 0, SEEK_SET) != 0) {
    return text;
  }
  char block[4096];
  for (ssize_t count = 0; (count = ::read(captured, block, sizeof block)) != 0;) {
    if (count < 0 && errno != EINTR) {
      break;
    }
    text.append(block, count < 0 ? 0 : static_cast<std::size_t>(count));
  }
  (void)::ftruncate(captured, 0);
  ::lseek(captured, 0, SEEK_SET);
  return text;
}

CapturedErrors::CapturedErrors() {
  std::fflush(stderr);
  redirected_errors.begin(captured_errors());
}

std::string CapturedErrors::take() {
  std::fflush(stderr);
  return take_captured_errors();
}

CapturedErrors::~CapturedErrors() {
  const std::string not_taken = take();
  redirected_errors.end();
  print_error(not_taken);
}

void CapturedErrors::end() {
  redirected_errors.end(true);
}

namespace {

// Parses the number after the last colon of `text` and removes both from it.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  std::uint64_t number = 0;
  if (colon == std::string_view::npos) {
    return {};
  }
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || stop != end) {
    return {};
  }
  text = text.substr(0, colon);
  return number;
}

// Parses "FILE:LINE:COLUMN", optionally followed by " <Spelling=…>".
std::optional<LogError> place(std::string_view text) {
  text = text.substr(0, text.find(" <Spelling="));
  const auto column = take_number(text);
  const auto line = column ? take_number(text) : std::nullopt;
  if (!line || text.empty()) {
    return {};
  }
  return LogError{.file = std::string(text), .line = *line, .column = *column, .message = {}};
}

// Finds `mark` in a line; returns the message after it and its location.
std::optional<LogError> error_in(std::string_view line, std::string_view mark) {
  const std::size_t found = line.find(mark);
  if (found == std::string_view::npos) {
    return {};
  }
  const std::string_view after = line.substr(found + mark.size());
  const std::string_view before =
      line.substr(0, line.substr(0, found).ends_with("fatal ") ? found - 6 : found);
  if (before.ends_with(": ")) {
    auto error = place(before.substr(0, before.size() - 2));
    if (error) {
      error->message = after;
    }
    return error;
  }
  // The message begins after the first ": " that follows a location.
  for (std::size_t colon = after.find(": "); colon != std::string_view::npos;
       colon = after.find(": ", colon + 1)) {
    if (auto error = place(after.substr(0, colon))) {
      error->message = after.substr(colon + 2);
      return error;
    }
  }
  return {};
}

// A shortage of disk or memory, recognized by its words in a compiler's log.
struct Lack {
  std::string_view words; // in lower case
  std::string_view message;
  std::string_view fix;
};
constexpr std::string_view no_disk = "the compiler of the device has no room on the disk for its files";
constexpr std::string_view no_memory = "the compiler of the device has run out of memory";
constexpr std::string_view fix_memory =
    "free memory, or raise the limit: ulimit -v, or that of the container";
constexpr std::array lacks{Lack{"no space left on device", no_disk, fix_full_folder},
                           Lack{"disk quota exceeded", no_disk, fix_full_folder},
                           Lack{"cannot allocate memory", no_memory, fix_memory},
                           Lack{"memory allocation failure", no_memory, fix_memory},
                           Lack{"out of memory", no_memory, fix_memory},
                           Lack{"bad_alloc", no_memory, fix_memory}};

std::optional<Lack> find_lack(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = std::ranges::find_if(
      lacks, [&text](const Lack& lack) { return text.find(lack.words) != std::string::npos; });
  return found == lacks.end() ? std::nullopt : std::optional(*found);
}

} // namespace

std::optional<std::string> full_folder() {
  constexpr std::uintmax_t little = std::uintmax_t{1} << 20U;
  std::error_code unknown;
  std::vector<std::filesystem::path> folders{std::filesystem::temp_directory_path(unknown), cache_folder()};
  for (const char* const name : {"POCL_CACHE_DIR", "CUDA_CACHE_PATH"}) {
    if (const char* const given = std::getenv(name); given != nullptr) {
      folders.emplace_back(given);
    }
  }
  for (std::filesystem::path folder : folders) {
    while (!folder.empty() && !std::filesystem::exists(folder, unknown) && folder.has_relative_path()) {
      folder = folder.parent_path();
    }
    const auto space = std::filesystem::space(folder, unknown);
    if (!unknown && space.available < little) {
      return fmt::format("{} has {} left", folder.string(), bytes_text(space.available));
    }
  }
  return {};
}

std::optional<LogError> first_error(std::string_view log) {
  // Some compilers only warn about a call of an undeclared function; the linker's error later has no line.
  constexpr std::array<std::array<std::string_view, 2>, 2> marks{
      {{"error: ", ""}, {"warning: ", "implicit declaration of function "}}};
  for (const auto& [mark, message] : marks) {
    for (std::string_view rest = log; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      auto error = error_in(rest.substr(0, end), mark);
      if (error && error->message.starts_with(message)) {
        return error;
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

std::optional<std::string> unresolved_function(std::string_view log) {
  constexpr std::string_view mark = "Unresolved extern function '";
  const std::size_t found = log.find(mark);
  if (found == std::string_view::npos) {
    return {};
  }
  const std::string_view after = log.substr(found + mark.size());
  return std::string(after.substr(0, after.find('\'')));
}

Error build_error(std::string_view text, std::string log) {
  Error error{.code = ErrorCode::build_failure};
  auto found = first_error(log);
  if (const auto lack = find_lack(found ? found->message : log)) {
    error.code = ErrorCode::opencl_failure;
    error.message = lack->message;
    error.fix = lack->fix;
  } else if (found) {
    if (found->file.starts_with('<')) {
      found = follow_line_directives(text, std::move(*found));
    }
    error.fix = found->file.starts_with("tidegate/") ? fix_of_own_kernels : "correct the kernel";
    error.source = std::move(found->file);
    error.line = found->line;
    error.column = found->column;
    error.message = std::move(found->message);
  } else if (const auto full = full_folder()) {
    error.code = ErrorCode::opencl_failure;
    error.message = fmt::format("the compiler of the device failed, and {}", *full);
    error.fix = fix_full_folder;
  }
  if (!log.empty()) {
    error.log = std::move(log);
  }
  return error;
}

LogError follow_line_directives(std::string_view text, LogError error) {
  constexpr std::string_view directive = "#line ";
  std::uint64_t named = 0; // line number given by the last #line directive; 0 before the first one
  std::string file;
  for (std::uint64_t line = 1; line < error.line && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view words = text.substr(0, end);
    const std::size_t quote = words.find('"');
    if (words.starts_with(directive) && quote != std::string_view::npos) {
      std::from_chars(words.data() + directive.size(), words.data() + words.size(), named);
      file = words.substr(quote + 1, words.rfind('"') - quote - 1);
    } else if (named != 0) {
      ++named;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (named != 0) {
    error.file = file;
    error.line = named;
  }
  return error;
}

} // namespace tidegate::device
