#include <tidegate/device/handles.hpp>
#include <tidegate/run/compiled.hpp>
#include <tidegate/run/host_contents.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tidegate::run {
namespace {

// Transfers are fastest from and to whole lines of memory.
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

} // namespace tidegate::run
