// A transport carries bytes between ranks: through MPI (mpi/mpi.cpp), or in tests through the memory of one process
// (tests/in_process_ranks.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidegate::ranks {

enum class Reduction : std::uint8_t { sum, min, max };

class Transport {
public:
  struct Place {
    int rank = 0;
    int size = 1;
    int local_rank = 0; // among the ranks of this host
    int local_size = 1;
  };

  explicit Transport(const Place& own) : place(own) {}
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
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

} // namespace tidegate::ranks
