#include "engine/rank_weights.hpp"

#include "engine/rank_run.hpp"
#include "engine/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace tidegate::engine {
namespace {

constexpr double all_parts = 10000;
constexpr std::uint32_t rehearsed = 16; // iterations
constexpr std::uint32_t worth_it = 64;  // iterations of a program that is rehearsed unasked

// Ranks are alike if their devices have one name and as many of them share each device.
Result<bool> ranks_alike(const device::DeviceInfo& device, ranks::Ranks& ranks) {
  const std::string host = ranks::host_name();
  TIDEGATE_TRY(const auto names, ranks.gather(std::as_bytes(std::span(device.name))));
  TIDEGATE_TRY(const auto hosts, ranks.gather(std::as_bytes(std::span(host))));
  TIDEGATE_TRY(const auto indices, ranks.gather(std::as_bytes(std::span(&device.index, 1))));
  std::map<std::vector<std::byte>, std::size_t> sharing;
  const auto place = [&](std::size_t rank) {
    std::vector<std::byte> bytes = hosts[rank];
    bytes.insert(bytes.end(), indices[rank].begin(), indices[rank].end());
    return bytes;
  };
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    ++sharing[place(rank)];
  }
  std::byte alike{1};
  for (std::size_t rank = 1; rank < names.size(); ++rank) {
    const bool as_first = names[rank] == names[0] && sharing[place(rank)] == sharing[place(0)];
    alike = as_first ? alike : std::byte{0};
  }
  TIDEGATE_CHECK(ranks.broadcast(std::span(&alike, 1)));
  return alike == std::byte{1};
}

// Runs the first iterations in equal parts, without outputs.
Result<RankWeights> rehearse(const device::Session& session, Job program, JobSplit split,
                             const std::vector<std::vector<std::uint32_t>>& storage,
                             const RunOptions& options, Monitor& monitor) {
  ranks::Ranks& ranks = *options.ranks;
  program.iterations = std::min(program.iterations, rehearsed);
  program.until.reset();
  for (ProgramBuffer& buffer : program.buffers) {
    buffer.output.reset();
  }
  // The first launches load kernels; and a rank whose device works while it waits would seem to have worked less.
  RankSettings settings;
  settings.clock_from = program.iterations / 4;
  settings.halo_overlap = false;
  store_in_parts(program, storage, deepest_halo(program, settings), split);
  TIDEGATE_TRY(const HostContents first,
               first_contents_of(session, program, split, static_cast<std::uint32_t>(ranks.rank())));
  TIDEGATE_TRY(const RankRun run,
               try_on_ranks(session, program, split, storage, first, options, monitor, settings));
  std::vector<std::uint64_t> work_ns(split.ranks);
  work_ns[static_cast<std::size_t>(ranks.rank())] =
      run.outcome.dispatch_ns - std::min(run.outcome.dispatch_ns, run.times.traffic.waiting_ns);
  TIDEGATE_CHECK(ranks.reduce(work_ns, std::plus<std::uint64_t>()));
  return RankWeights{.source = WeightSource::measured, .parts = parts_by_time(work_ns)};
}

// Every rank has a part.
std::vector<std::uint32_t> in_proportion(const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::uint32_t> parts;
  for (const double weight : weights) {
    parts.push_back(std::max(1U, static_cast<std::uint32_t>(weight / sum * all_parts)));
  }
  return parts;
}

} // namespace

std::vector<std::uint32_t> parts_by_time(std::span<const std::uint64_t> work_ns) {
  const auto [least, most] = std::ranges::minmax(work_ns);
  std::vector<double> speeds;
  for (const std::uint64_t time : work_ns) {
    const bool equal = least == 0 || most * 10 <= least * 11;
    speeds.push_back(equal ? 1 : 1 / static_cast<double>(time));
  }
  return in_proportion(speeds);
}

Result<RankWeights> weigh_ranks(const device::Session& session, const device::DeviceInfo& device,
                                const Job& program, const std::vector<std::vector<std::uint32_t>>& storage,
                                const RunOptions& options, Monitor& monitor) {
  ranks::Ranks& ranks = *options.ranks;
  const auto size = static_cast<std::size_t>(ranks.size());
  RankWeights weights{.source = options.rank_weights.source.value_or(WeightSource::equal),
                      .parts = in_proportion(std::vector<double>(size, 1))};
  if (weights.source == WeightSource::stated) {
    if (options.rank_weights.parts.size() != size) {
      return failure(ErrorCode::wrong_length,
                     fmt::format("--set rank-weights names {} weights for {} ranks",
                                 options.rank_weights.parts.size(), size),
                     "give each rank a weight, such as 2,1,1 for three ranks");
    }
    weights.parts = in_proportion({options.rank_weights.parts.begin(), options.rank_weights.parts.end()});
    return weights;
  }
  JobSplit split = split_job(program, weights.parts);
  const bool any_cut = std::ranges::any_of(split.waves, &WaveCut::cut);
  if (!options.rank_weights.source && any_cut && program.iterations >= worth_it) {
    TIDEGATE_TRY(const bool alike, ranks_alike(device, ranks));
    weights.source = alike ? weights.source : WeightSource::measured;
  }
  if (!any_cut || weights.source == WeightSource::equal) {
    weights.source = WeightSource::equal;
    return weights;
  }
  return rehearse(session, program, std::move(split), storage, options, monitor);
}

} // namespace tidegate::engine
