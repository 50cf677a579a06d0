// The device that a run takes, alone or as one of several ranks, with what its self-test has found.
#include "app/devices.hpp"
#include "app/ranks.hpp"
#include "app/run.hpp"
#include "app/terminal.hpp"
#include "engine/strategy.hpp"
#include <tidegate/core/text.hpp>
#include <tidegate/device/device_list.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tidegate::app {

// Launches need no proof that work-groups may wait for each other.
static SelfTest self_test_of(const engine::RunOptions& options) {
  const auto& strategy = options.compile.strategy;
  return !strategy || is_persistent(*strategy) || options.stress_runs != 0 ? SelfTest::kept_or_made
                                                                           : SelfTest::kept;
}

// The device of this rank. Ranks of one host take different ones as long as there are enough.
static Result<device::DeviceInfo> device_of_rank(RunSettings& settings, const device::DeviceList& list,
                                                 std::string_view selectors) {
  TIDEGATE_TRY(const auto devices, rank_devices(list, selectors));
  const auto& place = settings.ranks->place();
  const auto local = static_cast<std::size_t>(place.local_size);
  if (local > devices.size()) {
    settings.device_warning =
        engine::Warning{.message = fmt::format("{} of this host share {}", plural(local, "rank"),
                                               plural(devices.size(), "device")),
                        .fix = "start as many ranks on a host as it has devices, or list them: --device 0,1",
                        .pointer = {}};
  }
  return device_of(devices, place);
}

Result<device::DeviceInfo> find_device(RunSettings& settings) {
  TIDEGATE_TRY(const auto list, device::list_devices());
  const char* const usual = std::getenv("TIDEGATE_DEVICE");
  const bool by_environment = settings.selector.empty() && usual != nullptr;
  const std::string selector = by_environment ? usual : settings.selector;
  const auto found = settings.ranks
                         ? device_of_rank(settings, list, selector)
                         : device::select_device(list, selector).map([](const auto* one) { return *one; });
  if (!found) {
    Error error = found.error();
    error.message += by_environment ? ", as TIDEGATE_DEVICE says" : "";
    return tl::unexpected(std::move(error));
  }
  device::DeviceInfo device = *found;
  if (!settings.options.compile.dry_run) {
    TIDEGATE_CHECK(add_profile(device, TIDEGATE_VERSION, self_test_of(settings.options), [&] {
      if (progress_style(settings) != ProgressStyle::none) {
        fmt::print(stderr, "tidegate: a first run here tests {}, once; later runs take the result\n",
                   printable(device.name));
      }
    }));
  }
  return device;
}

} // namespace tidegate::app
