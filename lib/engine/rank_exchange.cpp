#include "engine/rank_exchange.hpp"

#include "engine/device_memory.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tidegate::engine {
namespace {

constexpr std::uint64_t most_pinned = std::uint64_t{64} << 20U; // bytes: halos are far smaller

std::uint64_t sum_of(const std::vector<RankExchange::Piece>& pieces) {
  std::uint64_t bytes = 0;
  for (const auto& piece : pieces) {
    bytes += piece.bytes;
  }
  return bytes;
}

std::vector<std::span<std::byte>> in_a_row(std::byte* at, const std::vector<RankExchange::Piece>& pieces) {
  std::vector<std::span<std::byte>> parts;
  for (const auto& piece : pieces) {
    parts.emplace_back(at, piece.bytes);
    at += piece.bytes;
  }
  return parts;
}

} // namespace

std::byte* RankExchange::Block::room(const device::Session& session, std::uint64_t bytes) {
  if (bytes > bytes_) {
    device::require(session.finish(), "exchanging halos"); // transfers may still use the smaller block
    pinned_ = session.on_host || bytes > most_pinned ? nullptr : session.pin(bytes);
    plain_ = pinned_ ? nullptr : std::unique_ptr<std::byte[]>(new std::byte[bytes]);
    bytes_ = bytes;
  }
  return pinned_ ? pinned_.get() : plain_.get();
}

RankExchange::~RankExchange() {
  if (under_way_) {
    std::ignore = session_.finish();
  }
}

void RankExchange::begin(std::vector<Piece> sent, std::vector<Piece> received) {
  sent_ = std::move(sent);
  received_ = std::move(received);
  bytes_sent_ = in_a_row(out_.room(session_, sum_of(sent_)), sent_);
  bytes_received_ = in_a_row(in_.room(session_, sum_of(received_)), received_);
  under_way_ = true;
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    download(session_, sent_[i].memory, sent_[i].offset, bytes_sent_[i], Transferred::later);
  }
  device::require(session_.mark(read_), "reading halos");
  device::require(session_.flush(), "reading halos");
}

void RankExchange::arrive() {
  // What was written in the exchange before is done, too, so its block is free.
  device::require(session_.wait(read_), "reading halos");
}

void RankExchange::send() {
  for (std::size_t i = 0; i < received_.size(); ++i) {
    ranks_.receive(received_[i].rank, bytes_received_[i]);
  }
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    ranks_.send(sent_[i].rank, bytes_sent_[i]);
  }
}

void RankExchange::end() {
  for (std::size_t i = 0; i < received_.size(); ++i) {
    upload(session_, received_[i].memory, received_[i].offset, bytes_received_[i], Transferred::later);
  }
}

} // namespace tidegate::engine
