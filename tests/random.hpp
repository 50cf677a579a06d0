// Random numbers of tests, the same with every standard library, and their seed.
#pragma once
#include "core/prelude.hpp"

#include <doctest/doctest.h>

namespace tidegate::test {

// The seed of a randomised test, which it prints: the same in every run, so that only a change can break a test;
// TIDEGATE_SEED sets another one or "random".
inline std::uint64_t seed() {
  const char* const given = std::getenv("TIDEGATE_SEED");
  const std::uint64_t found = given == nullptr                      ? 20'261'121
                              : std::string_view(given) == "random" ? std::random_device{}()
                                                                    : std::strtoull(given, nullptr, 10);
  MESSAGE("TIDEGATE_SEED=" << found);
  return found;
}

class Random {
public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    const std::uint64_t values = most - least + 1;
    return least + (values == 0 ? engine_() : engine_() % values);
  }
  std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(between(0, bound - 1)); }
  bool chance(std::uint64_t percent) { return below(100) < percent; }
  std::string one_of(const std::vector<std::string>& texts) { return texts[below(texts.size())]; }

private:
  std::mt19937_64 engine_;
};

} // namespace tidegate::test
