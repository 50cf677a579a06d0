#include "runtime/run.hpp"

namespace tidegate::runtime {

WrittenFile written_file(const std::string& file, std::string what) {
  std::error_code unknown; // devices and pipes have no size
  const std::uintmax_t bytes = std::filesystem::file_size(file, unknown);
  return {.file = file, .what = std::move(what), .bytes = unknown ? 0 : bytes};
}

Result<WrittenFile> write_file(const std::string& file, std::string_view text, std::string what) {
  TIDEGATE_TRY(Output output, Output::open(file));
  TIDEGATE_CHECK(output.write(text));
  TIDEGATE_CHECK(output.commit());
  return written_file(file, std::move(what));
}

std::optional<Comparison> compare_ways(std::uint64_t rounds, bool same_launches,
                                       const std::function<std::optional<std::uint64_t>()>& plain,
                                       const std::function<std::optional<std::uint64_t>()>& run) {
  Comparison made;
  std::vector<double> ratios;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const bool plain_first =
        round % 2 == 0; // a side that always came second would find other caches and clocks
    std::optional<std::uint64_t> of_plain = plain_first ? plain() : std::nullopt;
    const std::optional<std::uint64_t> of_run = run();
    of_plain = plain_first ? of_plain : plain();
    if (!of_plain || !of_run) {
      break;
    }
    made.plain_rounds_ns.push_back(static_cast<double>(*of_plain));
    made.run_rounds_ns.push_back(static_cast<double>(*of_run));
    ratios.push_back(made.plain_rounds_ns.back() / std::max(made.run_rounds_ns.back(), 1.0));
  }
  made.rounds = ratios.size();
  if (ratios.empty()) {
    return {};
  }
  made.plain_ns = median(made.plain_rounds_ns);
  made.run_ns = median(made.run_rounds_ns);
  const RatioEstimate estimated = paired_ratio(std::move(ratios));
  made.speedup = estimated.ratio;
  made.speedup_low = estimated.low;
  made.speedup_high = estimated.high;
  made.verdict = same_launches ? SpeedVerdict::same_launches : verdict_of(estimated);
  return made;
}

} // namespace tidegate::runtime
