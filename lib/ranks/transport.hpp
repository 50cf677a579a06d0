// A transport carries bytes between ranks: through MPI (mpi/mpi.cpp), or in tests through the memory of one process
// (in_process.cpp).
#pragma once

#include <cstddef>
#include <span>

namespace tidegate::ranks {

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

  // Both return at once; the memory stays until idle() returns true. Messages between two ranks arrive in the order in
  // which they were sent, and each fits the memory that awaits it.
  virtual void send(int to, std::span<const std::byte> bytes) = 0;
  virtual void receive(int from, std::span<std::byte> bytes) = 0;

  // Makes progress. Returns true if no message is under way.
  virtual bool idle() = 0;

  // Ends all ranks with this exit code.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

} // namespace tidegate::ranks
