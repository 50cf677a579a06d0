#include "engine/device_memory.hpp"

#include "device/opencl.hpp"
#include "work/buffers.hpp"
#include "work/image_files.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tidegate::engine {
namespace {

// Transfers are fastest for whole cache lines.
constexpr std::uint64_t line_bytes = 256;

std::uint64_t block_bytes(const std::vector<std::uint64_t>& sizes) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t size : sizes) {
    bytes += (size + line_bytes - 1) / line_bytes * line_bytes;
  }
  return bytes;
}

std::optional<device::PinnedMemory> pin(const device::Session& session, std::uint64_t bytes,
                                        std::uint64_t most_bytes) {
  if (session.on_host || bytes == 0 || bytes > most_bytes) {
    return {};
  }
  return device::PinnedMemory::allocate(session, bytes);
}

std::vector<std::span<std::byte>> parts_of(std::byte* block, const std::vector<std::uint64_t>& sizes) {
  std::vector<std::span<std::byte>> parts;
  std::uint64_t at = 0;
  for (const std::uint64_t size : sizes) {
    parts.emplace_back(block + at, size);
    at += (size + line_bytes - 1) / line_bytes * line_bytes;
  }
  return parts;
}

} // namespace

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

HostContents::HostContents(BufferContents contents) : owned_(std::move(contents)) {
  of_.assign(owned_.begin(), owned_.end());
}

HostContents::HostContents(const device::Session& session, BufferContents contents,
                           std::uint64_t most_pinned_bytes)
    : HostContents(std::move(contents)) {
  std::vector<std::uint64_t> sizes;
  for (const auto& bytes : owned_) {
    sizes.push_back(bytes.size());
  }
  pinned_ = pin(session, block_bytes(sizes), most_pinned_bytes);
  if (pinned_) {
    of_ = parts_of(pinned_->bytes().data(), sizes);
    for (std::size_t i = 0; i < owned_.size(); ++i) {
      std::ranges::copy(owned_[i], of_[i].begin());
    }
    owned_ = {};
  }
}

HostContents::HostContents(const device::Session& session, const std::vector<std::uint64_t>& sizes,
                           std::uint64_t most_pinned_bytes) {
  const std::uint64_t bytes = block_bytes(sizes);
  pinned_ = pin(session, bytes, most_pinned_bytes);
  if (!pinned_) {
    block_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  }
  of_ = parts_of(pinned_ ? pinned_->bytes().data() : block_.get(), sizes);
}

bool operator==(const HostContents& a, const HostContents& b) {
  return std::ranges::equal(a.of_, b.of_, same_bytes);
}

namespace {

using device::require;

// Upper limit of one transfer: drivers take long for each, and a run can be interrupted only between them.
constexpr std::uint64_t transfer_bytes = std::uint64_t{256} << 20U;

} // namespace

Result<HostContents> first_contents(const device::Session& session, const ResolvedProgram& program,
                                    std::uint64_t most_pinned_bytes) {
  BufferContents contents(program.buffers.size());
  ErrorList errors;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    if (program.buffers[i].contents) {
      contents[i] = *program.buffers[i].contents;
    }
    if (!program.buffers[i].spec.init) {
      continue;
    }
    auto bytes = program.buffers[i].image ? initial_image(program.buffers[i], program.folder)
                                          : initial_contents(program.buffers[i].spec, program.folder);
    if (!bytes) {
      if (!bytes.error().pointer) {
        bytes.error().pointer = (program.buffers[i].image ? "/images/" : "/buffers/") +
                                pointer_token(program.buffers[i].name) + "/init";
      }
    }
    if (errors.check(bytes)) {
      contents[i] = std::move(*bytes);
    }
  }
  TIDEGATE_CHECK(errors.result());
  return HostContents(session, std::move(contents), most_pinned_bytes);
}

HostContents output_room(const device::Session& session, const ResolvedProgram& program,
                         std::uint64_t most_pinned_bytes) {
  std::vector<std::uint64_t> sizes;
  for (const ProgramBuffer& buffer : program.buffers) {
    sizes.push_back(buffer.spec.output ? buffer.bytes : 0);
  }
  return {session, sizes, most_pinned_bytes};
}

cl::Buffer allocate(const device::Session& session, std::uint64_t bytes, cl_mem_flags flags) {
  cl_int status = CL_SUCCESS;
  cl::Buffer memory(session.context, flags, std::max<std::uint64_t>(bytes, 1), nullptr, &status);
  if (status != CL_SUCCESS) {
    throw device::Refused{
        device::opencl_failure(fmt::format("allocating {} of device memory", bytes_text(bytes)), status)};
  }
  return memory;
}

