#include "runtime/memory.hpp"

#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::runtime {
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

Arena::~Arena() {
  while (!views.empty()) {
    views.pop_back();
  }
}

void touch(const device::Session& session, const Arena& arena) {
  std::vector<device::Buffer> views;
  std::ranges::copy_if(arena.views, std::back_inserter(views), [](const auto& view) { return bool(view); });
  if (!views.empty() && !session.on_host) {
    session.migrate(views);
  }
}

void Kept::use(const std::shared_ptr<Holding>& holding) {
  holding->last_run = run;
  if (std::ranges::find(holdings, holding) == holdings.end()) {
    holdings.push_back(holding);
  }
}

std::optional<DevicePart> Kept::find(const std::string& content) {
  for (const auto& holding : holdings) {
    const auto at = std::ranges::find(holding->contents, content);
    if (!content.empty() && at != holding->contents.end()) {
      holding->last_run = run;
      return holding->arena.parts[static_cast<std::size_t>(at - holding->contents.begin())];
    }
  }
  return {};
}

bool Kept::make_room(std::uint64_t bytes, std::uint64_t budget_bytes) {
  std::uint64_t held = bytes;
  for (const auto& holding : holdings) {
    held += holding->bytes;
  }
  while (budget_bytes != 0 && held > budget_bytes) {
    const auto oldest = std::ranges::min_element(holdings, {}, &Holding::last_run);
    if (oldest == holdings.end() || (*oldest)->last_run == run) {
      return false;
    }
    held -= (*oldest)->bytes;
    holdings.erase(oldest);
  }
  return true;
}

void Kept::forget() {
  programs.clear();
  holdings.clear();
  session.reset();
}

void Kept::keep(const std::string& key, std::shared_ptr<KeptProgram> program) {
  program->last_run = run;
  programs.insert_or_assign(key, std::move(program));
  if (programs.size() > most_programs) {
    programs.erase(
        std::ranges::min_element(programs, {}, [](const auto& entry) { return entry.second->last_run; }));
  }
}

} // namespace tidegate::runtime
