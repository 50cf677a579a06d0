// Documents about errors, and what reports of all runs have.
#pragma once
#include "runtime/report.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/core/error.hpp>
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
TIDEGATE_HAS_RECORD(runtime::RankReport);
TIDEGATE_HAS_RECORD(runtime::StuckGroup);
TIDEGATE_HAS_RECORD(runtime::WrittenFile);
TIDEGATE_HAS_RECORD(runtime::Geometry);
TIDEGATE_HAS_RECORD(runtime::Telemetry);

extern const Record reported_error; // code, message, fix and pointer

// The fields of a report's head in the document `Report`, which is the report or has it at the path `Outer`.
// Each document lists them in its order.
template <class Report, auto... Outer>
struct HeadFields {
  template <auto... Members>
  static constexpr Field of(std::string_view meaning) {
    return field_of<Report, Outer..., Members...>(meaning, Presence::required);
  }

  using Head = runtime::ReportHead;
  Field id = of<&Head::id>("id of the request, in a stream");
  Field program =
      of<&Head::program>("path of the program, or of the graph of `run ALGORITHM GRAPH`; left out if "
                         "standard input has it");
  Field status = of<&Head::status>("how the run ended");
  Field error = of<&Head::error>("why the run was not completed").described_by(reported_error);
  Field device = of<&Head::device>("device of the run");
  Field strategy = of<&Head::strategy>(
      "barrier: one persistent launch; launch: one launch per stage, or per step of a traversal");
  Field strategy_reason = of<&Head::strategy_reason>("reason of the choice");
  Field warnings = of<&Head::warnings>("likely mistakes in the program");
  Field wall_time_ns = of<&Head::wall_time_ns>("total time");
  Field build_ns = of<&Head::build_ns>("time of building or loading kernels, of compilation in first "
                                       "launches, and of counting resident groups");
  Field slices_ns = of<&Head::slices_ns>("time of every persistent launch; of a traversal also of "
                                         "every series of launches that the host waited for; of more "
                                         "than 65535 the first ones");
  Field profile_file = of<&Head::profile_file>("device profile whose tuning was used");
  Field policy_file = of<&Head::policy_file>("launch policy that replaced the program's");
  Field files_written = of<&Head::files_written>("further files that were written");
  Field items_processed = of<&Head::items_processed>(
      "items that were completed: each is the work of one lane (a work-item of a wave, an item of a "
      "queue, a vertex of a frontier)");
  Field published_items = of<&Head::published_items>(
      "items of the waves, each counted once, those of queues without duplicates, and items that ops "
      "published; of a traversal the vertices of all frontiers");
  Field deduped_items = of<&Head::deduped_items>("items of queues that were identical to others");
  Field queue_plan_ns = of<&Head::queue_plan_ns>(
      "time of planning: removing duplicates, finding windows, asking the policy, grouping waves, laying "
      "out memory, choosing a strategy and its geometry");
  Field queue_publish_ns = of<&Head::queue_publish_ns>("time of allocating and filling device memory");
  Field read_back_ns =
      of<&Head::read_back_ns>("time of reading back results, the state of persistent launches and of queues");
  Field lineage_ns = of<&Head::lineage_ns>("time of tracing source rules");
  Field lineage_items = of<&Head::lineage_items>("processed items that derive from a source rule, by their "
                                                 "own wave or an ancestor, also of an earlier iteration");
  Field region_lineage = of<&Head::region_lineage>(
      "by executed group, or wave of a traversal, in order: bit n for source rule n of its waves or "
      "their ancestors; empty without rules");
  Field telemetry = of<&Head::telemetry>("counts of the run");
  Field comparison = of<&Head::comparison>("with --compare: times of this run and of plain launches");
  Field stuck_groups =
      of<&Head::stuck_groups>("after a hang: waiting work-groups and the counters they waited for");
  Field ranks = of<&Head::ranks>("under mpirun: the ranks and what they exchanged; left out with one");
};

} // namespace tidegate::documents
