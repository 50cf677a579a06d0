#include "common/counters.h"
#include "core/statistics.hpp"
#include "device/kernels.hpp"
#include "device/session.hpp"

namespace tidegate::device {
namespace {

constexpr std::uint32_t trial_items = 64; // TG_TRIAL_ITEMS

constexpr std::uint32_t most_litmus_rounds = 256;
constexpr std::uint32_t most_barrier_rounds = 1024;

// Work grows until it takes this long or reaches the scale's size: simulators are a million times slower than
// GPUs.
constexpr double enough_seconds = 0.02;
constexpr std::uint32_t growth = 8;

class SelfTest {
public:
  SelfTest(const DeviceInfo& info, const Session& session, const Now& now)
      : info_(info), session_(session), now_(now), cpu_(info.type == DeviceType::cpu),
        workgroup_size_(static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(info.max_workgroup_size, 1, cpu_ ? 64 : 256))) {}

  DeviceProfile run() {
    DeviceProfile profile{
        .device = info_.name, .driver_version = info_.driver_version, .workgroup_size = workgroup_size_};
    auto classic = build(MemoryOrdering::classic);
    if (!classic) {
      throw Refused{std::move(classic.error())};
    }
    profile.co_resident_groups = co_resident_groups(*classic);
    try_orderings(profile);
    // A kernel with barriers may need more resources than the discovery kernel.
    while (!profile.ordering && profile.co_resident_groups > 1 &&
           std::ranges::find(profile.trials, TrialVerdict::hung, &OrderingTrial::verdict) !=
               profile.trials.end()) {
      profile.co_resident_groups /= 2;
      try_orderings(profile);
    }
    profile.barrier_kernels_share = barrier_kernels_share(*classic);
    measure_launches(*classic, profile);
    if (profile.ordering && info_.platform != "Oclgrind") { // a simulator would take hours
      measure_costs(profile);
    }
    return profile;
  }

private:
  // Times all proved orderings in turns, so that other load on the machine affects them alike.
  void try_orderings(DeviceProfile& profile) {
    const int turns = info_.platform == "Oclgrind" ? 1 : 3; // a simulator is slow
    const std::uint32_t groups = profile.co_resident_groups;
    profile.trials.clear();
    std::vector<Result<Program>> programs;
    for (const MemoryOrdering ordering :
         {MemoryOrdering::ptx, MemoryOrdering::c11, MemoryOrdering::fence, MemoryOrdering::classic}) {
      programs.push_back(build(ordering));
      profile.trials.push_back({.ordering = ordering});
      if (programs.back()) {
        judge(profile.trials.back(), [&] { return litmus(*programs.back(), groups); });
      }
    }
    std::vector<std::vector<double>> times(programs.size());
    for (int turn = 0; turn < turns; ++turn) {
      for (std::size_t i = 0; i < programs.size(); ++i) {
        OrderingTrial& trial = profile.trials[i];
        if (trial.verdict == TrialVerdict::passed) {
          trial.barrier_ns.reset();
          // The median of all turns, because noise may affect either of the two lengths whose difference counts.
          judge(trial, [&] {
            const auto ns = time_rounds(*programs[i], "barriers", groups);
            if (!ns) {
              return TrialVerdict::hung;
            }
            times[i].push_back(*ns);
            trial.barrier_ns = median(times[i]);
            return TrialVerdict::passed;
          });
        }
      }
    }
    // The first in the order of preference that no other one clearly beats. Equally fast orderings differ by a tenth from
    // one self-test to the next on a CPU, and the fastest would generate other kernels each time.
    constexpr double clearly_faster = 0.8;
    const auto time = [](const OrderingTrial& trial) {
      return trial.barrier_ns.value_or(std::numeric_limits<double>::infinity());
    };
    const double fastest = time(*std::ranges::min_element(profile.trials, {}, time));
    if (std::isfinite(fastest)) {
      profile.ordering = std::ranges::find_if(profile.trials, [&](const OrderingTrial& trial) {
                           return clearly_faster * time(trial) <= fastest;
                         })->ordering;
    }
  }

