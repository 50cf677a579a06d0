#include "engine/kernel_cache.hpp"

#include "core/files.hpp"
#include "engine/device_memory.hpp"
#include <tidegate/core/text.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstring>
#include <limits>

namespace tidegate::engine {
namespace {

constexpr std::uint64_t entry_magic = 0x3145544147454454; // "TDEGATE1"

struct EntryHeader {
  std::uint64_t magic = entry_magic;
  std::uint64_t checksum = 0; // of the bytes after this field
  std::uint64_t resident_groups = 0;
  std::uint64_t binary_bytes = 0;
};

std::uint64_t checksum(std::string_view entry) {
  const std::string_view covered = entry.substr(offsetof(EntryHeader, resident_groups));
  return XXH3_64bits(covered.data(), covered.size());
}

} // namespace

std::string encode_entry(const CacheEntry& entry) {
  EntryHeader header{.resident_groups = entry.resident_groups, .binary_bytes = entry.binary.size()};
  std::string bytes(sizeof header, '\0');
  bytes.append(entry.binary.begin(), entry.binary.end());
  std::memcpy(bytes.data(), &header, sizeof header);
  header.checksum = checksum(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::optional<CacheEntry> decode_entry(std::string_view bytes) {
  EntryHeader header;
  if (bytes.size() < sizeof header) {
    return {};
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != entry_magic || header.binary_bytes != bytes.size() - sizeof header ||
      header.checksum != checksum(bytes) ||
      header.resident_groups > std::numeric_limits<std::uint32_t>::max()) {
    return {};
  }
  return CacheEntry{.resident_groups = static_cast<std::uint32_t>(header.resident_groups),
                    .binary = {bytes.begin() + sizeof header, bytes.end()}};
}

} // namespace tidegate::engine

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

using device::require;

constexpr std::size_t largest_entry = std::size_t{256} << 20U;

std::filesystem::path entry_path(const device::DeviceInfo& device, const KernelSource& source,
                                 std::uint64_t dynamic_local_bytes, const std::filesystem::path& folder) {
  if (folder.empty()) {
    return {};
  }
  std::string key;
  for (const std::string& part :
       {device.platform, device.name, device.uuid.value_or(""), device.opencl_version, device.driver_version,
        source.options, source.source, std::to_string(source.groups_per_unit)}) {
    key += part;
    key += '\n';
  }
  key += std::to_string(dynamic_local_bytes);
  return folder / ("kernel-" + hash_of(key) + ".bin");
}

std::optional<CacheEntry> read_entry(const std::filesystem::path& path) {
  if (path.empty()) {
    return {};
  }
  const auto bytes = read_all(path.string(), largest_entry);
  return bytes ? decode_entry(*bytes) : std::nullopt;
}

// PoCL's binaries contain each kernel for groups of any size, and retrieving one takes as long as a build.
// PoCL has a cache for launched kernels, so an entry only states that the kernel is there.
bool keeps_binaries_itself(const device::DeviceInfo& device) {
  return device::is_pocl(device);
}

// Ignores failures: they only cost the next run a build.
void write_entry(const device::Session& session, const device::DeviceInfo& device,
                 const std::filesystem::path& path, const device::Program& program, std::uint32_t resident) {
  if (path.empty()) {
    return;
  }
  std::vector<unsigned char> binary;
  if (!keeps_binaries_itself(device)) {
    binary = session.binary_of(program);
    if (binary.empty()) {
      return;
    }
  }
  const std::string entry = encode_entry({.resident_groups = resident, .binary = std::move(binary)});
  (void)keep_file(path, entry);
}

// Returns the program, if the driver can, assembled for few work-groups a compute unit. Without that statement NVIDIA's assembler saves
// registers for the sake of many resident groups and runs loops of a kernel with few groups in order, one load at a
// time: an n-body program takes 2.8 times as long. OpenCL C cannot say it; PTX, NVIDIA's form of a binary, can.
device::Program with_more_registers(const device::Session& session, const device::Program& program,
                                    const KernelSource& source) {
  if (source.groups_per_unit == 0) {
    return {};
  }
  const std::vector<unsigned char> binary = session.binary_of(program);
  const auto text =
      stating_groups_per_unit({binary.begin(), binary.end()}, source.kernel, source.groups_per_unit);
  return text ? session.load(std::vector<unsigned char>(text->begin(), text->end()), source.options)
              : device::Program();
}

} // namespace

std::optional<std::string> stating_groups_per_unit(std::string ptx, std::string_view kernel,
                                                   std::uint32_t groups) {
  const std::size_t entry = ptx.find(fmt::format(".entry {}(", kernel));
  if (!ptx.starts_with("//\n// Generated by NVIDIA") || entry == std::string::npos) {
    return {};
  }
  const std::size_t size = ptx.find("\n.reqntid ", entry);
  const std::size_t body = ptx.find("\n{", entry);
  if (size == std::string::npos || size > body ||
      ptx.substr(entry, body - entry).find("nctapersm") != std::string::npos) {
    return {};
  }
  ptx.insert(ptx.find('\n', size + 1), fmt::format("\n.minnctapersm {}", groups));
  return ptx;
}

// CL_KERNEL_WORK_GROUP_SIZE cannot say it before a launch: NVIDIA's driver reports 256 for a kernel of 40 registers that
// states 512 work-items and runs with them.
static Error does_not_fit(const device::DeviceInfo& device, std::uint32_t group_size) {
  return {.code = ErrorCode::kernel_does_not_fit,
          .message = fmt::format("the generated kernel takes more registers or local memory than {} has for "
                                 "work-groups of {} work-items",
                                 device.name, group_size),
          .fix = "take smaller work-groups, --set side-by-side=1 or --strategy plain"};
}

BuiltKernel build_kernel(const device::Session& session, const device::DeviceInfo& device,
                         const KernelSource& source, std::uint64_t dynamic_local_bytes,
                         const std::filesystem::path& folder) {
  BuiltKernel built{.entry = entry_path(device, source, dynamic_local_bytes, folder)};
  const auto entry = read_entry(built.entry);
  if (entry && !entry->binary.empty()) {
    if (device::Program program = session.load(entry->binary, source.options)) {
      if (auto kernel = session.make_kernel(program, source.kernel)) {
        built.program = std::move(program);
        built.kernel = *std::move(kernel);
        built.from_cache = true;
        built.resident_groups = entry->resident_groups;
        return built;
      }
    }
  }
  auto program = session.build(source.source, source.options);
  if (!program) {
    throw device::Refused{std::move(program.error())};
  }
  built.program = std::move(*program);
  if (auto assembled = with_more_registers(session, built.program, source)) {
    built.program = std::move(assembled);
  }
  built.kernel = require(session.make_kernel(built.program, source.kernel), "making the generated kernel");
  built.from_cache = entry && keeps_binaries_itself(device); // in the driver's cache
  if (!built.from_cache) {
    write_entry(session, device, built.entry, built.program, 0);
  }
  return built;
}

void compile_by_launching(const device::Session& session, const BuiltKernel& kernel, std::size_t group_size,
                          std::size_t most_groups) {
  for (const std::size_t groups : {std::size_t{1}, most_groups}) {
    require(session.launch(kernel.kernel, device::work_groups(groups, group_size), nullptr),
            "compiling the generated kernel");
  }
  require(session.finish(), "compiling the generated kernel");
}

std::uint32_t resident_groups(const device::Session& session, const device::DeviceInfo& device,
                              BuiltKernel& kernel, std::uint32_t group_size,
                              const SetPollArguments& set_arguments) {
  const std::uint32_t units = std::max(device.compute_units, 1U);
  if (device.type == device::DeviceType::cpu) {
    // CPU drivers deal groups to threads in chunks that run one after another: one group per unit runs at a
    // time.
    return units;
  }
  if (kernel.resident_groups != 0) {
    return kernel.resident_groups;
  }
  constexpr std::size_t participants = 3 * 64;
  constexpr std::size_t gave_up = 4 * 64;
  constexpr std::uint32_t settle_polls = 1000;
  constexpr std::uint32_t most_polls = std::uint32_t{1} << 22U;
  // Twice the most work-items of a compute unit on any known device.
  const std::uint32_t offered = std::clamp(4096U / group_size, 4U, 64U);

  std::vector<std::uint32_t> words(poll_bytes / sizeof(std::uint32_t));
  const device::Buffer poll = allocate(session, poll_bytes);
  upload(session, poll, 0, std::as_bytes(std::span(words)));
  set_arguments(poll, settle_polls, most_polls);
  device::Status status =
      session.launch(kernel.kernel, device::work_groups(std::size_t{units} * offered, group_size), nullptr);
  status = status == device::success ? session.finish() : status;
  if (status == device::out_of_resources || status == device::invalid_work_group_size) {
    throw device::Refused{does_not_fit(device, group_size)};
  }
  require(status, "discovering how many work-groups are resident together");
  download(session, poll, 0, std::as_writable_bytes(std::span(words)));
  if (words[gave_up] != 0) {
    throw device::Refused{{.code = ErrorCode::opencl_failure,
                           .message = "the discovery of resident work-groups did not come to an end",
                           .fix = "try again when the device is not busy, or take --strategy launch"}};
  }
  kernel.resident_groups = std::max(words[participants], 1U);
  write_entry(session, device, kernel.entry, kernel.program, kernel.resident_groups);
  return kernel.resident_groups;
}

Result<void> check_workers(std::uint32_t workers, std::uint32_t resident, const device::DeviceInfo& device) {
  if (workers != 0 && workers <= resident) {
    return {};
  }
  return failure(
      ErrorCode::too_many_workers,
      fmt::format("{} requested, but only {} of this kernel can run concurrently on {}",
                  plural(workers, "work-group"), resident, device.name),
      fmt::format("give --workers from 1 to {}: others would wait for groups that never start", resident));
}

} // namespace tidegate::engine
