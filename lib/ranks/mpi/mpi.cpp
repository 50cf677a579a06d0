// The module that carries messages through MPI. tidegate loads it under mpirun alone: linked to the tool, Open MPI 4.1
// and the 11 libraries that come with it would more than double the time of an empty process (3.6 ms for 0.9 ms).
#include "ranks/transport.hpp"

#include <mpi.h>

#include <cstdlib>
#include <vector>

namespace {

// Failures of MPI end all ranks (MPI_ERRORS_ARE_FATAL, its default).
class Mpi final : public tidegate::ranks::Transport {
public:
  using Transport::Transport;
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
  ~Mpi() override { MPI_Finalize(); }

  void send(int to, std::span<const std::byte> bytes) override {
    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, 0, MPI_COMM_WORLD, &started());
  }

  void receive(int from, std::span<std::byte> bytes) override {
    MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, 0, MPI_COMM_WORLD, &started());
  }

  bool idle() override {
    int all = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE);
    if (all != 0) {
      requests_.clear();
    }
    return all != 0;
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

private:
  MPI_Request& started() { return requests_.emplace_back(MPI_REQUEST_NULL); }

  std::vector<MPI_Request> requests_;
};

} // namespace

// The caller owns the result, whose end is the end of MPI.
extern "C" tidegate::ranks::Transport* tidegate_begin_mpi() {
  MPI_Init(nullptr, nullptr);
  tidegate::ranks::Transport::Place place;
  MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &place.size);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &place.local_rank);
  MPI_Comm_size(host, &place.local_size);
  MPI_Comm_free(&host);
  return new Mpi(place);
}
