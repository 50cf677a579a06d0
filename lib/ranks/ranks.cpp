#include "ranks/ranks.hpp"

#include "core/duration.hpp"
#include "core/files.hpp"
#include "core/interrupt.hpp"
#include <tidegate/core/text.hpp>

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace tidegate::ranks {
namespace {

// MPI counts bytes in an int.
constexpr std::size_t most_message_bytes = std::size_t{1} << 30U;

// Calls `use` with each part of the bytes that fits a message.
template <class Byte, class Use>
void in_messages(std::span<Byte> bytes, const Use& use) {
  for (std::size_t at = 0; at < bytes.size(); at += most_message_bytes) {
    use(bytes.subspan(at, std::min(most_message_bytes, bytes.size() - at)));
  }
}

} // namespace

void Ranks::send(int to, std::span<const std::byte> bytes) {
  in_messages(bytes, [&](std::span<const std::byte> part) {
    transport_->send(to, part);
    traffic_.bytes_sent += part.size();
    ++traffic_.messages;
  });
}

void Ranks::receive(int from, std::span<std::byte> bytes) {
  in_messages(bytes, [&](std::span<std::byte> part) { transport_->receive(from, part); });
}

Result<void> Ranks::wait(const std::function<bool()>& works) {
  const auto start = std::chrono::steady_clock::now();
  waiting_ = true;
  constexpr int polls_before_yields = 1000; // ranks may share a core
  constexpr std::uint64_t before_sleeps_ns = 5'000'000;
  constexpr std::chrono::microseconds sleep{50};
  constexpr int polls_between_looks = 8;
  auto waiting_since = start;
  bool working = works != nullptr;
  for (int polls = 0; !transport_->idle(); ++polls) {
    if (working && polls % polls_between_looks == 0) {
      working = works();
      waiting_since = std::chrono::steady_clock::now();
    }
    if (InterruptWatch::interrupted()) {
      return failure(ErrorCode::interrupted, "interrupted while waiting for another rank", "run it again");
    }
    if (polls >= polls_before_yields && elapsed_ns(start) >= before_sleeps_ns) {
      std::this_thread::sleep_for(sleep);
    } else if (polls >= polls_before_yields) {
      std::this_thread::yield();
    }
  }
  waiting_ = false;
  traffic_.waiting_ns += working ? 0 : elapsed_ns(waiting_since);
  return {};
}

// A binomial tree: in round k the ranks whose lowest set bit is k hand their values to the rank without that bit.
Result<void> Ranks::reduce(std::span<std::uint64_t> values, const Combine& combine) {
  std::vector<std::uint64_t> other(values.size());
  for (int bit = 1; bit < size(); bit *= 2) {
    if ((rank() & bit) != 0) {
      send(rank() - bit, std::as_bytes(values));
      TIDEGATE_CHECK(wait());
      break;
    }
    if (rank() + bit < size()) {
      receive(rank() + bit, std::as_writable_bytes(std::span(other)));
      TIDEGATE_CHECK(wait());
      std::ranges::transform(values, other, values.begin(), combine);
    }
  }
  return broadcast(std::as_writable_bytes(values));
}

// The same tree from its root: a rank receives from the rank without its lowest set bit, then serves lower bits.
Result<void> Ranks::broadcast(std::span<std::byte> bytes) {
  int bit = 1;
  while (bit < size() && (rank() & bit) == 0) {
    bit *= 2;
  }
  if (rank() != 0) {
    receive(rank() - bit, bytes);
    TIDEGATE_CHECK(wait());
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (rank() + bit < size()) {
      send(rank() + bit, bytes);
    }
  }
  return wait();
}

Result<std::vector<std::vector<std::byte>>> Ranks::gather(std::span<const std::byte> bytes) {
  std::vector<std::vector<std::byte>> all;
  std::uint64_t count = bytes.size();
  if (rank() != 0) {
    send(0, std::as_bytes(std::span(&count, 1)));
    send(0, bytes);
    TIDEGATE_CHECK(wait());
    return all;
  }
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(size()), count);
  for (int from = 1; from < size(); ++from) {
    receive(from, std::as_writable_bytes(std::span(&counts[static_cast<std::size_t>(from)], 1)));
  }
  TIDEGATE_CHECK(wait());
  all.emplace_back(bytes.begin(), bytes.end());
  for (int from = 1; from < size(); ++from) {
    receive(from, all.emplace_back(counts[static_cast<std::size_t>(from)]));
  }
  TIDEGATE_CHECK(wait());
  return all;
}

Result<void> Ranks::barrier() {
  std::uint64_t nothing = 0;
  return reduce(std::span(&nothing, 1), [](std::uint64_t, std::uint64_t) { return 0; });
}

namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// An output that rank 0 opens, and the others if all can: then each writes its part.
struct Opened {
  std::optional<Output> output;
  bool by_all = false;
};

