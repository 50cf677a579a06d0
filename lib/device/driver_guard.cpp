#include <tidegate/core/error.hpp>
#include <tidegate/device/driver_guard.hpp>

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace tidegate::device {
namespace {

constexpr std::array fatal{SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
std::array<struct sigaction, fatal.size()> before{};
bool as_json = false;

// Only what a signal handler may do: no allocation, no formatting.
void report(int /*signal*/) {
  constexpr std::string_view text = "tidegate: error: an OpenCL driver has crashed [driver_crash]\n"
                                    "  fix: see what it says above; OCL_ICD_VENDORS names a folder with the "
                                    "drivers to use instead of all\n";
  constexpr std::string_view json =
      "{\"code\":\"driver_crash\",\"message\":\"an OpenCL driver has crashed\",\"fix\":\"see what it says "
      "above; "
      "OCL_ICD_VENDORS names a folder with the drivers to use instead of all\"}\n";
  const std::string_view said = as_json ? json : text;
  (void)!::write(STDERR_FILENO, said.data(), said.size());
  ::_exit(static_cast<int>(ExitCode::environment));
}

} // namespace

DriverGuard::DriverGuard(bool errors_as_json) {
  as_json = errors_as_json;
  struct sigaction action {};
  action.sa_handler = report;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < fatal.size(); ++i) {
    ::sigaction(fatal[i], &action, &before[i]);
  }
}

DriverGuard::~DriverGuard() {
  for (std::size_t i = 0; i < fatal.size(); ++i) {
    ::sigaction(fatal[i], &before[i], nullptr);
  }
}

} // namespace tidegate::device
