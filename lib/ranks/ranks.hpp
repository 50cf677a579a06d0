// Processes that run one program together under `mpirun`, called ranks: messages between two of them, and collectives of
// all. Every wait polls, so that an interrupt ends it.
#pragma once
#include "core/prelude.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::ranks {

// A transport carries bytes between ranks: through MPI (mpi/mpi.cpp), or in tests through the memory of one process
// (tests/in_process_ranks.hpp).
enum class Reduction : std::uint8_t { sum, min, max };

class Transport : NotCopied {
public:
  struct Place {
    int rank = 0;
    int size = 1;
    int local_rank = 0; // among the ranks of this host
    int local_size = 1;
  };

  explicit Transport(const Place& own) : place(own) {}
  virtual ~Transport() = default;

  const Place place;

  // All return at once; the memory stays until idle() returns true. Messages between two ranks arrive in the order in
  // which they were sent, and each fits the memory that awaits it.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  virtual void receive(int from, std::span<std::byte> bytes) = 0;

  // All ranks call these in the same order: as MPI_Allreduce, MPI_Bcast from rank 0, and MPI_Alltoall of one number.
  virtual void reduce(std::span<std::uint64_t> values, Reduction how) = 0;
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  virtual void all_to_all(std::span<const std::uint64_t> sent, std::span<std::uint64_t> received) = 0;

  // Makes progress. Returns true if no message is under way.
  virtual bool idle() = 0;

  // Ends all ranks with this exit code.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

struct Traffic {
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages =
      0; // sent; one for each rank that a collective hands bytes to, and one for a reduction
  std::uint64_t waiting_ns = 0;
};

class Ranks {
public:
  explicit Ranks(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  [[nodiscard]] int rank() const { return transport_->place.rank; }
  [[nodiscard]] int size() const { return transport_->place.size; }
  [[nodiscard]] const Transport::Place& place() const { return transport_->place; }

  // Start a message; the memory stays until wait() returns. Messages between two ranks arrive in order.
  void send(int to, std::span<const std::byte> bytes);
  void receive(int from, std::span<std::byte> bytes);

  // Waits for all messages that were started. As long as this rank `works` meanwhile, on its device, that is not
  // waiting time. Error: interrupted; then messages are still under way, and the rank ends.
  Result<void> wait(const std::function<bool()>& works = {});

  // All ranks call these with equal sizes, in the same order. Errors: as wait().

  // Combines the values of all ranks, element by element; every rank gets the result.
  Result<void> reduce(std::span<std::uint64_t> values, Reduction how);
  Result<std::uint64_t> reduce(std::uint64_t value, Reduction how) {
    return reduce(std::span(&value, 1), how).map([&value] { return value; });
  }

  // Every rank gets the bytes of rank 0.
  Result<void> broadcast(std::span<std::byte> bytes);

  // Each rank gets what the others have for it, by rank.
  template <class T>
  Result<std::vector<std::vector<T>>> exchange(std::vector<std::vector<T>> sent) {
    std::vector<std::uint64_t> sizes, sizes_of_others(sent.size());
    std::ranges::transform(sent, std::back_inserter(sizes), &std::vector<T>::size);
    TIDEGATE_CHECK(all_to_all(sizes, sizes_of_others));
    std::vector<std::vector<T>> received(sent.size());
    const auto own = static_cast<std::size_t>(rank());
    received[own] = std::move(sent[own]);
    for (std::size_t other = 0; other < sent.size(); ++other) {
      if (other != own) {
        received[other].resize(sizes_of_others[other]);
        receive(static_cast<int>(other), std::as_writable_bytes(std::span(received[other])));
        send(static_cast<int>(other), std::as_bytes(std::span(sent[other])));
      }
    }
    TIDEGATE_CHECK(wait());
    return received;
  }

  // Rank 0 gets what all ranks have, by rank, whose numbers may differ; the others get nothing.
  template <class T>
  Result<std::vector<std::vector<T>>> gather(std::span<const T> own) {
    std::vector<std::vector<T>> sent(static_cast<std::size_t>(size()));
    sent.front().assign(own.begin(), own.end());
    TIDEGATE_TRY(auto all, exchange(std::move(sent)));
    return rank() == 0 ? std::move(all) : std::vector<std::vector<T>>();
  }
  Result<std::vector<std::string>> gather(std::string_view text);

  // Returns when all ranks have called it.
  Result<void> barrier();

  // Ends all ranks with this exit code.
  [[noreturn]] void abort(int exit_code) {
    transport_->abort(exit_code);
    std::abort();
  }

  // Since the last call of count_from_here().
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }
  void count_from_here() { traffic_ = {}; }

  // True while it waits for other ranks, for another thread to read.
  [[nodiscard]] const std::atomic<bool>& waiting() const { return waiting_; }

private:
  Result<void> all_to_all(std::span<const std::uint64_t> sent, std::span<std::uint64_t> received);
  void count(std::uint64_t bytes, int messages) {
    traffic_.bytes_sent += bytes;
    traffic_.messages += static_cast<std::uint64_t>(messages);
  }

  std::unique_ptr<Transport> transport_;
  Traffic traffic_;
  std::atomic<bool> waiting_ = false;
};

// Bytes in a row, of which each rank has a part.
struct BytesInParts {
  std::vector<std::uint64_t> begin; // by rank: its first byte, and the end of the last part
  std::function<void(std::uint64_t at, std::span<std::byte> bytes)> read; // of the own part
};
using TakeBytes = std::function<Result<void>(std::uint64_t at, std::span<const std::byte> bytes)>;

// Rank 0 takes all bytes in their order, in blocks. All ranks call it. Errors: of `take`; as wait().
Result<void> collect(const BytesInParts& parts, Ranks& ranks, const TakeBytes& take);

// Rank 0 writes a file of a head and these bytes, which gets its name when all is written. All ranks call it. Errors:
// cannot_write; as wait().
Result<void> write_in_parts(const std::string& path, const std::string& head, const BytesInParts& parts,
                            Ranks& ranks);

// Returns the name of this machine.
std::string host_name();

// A process as its launcher describes it in the environment, before MPI is loaded.
struct Launched {
  int rank = 0;
  int size = 1;             // 0: the launcher has not said how many, which may be one
  bool by_launcher = false; // the variables are there

  [[nodiscard]] bool several() const { return size != 1; }
};

// Returns what the variables say of Open MPI, MPICH and those derived from it, MVAPICH, a step of Slurm (srun), and
// PMIx. Without them the process is the only one: so it is in the shell of salloc and in the script of sbatch.
Launched launched();

// Loads the module with MPI and begins, if the launcher started several processes; otherwise returns null. Error:
// missing_program if the module is missing, cannot be loaded, or counts other processes than the launcher.
Result<std::unique_ptr<Ranks>> begin();

} // namespace tidegate::ranks
