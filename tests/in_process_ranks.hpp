// Ranks in one process: each is used by its own thread. After abort() of one it and all waits of the others throw Aborted.
#pragma once
#include "ranks/ranks.hpp"

namespace tidegate::ranks {

struct Aborted {
  int exit_code = 0;
};

// Message number n between two ranks.
using MessageKey = std::array<std::uint64_t, 3>; // from, to, n

// A collective: what each rank has brought.
struct Round {
  std::map<int, std::vector<std::byte>> brought;
  int left = 0; // ranks that have read it
};

struct Mail {
  std::mutex mutex;
  std::map<std::uint64_t, Round> rounds;
  std::map<MessageKey, std::vector<std::byte>> messages;
  std::atomic<bool> aborted = false;
};

class InProcess final : public Transport {
public:
  InProcess(int rank, int size, std::shared_ptr<Mail> mail)
      : Transport({.rank = rank, .size = size, .local_rank = rank, .local_size = size}),
        mail_(std::move(mail)) {}

  void send(int to, std::span<const std::byte> bytes) override {
    const std::scoped_lock lock(mail_->mutex);
    mail_->messages.emplace(key(place.rank, to, sent_[to]++), std::vector(bytes.begin(), bytes.end()));
  }

  void receive(int from, std::span<std::byte> bytes) override {
    awaited_.emplace_back(key(from, place.rank, received_[from]++), bytes);
  }

  void reduce(std::span<std::uint64_t> values, Reduction how) override {
    const auto all = meet(std::as_bytes(values));
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (int rank = 0; rank < place.size; ++rank) {
        const std::uint64_t other = word(all.at(rank), i);
        values[i] = rank == 0               ? other
                    : how == Reduction::sum ? values[i] + other
                    : how == Reduction::min ? std::min(values[i], other)
                                            : std::max(values[i], other);
      }
    }
  }

  void broadcast(std::span<std::byte> bytes) override {
    const auto all = meet(place.rank == 0 ? bytes : std::span<std::byte>());
    std::ranges::copy(all.at(0), bytes.begin());
  }

  void all_to_all(std::span<const std::uint64_t> sent, std::span<std::uint64_t> received) override {
    const auto all = meet(std::as_bytes(sent));
    for (std::size_t rank = 0; rank < received.size(); ++rank) {
      received[rank] = word(all.at(static_cast<int>(rank)), static_cast<std::size_t>(place.rank));
    }
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
  static std::uint64_t word(const std::vector<std::byte>& bytes, std::size_t index) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
    return value;
  }

  // Returns what all ranks have brought, once all are there.
  std::map<int, std::vector<std::byte>> meet(std::span<const std::byte> own) {
    const std::uint64_t number = rounds_++;
    const auto size = static_cast<std::size_t>(place.size);
    {
      const std::scoped_lock lock(mail_->mutex);
      mail_->rounds[number].brought.emplace(place.rank, std::vector(own.begin(), own.end()));
    }
    for (; !mail_->aborted; std::this_thread::yield()) {
      const std::scoped_lock lock(mail_->mutex);
      Round& round = mail_->rounds.at(number);
      if (round.brought.size() == size) {
        auto all = round.brought;
        if (++round.left == place.size) {
          mail_->rounds.erase(number);
        }
        return all;
      }
    }
    throw Aborted{};
  }

  static MessageKey key(int from, int to, std::uint64_t number) {
    return {static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), number};
  }

  std::shared_ptr<Mail> mail_;
  std::map<int, std::uint64_t> sent_, received_;
  std::uint64_t rounds_ = 0;
  std::vector<std::pair<MessageKey, std::span<std::byte>>> awaited_;
};

inline std::vector<std::unique_ptr<Ranks>> in_process(int size) {
  const auto mail = std::make_shared<Mail>();
  std::vector<std::unique_ptr<Ranks>> all;
  for (int rank = 0; rank < size; ++rank) {
    all.push_back(std::make_unique<Ranks>(std::make_unique<InProcess>(rank, size, mail)));
  }
  return all;
}

// Calls work(rank) in a thread for each rank, which ends once a rank has aborted.
template <class Work>
void on_ranks(int size, const Work& work) {
  const auto all = in_process(size);
  std::vector<std::jthread> threads;
  for (const auto& one : all) {
    threads.emplace_back([&work, &one] {
      try {
        work(*one);
      } catch (const Aborted&) {
      }
    });
  }
}

} // namespace tidegate::ranks
