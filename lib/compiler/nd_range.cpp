#include <tidegate/compiler/nd_range.hpp>
#include <tidegate/compiler/program_error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::compiler {
namespace {

using namespace std::string_view_literals;

// The largest divisor up to `most`: work-groups of one size.
std::uint64_t largest_divisor(std::uint64_t global, std::uint32_t most) {
  for (std::uint64_t size = most; size > 1; --size) {
    if (global % size == 0) {
      return size;
    }
  }
  return 1;
}

} // namespace

Result<NdRange> nd_range(const WaveSpec& spec, const opencl_c::Function& kernel, const std::string& pointer,
                         std::uint32_t open_size) {
  NdRange range;
  const std::size_t dimensions = spec.global_size.size();
  if (dimensions == 0 || dimensions > range.global.size()) {
    return tl::unexpected(invalid_program(
        dimensions == 0 ? "global_size is empty" : fmt::format("global_size has {} dimensions", dimensions),
        dimensions == 0 ? "give 1 to 3 sizes" : "an NDRange has 1 to 3: fold the others into them",
        pointer + "/global_size"));
  }
  for (const auto& [list, key] :
       {std::pair(&spec.local_size, "local_size"), std::pair(&spec.global_offset, "global_offset")}) {
    if (*list && (*list)->size() != dimensions) {
      return tl::unexpected(invalid_program(
          fmt::format("{} has {}, global_size has {}", key, plural((*list)->size(), "dimension"), dimensions),
          fmt::format("give it {}", plural(dimensions, "number")), pointer + "/" + key));
    }
  }
  range.dimensions = static_cast<std::uint32_t>(dimensions);
  std::uint64_t tiles = 1;
  std::uint64_t items = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::uint64_t global = spec.global_size[d];
    const std::uint64_t local = spec.local_size              ? (*spec.local_size)[d]
                                : kernel.required_local_size ? (*kernel.required_local_size)[d]
                                : d == 0                     ? largest_divisor(global, open_size)
                                                             : 1;
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    for (const auto& [size, key] : {std::pair(global, "global_size"), std::pair(local, "local_size")}) {
      if (size == 0 || size > most) {
        return tl::unexpected(Error{
            .code = ErrorCode::out_of_range,
            .message = fmt::format("{}[{}] is {}{}", key, d, size, size == 0 ? "" : ", more than 2^32 - 1"),
            .fix = size == 0                ? "give a size from 1 on"
                   : key == "global_size"sv ? "cut the wave into several with global_offset"
                                            : "give work-groups of the size that the device takes",
            .pointer = fmt::format("{}/{}", pointer, key)});
      }
    }
    range.global[d] = static_cast<std::uint32_t>(global);
    range.local[d] = static_cast<std::uint32_t>(local);
    range.groups[d] = static_cast<std::uint32_t>((global + local - 1) / local);
    range.offset[d] = spec.global_offset ? (*spec.global_offset)[d] : 0;
    tiles *= range.groups[d];
    items *= local;
    if (items > most) {
      return tl::unexpected(Error{.code = ErrorCode::out_of_range,
                                  .message = "a work-group of more than 2^32 - 1 work-items",
                                  .fix = "give work-groups of the size that the device takes",
                                  .pointer = pointer + "/local_size"});
    }
    if (tiles > std::numeric_limits<std::int32_t>::max()) {
      return tl::unexpected(Error{.code = ErrorCode::out_of_range,
                                  .message = "the NDRange has more than 2^31 - 1 work-groups",
                                  .fix = "cut the wave into several with global_offset",
                                  .pointer = pointer + "/global_size"});
    }
  }
  if (kernel.required_local_size) {
    const auto& required = *kernel.required_local_size;
    if (required[0] != range.local[0] || required[1] != range.local[1] || required[2] != range.local[2]) {
      return tl::unexpected(
          Error{.code = ErrorCode::unsupported_kernel,
                .message = fmt::format("the wave has work-groups of {} x {} x {}, the kernel {} asks for "
                                       "{} x {} x {} (reqd_work_group_size)",
                                       range.local[0], range.local[1], range.local[2], in_quotes(kernel.name),
                                       required[0], required[1], required[2]),
                .fix = "give the local_size that the kernel asks for",
                .pointer = pointer + "/local_size"});
    }
  }
  return range;
}

} // namespace tidegate::compiler
