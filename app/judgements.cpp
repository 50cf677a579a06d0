// Checks documents for faults that their schemas cannot express and that need no device to find: those that `plan`, `arena`
// and `run` would find, incomplete evidence, invalid plans, wrong sums.
#include "app/plan.hpp"
#include "app/run.hpp"
#include "traversal/own.hpp"
#include "traversal/run.hpp"
#include "work/resolve.hpp"

namespace tidegate::app {
namespace {

using documents::CheckedDocument;
using Context = const CheckContext&;
using documents::LaunchRecommendationDocument;

// The fault of a field of evidence that is incomplete, or contradicts the rest of the document.
tl::unexpected<Error> incomplete(std::string_view what, std::string_view document, std::string pointer,
                                 std::string_view field) {
  return tl::unexpected(Error{
      .code = ErrorCode::incomplete_evidence,
      .message = fmt::format("the {} is not complete: {} is not as it must be", what, field),
      .fix = fmt::format("`tidegate schema {} --format table` says what completes each field", document),
      .pointer = std::move(pointer),
      .field = std::string(field)});
}

// Checks one kind of evidence: it must agree with the recommendation, name its own type, and be complete if it says so.
// `further`: additional arguments of contradicted_field().
template <class EvidenceType, class... Further>
Result<void> judge_kind(std::string_view which, const std::optional<EvidenceType>& evidence,
                        std::optional<bool> claimed_complete,
                        const policy::LaunchRecommendation& recommendation, Further... further) {
  const auto at = [which](std::string_view field) { return fmt::format("/evidence/{}/{}", which, field); };
  const auto contradicts = [](std::string pointer, std::string_view field, std::string message = "") {
    return tl::unexpected(
        Error{.code = ErrorCode::inconsistent_evidence,
              .message = !message.empty() ? std::move(message)
                                          : fmt::format("{} contradicts the rest of the document", field),
              .fix = "make the recommendation and its evidence again from the same request",
              .pointer = std::move(pointer),
              .field = std::string(field)});
  };
  if (const auto field =
          evidence ? policy::contradicted_field(*evidence, recommendation, further...) : std::nullopt) {
    return contradicts(at(*field), *field);
  }
  if (evidence.has_value() != claimed_complete.has_value()) {
    return contradicts(fmt::format("/evidence/complete/{}", which), which);
  }
  if (!evidence) {
    return {};
  }
  const auto field = policy::incomplete_field(*evidence);
  if (field && *claimed_complete) {
    return contradicts(
        at(*field), *field,
        fmt::format("the {} evidence is said to be complete, but {} is not as it must be", which, *field));
  }
  if (field) {
    return incomplete(fmt::format("{} evidence", which), "launch_recommendation", at(*field), *field);
  }
  return *claimed_complete ? Result<void>() : contradicts(fmt::format("/evidence/complete/{}", which), which);
}

Result<void> judge(const LaunchRecommendationDocument& document, Context, CheckedDocument&) {
  const auto& [recommendation, evidence, explanation, device] = document;
  if (!evidence) {
    return {};
  }
  TIDEGATE_CHECK(judge_kind("topology", evidence->topology, evidence->complete.topology, recommendation));
  return judge_kind("promotion", evidence->promotion, evidence->complete.promotion, recommendation);
}

tl::unexpected<Error> invalid_plan(std::string violation, std::string_view planner) {
  return failure(ErrorCode::invalid_plan, std::move(violation),
                 fmt::format("make the plan again with `tidegate {}`, from the same input", planner));
}

// A group's bytes are frontier + 4 * scratch + output. The peaks are of any groups; of one alone they are its own.
bool peaks_fit(const planning::MemoryPlan& plan, std::uint64_t most_bytes, std::size_t groups) {
  const std::uint64_t frontier = plan.peak_frontier_bytes;
  const std::uint64_t scratch = plan.peak_scratch_bytes;
  const std::uint64_t output = plan.peak_output_bytes;
  if (frontier > most_bytes || scratch > most_bytes / 4 || output > most_bytes ||
      plan.amortized_readback_bytes < output) {
    return false;
  }
  const std::uint64_t rest = most_bytes - frontier;
  const std::uint64_t of_output = rest - std::min(rest, 4 * scratch); // in the largest group, at least
  return groups == 1 ? rest >= 4 * scratch && output == of_output : output >= of_output;
}

// Checks the fields that follow from the plan itself, and, against a DAG, the plan.
Result<void> judge(const documents::FrontierMemoryPlan& document, Context context, CheckedDocument&) {
  if (context.dag) {
    if (auto violation = planning::first_violation(*context.dag, memory_plan(document))) {
      return invalid_plan(*std::move(violation), "plan");
    }
  }
  const planning::MemoryPlan& plan = document.plan;
  const std::size_t groups = document.barriers.groups.size();
  std::vector<std::uint32_t> waves;
  std::size_t widest = 0;
  std::uint64_t most_bytes = 0;
  for (const auto& group : document.barriers.groups) {
    waves.insert(waves.end(), group.waves.begin(), group.waves.end());
    widest = std::max(widest, group.waves.size());
    most_bytes = std::max(most_bytes, group.fused_bytes);
  }
  std::ranges::sort(waves);
  std::size_t in_order = 0;
  while (in_order < waves.size() && waves[in_order] == in_order) {
    ++in_order;
  }
  const std::array<std::pair<bool, std::string>, 5> faults{
      {{document.barriers.global_barriers != (groups == 0 ? 0 : groups - 1),
        fmt::format("global_barriers is given as {}, and there are {} groups",
                    document.barriers.global_barriers, groups)},
       {document.objective.has_value() != (document.planner == documents::Planner::compact),
        "the objective belongs to the strategy compact and to no other"},
       {in_order != waves.size(),
        fmt::format("of {} waves, wave {} is not in exactly one group", waves.size(), in_order)},
       {plan.max_group_width > widest || // it is smaller if windows count as one wave
            plan.lower_bound_groups > groups || !peaks_fit(plan, most_bytes, groups),
        "max_group_width, lower_bound_groups or the peaks are not what the groups allow"},
       {plan.optimal != (plan.lower_bound_groups == groups),
        fmt::format("optimal is {}, with {} and lower_bound_groups {}", plan.optimal, plural(groups, "group"),
                    plan.lower_bound_groups)}}};
  const auto* const fault = std::ranges::find(faults, true, &std::pair<bool, std::string>::first);
  return fault == faults.end() ? Result<void>() : invalid_plan(fault->second, "plan");
}

Result<void> judge(const documents::ArenaPlanDocument& document, Context context, CheckedDocument&) {
  if (!context.lifetimes) {
    return {};
  }
  const documents::BufferLifetimes& lifetimes = *context.lifetimes;
  TIDEGATE_TRY(const BufferIndex index, index_buffers(lifetimes));
  planning::ArenaPlan plan = document.plan;
  plan.offsets.assign(lifetimes.buffers.size(), 0);
  std::vector<bool> placed(lifetimes.buffers.size(), false);
  for (const documents::ArenaOffset& buffer : document.buffers) {
    const auto found = index.find(buffer_key(buffer.id));
    if (found == index.end()) {
      return invalid_plan(fmt::format("the lifetimes have no buffer {}", describe(buffer.id)), "arena");
    }
    if (placed[found->second]) {
      return invalid_plan(fmt::format("buffer {} has two offsets", describe(buffer.id)), "arena");
    }
    placed[found->second] = true;
    plan.offsets[found->second] = buffer.offset;
  }
  if (const auto left = std::ranges::find(placed, false); left != placed.end()) {
    const auto& buffer = lifetimes.buffers[static_cast<std::size_t>(left - placed.begin())];
    return invalid_plan(fmt::format("buffer {} has no offset", describe(buffer.id)), "arena");
  }
  if (auto violation = planning::check_arena(arena_problem(lifetimes), plan)) {
    return invalid_plan(*violation + " (buffers are counted from 0)", "arena");
  }
  return {};
}

// A run that ended early or found a fault is a negative answer, with the run's own error. The statuses of a success are
// listed, so that an unknown one is none.
Result<void> judge_status(const runtime::ReportHead& report) {
  using runtime::RunStatus;
  if (report.status == RunStatus::done || report.status == RunStatus::planned ||
      report.status == RunStatus::checked) {
    return {};
  }
  const std::string_view status = runtime::run_status_names[static_cast<std::size_t>(report.status)];
  const bool negative = report.error && exit_code(report.error->code) == ExitCode::negative;
  return failure(negative ? report.error->code : ErrorCode::incomplete_evidence,
                 fmt::format("the status of the run is {}{}{}", status, report.error ? ": " : "",
                             report.error ? report.error->message : ""),
                 report.error ? report.error->fix : "run the program again", "/status");
}

Result<void> differ(std::string message, std::string fix, std::string pointer) {
  return failure(ErrorCode::outputs_differ, std::move(message), std::move(fix), std::move(pointer));
}

Result<void> judge_parity(const engine::RunReport& report) {
  if (const auto& parity = report.output_parity; parity && !parity->equal) {
    return differ(fmt::format("{} of the outputs are not as plain launches leave them",
                              plural(parity->differing_elements, "element")),
                  "likely_cause in its output_parity says where to look", "/output_parity/equal");
  }
  const auto expected = report.expected.value_or(std::vector<engine::ExpectedReport>());
  if (const auto wrong = std::ranges::find(expected, false, &engine::ExpectedReport::equal);
      wrong != expected.end()) {
    return differ(fmt::format("{} of {} outside of the tolerances", plural(wrong->outside, "element"),
                              in_quotes(wrong->buffer)),
                  "look at the worst of them", fmt::format("/expected/{}/equal", wrong - expected.begin()));
  }
  if (report.stress && report.stress->failure) {
    return differ(fmt::format("a run under stress failed: {}", report.stress->failure->variation),
                  "look at the waves that it names", "/stress/failure");
  }
  return {};
}

} // namespace

Result<void> judge(const traversal::FrontierReport& report) {
  if (report.verification && !report.verification->right) {
    return differ("the result is not what the serial algorithm computes",
                  "error in the report says where to look", "/verification/right");
  }
  return judge_status(report);
}

Result<void> judge(const documents::RunReportDocument& document) {
  const engine::RunReport& report = document.report;
  ErrorList errors;
  if (const auto equal = judge_parity(report); !equal) {
    errors.check(equal);
  } else {
    errors.check(judge_status(report));
  }
  const documents::Evidence& evidence = document.evidence;
  if (!evidence.topology || !evidence.promotion) {
    const std::string_view missing = evidence.topology ? "promotion" : "topology";
    errors.add(incomplete("evidence", "run_report", "/evidence", missing).value());
  }
  const auto complete = [](const auto& kind) {
    return kind ? std::optional(!policy::incomplete_field(*kind)) : std::nullopt;
  };
  errors.check(judge_kind("topology", evidence.topology, complete(evidence.topology), report.recommendation));
  const policy::LaunchRecommendation ran =
      engine::as_promoted(report.recommendation, report.telemetry.execution_mode, report.promotion.promoted);
  errors.check(judge_kind("promotion", evidence.promotion, complete(evidence.promotion), ran,
                          ran == report.recommendation));
  return errors.result();
}

namespace {

void add_warning(const Warning& warning, CheckedDocument& entry) {
  entry.warnings = entry.warnings.value_or(std::vector<Error>());
  entry.warnings->push_back({.code = ErrorCode::warning,
                             .message = warning.message,
                             .fix = warning.fix,
                             .pointer = warning.pointer});
}

// Checks everything up to the launch: names, kernels, arguments, sizes, cycles, files that are missing, hold something
// else, cannot be written or would be overwritten. Warns of likely mistakes.
Result<void> judge(const engine::WaveProgram& program, Context context, CheckedDocument& entry) {
  const std::string folder = program_folder(entry.file);
  std::set<std::string> assumed;
  TIDEGATE_TRY(const engine::Job resolved, engine::resolve({program, folder, engine::assume_macros(assumed),
                                                            context.scope, engine::FileCheck::contents}));
  const auto files =
      engine::keep_inputs(resolved, {.inputs = {{entry.file, "the program", {}}}, .outputs = {}});
  const auto compiled = engine::compile(resolved, nullptr, {.dry_run = true});
  if (compiled && files) {
    for (const Warning& warning : compiled->warnings) {
      add_warning(warning, entry);
    }
    return {};
  }
  // Each of these passes may find further errors, where compiling ends at the first one.
  ErrorList errors;
  errors.check(engine::group_waves(resolved, resolved.budget_bytes, {}));
  errors.check(engine::outline_ops(resolved));
  errors.check(files);
  TIDEGATE_CHECK(errors.result());
  return tl::unexpected(compiled.error());
}

// Checks names, dependencies, cycles, and waves that no plan can hold.
Result<void> judge(documents::NamedWaveDag& dag, Context, CheckedDocument&) {
  TIDEGATE_TRY(const NamedDag named, resolve(std::move(dag)));
  if (const auto plan = planning::plan_layered(named.dag); !plan) {
    return tl::unexpected(to_error(plan.error(), named));
  }
  return {};
}

// Checks ids, lifetimes, alignments and sizes.
Result<void> judge(const documents::BufferLifetimes& lifetimes, Context, CheckedDocument&) {
  ErrorList errors;
  errors.check(index_buffers(lifetimes));
  errors.check(check_lifetimes(lifetimes));
  return errors.result();
}

// Checks the graph, sources, outputs and settings, and that no file lies outside the program's folder or would be
// overwritten.
Result<void> judge(const graphs::FrontierProgram& program, Context context, CheckedDocument& entry) {
  if (const auto idle = traversal::idle_policy_fields(
          program, program.policy.switch_rule.value_or(graphs::SwitchRule::edges))) {
    add_warning(*idle, entry);
  }
  ErrorList errors;
  errors.check(graphs::check_program(program));
  const std::string folder = program_folder(entry.file);
  const FileUses files = graphs::files_of(program, folder);
  for (const std::vector<NamedFile>* const uses : {&files.inputs, &files.outputs}) {
    for (const NamedFile& use : *uses) {
      auto allowed = check_scope(use.path, folder, context.scope);
      if (!allowed) {
        allowed.error().pointer = use.pointer;
      }
      errors.check(allowed);
    }
  }
  errors.check(refuse_overwriting(files));
  TIDEGATE_CHECK(errors.result());
  std::optional<traversal::OwnCode> own;
  if (program.own) {
    TIDEGATE_TRY(own, traversal::read_own(program, folder, context.scope));
  }
  if (program.graph.file ||
      (own &&
       program.own->initial)) { // what only its file says: vertices, weights, and whether it is a graph
    TIDEGATE_TRY(const graphs::LoadedGraph loaded,
                 graphs::load_graph(program, folder, graphs::load_options(program)));
    if (own) {
      TIDEGATE_CHECK(traversal::check_weights(*own, loaded.graph));
      TIDEGATE_CHECK(traversal::read_initial(program, folder, graphs::vertex_count(loaded.graph)));
    }
  }
  return {};
}

// Calls judge() of the document's type, if it is one of these.
template <class... T>
Result<void> judge_as(const documents::Document& document, void* object, Context context,
                      CheckedDocument& entry) {
  Result<void> sound;
  const auto judge_one = [&]<class Judged>(Judged& judged) {
    if constexpr (requires { app::judge(judged); }) { // a report
      sound = app::judge(judged);
    } else {
      sound = judge(judged, context, entry);
    }
    return true;
  };
  (void)((&document == &documents::DocumentOf<T>::document && judge_one(*static_cast<T*>(object))) || ...);
  return sound;
}

} // namespace

Result<void> judge_document(const documents::Document& document, std::string_view json, Context context,
                            CheckedDocument& entry) {
  // A document with errors of form is not checked further.
  const std::shared_ptr<void> object = document.record->create();
  TIDEGATE_CHECK(documents::decode(document, json, object.get()));
  return judge_as<engine::WaveProgram, graphs::FrontierProgram, documents::NamedWaveDag,
                  documents::BufferLifetimes, LaunchRecommendationDocument, documents::RunReportDocument,
                  documents::FrontierMemoryPlan, documents::ArenaPlanDocument, traversal::FrontierReport>(
      document, object.get(), context, entry);
}

} // namespace tidegate::app
