// `tidegate check`: is a document well formed, does its evidence hold, and is a plan right? It finds what schemas cannot
// express and no device is needed for: what `plan`, `arena` and `run` would find, incomplete evidence, invalid plans, wrong sums.
#include "app/plan.hpp"
#include "app/run.hpp"
#include "core/json.hpp"
#include "traversal/plan.hpp"
#include "work/resolve.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tidegate::app {
namespace {

using documents::CheckedDocument;
using documents::CheckReport;
using documents::Document;
using documents::LaunchRecommendationDocument;
using documents::Verdict;
using nlohmann::ordered_json;
using Context = const CheckContext&;

// The fault of a field of evidence that is incomplete.
tl::unexpected<Error> incomplete(std::string_view what, std::string_view document, std::string pointer,
                                 std::string_view field) {
  return tl::unexpected(Error{
      .code = ErrorCode::incomplete_evidence,
      .message = fmt::format("the {} is not complete: {} is not as it must be", what, field),
      .fix = fmt::format("`tidegate schema {} --format table` says what completes each field", document),
      .pointer = std::move(pointer),
      .field = std::string(field)});
}

// Checks one kind of evidence: if it is there, it must be complete, and said to be.
template <class EvidenceType>
Result<void> judge_kind(std::string_view which, const std::optional<EvidenceType>& evidence,
                        std::optional<bool> said_complete) {
  const auto missing = evidence ? policy::incomplete_field(*evidence) : std::nullopt;
  if (!missing && (!evidence || said_complete.value_or(false))) {
    return {};
  }
  return incomplete(fmt::format("{} evidence", which), "launch_recommendation",
                    missing ? fmt::format("/evidence/{}/{}", which, *missing)
                            : fmt::format("/evidence/complete/{}", which),
                    missing.value_or("complete"));
}

Result<void> judge(const LaunchRecommendationDocument& document, Context, CheckedDocument&) {
  const auto& evidence = document.evidence;
  if (!evidence) {
    return {};
  }
  TIDEGATE_CHECK(judge_kind("topology", evidence->topology, evidence->complete.topology));
  return judge_kind("promotion", evidence->promotion, evidence->complete.promotion);
}

tl::unexpected<Error> invalid_plan(std::string violation, std::string_view planner) {
  return failure(ErrorCode::invalid_plan, std::move(violation),
                 fmt::format("make the plan again with `tidegate {}`, from the same input", planner));
}

// Checks the fields that follow from the groups, and, against a DAG, the plan.
Result<void> judge(const documents::FrontierMemoryPlan& document, Context context, CheckedDocument&) {
  const planning::MemoryPlan plan = memory_plan(document);
  if (context.dag) {
    if (auto violation = planning::first_violation(*context.dag, plan)) {
      return invalid_plan(*std::move(violation), "plan");
    }
  }
  std::vector<std::uint32_t> waves = plan.order;
  std::ranges::sort(waves);
  std::size_t in_order = 0;
  while (in_order < waves.size() && waves[in_order] == in_order) {
    ++in_order;
  }
  const std::size_t groups = plan.group_count();
  const std::array<std::pair<bool, std::string>, 4> faults{
      {{document.barriers.global_barriers != plan.global_barriers(),
        fmt::format("global_barriers is given as {}, and there are {} groups",
                    document.barriers.global_barriers, groups)},
       {document.objective.has_value() != (document.planner == documents::Planner::compact),
        "the objective belongs to the strategy compact and to no other"},
       {in_order != waves.size(),
        fmt::format("of {} waves, wave {} is not in exactly one group", waves.size(), in_order)},
       {plan.lower_bound_groups > groups || plan.optimal != (plan.lower_bound_groups == groups),
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
  std::vector<std::optional<std::uint64_t>> offsets(lifetimes.buffers.size());
  for (const documents::ArenaOffset& buffer : document.buffers) {
    const auto found = index.find(buffer_key(buffer.id));
    if (found == index.end() || offsets[found->second]) {
      return invalid_plan(fmt::format("buffer {} {}", describe(buffer.id),
                                      found == index.end() ? "is not in the lifetimes" : "has two offsets"),
                          "arena");
    }
    offsets[found->second] = buffer.offset;
  }
  planning::ArenaPlan plan = document.plan;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (!offsets[i]) {
      return invalid_plan(fmt::format("buffer {} has no offset", describe(lifetimes.buffers[i].id)), "arena");
    }
    plan.offsets.push_back(*offsets[i]);
  }
  if (auto violation = planning::check_arena(arena_problem(lifetimes), plan)) {
    return invalid_plan(*violation + " (buffers are counted from 0)", "arena");
  }
  return {};
}

// A run that ended early or found a fault is a negative answer, with the run's own error.
Result<void> judge_status(const runtime::ReportHead& report) {
  if (is_success(report.status)) {
    return {};
  }
  const Error error = report.error.value_or(Error{.fix = "run the program again"});
  const bool negative = exit_code(error.code) == ExitCode::negative;
  return failure(negative ? error.code : ErrorCode::incomplete_evidence,
                 fmt::format("the status of the run is {}{}{}", choice_name(report.status),
                             error.message.empty() ? "" : ": ", error.message),
                 error.fix, "/status");
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
  if (const auto wrong = std::ranges::find(report.expected, false, &engine::ExpectedReport::equal);
      wrong != report.expected.end()) {
    return differ(fmt::format("{} of {} outside of the tolerances", plural(wrong->outside, "element"),
                              in_quotes(wrong->buffer)),
                  "look at the worst of them",
                  fmt::format("/expected/{}/equal", wrong - report.expected.begin()));
  }
  if (report.stress && report.stress->failure) {
    return differ(fmt::format("a run under stress failed: {}", report.stress->failure->variation),
                  "look at the waves that it names", "/stress/failure");
  }
  return {};
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
    std::ranges::transform(compiled->warnings, std::back_inserter(entry.warnings.emplace()),
                           [](const Warning& warning) { return as_error(warning); });
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

// Checks what a run does before its device is used.
Result<void> judge(const graphs::FrontierProgram& program, Context context, CheckedDocument& entry) {
  const std::string folder = program_folder(entry.file);
  traversal::RunOptions options;
  options.scope = context.scope;
  TIDEGATE_TRY(auto own, traversal::check_asked(program, folder, nullptr, options));
  if (program.graph.file || (own && program.own->initial)) { // which says vertices and weights
    TIDEGATE_CHECK(traversal::load_asked(program, folder, std::move(own), options));
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

Verdict verdict_of(ErrorCode code) {
  switch (code) {
  case ErrorCode::incomplete_evidence: return Verdict::incomplete;
  case ErrorCode::invalid_plan: return Verdict::inconsistent;
  default: return Verdict::invalid;
  }
}

// Decodes a document and judges it. The error and its `others` are all of its faults, each with a pointer; likely mistakes
// become warnings of the entry, which has the document's file.
Result<void> find_faults(std::string_view json, const std::optional<std::string>& name,
                         const CheckContext& context, CheckedDocument& entry) {
  TIDEGATE_TRY(const Document* const document, name ? find_document(*name) : recognise(json));
  entry.document = document->kind;
  if ((context.dag && document != &documents::DocumentOf<documents::FrontierMemoryPlan>::document) ||
      (context.lifetimes && document != &documents::DocumentOf<documents::ArenaPlanDocument>::document)) {
    return failure(ErrorCode::wrong_kind, // the verdict would seem to cover it
                   fmt::format("a {} is not checked against {}", document->kind,
                               context.dag ? "a wave DAG" : "buffer lifetimes"),
                   "check it alone");
  }
  // A document with errors of form is not checked further.
  const std::shared_ptr<void> object = document->record->create();
  TIDEGATE_CHECK(decode_as(*document, json, object.get(), context.parameters));
  const auto sound =
      judge_as<engine::WaveProgram, graphs::FrontierProgram, documents::NamedWaveDag,
               documents::BufferLifetimes, LaunchRecommendationDocument, engine::RunReport,
               documents::FrontierMemoryPlan, documents::ArenaPlanDocument, traversal::FrontierReport>(
          *document, object.get(), context, entry);
  if (entry.warnings && (entry.warnings->empty() || context.strict)) {
    ErrorList errors;
    auto warnings = std::exchange(entry.warnings, std::nullopt);
    for (Error& warning : *warnings) {
      warning.code = ErrorCode::invalid_program;
      errors.add(std::move(warning));
    }
    return errors.result();
  }
  return sound;
}

CheckReport report_of(std::vector<CheckedDocument> documents) {
  const std::size_t all = documents.size();
  const auto valid =
      static_cast<std::uint64_t>(std::ranges::count(documents, Verdict::valid, &CheckedDocument::verdict));
  return {.checked = all, .valid = valid, .failed = all - valid, .documents = std::move(documents)};
}

// Findings for services that show them in a change: `check --format github|sarif|junit`.

// Returns all errors and warnings of a verdict, the error that decides on the exit code first.
std::vector<Error> findings_of(const CheckedDocument& checked) {
  std::vector<Error> findings;
  if (checked.error) {
    findings.push_back(*checked.error);
  }
  for (const auto& list : {checked.others, checked.warnings}) {
    std::ranges::copy(list.value_or(std::vector<Error>()), std::back_inserter(findings));
  }
  return findings;
}

bool is_warning(const Error& error) {
  return error.code == ErrorCode::warning;
}

ExitCode exit_code_of(const CheckedDocument& checked) {
  ExitCode code = ExitCode::done;
  for (const Error& error : findings_of(checked)) {
    code = worst(code, exit_code(error)); // of warnings it is `done`
  }
  return code;
}

// Names in documents may have control characters.
std::string text_of(const Error& error) {
  return printable(error.message) + (error.fix.empty() ? "" : "\nfix: " + printable(error.fix));
}

std::string percent_encoded(std::string_view text, std::string_view special) {
  std::string safe;
  for (const char c : text) {
    special.find(c) == special.npos ? safe += c : safe += fmt::format("%{:02X}", c);
  }
  return safe;
}

// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
std::string github(const CheckReport& report) {
  std::string text;
  for (const CheckedDocument& checked : report.documents) {
    for (const Error& error : findings_of(checked)) {
      text += fmt::format("::{} file={}{}{},title={}::{}\n", is_warning(error) ? "warning" : "error",
                          percent_encoded(printable(error.source.value_or(checked.file)), "%:,"),
                          error.line ? fmt::format(",line={}", *error.line) : "",
                          error.column ? fmt::format(",col={}", *error.column) : "", name(error.code),
                          percent_encoded(text_of(error), "%\r\n"));
    }
  }
  return text;
}

// SARIF 2.1.0, an OASIS standard.
std::string sarif(const CheckReport& report) {
  ordered_json results = ordered_json::array();
  for (const CheckedDocument& checked : report.documents) {
    for (const Error& error : findings_of(checked)) {
      ordered_json place{{"artifactLocation", {{"uri", error.source.value_or(checked.file)}}}};
      if (error.line) {
        place["region"]["startLine"] = *error.line;
      }
      if (error.column) {
        place["region"]["startColumn"] = *error.column;
      }
      results.push_back({{"ruleId", name(error.code)},
                         {"level", is_warning(error) ? "warning" : "error"},
                         {"message", {{"text", text_of(error)}}},
                         {"locations", ordered_json::array({{{"physicalLocation", std::move(place)}}})}});
    }
  }
  const ordered_json run{{"tool", {{"driver", {{"name", "tidegate"}, {"version", TIDEGATE_VERSION}}}}},
                         {"columnKind", "unicodeCodePoints"},
                         {"results", std::move(results)}};
  return ordered_json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", ordered_json::array({run})}}
             .dump(2, ' ', true, ordered_json::error_handler_t::replace) +
         '\n';
}

std::string junit(const CheckReport& report) {
  std::string cases;
  for (const CheckedDocument& checked : report.documents) {
    cases +=
        fmt::format("<testcase classname=\"{}\" name=\"{}\">\n",
                    xml_text(checked.document.value_or("unknown")), xml_text(display_name(checked.file)));
    for (const Error& error : findings_of(checked)) {
      std::vector<std::string> lines = words_in(describe(error), '\n');
      std::ranges::transform(lines, lines.begin(), xml_text);
      const std::string text = fmt::format("{}", fmt::join(lines, "\n"));
      cases += is_warning(error) ? fmt::format("<system-out>{}</system-out>\n", text)
                                 : fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>\n",
                                               name(error.code), xml_text(error.message), text);
    }
    cases += "</testcase>\n";
  }
  const auto failed = std::ranges::count_if(
      report.documents, [](const auto& checked) { return exit_code_of(checked) != ExitCode::done; });
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<testsuite name=\"tidegate check\" tests=\"{}\" failures=\"{}\">\n{}</testsuite>\n",
                     report.documents.size(), failed, cases);
}

struct CheckSettings : CheckContext {
  std::optional<std::string> document;       // the type of every document; without it each says its own
  std::vector<std::string> files;            // paths, or - for standard input
  bool stream = false;                       // each line of a file is a document
  std::optional<std::string> against;        // path of a wave_dag, wave_program or buffer_lifetimes
  std::optional<std::uint64_t> budget_bytes; // or capacity, instead of that document's
  std::string output = "-";
  std::string_view format{};
};

// Reads the reference, if there is one; the parameters are its own then.
Result<void> read_reference(CheckSettings& request) {
  if (!request.against) {
    return {};
  }
  TIDEGATE_TRY(const std::string json, read_document(*request.against));
  const auto at = [&](Error error) { return at_document(std::move(error), *request.against, json); };
  TIDEGATE_TRY(const Document* const kind, recognise(json).map_error(at));
  if (kind != &documents::DocumentOf<documents::BufferLifetimes>::document) {
    TIDEGATE_TRY(NamedDag named, read_dag(json, {.budget_bytes = request.budget_bytes,
                                                 .folder = program_folder(*request.against),
                                                 .scope = request.scope,
                                                 .parameters = std::exchange(request.parameters, {})})
                                     .map_error(at));
    request.dag = std::move(named.dag);
    return {};
  }
  TIDEGATE_TRY(request.lifetimes, decode_as<documents::BufferLifetimes>(json).map_error(at));
  if (request.budget_bytes) {
    request.lifetimes->capacity_bytes = request.budget_bytes;
  }
  return index_buffers(*request.lifetimes).map_error(at).map([](const auto& /*index*/) {});
}

// Answers each line of each file with a report; a line that is not JSON has none.
Result<ExitCode> check_streams(const CheckSettings& request) {
  const auto answer = [&](std::string_view line, LineReply& reply) -> Result<void> {
    CheckedDocument checked =
        check_document(line, request.document, std::string(reply.input), reply.line, request);
    if (checked.error && checked.error->code == ErrorCode::syntax_error) {
      return tl::unexpected(*std::move(checked.error));
    }
    reply.exit_code = exit_code_of(checked);
    append(report_of({std::move(checked)}), documents::Style::compact, reply.text);
    return {};
  };
  return serve_lines(request.files, request.output, answer);
}

// Checks every document of every file. A file that cannot be read is a verdict like any other.
CheckReport check_documents(const CheckSettings& request) {
  std::vector<CheckedDocument> all;
  for (const std::string& file : request.files) {
    const auto json = read_document(file);
    all.push_back(json ? check_document(*json, request.document, file, {}, request)
                       : CheckedDocument{.file = file,
                                         .document = request.document,
                                         .verdict = Verdict::invalid,
                                         .error = json.error()});
  }
  return report_of(std::move(all));
}

std::string check_table(const CheckReport& report, bool colour) {
  TableRows rows;
  for (const CheckedDocument& checked : report.documents) {
    std::string why = checked.error ? checked.error->message : "";
    if (checked.others) {
      why += fmt::format(" (and {})", plural(checked.others->size(), "more error"));
    }
    rows.push_back({display_name(checked.file), checked.document.value_or("?"),
                    std::string(choice_name(checked.verdict)), std::move(why)});
  }
  return render_table(rows) +
         bold(fmt::format("{} checked, {} valid, {} invalid", report.checked, report.valid, report.failed),
              colour) +
         '\n';
}

// Refuses options that have no effect, and an output that would replace an input.
Result<void> check_words(const CheckSettings& request) {
  if (request.budget_bytes && !request.against) {
    return misuse("--budget has no effect without --dag or --lifetimes",
                  "give what the plans are checked against");
  }
  TIDEGATE_CHECK(refuse_stream(request.stream, request.format, request.parameters));
  FileUses files{.inputs = {}, .outputs = {{request.output, "-o", {}}}};
  for (const std::string& file : request.files) {
    files.inputs.push_back({file, "a document that is checked", {}});
  }
  if (request.against) {
    files.inputs.push_back({*request.against, "the reference of the plans", {}});
  }
  if (std::ranges::count(files.inputs, "-", &NamedFile::path) > 1) {
    return misuse("standard input can be read once",
                  "give - once; with --stream each of its lines is a document");
  }
  return refuse_overwriting(files);
}

Result<ExitCode> run_check(CheckSettings& settings) {
  const std::string first = settings.files.empty() ? "" : settings.files.front();
  const std::string type = first == "plan" ? "frontier_memory_plan" : first == "arena" ? "arena_plan" : first;
  if (type != first && !settings.against) {
    const std::string_view needed = first == "plan" ? "--dag" : "--lifetimes";
    return misuse(
        fmt::format("check {} holds a plan against its input and needs {}", first, needed),
        fmt::format("`tidegate check {} {} FILE PLAN`; `tidegate check {} PLAN` looks at the document alone",
                    first, needed, type));
  }
  if (auto found = find_document(type)) { // the type of all
    settings.document = type;
    settings.files.erase(settings.files.begin());
  } else if (found.error().nearest && ::access(first.c_str(), F_OK) != 0) { // mistyped
    found.error().code = ErrorCode::invalid_usage;
    return tl::unexpected(std::move(found.error()));
  }
  if (settings.files.empty()) {
    settings.files.emplace_back("-");
  }
  TIDEGATE_CHECK(check_words(settings));
  TIDEGATE_CHECK(read_reference(settings));
  if (settings.stream) {
    return check_streams(settings);
  }
  const CheckReport report = check_documents(settings);
  ExitCode code = ExitCode::done; // the worst of the errors
  for (const CheckedDocument& checked : report.documents) {
    print_findings(findings_of(checked));
    code = worst(code, exit_code_of(checked));
  }
  using Form = std::pair<std::string_view, std::string (*)(const CheckReport&)>;
  constexpr std::array services{Form("github", github), Form("sarif", sarif), Form("junit", junit)};
  const auto* const service = std::ranges::find(services, settings.format, &Form::first);
  const auto written = service == services.end()
                           ? write_document(settings.output, settings.format, report, check_table)
                           : write_text(settings.output, service->second(report));
  return written.map([code](ExitCode) { return code; });
}

} // namespace

Result<void> judge(const traversal::FrontierReport& report) {
  if (report.verification && !report.verification->right) {
    return differ("the result is not what the serial algorithm computes",
                  "error in the report says where to look", "/verification/right");
  }
  return judge_status(report);
}

Result<void> judge(const engine::RunReport& report) {
  ErrorList errors;
  if (const auto equal = judge_parity(report); !equal) {
    errors.check(equal);
  } else {
    errors.check(judge_status(report));
  }
  const documents::Evidence& evidence = report.evidence;
  if (!evidence.topology || !evidence.promotion) {
    const std::string_view missing = evidence.topology ? "promotion" : "topology";
    errors.add(incomplete("evidence", "run_report", "/evidence", missing).value());
  }
  errors.check(judge_kind("topology", evidence.topology, true));
  errors.check(judge_kind("promotion", evidence.promotion, true));
  return errors.result();
}

CheckedDocument check_document(std::string_view json, const std::optional<std::string>& document,
                               const std::string& file, std::optional<std::uint64_t> line,
                               const CheckContext& context) {
  CheckedDocument checked{.file = file, .line = line, .document = {}, .verdict = Verdict::valid, .error = {}};
  const auto locate = [&](Error error) {
    error = at_document(std::move(error), file, json);
    const auto in_stream = [&](Error& each) {
      if (line && each.source == display_name(file)) {
        each.line = line; // a document of a stream is one line of its file
      }
    };
    in_stream(error);
    std::ranges::for_each(error.others, in_stream);
    return error;
  };
  if (auto sound = find_faults(json, document, context, checked); !sound) {
    checked.verdict = verdict_of(sound.error().code);
    checked.error = locate(std::move(sound.error())); // sorts the errors by their places
    checked.others = documents::take_others(*checked.error);
  }
  if (checked.warnings) {
    std::ranges::transform(*checked.warnings, checked.warnings->begin(), locate);
  }
  return checked;
}

CommandModel check_command() {
  const auto settings = std::make_shared<CheckSettings>();
  CheckSettings& request = *settings;
  OptionModel files = option(
      "", as_file("[KIND] FILE..."), request.files,
      "Documents to check; - or none is standard input. A type before them (see `tidegate schema`) is the type of all. "
      "`check plan` and `check arena` compare plans with their input");
  files.choices = document_kinds();
  return {
      .options =
          {flag("--stream", request.stream, "Treat each line of a file as a document; print a line for each"),
           option(
               "--dag,--lifetimes", as_file(), request.against,
               "Wave DAG, or wave program, to check plans against; buffer lifetimes, to check arena plans against"),
           option("--budget,--capacity", as_bytes(), request.budget_bytes,
                  "Budget of the wave DAG, or capacity of the lifetimes, instead of its own"),
           parameter_option(request.parameters), path_scope_option(request.scope),
           flag("--strict", request.strict, "Count warnings as errors"),
           format_option(settings->format, {"json", "table", "github", "sarif", "junit"},
                         "JSON, a table for people (default on a terminal), or for CI: annotations of "
                         "GitHub, SARIF, JUnit XML"),
           output_option(settings->output, {"json", "sarif", "xml"})},
      .positionals = {std::move(files)},
      .examples = {{"Is the evidence complete?",
                    "tidegate recommend examples/bfs_wave.json --evidence all | tidegate check -"},
                   {"Does a plan keep what it promises?",
                    "tidegate plan examples/stereo_camera.json | tidegate check plan --dag "
                    "examples/stereo_camera.json -"}},
      .run = [settings] { return run_check(*settings); }};
}

} // namespace tidegate::app
