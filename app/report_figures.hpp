// Shared by the checks of figures in reports of wave programs and of traversals.
#pragma once
#include "core/npy.hpp"
#include "engine/run_report.hpp"
#include "policy/documents.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/policy/launch_request.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tidegate::app {

// Adds an error for each figure of a report that contradicts another one, and for each missing section.
class FigureChecks {
public:
  explicit FigureChecks(ErrorList& errors) : errors_(&errors) {}

  void require(bool holds, std::string pointer, std::string message) {
    if (!holds) {
      errors_->add({.code = ErrorCode::inconsistent_evidence,
                    .message = std::move(message),
                    .fix = "the report was changed or is incomplete: run the program again",
                    .pointer = std::move(pointer)});
    }
  }
  void equal(std::string pointer, std::string_view what, std::uint64_t given, std::string_view other,
             std::uint64_t expected) {
    require(given == expected, std::move(pointer),
            fmt::format("{} {}, and {} {}", what, given, other, expected));
  }
  void at_most(std::string pointer, std::string_view what, std::uint64_t given, std::string_view other,
               std::uint64_t most) {
    require(given <= most, std::move(pointer),
            fmt::format("{} is {}, and {} only {}", what, given, other, most));
  }

  // Requires a section that every run writes.
  void require_section(bool there, std::string pointer, std::string_view what) {
    if (!there) {
      errors_->add({.code = ErrorCode::incomplete_evidence,
                    .message = fmt::format("the report has no {}", what),
                    .fix = "run the program again: every run writes it",
                    .pointer = std::move(pointer)});
    }
  }

private:
  ErrorList* errors_;
};

// Checks a recommendation: its geometry, pressure and mode follow from the queue and from each other. `queue_len` is
// that of the evidence; without it, any length is accepted that the slots allow.
void check_recommendation(const policy::LaunchRecommendation& given, std::optional<std::uint32_t> queue_len,
                          std::uint64_t resident_bytes, FigureChecks& checks);

// Checks the counts that the reports of wave programs and of traversals share. `further_ns`: times of passes that the
// head of a report does not have.
void check_counts(const engine::ReportHead& report, const policy::LaunchRecommendation* recommendation,
                  std::uint64_t further_ns, FigureChecks& checks);

// Checks files, names of buffers and lists of hits.
void check_output_figures(const engine::RunReport& report, const documents::Evidence& evidence,
                          const std::string& file, FigureChecks& checks);

// Returns true for files about a run, not of its results. `what` is their content, as the report names it.
bool is_about_run(std::string_view what);

// Returns true if a file was written that has no size, such as a device.
bool has_no_size(const engine::WrittenFile& written);

// Returns an output as the run left it; nullopt if it is not an .npy file, or changed after the report at the path
// `report`.
std::optional<NpyArray> read_output(const engine::WrittenFile& written, const std::string& report);

} // namespace tidegate::app
