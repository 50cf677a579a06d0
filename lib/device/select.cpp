#include <tidegate/core/text.hpp>
#include <tidegate/device/select.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::device {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Hexadecimal digits alone, so that "GPU-1f00…" and "1F00-…" are one UUID.
std::optional<std::string> uuid_digits(std::string_view text) {
  std::string digits = lower(text);
  if (digits.starts_with("gpu-")) {
    digits.erase(0, 4);
  }
  std::erase(digits, '-');
  const bool hexadecimal = digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  return hexadecimal && digits.size() == 32 ? std::optional(digits) : std::nullopt;
}

Error refusal(ErrorCode code, std::string message, const DeviceList& list) {
  Error error{.code = code, .message = std::move(message), .fix = "choose one of"};
  for (const DeviceInfo& device : list.devices) {
    error.fix +=
        fmt::format("{} {}: {} ({})", device.index == 0 ? "" : ",", device.index, shortened(device.name, 60),
                    device_type_names[static_cast<std::size_t>(device.type)]);
  }
  return error;
}

const DeviceInfo* first_of(const DeviceList& list, DeviceType type) {
  const auto found = std::ranges::find(list.devices, type, &DeviceInfo::type);
  return found == list.devices.end() ? nullptr : &*found;
}

// All devices that the selector may mean.
std::vector<const DeviceInfo*> matches(const DeviceList& list, std::string_view selector) {
  std::uint32_t index = 0;
  const char* const end = selector.data() + selector.size();
  if (const auto [stop, error] = std::from_chars(selector.data(), end, index);
      error == std::errc() && stop == end) {
    if (index < list.devices.size()) {
      return {&list.devices[index]};
    } // or a number in a name
  }
  const std::string word = lower(selector);
  for (const DeviceType type : {DeviceType::cpu, DeviceType::gpu}) {
    if (word == device_type_names[static_cast<std::size_t>(type)]) {
      const DeviceInfo* const device = first_of(list, type);
      return device != nullptr ? std::vector{device} : std::vector<const DeviceInfo*>{};
    }
  }
  std::vector<const DeviceInfo*> found;
  std::vector<const DeviceInfo*> whole;
  if (const auto uuid = uuid_digits(selector)) {
    for (const DeviceInfo& device : list.devices) {
      if (device.uuid && uuid_digits(*device.uuid) == uuid) {
        found.push_back(&device);
      }
    }
    return found;
  }
  for (const DeviceInfo& device : list.devices) {
    if (lower(device.name) == word) {
      whole.push_back(&device);
    }
    if (lower(device.name).find(word) != std::string::npos) {
      found.push_back(&device);
    }
  }
  return whole.empty() ? found : whole;
}

} // namespace

Result<const DeviceInfo*> select_device(const DeviceList& list, std::string_view selector) {
  if (list.devices.empty()) {
    return tl::unexpected(no_device(list));
  }
  if (selector.empty()) {
    const DeviceInfo* const gpu = first_of(list, DeviceType::gpu);
    return gpu != nullptr ? gpu : &list.devices.front();
  }
  const std::vector<const DeviceInfo*> found = matches(list, selector);
  if (found.empty()) {
    return tl::unexpected(
        refusal(ErrorCode::no_device, fmt::format("no device is {}", in_quotes(selector)), list));
  }
  if (found.size() > 1) {
    return tl::unexpected(refusal(
        ErrorCode::ambiguous_device,
        fmt::format("{} devices are called {} or have it in their names; an index or a UUID tells them apart",
                    found.size(), in_quotes(selector)),
        list));
  }
  return found.front();
}

} // namespace tidegate::device
