#include "engine/kept.hpp"

namespace tidegate::engine {

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

void Kept::keep(const std::string& key, std::shared_ptr<Prepared> program) {
  programs.insert_or_assign(key, Program{std::move(program), run});
  if (programs.size() > most_programs) {
    programs.erase(
        std::ranges::min_element(programs, {}, [](const auto& entry) { return entry.second.last_run; }));
  }
}

} // namespace tidegate::engine