  Result<Program> build(MemoryOrdering ordering) {
    const bool nvidia = info_.extensions.find("cl_nv_device_attribute_query") != std::string::npos;
    if (ordering == MemoryOrdering::ptx && !nvidia) {
      return tl::unexpected(opencl_failure("building for PTX", build_program_failure));
    }
    // Parses "OpenCL 3.0 …", because drivers differ in what they report for OpenCL C 1.2 devices.
    const bool version_3 = info_.opencl_version.starts_with("OpenCL 3");
    const std::string_view standard = ordering == MemoryOrdering::classic ? "CL1.2"
                                      : version_3                         ? "CL3.0"
                                                                          : "CL2.0";
    return session_.build(kernel_source("common/self_test.cl"),
                          fmt::format("-cl-std={} -DTG_ORDERING={} -DTG_CLOSED_CASES={} -DTG_RESTRICT={}",
                                      standard, static_cast<int>(ordering), cpu_ ? 1 : 0,
                                      nvidia ? "restrict" : "")); // as generated kernels have it
  }

  Buffer buffer(std::size_t words) {
    Buffer made = session_.allocate(words * sizeof(std::uint32_t));
    session_.clear(made, words * sizeof(std::uint32_t));
    return made;
  }

  std::vector<std::uint32_t> read(const Buffer& source, std::size_t words) {
    std::vector<std::uint32_t> values(words);
    session_.read(source, 0, std::as_writable_bytes(std::span(values)));
    return values;
  }

  Kernel kernel(const Program& program, const std::string& name, const auto&... arguments) {
    Kernel made = session_.make_kernel(program, name);
    session_.set(made, 0, arguments...);
    return made;
  }

  // Launches `groups` work-groups and, with `wait`, waits for them. Returns seconds.
  double launch(const Kernel& launched, std::uint32_t groups, bool wait = true,
                std::uint32_t work_items = 0) {
    const auto start = now_();
    const std::size_t size = work_items == 0 ? workgroup_size_ : work_items;
    session_.launch(launched, work_groups(groups, size));
    if (wait) {
      session_.finish();
    }
    return std::chrono::duration<double>(now_() - start).count();
  }

  // Enlarges the work until it takes enough_seconds; returns the last size.
  template <class Work>
  static std::uint32_t grow(std::uint32_t most, Work seconds_of) {
    std::uint32_t size = std::max(most / (growth * growth * growth), 1U);
    while (seconds_of(size) < enough_seconds && size < most) {
      size = std::min(size * growth, most);
    }
    return size;
  }

  std::uint32_t co_resident_groups(const Program& program) {
    if (cpu_) {
      // CPU drivers deal groups to threads in chunks that run one after another, so discovery would not work;
      // one group per unit runs at a time.
      return std::max(info_.compute_units, 1U);
    }
    constexpr std::uint32_t settle_polls = 1000;
    constexpr std::uint32_t offered_per_unit = 16;
    const Buffer state = buffer(TG_CENSUS_WORDS);
    launch(kernel(program, "discover", state, most_polls_, settle_polls),
           std::max(info_.compute_units, 1U) * offered_per_unit);
    const std::vector<std::uint32_t> result = read(state, TG_CENSUS_WORDS);
    if (result[TG_LOCK_GAVE_UP] != 0) {
      throw Refused{{.code = ErrorCode::opencl_failure,
                     .message = "the discovery of resident work-groups did not come to an end",
                     .fix = "try again when the device is not busy"}};
    }
    return std::max(result[TG_PARTICIPANTS], 1U);
  }

  // Returns true if kernels with barriers compute the same results as cases of one kernel, in both kinds of
  // launch, as they do when launched alone.
  bool barrier_kernels_share(const Program& program) {
    using Cases = std::vector<std::string>;
    const std::array sets{std::pair("pair", Cases{"sum", "most"}), std::pair("open", Cases{"few", "third"}),
                          std::pair("all", Cases{"sum", "most", "mirror", "few", "rounds", "sum", "mirror"})};
    try {
      return std::ranges::all_of(
          sets, [&](const auto& set) { return set_is_right(program, set.first, set.second); });
    } catch (const Refused&) {
      return false;
    }
  }

