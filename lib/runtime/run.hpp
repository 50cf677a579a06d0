// The options of a run of either kind of program, how it ended, what it wrote, and how its time compares.
#pragma once
#include "core/statistics.hpp"
#include "runtime/trace.hpp"

namespace tidegate::ranks {
class Ranks;
}

namespace tidegate::runtime {

struct Kept;

struct Options {
  PathScope scope = PathScope::folder; // of the program's paths
  std::string emit_kernel;             // file for the generated source; empty: none
  FileUses files;                      // further files on the command line
  bool verify = false;
  bool verify_first = true;              // check a program's first run, if that fits the budget
  std::uint64_t first_run_budget_ns = 0; // 0: by what plain launches take
  std::uint64_t compare_rounds = 0;
  std::string trace; // file for the timeline, which the caller writes; empty: none
  std::string page;  // file for the report as a page, which the caller writes; empty: none
  std::uint64_t trace_spans = default_trace_spans; // limit of recorded spans
  std::uint64_t max_wall_time_ns = 60'000'000'000;
  std::uint64_t slice_ns = 150'000'000;
  std::filesystem::path cache_folder; // for built kernels; empty: none
  device::OpenSession open_session = device::open_session;
  ranks::Ranks* ranks = nullptr; // that run the program together; null: this process alone
  Kept* kept = nullptr;          // of the stream that the run is part of, if any

  // The time for checking a result, which no run waits for beyond it.
  [[nodiscard]] std::uint64_t first_check_ns() const {
    constexpr std::uint64_t usual = 10'000'000'000;
    return first_run_budget_ns != 0 ? first_run_budget_ns : usual;
  }
  [[nodiscard]] std::uint64_t most_spans(bool traced) const {
    return traced ? std::max<std::uint64_t>(trace_spans, 1) : 0;
  }
};

enum class RunStatus : std::uint8_t {
  done,
  planned,        // --dry-run: no device was used
  deadline,       // the wall time was exceeded
  interrupted,    // by a signal
  hang,           // a wait on the device timed out
  outputs_differ, // from those of plain launches
  checked,        // --check bounds: no violation
  out_of_bounds,  // --check bounds: a violation
  queue_failed,   // an item failed, or the remaining items make no progress
  hits_overflow,  // a list has no room for all hits
};
inline constexpr std::array<std::string_view, 10> run_status_names{
    "done",           "planned", "deadline",      "interrupted",  "hang",
    "outputs_differ", "checked", "out_of_bounds", "queue_failed", "hits_overflow"};

// A work-group whose wait timed out.
struct StuckGroup {
  std::uint32_t group = 0;
  std::uint64_t iteration = 0;
  std::uint32_t stage = 0;        // the stage to start
  std::vector<std::string> waves; // of the stage
  std::uint64_t tile = 0;         // its first tile, as an index into the stage
  std::string counter;            // the counter that it polled
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
};

// A file that the run wrote in addition to its report.
struct WrittenFile {
  std::string file;
  std::string what; // "buffer \"heat\"", "image \"photo\"", "generated kernel", "trace", "page"
  std::uint64_t bytes = 0;
};

// Returns the entry of a file that is there, with its size.
WrittenFile written_file(const std::string& file, std::string what);

// Writes a file, which appears complete or not at all. Errors: cannot_write.
Result<WrittenFile> write_file(const std::string& file, std::string_view text, std::string what);

// A run timed again and again, next to plain launches: of a traversal, a launch for each step.
struct Comparison {
  std::uint64_t rounds = 0;
  double plain_ns = 0; // medians
  double run_ns = 0;
  double speedup = 0; // plain time divided by run time: the median of the rounds, with its interval
  double speedup_low = 0, speedup_high = 0;
  SpeedVerdict verdict = SpeedVerdict::too_few_rounds;
  std::vector<double> plain_rounds_ns;
  std::vector<double> run_rounds_ns;
};

// Times both ways in pairs of alternating order. Each returns its nanoseconds, or nothing once time is up: then the
// rounds before count. Returns nothing without a round. `same_launches`: both ways are the same, so what differs is
// chance.
std::optional<Comparison> compare_ways(std::uint64_t rounds, bool same_launches,
                                       const std::function<std::optional<std::uint64_t>()>& plain,
                                       const std::function<std::optional<std::uint64_t>()>& run);

} // namespace tidegate::runtime
