// Bytes of buffers on their way between ranks, through two blocks of host memory, which are pinned where that helps:
// one is read from the device and sent, the other one is received and written. Between begin() and end() the device may
// run what needs none of them.
//
//   device   | reads | inner work-groups …           | writes | work-groups at the borders
//   host             | sends, receives ----- waits - |
#pragma once
#include "device/session.hpp"
#include "ranks/ranks.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tidegate::engine {

class RankExchange {
public:
  // Bytes of device memory that go to a rank, or come from it.
  struct Piece {
    int rank = 0;
    device::Buffer memory;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  // References must outlive it.
  RankExchange(const device::Session& session, ranks::Ranks& ranks) : session_(session), ranks_(ranks) {}
  RankExchange(const RankExchange&) = delete;
  RankExchange& operator=(const RankExchange&) = delete;
  // Waits for the transfers that still use its memory.
  ~RankExchange();

  // Enqueues the reads. Throws device::Refused, as send() and end() do.
  void begin(std::vector<Piece> sent, std::vector<Piece> received);

  // Waits for the reads.
  void arrive();

  // Starts all messages after that; Ranks::wait() waits for these.
  void send();

  // Enqueues the writes of the received bytes.
  void end();

private:
  // Host memory, which grows with what it has to hold.
  class Block {
  public:
    std::byte* room(const device::Session& session, std::uint64_t bytes);

  private:
    std::uint64_t bytes_ = 0;
    std::shared_ptr<std::byte> pinned_;
    std::unique_ptr<std::byte[]> plain_;
  };

  const device::Session& session_;
  ranks::Ranks& ranks_;
  Block out_, in_;
  std::vector<Piece> sent_, received_;
  std::vector<std::span<std::byte>> bytes_sent_, bytes_received_;
  device::Event read_;
  bool under_way_ = false; // transfers of the device
};

} // namespace tidegate::engine
