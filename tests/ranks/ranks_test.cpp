// Ranks as threads of this process.
#include "ranks/ranks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

using namespace tidegate;

namespace {

void on_ranks(int size, const std::function<void(ranks::Ranks&)>& work) {
  const auto all = ranks::in_process(size);
  std::vector<std::jthread> threads;
  for (const auto& one : all) {
    threads.emplace_back([&work, &one] { work(*one); });
  }
}

} // namespace

TEST_CASE("messages between two ranks arrive in order") {
  std::vector<int> got(100);
  on_ranks(2, [&](ranks::Ranks& ranks) {
    std::vector<int> sent(100);
    std::iota(sent.begin(), sent.end(), 0);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (ranks.rank() == 0) {
        ranks.send(1, std::as_bytes(std::span(&sent[i], 1)));
      } else {
        ranks.receive(0, std::as_writable_bytes(std::span(&got[i], 1)));
      }
    }
    CHECK(ranks.wait());
    CHECK(ranks.traffic().messages == (ranks.rank() == 0 ? 100 : 0));
    CHECK(ranks.traffic().bytes_sent == (ranks.rank() == 0 ? 100 * sizeof(int) : 0));
  });
  CHECK(std::ranges::is_sorted(got));
  CHECK(got.back() == 99);
}

TEST_CASE("collectives of any number of ranks") {
  for (int size = 1; size <= 9; ++size) {
    CAPTURE(size);
    on_ranks(size, [size](ranks::Ranks& ranks) {
      const auto own = static_cast<std::uint64_t>(ranks.rank());
      const auto all = static_cast<std::uint64_t>(size);
      std::vector<std::uint64_t> values{own, 100 - own};
      CHECK(ranks.reduce(values, [](std::uint64_t a, std::uint64_t b) { return a + b; }));
      CHECK(values == std::vector{all * (all - 1) / 2, 100 * all - all * (all - 1) / 2});
      CHECK(ranks.reduce(values, [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); }));

      std::uint64_t word = ranks.rank() == 0 ? 77 : 0;
      CHECK(ranks.broadcast(std::as_writable_bytes(std::span(&word, 1))));
      CHECK(word == 77);

      const std::string text(own, static_cast<char>('a' + own)); // rank 0 has none
      const auto gathered = ranks.gather(std::as_bytes(std::span(text)));
      CHECK(gathered);
      CHECK(gathered->size() == (ranks.rank() == 0 ? all : 0));
      for (std::size_t i = 0; i < gathered->size(); ++i) {
        CHECK((*gathered)[i] == std::vector(i, static_cast<std::byte>('a' + i)));
      }
      CHECK(ranks.barrier());
    });
  }
}

TEST_CASE("a rank that gives up ends the waits of the others") {
  std::atomic<int> ended = 0;
  on_ranks(3, [&](ranks::Ranks& ranks) {
    try {
      if (ranks.rank() == 1) {
        ranks.abort(3);
      }
      (void)ranks.barrier();
    } catch (const ranks::Aborted&) {
      ++ended;
    }
  });
  CHECK(ended == 3);
}