  bool set_is_right(const Program& program, const std::string& set, const std::vector<std::string>& cases) {
    constexpr std::uint32_t tiles = 9;
    constexpr std::uint32_t rounds = 3;
    constexpr std::uint32_t groups = 2;
    constexpr std::size_t words = tiles * std::size_t{trial_items};
    const auto jobs = static_cast<std::uint32_t>(cases.size() * tiles);
    std::vector<std::uint32_t> numbers(words);
    std::ranges::generate(numbers, [next = 1U]() mutable { return next = next * 1664525U + 1013904223U; });
    const Buffer input = buffer(words);
    session_.write(input, 0, std::as_bytes(std::span(numbers)));
    std::vector<std::uint32_t> expected;
    for (const std::string& name : cases) {
      const Buffer output = buffer(words);
      launch(kernel(program, "alone_" + name, input, output), tiles, true, trial_items);
      const std::vector<std::uint32_t> part = read(output, words);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    const Buffer launched = buffer(expected.size());
    const Buffer persistent = buffer(expected.size());
    const Buffer arrivals = buffer(1);
    launch(kernel(program, "launch_" + set, input, launched, tiles), jobs, true, trial_items);
    launch(kernel(program, "persistent_" + set, input, persistent, tiles, jobs, rounds, arrivals), groups,
           true, trial_items);
    return read(launched, expected.size()) == expected && read(persistent, expected.size()) == expected &&
           read(arrivals, 1).front() == rounds * groups;
  }

  // An ordering whose kernel the driver refuses has failed.
  static void judge(OrderingTrial& trial, auto verdict_of) {
    try {
      trial.verdict = verdict_of();
    } catch (const Refused&) {
      trial.verdict = TrialVerdict::failed;
    }
  }

  TrialVerdict litmus(const Program& program, std::uint32_t groups) {
    const std::size_t counter_words = TG_COUNTER_WORDS(std::size_t{groups});
    const Buffer counters = buffer(counter_words);
    const Buffer errors = buffer(1);
    const Buffer data = buffer(std::size_t{2} * groups * workgroup_size_ + 1);
    grow(most_litmus_rounds, [&](std::uint32_t rounds) {
      session_.clear(counters, counter_words * sizeof(std::uint32_t));
      return launch(kernel(program, "litmus", data, counters, errors, rounds, most_polls_), groups);
    });
    if (read(counters, counter_words)[TG_GAVE_UP] != 0) {
      return TrialVerdict::hung;
    }
    return read(errors, 1).front() != 0 ? TrialVerdict::wrong : TrialVerdict::passed;
  }

  // Returns nanoseconds of one round of a kernel whose groups wait for each other, or nullopt if a wait timed
  // out. Takes the difference of two lengths to cancel the launch time, and the best of several tries. A kernel that
  // moves data takes them as its first argument and the tiles of each group as its third.
  std::optional<double> time_rounds(const Program& program, const char* name, std::uint32_t groups,
                                    std::uint32_t tiles = 0) {
    constexpr int tries = 3;
    constexpr std::uint32_t few_rounds = 8;
    const std::size_t counter_words = TG_COUNTER_WORDS(std::size_t{groups});
    const Buffer counters = buffer(counter_words);
    const std::uint64_t vectors = std::uint64_t{2} * groups * tiles * workgroup_size_;
    const Buffer data = buffer(std::max<std::uint64_t>(vectors * 4, 1));
    const auto seconds = [&](std::uint32_t rounds) {
      double best = 0;
      for (int i = 0; i < tries; ++i) {
        session_.clear(counters, counter_words * sizeof(std::uint32_t));
        const double once =
            launch(tiles == 0 ? kernel(program, name, counters, rounds, most_polls_)
                              : kernel(program, name, data, counters, tiles, rounds, most_polls_),
                   groups);
        best = i == 0 ? once : std::min(best, once);
      }
      return best;
    };
    const double few = seconds(few_rounds);
    double many = 0;
    const std::uint32_t rounds = grow(most_barrier_rounds, [&](std::uint32_t more_rounds) {
      many = seconds(few_rounds + more_rounds);
      return many;
    });
    if (read(counters, counter_words)[TG_GAVE_UP] != 0) {
      return {};
    }
    // On a busy machine the shorter run may take longer; then the whole longer run counts.
    return many > few ? (many - few) * 1e9 / rounds : many * 1e9 / (few_rounds + rounds);
  }

  // Measures the inputs of the cost model with the chosen ordering. Figures below the noise keep the defaults
  // of an H200.
  void measure_costs(DeviceProfile& profile) {
    const auto program = build(*profile.ordering);
    if (!program) {
      return;
    }
    DeviceCosts& costs = profile.costs;
    const Buffer counters = buffer(TG_COUNTER_WORDS(1));
    const Kernel once = kernel(*program, "barriers", counters, 0U, 1U); // as a run starts and ends
    costs.persistent_start_ns = round_trip_ns(once, std::max(info_.compute_units, 1U), 15);

    // Barriers of few groups and of all groups.
    const std::uint32_t all = profile.co_resident_groups;
    const std::uint32_t units = std::clamp(info_.compute_units, 1U, all);
    const auto of_units = time_rounds(*program, "barriers", units);
    const auto of_all = all == units ? of_units : time_rounds(*program, "barriers", all);
    const auto neighbours = time_rounds(*program, "neighbours", units);
    if (!of_units || !of_all || !neighbours) {
      return;
    }
    const double each = all == units ? 0 : std::max(*of_all - *of_units, 0.0) / (all - units);
    costs.barrier_group_ns = each;
    costs.barrier_ns = std::max(*of_units - each * units, 0.0);
    costs.wait_ns = *neighbours;

    // One tile per group, several per group, and one tile for each of more groups: yields the time of a tile,
    // of each further tile, and of each byte. Then measures more bytes than any cache holds.
    constexpr std::uint32_t several = 8;
    const auto work = [&](std::uint32_t groups, std::uint32_t tiles, double barrier) {
      return std::max(time_rounds(*program, "waves", groups, tiles).value_or(0) - barrier, 0.0);
    };
    const double bytes_of_tile = 2.0 * 16 * workgroup_size_;
    const double one = work(units, 1, *of_units);
    const double row = work(units, several, *of_units);
    if (one > 0 && row > one) {
      const double spread = all == units ? one : work(all, 1, *of_all);
      costs.cached_bytes_per_ns = spread > one ? bytes_of_tile * (all - units) / (spread - one)
                                               : bytes_of_tile * several * units / row;
      const double moved = bytes_of_tile * units / costs.cached_bytes_per_ns;
      costs.tile_ns = std::max(one - moved, 0.0);
      costs.next_tile_ns = std::max((row - one) / (several - 1) - moved, 0.0);
    }
    measure_memory(work, bytes_of_tile, all, *of_all, costs);
  }

  // Measures cache capacity and memory bandwidth by rounds over more and more bytes.
  template <class Work>
  void measure_memory(Work work, double bytes_of_tile, std::uint32_t groups, double barrier,
                      DeviceCosts& costs) {
    constexpr double times_memory = 4; // upper bound of cache over memory bandwidth; larger values were noise
    const double most_moved_bytes = cpu_ ? 0 : 256e6; // more than caches hold; each core of a CPU has its own
    double fastest = 0;
    costs.memory_bytes_per_ns = costs.cached_bytes_per_ns;
    costs.cache_bytes = 0;
    for (std::uint32_t tiles = 1; bytes_of_tile * tiles * groups <= most_moved_bytes;
         tiles += std::max(tiles / 2, 1U)) {
      const double bytes = bytes_of_tile * tiles * groups;
      const double ns = work(groups, tiles, barrier);
      const double rate = ns > 0 ? bytes / ns : 0;
      fastest = std::max(fastest, rate);
      costs.cache_bytes = rate > 0.7 * fastest ? bytes : costs.cache_bytes;
      costs.memory_bytes_per_ns = rate > 0 ? rate : costs.memory_bytes_per_ns;
    }
    costs.cached_bytes_per_ns = std::clamp(costs.cached_bytes_per_ns, costs.memory_bytes_per_ns,
                                           times_memory * costs.memory_bytes_per_ns);
  }

  // Returns the median nanoseconds of launches that are waited for.
  double round_trip_ns(const Kernel& launched, std::uint32_t groups, int times) {
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) {
      seconds.push_back(launch(launched, groups));
    }
    return median(std::move(seconds)) * 1e9;
  }