cl::Buffer sub_buffer(const cl::Buffer& whole, std::uint64_t offset, std::uint64_t bytes) {
  const cl_buffer_region region{offset, bytes};
  cl_int status = CL_SUCCESS;
  cl::Buffer view =
      cl::Buffer(whole).createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
  require(status, "making a sub-buffer");
  return view;
}

Arena allocate_arena(const device::Session& session, const ResolvedProgram& program,
                     const MemoryLayout& layout, bool views) {
  Arena arena{.memory = allocate(session, layout.arena_bytes), .views = {}};
  for (std::size_t i = 0; i < program.buffers.size() && views; ++i) {
    if (!program.buffers[i].in_arena()) {
      arena.views.emplace_back();
      continue;
    }
    arena.views.push_back(sub_buffer(arena.memory, layout.offsets[i], program.buffers[i].bytes));
  }
  return arena;
}

void touch(const device::Session& session, const Arena& arena) {
  std::vector<cl_mem> views;
  for (const cl::Buffer& view : arena.views) {
    if (view() != nullptr) {
      views.push_back(view());
    }
  }
  if (!views.empty() && !session.on_host) {
    require(clEnqueueMigrateMemObjects(session.queue(), static_cast<cl_uint>(views.size()), views.data(), 0,
                                       0, nullptr, nullptr),
            "making sub-buffers known to the device");
  }
}

std::vector<cl::Buffer> allocate_apart(const device::Session& session, const ResolvedProgram& program) {
  std::vector<cl::Buffer> buffers;
  for (const ProgramBuffer& buffer : program.buffers) {
    buffers.push_back(buffer.image ? cl::Buffer() : allocate(session, buffer.bytes));
  }
  return buffers;
}

void fill(const device::Session& session, const cl::Buffer& to, std::uint64_t offset, std::uint64_t bytes,
          std::span<const std::byte> pattern, cl_event* event) {
  constexpr std::uint64_t most_end = std::uint64_t{1} << 31U;
  constexpr std::uint64_t piece_bytes = std::uint64_t{64} << 20U;
  const std::uint64_t begin = to.getInfo<CL_MEM_OFFSET>() + offset;
  const auto fill_with = [&](const cl::Buffer& memory, std::uint64_t at, std::uint64_t size, cl_event* done) {
    require(clEnqueueFillBuffer(session.queue(), memory(), pattern.data(), pattern.size(), at, size, 0,
                                nullptr, done),
            "filling device memory");
  };
  if (begin + bytes <= most_end) {
    fill_with(to, offset, bytes, event);
    return;
  }
  const std::uint64_t piece = std::min(bytes, piece_bytes);
  const cl::Buffer from = allocate(session, piece);
  fill_with(from, 0, piece, nullptr);
  for (std::uint64_t at = 0; at < bytes; at += piece) {
    const std::uint64_t size = std::min(piece, bytes - at);
    require(clEnqueueCopyBuffer(session.queue(), from(), to(), 0, offset + at, size, 0, nullptr,
                                at + size == bytes ? event : nullptr),
            "filling device memory");
  }
}

void clear(const device::Session& session, const cl::Buffer& to, std::uint64_t offset, std::uint64_t bytes) {
  constexpr std::byte zero{0};
  fill(session, to, offset, bytes, std::span(&zero, 1));
}

void upload(const device::Session& session, const cl::Buffer& to, std::uint64_t offset,
            std::span<const std::byte> bytes, Transferred when) {
  const cl_bool blocking = when == Transferred::now ? CL_TRUE : CL_FALSE;
  for (std::uint64_t at = 0; at < bytes.size(); at += transfer_bytes) {
    const std::uint64_t size = std::min<std::uint64_t>(transfer_bytes, bytes.size() - at);
    require(session.queue.enqueueWriteBuffer(to, blocking, offset + at, size, bytes.data() + at),
            "writing to device memory");
  }
}

void download(const device::Session& session, const cl::Buffer& from, std::uint64_t offset,
              std::span<std::byte> bytes, Transferred when) {
  const cl_bool blocking = when == Transferred::now ? CL_TRUE : CL_FALSE;
  for (std::uint64_t at = 0; at < bytes.size(); at += transfer_bytes) {
    const std::uint64_t size = std::min<std::uint64_t>(transfer_bytes, bytes.size() - at);
    require(session.queue.enqueueReadBuffer(from, blocking, offset + at, size, bytes.data() + at),
            "reading device memory back");
  }
}

void fill_apart(const device::Session& session, const ResolvedProgram& program, const HostContents& first,
                const std::vector<cl::Buffer>& memory) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (program.buffers[i].image) {
      continue;
    }
    if (!first[i].empty()) {
      upload(session, memory[i], 0, first[i]);
    } else {
      clear(session, memory[i], 0, program.buffers[i].bytes);
    }
  }
}

} // namespace tidegate::engine
