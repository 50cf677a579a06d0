#include "ranks/ranks.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace tidegate::ranks {
namespace {

// Message number n between two ranks.
using MessageKey = std::array<std::uint64_t, 3>; // from, to, n

struct Mail {
  std::mutex mutex;
  std::map<MessageKey, std::vector<std::byte>> messages;
  std::atomic<bool> aborted = false;
};

class InProcess final : public Transport {
public:
  InProcess(int own_rank, int rank_count, int per_host, std::shared_ptr<Mail> mail)
      : Transport({.rank = own_rank,
                   .size = rank_count,
                   .local_rank = own_rank % per_host,
                   .local_size = std::min(per_host, rank_count - own_rank / per_host * per_host)}),
        mail_(std::move(mail)) {}

  void send(int to, std::span<const std::byte> bytes) override {
    const std::scoped_lock lock(mail_->mutex);
    mail_->messages.emplace(key(place.rank, to, sent_[to]++), std::vector(bytes.begin(), bytes.end()));
  }

  void receive(int from, std::span<std::byte> bytes) override {
    awaited_.emplace_back(key(from, place.rank, received_[from]++), bytes);
  }

  bool idle() override {
    if (mail_->aborted) {
      throw Aborted{};
    }
    const std::scoped_lock lock(mail_->mutex);
    std::erase_if(awaited_, [this](const auto& awaited) {
      const auto found = mail_->messages.find(awaited.first);
      if (found == mail_->messages.end()) {
        return false;
      }
      if (found->second.size() != awaited.second.size()) {
        throw std::logic_error("a message has another size than the memory that awaits it");
      }
      std::ranges::copy(found->second, awaited.second.begin());
      mail_->messages.erase(found);
      return true;
    });
    return awaited_.empty();
  }

  [[noreturn]] void abort(int exit_code) override {
    mail_->aborted = true;
    throw Aborted{exit_code};
  }

private:
  static MessageKey key(int from, int to, std::uint64_t number) {
    return {static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), number};
  }

  std::shared_ptr<Mail> mail_;
  std::map<int, std::uint64_t> sent_, received_;
  std::vector<std::pair<MessageKey, std::span<std::byte>>> awaited_;
};

} // namespace

std::vector<std::unique_ptr<Ranks>> in_process(int size, int ranks_per_host) {
  const auto mail = std::make_shared<Mail>();
  std::vector<std::unique_ptr<Ranks>> all;
  const int per_host = ranks_per_host == 0 ? size : ranks_per_host;
  for (int rank = 0; rank < size; ++rank) {
    all.push_back(std::make_unique<Ranks>(std::make_unique<InProcess>(rank, size, per_host, mail)));
  }
  return all;
}

} // namespace tidegate::ranks
