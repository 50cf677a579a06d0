#include "ranks/ranks.hpp"

#include "core/files.hpp"
#include "core/interrupt.hpp"
#include <tidegate/core/text.hpp>

#include <dlfcn.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace tidegate::ranks {
namespace {

// MPI counts bytes in an int.
constexpr std::size_t most_message_bytes = std::size_t{1} << 30U;

// Calls `use` with each part that fits a message.
template <class T, class Use>
void in_messages(std::span<T> elements, const Use& use) {
  constexpr std::size_t most = most_message_bytes / sizeof(T);
  for (std::size_t at = 0; at < elements.size(); at += most) {
    use(elements.subspan(at, std::min(most, elements.size() - at)));
  }
}

} // namespace

void Ranks::send(int to, std::span<const std::byte> bytes) {
  in_messages(bytes, [&](std::span<const std::byte> part) {
    transport_->send(to, part);
    count(part.size(), 1);
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

Result<void> Ranks::reduce(std::span<std::uint64_t> values, Reduction how) {
  in_messages(values, [&](std::span<std::uint64_t> part) {
    transport_->reduce(part, how);
    count(size() == 1 ? 0 : part.size_bytes(), size() == 1 ? 0 : 1);
  });
  return wait();
}

Result<void> Ranks::broadcast(std::span<std::byte> bytes) {
  const int others = rank() == 0 ? size() - 1 : 0;
  in_messages(bytes, [&](std::span<std::byte> part) {
    transport_->broadcast(part);
    count(static_cast<std::uint64_t>(others) * part.size(), others);
  });
  return wait();
}

Result<void> Ranks::all_to_all(std::span<const std::uint64_t> sent, std::span<std::uint64_t> received) {
  transport_->all_to_all(sent, received);
  count((sent.size() - 1) * sizeof(std::uint64_t), size() - 1);
  return wait();
}

Result<std::vector<std::string>> Ranks::gather(std::string_view text) {
  TIDEGATE_TRY(const auto all, gather(std::span<const char>(text)));
  std::vector<std::string> texts;
  std::ranges::transform(all, std::back_inserter(texts),
                         [](const auto& of) { return std::string(of.begin(), of.end()); });
  return texts;
}

Result<void> Ranks::barrier() {
  return reduce(0, Reduction::sum).map([](std::uint64_t) {});
}

Result<void> collect(const BytesInParts& parts, Ranks& ranks, const TakeBytes& take) {
  constexpr std::uint64_t most = std::uint64_t{64} << 20U;
  const bool root = ranks.rank() == 0;
  std::vector<std::byte> memory;
  for (std::size_t from = 0; from + 1 < parts.begin.size(); ++from) {
    const bool own = static_cast<std::size_t>(ranks.rank()) == from;
    const std::uint64_t end = parts.begin[from + 1];
    for (std::uint64_t at = parts.begin[from]; at < end && (own || root); at += most) {
      memory.resize(std::min(end - at, most));
      if (own) {
        parts.read(at, memory);
      }
      if (own && !root) {
        ranks.send(0, memory);
      } else if (!own) {
        ranks.receive(static_cast<int>(from), memory);
      }
      TIDEGATE_CHECK(ranks.wait());
      if (root) {
        TIDEGATE_CHECK(take(at, memory));
      }
    }
  }
  return {};
}

Result<void> write_in_parts(const std::string& path, const std::string& head, const BytesInParts& parts,
                            Ranks& ranks) {
  if (ranks.rank() != 0) {
    return collect(parts, ranks, {});
  }
  TIDEGATE_TRY(Output output, Output::open(path, FileKinds::no_named_pipes));
  TIDEGATE_CHECK(output.write(head));
  TIDEGATE_CHECK(collect(parts, ranks, [&output](std::uint64_t, std::span<const std::byte> bytes) {
    return output.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }));
  return output.commit();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

Launched launched() {
  constexpr std::array<std::array<const char*, 2>, 5> launchers{
      {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
       {"PMI_RANK", "PMI_SIZE"},
       {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
       {"PMIX_RANK", nullptr}}};
  for (const auto& [rank, size] : launchers) {
    const char* const own = std::getenv(rank);
    const char* const all = size == nullptr ? "0" : std::getenv(size);
    if (own != nullptr && all != nullptr) {
      return {.rank = std::atoi(own), .size = std::atoi(all), .by_launcher = true};
    }
  }
  return {};
}

Result<std::unique_ptr<Ranks>> begin() {
  const Launched by = launched();
  if (!by.several()) {
    return nullptr;
  }
  // mpirun kills the process that waits for this one. A gentler signal comes first, but a rank that waits inside of MPI
  // does not look at it. Outputs have no name until they are whole, so a killed rank leaves no file.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The module is in the tool's folder of libraries where it is installed, and next to the binary in a build tree.
  std::error_code unknown;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  constexpr const char* name = "libtidegate_mpi.so";
  const std::array paths{(folder / TIDEGATE_MODULE_FOLDER / name).lexically_normal(), folder / name};
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
  auto ranks = std::make_unique<Ranks>(std::unique_ptr<Transport>(make()));
  if (by.size == 0 ? by.rank >= ranks->size() : by.size != ranks->size()) {
    return failure(
        ErrorCode::missing_program,
        fmt::format("the launcher started {} processes{}, and MPI knows of {}",
                    std::max(by.size, by.rank + 1), by.size == 0 ? " or more" : "", ranks->size()),
        "start them with the mpirun of the MPI library that tidegate was built with, or with srun --mpi=pmix");
  }
  return ranks->size() == 1 ? nullptr : std::move(ranks);
}

} // namespace tidegate::ranks
