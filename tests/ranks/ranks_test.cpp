// Ranks as threads of this process.
#include "../temporary_folder.hpp"
#include "ranks/ranks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

using namespace tidegate;

namespace {

void on_ranks(int size, const std::function<void(ranks::Ranks&)>& work, int ranks_per_host = 0) {
  const auto all = ranks::in_process(size, ranks_per_host);
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

TEST_CASE("a rank waits while its device works no more") {
  for (const bool works : {true, false}) {
    std::atomic<bool> asked = false;
    std::uint64_t waiting_ns = 0;
    on_ranks(2, [&](ranks::Ranks& ranks) {
      std::byte byte{1};
      if (ranks.rank() == 0) {
        asked.wait(false); // so that the other one waits
        ranks.send(1, std::span(&byte, 1));
        CHECK(ranks.wait());
        return;
      }
      ranks.receive(0, std::span(&byte, 1));
      CHECK(ranks.wait([&] {
        asked = true;
        asked.notify_one();
        return works;
      }));
      waiting_ns = ranks.traffic().waiting_ns;
    });
    CHECK((waiting_ns == 0) == works);
  }
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

TEST_CASE("ranks of one host write their parts of a file, those of several send them to rank 0") {
  const tidegate::test::TemporaryFolder folder;
  const std::vector<std::uint64_t> begin{0, 100, 100, 1000, 4096};
  const auto byte_at = [](std::uint64_t at) { return static_cast<std::byte>(at * 7 % 251); };
  std::string whole = "head";
  for (std::uint64_t at = 0; at < begin.back(); ++at) {
    whole += static_cast<char>(byte_at(at));
  }
  const auto write = [&](ranks::Ranks& ranks) {
    const auto own = static_cast<std::size_t>(ranks.rank());
    return ranks::write_in_parts({.path = folder.file("parts"),
                                  .head = "head",
                                  .begin = begin,
                                  .read =
                                      [&](std::uint64_t at, std::span<std::byte> bytes) {
                                        CHECK(at >= begin[own]);
                                        CHECK(at + bytes.size() <= begin[own + 1]);
                                        for (std::byte& byte : bytes) {
                                          byte = byte_at(at++);
                                        }
                                      }},
                                 ranks);
  };
  const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder.path()), {}); };
  for (const int ranks_per_host : {4, 2}) {
    std::atomic<std::uint64_t> sent = 0;
    on_ranks(
        4,
        [&](ranks::Ranks& ranks) {
          CHECK(write(ranks));
          sent += ranks.traffic().bytes_sent;
        },
        ranks_per_host);
    CHECK(tidegate::test::contents(folder.file("parts")) == whole);
    CHECK(files() == 1);
    constexpr std::uint64_t agreed =
        3 * (PATH_MAX + 64) + 8 * 3 * 2; // the name, a bit of each, and its answer
    CHECK(sent == agreed + (ranks_per_host == 4 ? 8 * 3 * 2 : 4096 - 100));
    std::filesystem::remove(folder.file("parts"));
  }
  // A rank that gives up before it has written leaves nothing.
  on_ranks(4, [&](ranks::Ranks& ranks) {
    try {
      if (ranks.rank() == 2) {
        ranks.abort(4);
      }
      (void)write(ranks);
    } catch (const ranks::Aborted&) {
    }
  });
  CHECK(files() == 0);
}
