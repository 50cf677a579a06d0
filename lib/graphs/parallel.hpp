// Work on a few threads: the same function on each, or the numbers below a count shared out among them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tidegate::graphs {

// As many threads as asked for, or with 0 as the machine has.
inline unsigned thread_count(unsigned wanted) {
  return wanted != 0 ? wanted : std::max(std::thread::hardware_concurrency(), 1U);
}

// Calls work(i) for every i below `threads`, each on a thread of its own, and rethrows the first exception.
template <class Work>
void on_threads(unsigned threads, Work work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto guarded = [&](unsigned i) {
    try {
      work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = failure ? failure : std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) {
      others.emplace_back(guarded, i);
    }
    guarded(0);
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

// Calls work(i) for every i below `count`, whichever thread is free.
template <class Work>
void for_each_index(unsigned threads, std::size_t count, Work work) {
  std::atomic<std::size_t> next = 0;
  on_threads(
      static_cast<unsigned>(std::min<std::size_t>(std::max(threads, 1U), std::max<std::size_t>(count, 1))),
      [&](unsigned) {
        for (std::size_t i = next++; i < count; i = next++) {
          work(i);
        }
      });
}

} // namespace tidegate::graphs
