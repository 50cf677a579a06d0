#include <tidegate/commands/arena.hpp>
#include <tidegate/commands/check.hpp>
#include <tidegate/commands/lint.hpp>
#include <tidegate/commands/plan.hpp>
#include <tidegate/commands/run.hpp>
#include <tidegate/commands/serve.hpp>
#include <tidegate/core/files.hpp>
#include <tidegate/core/table.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/documents/catalogue.hpp>
#include <tidegate/documents/decode.hpp>
#include <tidegate/documents/frontier_documents.hpp>
#include <tidegate/documents/graph_documents.hpp>
#include <tidegate/documents/launch_documents.hpp>
#include <tidegate/documents/program_documents.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/planning/plan_checker.hpp>
#include <tidegate/policy/evidence.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace tidegate::commands {
namespace {

using documents::CheckedDocument;
using documents::Document;
using documents::LaunchRecommendationDocument;
using documents::Verdict;

Error incomplete(std::string_view evidence, std::string_view field) {
  return {.code = ErrorCode::incomplete_evidence,
          .message = fmt::format("the {} evidence is not complete: {} is not as it must be", evidence, field),
          .fix = "`tidegate schema launch_recommendation --format table` says what completes each field",
          .pointer = fmt::format("/evidence/{}/{}", evidence, field),
          .field = std::string(field)};
}

Error inconsistent(std::string pointer, std::string_view field) {
  return {.code = ErrorCode::inconsistent_evidence,
          .message = fmt::format("{} contradicts the rest of the document", field),
          .fix = "make the recommendation and its evidence anew from the same request",
          .pointer = std::move(pointer),
          .field = std::string(field)};
}

// What is wrong with one kind of evidence: it contradicts the recommendation, claims to be what it is not, or
// is not complete.
template <class EvidenceType>
std::optional<Error> judge(std::string_view which, const std::optional<EvidenceType>& evidence,
                           std::optional<bool> claimed_complete,
                           const policy::LaunchRecommendation& recommendation) {
  if (evidence) {
    if (const auto field = policy::contradicted_field(*evidence, recommendation)) {
      return inconsistent(fmt::format("/evidence/{}/{}", which, *field), *field);
    }
  }
  const auto field = evidence ? policy::incomplete_field(*evidence) : std::nullopt;
  if (field && claimed_complete == true) {
    Error error = inconsistent(fmt::format("/evidence/{}/{}", which, *field), *field);
    error.message =
        fmt::format("the {} evidence is said to be complete, but {} is not as it must be", which, *field);
    return error;
  }
  if (claimed_complete.has_value() != evidence.has_value() ||
      (evidence && *claimed_complete == field.has_value())) {
    return inconsistent(fmt::format("/evidence/complete/{}", which), which);
  }
  if (field) {
    return incomplete(which, *field);
  }
  return {};
}

std::optional<Error> judge(const LaunchRecommendationDocument& document) {
  const auto& [recommendation, evidence, explanation, device] = document;
  if (!evidence) {
    return {};
  }
  if (auto error = judge("topology", evidence->topology, evidence->complete.topology, recommendation)) {
    return error;
  }
  return judge("promotion", evidence->promotion, evidence->complete.promotion, recommendation);
}

Error invalid_plan(std::string violation, std::string_view planner) {
  return {.code = ErrorCode::invalid_plan,
          .message = std::move(violation),
          .fix = fmt::format("make the plan anew with `tidegate {}`, from the same input", planner)};
}

std::optional<Error> judge(const documents::FrontierMemoryPlan& document, const planning::WaveDag& dag) {
  if (auto violation = planning::first_violation(dag, memory_plan(document))) {
    return invalid_plan(*std::move(violation), "plan");
  }
  // The one figure that a planner's own plan does not carry: it follows from the groups.
  const std::size_t groups = document.barriers.groups.size();
  if (document.barriers.global_barriers != (groups == 0 ? 0 : groups - 1)) {
    return invalid_plan(fmt::format("global_barriers is given as {}, and there are {} groups",
                                    document.barriers.global_barriers, groups),
                        "plan");
  }
  if (document.objective.has_value() != (document.strategy == documents::PlanStrategy::compact)) {
    return invalid_plan("the objective belongs to the strategy compact and to no other", "plan");
  }
  return {};
}

std::optional<Error> judge(const documents::ArenaPlanDocument& document,
                           const documents::BufferLifetimes& lifetimes) {
  const auto index = index_buffers(lifetimes);
  if (!index) {
    return index.error();
  }
  planning::ArenaPlan plan{.offsets = std::vector<std::uint64_t>(lifetimes.buffers.size()),
                           .height_bytes = document.height_bytes,
                           .lower_bound_bytes = document.lower_bound_bytes,
                           .optimal = document.optimal,
                           .proof = document.proof,
                           .gave_up = document.gave_up,
                           .search_nodes = document.search_nodes};
  std::vector<bool> placed(lifetimes.buffers.size(), false);
  for (const documents::PlacedBuffer& buffer : document.buffers) {
    const auto found = index->find(buffer_key(buffer.id));
    if (found == index->end()) {
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

// Of every topology that was chosen: its evidence follows from the waves of the same report.
std::optional<Error> judge(const traversal::FrontierReport& report) {
  const run::Geometry& geometry = report.geometry;
  const auto flaw = traversal::first_flaw(report.evidence, report.waves, report.memory,
                                          geometry.worker_groups * geometry.workgroup_size);
  if (!flaw) {
    return {};
  }
  const bool whole = flaw->item >= report.evidence.size();
  std::string pointer = whole ? "/evidence" : fmt::format("/evidence/{}/{}", flaw->item, flaw->field);
  if (!flaw->incomplete) {
    Error error = inconsistent(std::move(pointer), flaw->field);
    error.fix = "run the program anew: evidence and waves are of one run";
    return error;
  }
  return Error{.code = ErrorCode::incomplete_evidence,
               .message = fmt::format("the evidence of a topology is not complete: {} is not as it must be",
                                      flaw->field),
               .fix = "`tidegate schema frontier_report --format table` says what completes each field",
               .pointer = std::move(pointer),
               .field = flaw->field};
}

template <class T>
bool is(const Document& document) {
  return &document == &documents::DocumentOf<T>::document;
}

// A premise that no document of this type is held against would make its verdict look like more than it is.
std::optional<Error> idle_premise(const Document& document, const Premises& premises) {
  const bool used = (premises.dag && is<documents::FrontierMemoryPlan>(document)) ||
                    (premises.lifetimes && is<documents::ArenaPlanDocument>(document));
  if (used || (!premises.dag && !premises.lifetimes)) {
    return {};
  }
  return Error{.code = ErrorCode::wrong_kind,
               .message = fmt::format("a {} is not held against {}", document.kind,
                                      premises.dag ? "a wave DAG" : "buffer lifetimes"),
               .fix = fmt::format("check it without {}", premises.dag ? "--dag" : "--lifetimes")};
}

Result<void> as_result(std::optional<Error> error) {
  return error ? Result<void>(tl::unexpected(*std::move(error))) : Result<void>();
}

// Decodes it as the type that it is of, and says what the schema cannot.
Result<void> judge(const Document& document, std::string_view json, const Premises& premises,
                   CheckedDocument& entry) {
  if (is<compiler::WaveProgram>(document)) {
    TIDEGATE_TRY(
        const compiler::WaveProgram program,
        read_program(json, program_folder(entry.file), premises.scope, compiler::FileCheck::contents));
    TIDEGATE_TRY(std::vector<compiler::Warning> warnings, lint(program, entry.file, premises.scope));
    if (!warnings.empty()) {
      entry.warnings = std::move(warnings);
    }
    return {};
  }
  if (is<documents::NamedWaveDag>(document)) {
    return read_wave_dag(json).and_then([](documents::NamedWaveDag&& dag) { return lint(std::move(dag)); });
  }
  if (is<documents::BufferLifetimes>(document)) {
    return read_lifetimes(json).and_then([](const auto& lifetimes) { return lint(lifetimes); });
  }
  if (is<graphs::FrontierProgram>(document)) {
    return read_frontier_program(json).and_then(
        [&](const auto& program) { return lint(program, entry.file, premises.scope); });
  }
  // What a program wrote has no other errors than those of its form where it has such.
  const documents::Record::Object object = document.record->object();
  TIDEGATE_CHECK(documents::Decoder().decode(document, json, object.get()));
  if (is<LaunchRecommendationDocument>(document)) {
    return as_result(judge(*static_cast<const LaunchRecommendationDocument*>(object.get())));
  }
  if (is<documents::FrontierMemoryPlan>(document) && premises.dag) {
    return as_result(judge(*static_cast<const documents::FrontierMemoryPlan*>(object.get()), *premises.dag));
  }
  if (is<documents::ArenaPlanDocument>(document) && premises.lifetimes) {
    return as_result(
        judge(*static_cast<const documents::ArenaPlanDocument*>(object.get()), *premises.lifetimes));
  }
  if (is<traversal::FrontierReport>(document)) {
    return as_result(judge(*static_cast<const traversal::FrontierReport*>(object.get())));
  }
  return {};
}

// Reads a premise from a file.
template <class Read>
auto read_premise(const std::string& file, Read read) -> decltype(read(std::string())) {
  const auto text = read_document(file);
  if (!text) {
    return tl::unexpected(text.error());
  }
  auto premise = read(*text);
  if (!premise) {
    return tl::unexpected(at_document(std::move(premise.error()), file, *text));
  }
  return premise;
}

Result<planning::WaveDag> read_sound_dag(const std::string& json, const CheckRequest& request) {
  TIDEGATE_TRY(NamedDag named, read_dag(json, {.budget_bytes = request.budget_bytes,
                                               .folder = program_folder(*request.dag),
                                               .scope = request.scope}));
  return std::move(named.dag);
}

Result<documents::BufferLifetimes> read_sound_lifetimes(const std::string& json,
                                                        const CheckRequest& request) {
  TIDEGATE_TRY(documents::BufferLifetimes lifetimes, read_lifetimes(json));
  TIDEGATE_CHECK(index_buffers(lifetimes));
  lifetimes.capacity_bytes = request.capacity_bytes ? request.capacity_bytes : lifetimes.capacity_bytes;
  return lifetimes;
}

Result<Premises> read_premises(const CheckRequest& request) {
  Premises premises{.scope = request.scope};
  if (request.dag) {
    TIDEGATE_TRY(premises.dag, read_premise(*request.dag, [&](const std::string& json) {
                   return read_sound_dag(json, request);
                 }));
  }
  if (request.lifetimes) {
    TIDEGATE_TRY(premises.lifetimes, read_premise(*request.lifetimes, [&](const std::string& json) {
                   return read_sound_lifetimes(json, request);
                 }));
  }
  return premises;
}

Verdict verdict_of(ErrorCode code) {
  switch (code) {
  case ErrorCode::incomplete_evidence: return Verdict::incomplete;
  case ErrorCode::inconsistent_evidence:
  case ErrorCode::invalid_plan: return Verdict::inconsistent;
  default: return Verdict::invalid;
  }
}

Result<void> find_faults(std::string_view json, const std::optional<std::string>& name,
                         const Premises& premises, CheckedDocument& entry) {
  TIDEGATE_TRY(const Document* const document,
               name ? documents::find_document(*name) : documents::recognise(json));
  entry.document = document->kind;
  TIDEGATE_CHECK(as_result(idle_premise(*document, premises)));
  return judge(*document, json, premises, entry);
}

// Calls `visit` for every line that is not blank, with its number from 1.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      visit(line, number);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

} // namespace

CheckedDocument check_document(std::string_view json, const std::optional<std::string>& document,
                               const std::string& file, std::optional<std::uint64_t> line,
                               const Premises& premises) {
  CheckedDocument checked{.file = file, .line = line, .document = {}, .verdict = Verdict::valid, .error = {}};
  if (auto sound = find_faults(json, document, premises, checked); !sound) {
    checked.error = at_document(std::move(sound.error()), file, json);
    checked.verdict = verdict_of(checked.error->code);
    checked.others = documents::take_others(*checked.error);
    const auto place = [&](Error& error) {
      if (line && error.source == display_name(file)) {
        error.line = line; // a document of a stream is one line of its file
      }
    };
    place(*checked.error);
    if (checked.others) {
      std::ranges::for_each(*checked.others, place);
    }
  }
  return checked;
}

Result<documents::CheckReport> check(const CheckRequest& request) {
  const auto premises = read_premises(request);
  if (!premises) {
    return tl::unexpected(premises.error());
  }
  documents::CheckReport report;
  const auto add = [&report](CheckedDocument checked) {
    ++report.checked;
    ++(checked.verdict == Verdict::valid ? report.valid : report.failed);
    report.documents.push_back(std::move(checked));
  };
  for (const std::string& file : request.files) {
    const auto text = read_document(file);
    if (!text) {
      add({.file = file, .document = request.document, .verdict = Verdict::invalid, .error = text.error()});
    } else if (request.stream) {
      for_each_line(*text, [&](std::string_view line, std::uint64_t number) {
        add(check_document(line, request.document, file, number, *premises));
      });
    } else {
      add(check_document(*text, request.document, file, {}, *premises));
    }
  }
  return report;
}

Error all_of(const CheckedDocument& checked) {
  Error error = *checked.error;
  error.others = checked.others.value_or(std::vector<Error>());
  return error;
}

ExitCode exit_code(const documents::CheckReport& report) {
  ExitCode code = ExitCode::done;
  for (const CheckedDocument& checked : report.documents) {
    if (checked.error) {
      code = worst(code, tidegate::exit_code(all_of(checked)));
    }
  }
  return code;
}

std::string check_table(const documents::CheckReport& report, bool colour) {
  std::vector<std::vector<std::string>> rows;
  for (const CheckedDocument& checked : report.documents) {
    std::string place = display_name(checked.file);
    if (checked.line) {
      place += fmt::format(":{}", *checked.line);
    }
    const std::string verdict(documents::verdict_names[static_cast<std::size_t>(checked.verdict)]);
    std::string why = checked.error ? checked.error->message : "";
    if (checked.others) {
      why += fmt::format(" (and {})", plural(checked.others->size(), "more error"));
    }
    rows.push_back({place, checked.document.value_or("?"), verdict, std::move(why)});
  }
  return fmt::format(
      "{}{}\n", render_table(rows),
      bold(fmt::format("{} checked, {} valid, {} not", report.checked, report.valid, report.failed), colour));
}

} // namespace tidegate::commands
