// Processes that run one program together under `mpirun`, called ranks: messages between two of them, and reductions,
// gathers and broadcasts, which are made of messages. Every wait polls, so that an interrupt ends it.
#pragma once
#include "ranks/transport.hpp"
#include <tidegate/core/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::ranks {

struct Traffic {
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages = 0; // sent
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

  // Combines the values of all ranks, element by element, in an order that depends on the number of ranks alone; every
  // rank gets the result.
  using Combine = std::function<std::uint64_t(std::uint64_t, std::uint64_t)>;
  Result<void> reduce(std::span<std::uint64_t> values, const Combine& combine);

  // Every rank gets the bytes of rank 0.
  Result<void> broadcast(std::span<std::byte> bytes);

  // Rank 0 gets the bytes of all ranks, by rank, whose numbers may differ; the others get nothing.
  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes);

  // Returns when all ranks have called it.
  Result<void> barrier();

  // Ends all ranks with this exit code.
  [[noreturn]] void abort(int exit_code) {
    transport_->abort(exit_code);
    std::abort();
  }

  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

  // True while it waits for other ranks, for another thread to read.
  [[nodiscard]] const std::atomic<bool>& waiting() const { return waiting_; }

private:
  std::unique_ptr<Transport> transport_;
  Traffic traffic_;
  std::atomic<bool> waiting_ = false;
};

// A file whose bytes are on several ranks.
struct FileInParts {
  std::string path;
  std::string head;                 // of the file, before all parts
  std::vector<std::uint64_t> begin; // by rank: its first byte after the head, and the end of the last part
  std::function<void(std::uint64_t at, std::span<std::byte> bytes)> read; // of the own part
};

// Writes the file, which gets its name when all is written: each rank its part if all are processes of one host that
// can open it, otherwise rank 0 what the others send (a file system that hosts share may mix up two parts in a page).
// All ranks call it. Errors: cannot_write; as wait().
Result<void> write_in_parts(const FileInParts& file, Ranks& ranks);

// Returns the name of this machine.
std::string host_name();

// Returns gathered bytes as text.
std::string string_from(std::span<const std::byte> bytes);

// A process as its launcher describes it in the environment, before MPI is loaded.
struct Launched {
  int rank = 0;
  int size = 1;
  bool by_launcher = false; // the variables are there
};

// Returns what the variables of Open MPI, MPICH and those derived from it say; without them the process is
// the only one.
Launched launched();

// Loads the module with MPI and begins, if the launcher started several processes; otherwise returns null. Error:
// missing_program if the module is missing or cannot be loaded.
Result<std::unique_ptr<Ranks>> begin();

// Ranks in one process, for tests: each is used by its own thread. After abort() of one it and all waits of the others
// throw Aborted.
struct Aborted {
  int exit_code = 0;
};
std::vector<std::unique_ptr<Ranks>> in_process(int size, int ranks_per_host = 0); // 0: all

} // namespace tidegate::ranks
