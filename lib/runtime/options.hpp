// The options that runs of both kinds of programs have.
#pragma once
#include "core/files.hpp"
#include "device/session.hpp"
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

} // namespace tidegate::runtime
