// How much of the randomised work a build does: sanitizers make it several times slower.
#pragma once

namespace tidegate::test {

#ifdef TIDEGATE_SANITIZE
inline constexpr int scale = 8; // instances are divided by this
#else
inline constexpr int scale = 1;
#endif

} // namespace tidegate::test
