// Ranks as threads of this process.
#include "../in_process_ranks.hpp"
#include "../temporary_folder.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using ranks::on_ranks;

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
      const auto sent = [&ranks] { // since the last call
        const ranks::Traffic traffic = ranks.traffic();
        ranks.count_from_here();
        return std::pair(traffic.bytes_sent, traffic.messages);
      };
      const std::uint64_t others = all - 1, several = all == 1 ? 0 : 1;
      std::vector<std::uint64_t> values{own, 100 - own};
      CHECK(ranks.reduce(values, ranks::Reduction::sum));
      CHECK(values == std::vector{all * (all - 1) / 2, 100 * all - all * (all - 1) / 2});
      CHECK(sent() == std::pair(16 * several, several));
      CHECK(*ranks.reduce(own, ranks::Reduction::min) == 0);
      CHECK(*ranks.reduce(own, ranks::Reduction::max) == all - 1);
      CHECK(sent() == std::pair(16 * several, 2 * several));

      std::vector<std::vector<std::uint32_t>> parcels(
          all); // each rank gets its number as often as the sender's is high
      for (std::uint32_t to = 0; to < parcels.size(); ++to) {
        parcels[to].assign(own, to);
      }
      const auto received = ranks.exchange(std::move(parcels));
      CHECK(received);
      for (std::size_t from = 0; from < received->size(); ++from) {
        CHECK((*received)[from] == std::vector(from, static_cast<std::uint32_t>(own)));
      }
      CHECK(sent() == std::pair(others * (8 + 4 * own),
                                others * (own == 0 ? 1 : 2))); // a size, and a parcel if there is one

      std::uint64_t word = ranks.rank() == 0 ? 77 : 0;
      CHECK(ranks.broadcast(std::as_writable_bytes(std::span(&word, 1))));
      CHECK(word == 77);
      CHECK(sent() == (own == 0 ? std::pair(8 * others, others) : std::pair<std::uint64_t, std::uint64_t>()));

      const std::string text(own, static_cast<char>('a' + own)); // rank 0 has none
      const auto gathered = ranks.gather(text);
      CHECK(gathered);
      CHECK(gathered->size() == (ranks.rank() == 0 ? all : 0));
      for (std::size_t i = 0; i < gathered->size(); ++i) {
        CHECK((*gathered)[i] == std::string(i, static_cast<char>('a' + i)));
      }
      CHECK(sent().first == 8 * others + own); // rank 0's text stays where it is
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

TEST_CASE("rank 0 writes a file from the parts of all ranks") {
  const tidegate::test::TemporaryFolder folder;
  const std::vector<std::uint64_t> begin{0, 100, 100, 1000, 4096};
  const auto byte_at = [](std::uint64_t at) { return static_cast<std::byte>(at * 7 % 251); };
  std::string whole = "head";
  for (std::uint64_t at = 0; at < begin.back(); ++at) {
    whole += static_cast<char>(byte_at(at));
  }
  const auto write = [&](ranks::Ranks& ranks) {
    const auto own = static_cast<std::size_t>(ranks.rank());
    return ranks::write_in_parts(folder.file("parts"), "head",
                                 {.begin = begin,
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
  std::atomic<std::uint64_t> sent = 0;
  on_ranks(4, [&](ranks::Ranks& ranks) {
    CHECK(write(ranks));
    sent += ranks.traffic().bytes_sent;
  });
  CHECK(tidegate::test::contents(folder.file("parts")) == whole);
  CHECK(files() == 1);
  CHECK(sent == 4096 - 100);
  std::filesystem::remove(folder.file("parts"));
  // A rank that gives up before it has written leaves nothing.
  on_ranks(4, [&](ranks::Ranks& ranks) {
    if (ranks.rank() == 2) {
      ranks.abort(4);
    }
    (void)write(ranks);
  });
  CHECK(files() == 0);
}

TEST_CASE("launchers are known by their variables") {
  using Variables = std::vector<std::pair<const char*, const char*>>;
  const auto launched = [](const Variables& set) {
    for (const char* const name :
         {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK", "SLURM_PROCID",
          "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID"}) {
      ::unsetenv(name);
    }
    for (const auto& [name, value] : set) {
      ::setenv(name, value, 1);
    }
    const ranks::Launched found = ranks::launched();
    for (const auto& [name, value] : set) {
      ::unsetenv(name);
    }
    return std::vector<int>{found.rank, found.size, found.by_launcher ? 1 : 0};
  };
  for (
      const auto& [set, found] : std::vector<std::pair<Variables, std::vector<int>>>{
          {{}, {0, 1, 0}},
          {{{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "2"}}, {2, 4, 1}},
          {{{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}}, {1, 3, 1}},
          // srun, with and without PMIx; a shell of salloc, which may be a step of one task; a script of sbatch.
          {{{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "2"}}, {1, 2, 1}},
          {{{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"PMIX_RANK", "0"}}, {0, 2, 1}},
          {{{"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "77"}}, {0, 1, 0}},
          {{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "1"}}, {0, 1, 1}},
          {{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "77"}}, {0, 1, 0}},
          {{{"PMIX_RANK", "1"}}, {1, 0, 1}}}) { // of how many, MPI knows
    CHECK(launched(set) == found);
  }
}