  void measure_launches(const Program& program, DeviceProfile& profile) {
    constexpr int launches = 64;
    const Buffer unused = buffer(1);
    const Kernel empty = kernel(program, "nothing", unused);
    launch(empty, 1); // the first launch compiles or uploads
    const auto start = now_();
    for (int i = 0; i < launches; ++i) {
      launch(empty, 1, false);
    }
    session_.finish();
    profile.launch_ns = std::chrono::duration<double>(now_() - start).count() * 1e9 / launches;
    profile.launch_round_trip_ns = round_trip_ns(empty, 1, launches);
  }

  const DeviceInfo& info_;
  const Session& session_;
  const Now& now_;
  const bool
      cpu_; // which runs few groups, and may lose a core to other programs for a scheduler quantum at any time
  const std::uint32_t workgroup_size_;
  const std::uint32_t most_polls_ = std::uint32_t{1} << (cpu_ ? 28U : 22U);
};

} // namespace

DeviceProfile self_test(const DeviceInfo& device, const Session& session, const Now& now) {
  return SelfTest(device, session, now).run();
}

Result<DeviceProfile> probe(const DeviceInfo& device) {
  TIDEGATE_TRY(auto session, open_session(device));
  try {
    return self_test(device, *session, std::chrono::steady_clock::now);
  } catch (Refused& refused) {
    return tl::unexpected(std::move(refused.error));
  }
}

} // namespace tidegate::device
