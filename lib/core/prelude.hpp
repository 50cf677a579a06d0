// The standard headers that most files use, and {fmt}. Internal files include this in place of lists of their own; it is
// precompiled. Installed headers include what they use. Declares the templates of {fmt} that fmt.cpp instantiates, so that
// no other file instantiates them again.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tl/expected.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cmath>
#include <compare>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace tidegate {

// A base of classes whose objects stay where they are made.
struct NotCopied {
  NotCopied() = default;
  NotCopied(const NotCopied&) = delete;
  NotCopied& operator=(const NotCopied&) = delete;
  ~NotCopied() = default;
};

} // namespace tidegate

#if FMT_VERSION < 100000 // named as in Debian 12's version 9.1
FMT_BEGIN_NAMESPACE
namespace detail {

extern template void vformat_to(buffer<char>&, string_view, format_args, locale_ref);
extern template appender write_escaped_string(appender, string_view);
extern template counting_iterator write_escaped_string(counting_iterator, string_view);

} // namespace detail
FMT_END_NAMESPACE
#endif
