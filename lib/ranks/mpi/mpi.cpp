// The module that carries messages through MPI. tidegate loads it under mpirun alone: linked to the tool, Open MPI 4.1
// and the 11 libraries that come with it would more than double the time of an empty process (3.6 ms for 0.9 ms).
#include "ranks/ranks.hpp"

#include <mpi.h>

namespace {

// Failures of MPI end all ranks (MPI_ERRORS_ARE_FATAL, its default).
class Mpi final : public tidegate::ranks::Transport {
public:
  Mpi(const Place& own, MPI_Comm ranks) : Transport(own), ranks_(ranks) {}
  ~Mpi() override {
    MPI_Comm_free(&ranks_);
    MPI_Finalize();
  }

  void send(int to, std::span<const std::byte> bytes) override {
    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, 0, ranks_, &started());
  }

  void receive(int from, std::span<std::byte> bytes) override {
    MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, 0, ranks_, &started());
  }

  void reduce(std::span<std::uint64_t> values, tidegate::ranks::Reduction how) override {
    using tidegate::ranks::Reduction;
    MPI_Op const op = how == Reduction::sum ? MPI_SUM : how == Reduction::min ? MPI_MIN : MPI_MAX;
    MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, op, ranks_,
                   &started());
  }

  void broadcast(std::span<std::byte> bytes) override {
    MPI_Ibcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, ranks_, &started());
  }

  void all_to_all(std::span<const std::uint64_t> sent, std::span<std::uint64_t> received) override {
    MPI_Ialltoall(sent.data(), 1, MPI_UINT64_T, received.data(), 1, MPI_UINT64_T, ranks_, &started());
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
    MPI_Abort(ranks_, exit_code);
    std::_Exit(exit_code);
  }

private:
  MPI_Request& started() { return requests_.emplace_back(MPI_REQUEST_NULL); }

  MPI_Comm ranks_;
  std::vector<MPI_Request> requests_;
};

} // namespace

// The caller owns the result, whose end is the end of MPI.
extern "C" tidegate::ranks::Transport* tidegate_begin_mpi() {
  MPI_Init(nullptr, nullptr);
  tidegate::ranks::Transport::Place place;
  MPI_Comm ranks = MPI_COMM_NULL; // of our own
  MPI_Comm_dup(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(ranks, &place.rank);
  MPI_Comm_size(ranks, &place.size);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &place.local_rank);
  MPI_Comm_size(host, &place.local_size);
  MPI_Comm_free(&host);
  return new Mpi(place, ranks);
}
