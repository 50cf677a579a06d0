// Documents about errors, and what reports of all runs have.
#pragma once
#include "runtime/report.hpp"
#include <tidegate/policy/documents.hpp>

namespace tidegate::documents {

enum class Verdict : std::uint8_t { valid, incomplete, inconsistent, invalid };
inline constexpr std::array<std::string_view, 4> verdict_names{"valid", "incomplete", "inconsistent",
                                                               "invalid"};

// Removes and returns the further errors of an error, which documents list separately.
std::optional<std::vector<Error>> take_others(Error& error);

TIDEGATE_CHOICES(ErrorCode, error_code_names);
TIDEGATE_CHOICES(Verdict, verdict_names);

TIDEGATE_HAS_RECORD(Error);
TIDEGATE_HAS_RECORD(Warning);

TIDEGATE_HAS_DOCUMENT(Error);

TIDEGATE_CHOICES(runtime::RunStatus, runtime::run_status_names);
TIDEGATE_CHOICES(SpeedVerdict, speed_verdict_names);

TIDEGATE_HAS_RECORD(runtime::DeviceReport);
TIDEGATE_HAS_RECORD(runtime::WaveReason);
TIDEGATE_HAS_RECORD(runtime::RankReport);
TIDEGATE_HAS_RECORD(runtime::Comparison);
TIDEGATE_HAS_RECORD(runtime::StuckGroup);
TIDEGATE_HAS_RECORD(runtime::WrittenFile);
TIDEGATE_HAS_RECORD(runtime::Geometry);
TIDEGATE_HAS_RECORD(runtime::Telemetry);

extern const Record reported_error; // code, message, fix and pointer

// The head of a report in the document `Report`.
template <class Report>
struct HeadFields {
  template <auto... Members>
  static constexpr Field of(std::string_view meaning) {
    return field_of<Report, Members...>(meaning, Presence::required);
  }

  // All fields of such a document: those of the head, then `own`.
  template <std::size_t Count>
  static constexpr auto with(const Field (&own)[Count]) {
    using runtime::ReportHead;
    const std::array head{
        of<&ReportHead::id>("id of the request, in a stream"),
        of<&ReportHead::program>("path of the program, or of the graph of `run ALGORITHM GRAPH`; left out if "
                                 "standard input has it"),
        of<&ReportHead::status>("how the run ended"),
        of<&ReportHead::error>("why the run was not completed").described_by(reported_error),
        of<&ReportHead::device>("device of the run"),
        of<&ReportHead::strategy>(
            "barrier: one persistent launch; launch: one launch per stage, or per step of a traversal"),
        of<&ReportHead::strategy_reason>("reason of the choice"),
        of<&ReportHead::warnings>("likely mistakes in the program"),
        of<&ReportHead::wall_time_ns>("total time"),
        of<&ReportHead::build_ns>("time of building or loading kernels, of compilation in first "
                                  "launches, and of counting resident groups"),
        of<&ReportHead::profile_file>("device profile whose tuning was used"),
        of<&ReportHead::policy_file>("launch policy that replaced the program's"),
        of<&ReportHead::files_written>("further files that were written"),
        of<&ReportHead::items_processed>(
            "items that were completed: each is the work of one lane (a work-item of a wave, an item of a "
            "queue, a vertex of a frontier)"),
        of<&ReportHead::published_items>(
            "items of the waves, each counted once, those of queues without duplicates, and items that ops "
            "published; of a traversal the vertices of all frontiers"),
        of<&ReportHead::deduped_items>("items of queues that were identical to others"),
        of<&ReportHead::queue_plan_ns>(
            "time of planning: removing duplicates, finding windows, asking the policy, grouping waves, laying "
            "out memory, choosing a strategy and its geometry"),
        of<&ReportHead::queue_publish_ns>("time of allocating and filling device memory"),
        of<&ReportHead::read_back_ns>(
            "time of reading back results, the state of persistent launches and of queues"),
        of<&ReportHead::lineage_ns>("time of tracing source rules"),
        of<&ReportHead::lineage_items>("processed items that derive from a source rule, by their "
                                       "own wave or an ancestor, also of an earlier iteration"),
        of<&ReportHead::geometry>("geometry of the launches").named("effective_geometry"),
        of<&ReportHead::comparison>("with --compare: times of this run and of plain launches"),
        of<&ReportHead::stuck_groups>("after a hang: waiting work-groups and the counters they waited for"),
        of<&ReportHead::telemetry>("counts of the run"),
        of<&ReportHead::region_lineage>(
            "by executed group, or wave of a traversal, in order: bit n for source rule n of its waves or "
            "their ancestors; empty without rules"),
        of<&ReportHead::slices_ns>("time of every persistent launch; of a traversal also of "
                                   "every series of launches that the host waited for; of more "
                                   "than 65535 the first ones"),
    };
    std::array<Field, head.size() + Count> all{};
    std::ranges::copy(own, std::ranges::copy(head, all.begin()).out);
    return all;
  }
};

} // namespace tidegate::documents
