#include "engine/device_features.hpp"

#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace tidegate::engine {
namespace {

Error lacks(std::string message, std::string fix, std::string pointer) {
  return {.code = ErrorCode::unsupported_kernel,
          .message = std::move(message),
          .fix = std::move(fix),
          .pointer = std::move(pointer)};
}

Result<void> check_images(const Job& program, const device::DeviceInfo& device) {
  for (const ProgramBuffer& buffer : program.buffers) {
    if (buffer.image && !device.images) {
      return tl::unexpected(
          lacks(fmt::format("{} is an image, and {} has none", in_quotes(buffer.name), device.name),
                "use buffers, or another device", "/images/" + pointer_token(buffer.name)));
    }
  }
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    const auto& arguments = program.waves[wave].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].kind == ProgramArgument::Kind::image && arguments[i].access == Access::read_write &&
          device.max_read_write_images == 0) {
        return tl::unexpected(lacks(
            fmt::format("{} takes a read_write image, and {} has none", program.wave_text(wave), device.name),
            "read one image and write another, or use another device",
            fmt::format("/waves/{}/args/{}", wave, i)));
      }
    }
  }
  return {};
}

bool has_extension(const device::DeviceInfo& device, std::string_view extension) {
  return fmt::format(" {} ", device.extensions).find(fmt::format(" {} ", extension)) != std::string::npos;
}

Result<void> check_sub_groups(const Job& program, const OutlinedOps& ops, const device::DeviceInfo& device) {
  for (const ProgramWave& wave : program.waves) {
    for (const std::string& function : ops.kernels[wave.op].sub_group_functions) {
      const std::string_view extension = sub_group_extension(function);
      // OpenCL 3.0 replaces the extension by a feature, which the number of sub-groups shows.
      const bool core = extension == "cl_khr_subgroups" &&
                        (device.max_sub_groups != 0 || has_extension(device, "cl_intel_subgroups"));
      if (!core && !has_extension(device, extension)) {
        return tl::unexpected(
            lacks(fmt::format("the kernel {} calls {}, and {} lacks {}",
                              in_quotes(program.function(wave.op).name), function, device.name, extension),
                  "use local memory and barriers of the work-group, or another device",
                  "/ops/" + pointer_token(program.ops[wave.op].name)));
      }
    }
  }
  return {};
}

} // namespace

bool takes_ptx(const device::DeviceInfo& device) {
  return device.profile &&
         std::ranges::any_of(device.profile->trials, [](const device::OrderingTrial& trial) {
           return trial.ordering == device::Ordering::ptx && trial.verdict == device::TrialVerdict::passed;
         });
}

std::string_view sub_group_extension(std::string_view function) {
  struct Family {
    std::string_view prefix;
    std::string_view extension;
  };
  // The first match counts.
  static constexpr std::array<Family, 16> families{
      {{"intel_sub_group_", "cl_intel_subgroups"},
       {"sub_group_shuffle_up", "cl_khr_subgroup_shuffle_relative"},
       {"sub_group_shuffle_down", "cl_khr_subgroup_shuffle_relative"},
       {"sub_group_shuffle", "cl_khr_subgroup_shuffle"},
       {"sub_group_rotate", "cl_khr_subgroup_rotate"},
       {"sub_group_clustered_rotate", "cl_khr_subgroup_rotate"},
       {"sub_group_clustered_", "cl_khr_subgroup_clustered_reduce"},
       {"sub_group_elect", "cl_khr_subgroup_non_uniform_vote"},
       {"sub_group_non_uniform_all", "cl_khr_subgroup_non_uniform_vote"},
       {"sub_group_non_uniform_any", "cl_khr_subgroup_non_uniform_vote"},
       {"sub_group_non_uniform_broadcast", "cl_khr_subgroup_ballot"},
       {"sub_group_non_uniform_", "cl_khr_subgroup_non_uniform_arithmetic"},
       {"sub_group_broadcast_first", "cl_khr_subgroup_ballot"},
       {"sub_group_ballot", "cl_khr_subgroup_ballot"},
       {"sub_group_inverse_ballot", "cl_khr_subgroup_ballot"},
       {"", "cl_khr_subgroups"}}};
  if (function.starts_with("get_sub_group_") && function.ends_with("_mask")) {
    return "cl_khr_subgroup_ballot";
  }
  for (const Family& family : families) {
    if (function.starts_with(family.prefix)) {
      return family.extension;
    }
  }
  return families.back().extension;
}

Result<void> check_features(const Job& program, const OutlinedOps& ops, const device::DeviceInfo* device) {
  if (device == nullptr) {
    return {};
  }
  TIDEGATE_CHECK(check_images(program, *device));
  return check_sub_groups(program, ops, *device);
}

} // namespace tidegate::engine
