#include "runtime/memory.hpp"

namespace tidegate::runtime {
namespace {

// Transfers are fastest for whole cache lines.
std::uint64_t in_lines(std::uint64_t bytes) {
  constexpr std::uint64_t line_bytes = 256;
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
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

HostContents::HostContents(BufferContents contents)
    : owned_(std::move(contents)), of_(owned_.begin(), owned_.end()) {}

HostContents::HostContents(const device::Session& session, BufferContents contents,
                           std::uint64_t most_pinned_bytes)
    : HostContents(std::move(contents)) {
  std::vector<std::uint64_t> sizes;
  for (const auto& bytes : owned_) {
    sizes.push_back(bytes.size());
  }
  if (HostContents copy(session, sizes, most_pinned_bytes); copy.pinned()) {
    for (std::size_t i = 0; i < owned_.size(); ++i) {
      std::ranges::copy(owned_[i], copy[i].begin());
    }
    *this = std::move(copy);
  }
}

HostContents::HostContents(const device::Session& session, const std::vector<std::uint64_t>& sizes,
                           std::uint64_t most_pinned_bytes) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t size : sizes) {
    bytes += in_lines(size);
  }
  if (!session.on_host && bytes != 0 && bytes <= most_pinned_bytes) {
    pinned_ = session.pin(bytes);
  }
  if (!pinned_) {
    block_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  }
  std::byte* at = pinned_ ? pinned_.get() : block_.get();
  for (const std::uint64_t size : sizes) {
    of_.emplace_back(at, size);
    at += in_lines(size);
  }
}

bool operator==(const HostContents& a, const HostContents& b) {
  return std::ranges::equal(a.of_, b.of_, same_bytes);
}

Arena::~Arena() {
  while (!views.empty()) {
    views.pop_back();
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
  if (programs.size() == most_programs) {
    programs.clear();
  }
  programs.insert_or_assign(key, std::move(program));
}

} // namespace tidegate::runtime