Result<Opened> open_together(const std::string& path, Ranks& ranks) {
  constexpr std::size_t most_name = PATH_MAX + 64;
  std::array<char, most_name> name{}; // ends with a zero
  Opened opened;
  if (ranks.rank() == 0) {
    TIDEGATE_TRY(opened.output, Output::open(path, FileKinds::no_named_pipes));
    const std::string shared = opened.output->shared_name();
    if (ranks.place().local_size == ranks.size() && shared.size() < name.size()) {
      std::ranges::copy(shared, name.begin());
    }
  }
  TIDEGATE_CHECK(ranks.broadcast(std::as_writable_bytes(std::span(name))));
  if (ranks.rank() != 0) {
    opened.output = Output::join(path, name.data());
  }
  std::uint64_t joined = opened.output && name.front() != '\0' ? 1 : 0;
  TIDEGATE_CHECK(ranks.reduce(std::span(&joined, 1), [](std::uint64_t a, std::uint64_t b) { return a & b; }));
  opened.by_all = joined != 0;
  return opened;
}

// Calls `use` with each block of a rank's part, and memory for it.
template <class Use>
Result<void> each_block(const FileInParts& file, std::size_t rank, const Use& use) {
  constexpr std::uint64_t most = std::uint64_t{64} << 20U;
  const std::uint64_t end = file.begin[rank + 1];
  std::vector<std::byte> block(std::min(end - file.begin[rank], most));
  for (std::uint64_t at = file.begin[rank]; at < end; at += most) {
    TIDEGATE_CHECK(use(at, std::span(block).first(std::min(most, end - at))));
  }
  return {};
}

} // namespace

Result<void> write_in_parts(const FileInParts& file, Ranks& ranks) {
  using Block = std::span<std::byte>;
  const auto own = static_cast<std::size_t>(ranks.rank());
  TIDEGATE_TRY(Opened opened, open_together(file.path, ranks));
  std::optional<Output>& output = opened.output;
  if (own == 0) {
    TIDEGATE_CHECK(output->write(file.head));
  }
  if (opened.by_all) {
    TIDEGATE_CHECK(each_block(file, own, [&](std::uint64_t at, Block block) {
      file.read(at, block);
      return output->write_at(file.head.size() + at, text_of(block));
    }));
    TIDEGATE_CHECK(ranks.barrier());
    return own == 0 ? output->commit() : Result<void>();
  }
  if (own != 0) {
    return each_block(file, own, [&](std::uint64_t at, Block block) {
      file.read(at, block);
      ranks.send(0, block);
      return ranks.wait();
    });
  }
  for (std::size_t from = 0; from + 1 < file.begin.size(); ++from) {
    TIDEGATE_CHECK(each_block(file, from, [&](std::uint64_t at, Block block) {
      if (from == 0) {
        file.read(at, block);
      } else {
        ranks.receive(static_cast<int>(from), block);
      }
      return ranks.wait().and_then([&] { return output->write(text_of(block)); });
    }));
  }
  return output->commit();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string string_from(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Launched launched() {
  constexpr std::array<std::array<const char*, 2>, 2> launchers{
      {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}}};
  for (const auto& [rank, size] : launchers) {
    const char* const own = std::getenv(rank);
    const char* const all = std::getenv(size);
    if (own != nullptr && all != nullptr) {
      return {.rank = std::atoi(own), .size = std::atoi(all), .by_launcher = true};
    }
  }
  return {};
}

namespace {

// The module is in the tool's folder of libraries where it is installed, and next to the binary in a build tree.
std::array<std::filesystem::path, 2> module_paths() {
  constexpr const char* name = "libtidegate_mpi.so";
  std::error_code unreadable;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", unreadable).parent_path();
  return {(folder / TIDEGATE_MODULE_FOLDER / name).lexically_normal(), folder / name};
}

} // namespace

Result<std::unique_ptr<Ranks>> begin() {
  if (launched().size <= 1) {
    return nullptr;
  }
  // mpirun kills the process that waits for this one. A gentler signal comes first, but a rank that waits inside of MPI
  // does not look at it. Outputs have no name until they are whole, so a killed rank leaves no file.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto paths = module_paths();
  std::error_code unknown;
  const auto path =
      std::ranges::find_if(paths, [&](const auto& each) { return std::filesystem::exists(each, unknown); });
  if (path == paths.end()) {
    return failure(ErrorCode::missing_program,
                   fmt::format("several processes were started, and the module for MPI is missing: there is "
                               "neither {} nor {}",
                               paths[0].string(), paths[1].string()),
                   "put it there (-DTIDEGATE_MPI=ON builds it), or start one process");
  }
  // Open MPI loads modules that expect its symbols among those of the process.
  void* const module = ::dlopen(path->c_str(), RTLD_NOW | RTLD_GLOBAL);
  using Begin = Transport*();
  auto* const make =
      module == nullptr ? nullptr : reinterpret_cast<Begin*>(::dlsym(module, "tidegate_begin_mpi"));
  if (make == nullptr) {
    return failure(ErrorCode::missing_program, fmt::format("MPI cannot be loaded: {}", ::dlerror()),
                   "install the MPI library that tidegate was built with");
  }
  return std::make_unique<Ranks>(std::unique_ptr<Transport>(make()));
}

} // namespace tidegate::ranks
