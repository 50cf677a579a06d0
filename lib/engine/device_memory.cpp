#include "engine/device_memory.hpp"

#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
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

std::shared_ptr<std::byte> pin(const device::Session& session, std::uint64_t bytes,
                               std::uint64_t most_bytes) {
  return session.on_host || bytes == 0 || bytes > most_bytes ? nullptr : session.pin(bytes);
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

std::uint64_t checked_index(std::uint64_t index, std::uint64_t count, std::string_view what) {
  if (index >= count) {
    throw device::Refused{
        {.code = ErrorCode::opencl_failure,
         .message = fmt::format("the device reports {} {}, and there are {}", what, index, count),
         .fix = "a kernel may have written past the end of a buffer: --check bounds reports it"}};
  }
  return index;
}

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
    of_ = parts_of(pinned_.get(), sizes);
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
  of_ = parts_of(pinned_ ? pinned_.get() : block_.get(), sizes);
}

bool operator==(const HostContents& a, const HostContents& b) {
  return std::ranges::equal(a.of_, b.of_, same_bytes);
}

namespace {

using device::require;

// Upper limit of one transfer: drivers take long for each, and a run can be interrupted only between them.
constexpr std::uint64_t transfer_bytes = std::uint64_t{256} << 20U;

} // namespace

Result<HostContents> first_contents(const device::Session& session, const Job& program,
                                    std::uint64_t most_pinned_bytes, const std::vector<bool>& passed_over) {
  return first_contents(session, program, most_pinned_bytes, [&](std::size_t buffer) {
    return !passed_over.empty() && passed_over[buffer] ? Result<std::vector<std::byte>>()
                                                       : program.buffers[buffer].first();
  });
}

Result<HostContents>
first_contents(const device::Session& session, const Job& program, std::uint64_t most_pinned_bytes,
               const std::function<Result<std::vector<std::byte>>(std::size_t buffer)>& read) {
  BufferContents contents(program.buffers.size());
  ErrorList errors;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    if (!program.buffers[i].first) {
      continue;
    }
    auto bytes = read(i);
    if (!bytes && !bytes.error().pointer) {
      bytes.error().pointer = program.buffers[i].pointer + "/init";
    }
    if (errors.check(bytes)) {
      contents[i] = std::move(*bytes);
    }
  }
  TIDEGATE_CHECK(errors.result());
  return HostContents(session, std::move(contents), most_pinned_bytes);
}

HostContents output_room(const device::Session& session, const Job& program,
                         std::uint64_t most_pinned_bytes) {
  std::vector<std::uint64_t> sizes;
  for (const ProgramBuffer& buffer : program.buffers) {
    sizes.push_back(buffer.is_read_back() ? buffer.bytes : 0);
  }
  return {session, sizes, most_pinned_bytes};
}

device::Buffer allocate(const device::Session& session, std::uint64_t bytes) {
  return require(session.allocate(std::max<std::uint64_t>(bytes, 1)),
                 fmt::format("allocating {} of device memory", bytes_text(bytes)));
}

device::Buffer sub_buffer(const device::Session& session, const device::Buffer& whole, std::uint64_t offset,
                          std::uint64_t bytes) {
  return require(session.part_of(whole, offset, bytes), "making a sub-buffer");
}

Arena allocate_arena(const device::Session& session, const Job& program, const MemoryLayout& layout,
                     ArenaUse use) {
  if (use == ArenaUse::apart) {
    Arena apart;
    apart.views = allocate_apart(session, program);
    std::ranges::transform(apart.views, std::back_inserter(apart.parts),
                           [](const device::Buffer& memory) { return Arena::Part{.memory = memory}; });
    return apart;
  }
  std::vector<std::size_t> order; // by offset
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].in_arena()) {
      order.push_back(i);
    }
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return layout.offsets[i]; });
  const bool one_block = use != ArenaUse::plain_launches || session.on_host;
  Arena arena;
  arena.parts.resize(program.buffers.size());
  arena.views.resize(program.buffers.size());
  if (one_block) {
    arena.whole = allocate(session, layout.arena_bytes);
  }
  for (std::size_t first = 0; first < order.size();) {
    // Buffers that overlap, directly or through others, are one block.
    const std::uint64_t begin = layout.offsets[order[first]];
    std::uint64_t end = begin;
    std::size_t last = first;
    for (; last < order.size() && (last == first || layout.offsets[order[last]] < end); ++last) {
      end = std::max(end, layout.offsets[order[last]] + program.buffers[order[last]].bytes);
    }
    const device::Buffer block = one_block ? arena.whole : allocate(session, end - begin);
    for (; first < last; ++first) {
      const std::size_t i = order[first];
      arena.parts[i] = {.memory = block, .offset = one_block ? layout.offsets[i] : layout.offsets[i] - begin};
    }
  }
  if (use == ArenaUse::generated_kernel) {
    return arena;
  }
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Arena::Part& part = arena.parts[i];
    if (program.buffers[i].in_arena()) {
      arena.views[i] = !one_block && part.offset == 0
                           ? part.memory
                           : sub_buffer(session, part.memory, part.offset, program.buffers[i].bytes);
    }
  }
  return arena;
}

Arena::~Arena() {
  while (!views.empty()) {
    views.pop_back();
  }
}

void touch(const device::Session& session, const Arena& arena) {
  std::vector<device::Buffer> views;
  std::ranges::copy_if(arena.views, std::back_inserter(views), [](const auto& view) { return bool(view); });
  if (!views.empty() && !session.on_host) {
    require(session.migrate(views), "making sub-buffers known to the device");
  }
}

std::vector<device::Buffer> allocate_apart(const device::Session& session, const Job& program) {
  std::vector<device::Buffer> buffers;
  for (const ProgramBuffer& buffer : program.buffers) {
    buffers.push_back(buffer.in_arena() ? allocate(session, buffer.bytes) : device::Buffer());
  }
  return buffers;
}

void fill(const device::Session& session, const device::Buffer& to, std::uint64_t offset, std::uint64_t bytes,
          std::span<const std::byte> pattern, device::Event* event) {
  require(session.fill(to, offset, bytes, pattern, event), "filling device memory");
}

void clear(const device::Session& session, const device::Buffer& to, std::uint64_t offset,
           std::uint64_t bytes) {
  constexpr std::byte zero{0};
  if (bytes != 0) {
    fill(session, to, offset, bytes, std::span(&zero, 1));
  }
}

void upload(const device::Session& session, const device::Buffer& to, std::uint64_t offset,
            std::span<const std::byte> bytes, Transferred when) {
  for (std::uint64_t at = 0; at < bytes.size(); at += transfer_bytes) {
    const std::uint64_t size = std::min<std::uint64_t>(transfer_bytes, bytes.size() - at);
    require(session.write(to, offset + at, bytes.subspan(at, size), when), "writing to device memory");
  }
}

void download(const device::Session& session, const device::Buffer& from, std::uint64_t offset,
              std::span<std::byte> bytes, Transferred when) {
  for (std::uint64_t at = 0; at < bytes.size(); at += transfer_bytes) {
    const std::uint64_t size = std::min<std::uint64_t>(transfer_bytes, bytes.size() - at);
    require(session.read(from, offset + at, bytes.subspan(at, size), when), "reading device memory back");
  }
}

void fill_apart(const device::Session& session, const Job& program, const HostContents& first,
                const std::vector<device::Buffer>& memory) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (!program.buffers[i].in_arena()) {
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
