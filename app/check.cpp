// `tidegate check`: is a document well formed, does its evidence hold, and is a plan right?
#include "app/plan.hpp"
#include "app/run.hpp"
#include "core/json.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tidegate::app {
namespace {

using documents::CheckedDocument;
using documents::CheckReport;
using documents::Document;
using documents::Verdict;

template <class T>
bool is(const Document& document) {
  return &document == &documents::DocumentOf<T>::document;
}

// Refuses --dag and --lifetimes for documents that are not checked against them: the verdict would seem to cover them.
Result<void> refuse_idle_reference(const Document& document, const CheckContext& context) {
  const bool used = (context.dag && is<documents::FrontierMemoryPlan>(document)) ||
                    (context.lifetimes && is<documents::ArenaPlanDocument>(document));
  if (used || (!context.dag && !context.lifetimes)) {
    return {};
  }
  return failure(ErrorCode::wrong_kind,
                 fmt::format("a {} is not checked against {}", document.kind,
                             context.dag ? "a wave DAG" : "buffer lifetimes"),
                 fmt::format("check it without {}", context.dag ? "--dag" : "--lifetimes"));
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
                         const CheckContext& context, CheckedDocument& entry) {
  TIDEGATE_TRY(const Document* const document,
               name ? documents::find_document(*name) : documents::recognise(json));
  entry.document = document->kind;
  TIDEGATE_CHECK(refuse_idle_reference(*document, context));
  TIDEGATE_CHECK(judge_document(*document, json, context, entry));
  ErrorList errors;
  if (context.strict && entry.warnings) {
    for (Error& warning : *entry.warnings) {
      warning.code = ErrorCode::invalid_program;
      errors.add(std::move(warning));
    }
    entry.warnings.reset();
  }
  return errors.result();
}

} // namespace

CheckedDocument check_document(std::string_view json, const std::optional<std::string>& document,
                               const std::string& file, std::optional<std::uint64_t> line,
                               const CheckContext& context, std::string_view written) {
  CheckedDocument checked{.file = file, .line = line, .document = {}, .verdict = Verdict::valid, .error = {}};
  const auto locate = [&](Error error) {
    error = at_document(std::move(error), file, json, written);
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

namespace {

CheckReport report_of(std::vector<CheckedDocument> documents) {
  const std::size_t all = documents.size();
  const auto valid =
      static_cast<std::uint64_t>(std::ranges::count(documents, Verdict::valid, &CheckedDocument::verdict));
  return {.checked = all, .valid = valid, .failed = all - valid, .documents = std::move(documents)};
}

// `check graph`: what a graph file contains.
CheckedDocument check_graph(const std::string& file) {
  CheckedDocument checked{.file = file, .line = {}, .document = "graph", .error = {}};
  const auto loaded = graphs::load_graph(file, {.build = {.in_rows = true}});
  if (!loaded) {
    checked.verdict = Verdict::invalid;
    checked.error = loaded.error();
    return checked;
  }
  checked.graph = documents::GraphContents{.facts = *loaded->facts, // set, because no cache is used
                                           .summary = summarise(loaded->graph)};
  return checked;
}

// Findings for services that show them in a change: `check --format github|sarif|junit`.

using nlohmann::ordered_json;

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
    code = is_warning(error) ? code : worst(code, exit_code(error));
  }
  return code;
}

// The file, with the line of a stream.
std::string file_of(const CheckedDocument& checked) {
  return display_name(checked.file) + (checked.line ? fmt::format(":{}", *checked.line) : "");
}

std::string_view code_of(const Error& error) {
  return error_code_names[static_cast<std::size_t>(error.code)];
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
                          percent_encoded(printable(error.source.value_or(file_of(checked))), "%:,"),
                          error.line ? fmt::format(",line={}", *error.line) : "",
                          error.column ? fmt::format(",col={}", *error.column) : "", code_of(error),
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
      ordered_json place{{"artifactLocation", {{"uri", error.source.value_or(file_of(checked))}}}};
      if (error.line) {
        place["region"]["startLine"] = *error.line;
      }
      if (error.column) {
        place["region"]["startColumn"] = *error.column;
      }
      results.push_back({{"ruleId", code_of(error)},
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
    cases += fmt::format("<testcase classname=\"{}\" name=\"{}\">\n",
                         xml_text(checked.document.value_or("unknown")), xml_text(file_of(checked)));
    for (const Error& error : findings_of(checked)) {
      std::vector<std::string> lines = words_in(describe(error), '\n');
      std::ranges::transform(lines, lines.begin(), xml_text);
      const std::string text = fmt::format("{}", fmt::join(lines, "\n"));
      cases += is_warning(error) ? fmt::format("<system-out>{}</system-out>\n", text)
                                 : fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>\n",
                                               code_of(error), xml_text(error.message), text);
    }
    cases += "</testcase>\n";
  }
  const auto failed = std::ranges::count_if(
      report.documents, [](const auto& checked) { return exit_code_of(checked) != ExitCode::done; });
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<testsuite name=\"tidegate check\" tests=\"{}\" failures=\"{}\">\n{}</testsuite>\n",
                     report.documents.size(), failed, cases);
}

struct CheckSettings {
  std::optional<std::string> document;         // the type of every document; without it each says its own
  std::vector<std::string> files;              // paths, or - for standard input
  bool stream = false;                         // each line of a file is a document
  std::optional<std::string> dag;              // path of a wave_dag, or of a wave_program
  std::optional<std::uint64_t> budget_bytes;   // instead of that document's
  std::optional<std::string> lifetimes;        // path of buffer_lifetimes
  std::optional<std::uint64_t> capacity_bytes; // instead of that document's
  std::vector<documents::Parameter>
      parameters;                      // of the reference, where there is one, else of every document
  PathScope scope = PathScope::folder; // of the paths of programs
  std::string output = "-";
  std::string_view format{};
  bool strict = false;
};

Result<CheckContext> read_context(const CheckSettings& request) {
  CheckContext context{.scope = request.scope, .strict = request.strict};
  const auto read = [&request](const std::string& file, auto decode) -> Result<void> {
    TIDEGATE_TRY(const auto text, read_document(file, request.parameters));
    return decode(text.json).map_error(
        [&](Error error) { return at_document(std::move(error), file, text.json, text.written); });
  };
  if (request.dag) {
    TIDEGATE_CHECK(read(*request.dag, [&](const std::string& json) {
      return read_dag(json, {.budget_bytes = request.budget_bytes,
                             .folder = program_folder(*request.dag),
                             .scope = request.scope})
          .map([&](NamedDag named) { context.dag = std::move(named.dag); });
    }));
  }
  if (request.lifetimes) {
    TIDEGATE_CHECK(read(*request.lifetimes, [&](const std::string& json) -> Result<void> {
      TIDEGATE_TRY(context.lifetimes, documents::decode<documents::BufferLifetimes>(json));
      if (request.capacity_bytes) {
        context.lifetimes->capacity_bytes = request.capacity_bytes;
      }
      return index_buffers(*context.lifetimes).map([](const BufferIndex&) {});
    }));
  }
  return context;
}

// Answers each line of each file with a report; a line that is not JSON has none.
Result<ExitCode> check_streams(const CheckSettings& request) {
  TIDEGATE_TRY(const auto context, read_context(request));
  const auto answer = [&](std::string_view line, LineReply& reply) -> Result<void> {
    TIDEGATE_TRY(const std::string_view json, reply.replaced(line));
    CheckedDocument checked =
        check_document(json, request.document, std::string(reply.input), reply.line, context);
    if (checked.error && checked.error->code == ErrorCode::syntax_error) {
      return tl::unexpected(*std::move(checked.error));
    }
    reply.exit_code = exit_code_of(checked);
    std::vector<CheckedDocument> all;
    all.push_back(std::move(checked));
    append(report_of(std::move(all)), documents::Style::compact, reply.text);
    return {};
  };
  return serve_lines(request.files, request.output, answer);
}

// Checks every document of every file. A file that cannot be read is a verdict like any other; references that cannot
// be read are an error.
Result<CheckReport> check_documents(const CheckSettings& request, bool graphs) {
  TIDEGATE_TRY(const auto context, read_context(request));
  const bool referenced = context.dag || context.lifetimes;
  std::vector<CheckedDocument> all;
  for (const std::string& file : request.files) {
    if (graphs) {
      all.push_back(check_graph(file));
      continue;
    }
    const auto text =
        read_document(file, referenced ? std::span<const documents::Parameter>() : request.parameters);
    all.push_back(text ? check_document(text->json, request.document, file, {}, context, text->written)
                       : CheckedDocument{.file = file,
                                         .document = request.document,
                                         .verdict = Verdict::invalid,
                                         .error = text.error()});
  }
  return report_of(std::move(all));
}

std::string check_table(const CheckReport& report, bool colour) {
  std::string graphs;
  TableRows rows;
  for (const CheckedDocument& checked : report.documents) {
    if (checked.graph) {
      graphs += bold(display_name(checked.file), colour) + '\n';
      documents::encode(documents::Description<documents::GraphContents>::record, &*checked.graph,
                        documents::Style::table, graphs);
      graphs += '\n';
      continue;
    }
    std::string why = checked.error ? checked.error->message : "";
    if (checked.others) {
      why += fmt::format(" (and {})", plural(checked.others->size(), "more error"));
    }
    rows.push_back({display_name(checked.file), checked.document.value_or("?"),
                    std::string(documents::verdict_names[static_cast<std::size_t>(checked.verdict)]),
                    std::move(why)});
  }
  return graphs + render_table(rows) +
         bold(fmt::format("{} checked, {} valid, {} invalid", report.checked, report.valid, report.failed),
              colour) +
         '\n';
}

// Short names of document types on the command line, and the option whose document a plan is checked against.
struct PlanType {
  std::string_view word;
  std::string_view document;
  std::string_view option;
  std::optional<std::string> CheckSettings::*reference;
};
constexpr std::array<PlanType, 2> plan_types{
    PlanType{"plan", "frontier_memory_plan", "--dag", &CheckSettings::dag},
    PlanType{"arena", "arena_plan", "--lifetimes", &CheckSettings::lifetimes}};

// Removes a leading document type from the files. Plans require the file that they are checked against.
Result<void> take_type(CheckSettings& request) {
  const std::string first = request.files.empty() ? std::string() : request.files.front();
  const auto* const type = std::ranges::find(plan_types, first, &PlanType::word);
  if (type != plan_types.end()) {
    if (!(request.*(type->reference))) {
      return failure(
          ErrorCode::invalid_usage,
          fmt::format("check {} holds a plan against its input and needs {}", type->word, type->option),
          fmt::format("`tidegate check {} {} FILE PLAN`; `tidegate check {} PLAN` looks at the "
                      "document alone",
                      type->word, type->option, type->document));
    }
    request.document = std::string(type->document);
  } else if (documents::find_document(first)) {
    request.document = first;
  }
  if (request.document) {
    request.files.erase(request.files.begin());
  }
  return {};
}

constexpr std::array<std::string_view, 5> check_formats{"json", "table", "github", "sarif", "junit"};

// Refuses options that have no effect, words that are not files, and an output that would replace an input.
Result<void> check_words(const CheckSettings& request, bool graphs) {
  const std::string_view of_documents = request.stream                ? "--stream"
                                        : request.dag                 ? "--dag"
                                        : request.lifetimes           ? "--lifetimes"
                                        : !request.parameters.empty() ? "--param"
                                                                      : "";
  if (graphs && !of_documents.empty()) {
    return failure(ErrorCode::invalid_usage,
                   fmt::format("{} is for documents, and check graph reads graphs", of_documents),
                   "leave it out");
  }
  TIDEGATE_CHECK(refuse_stream(request.stream, request.format, request.parameters));
  FileUses files{.inputs = {}, .outputs = {{request.output, "-o", {}}}};
  for (const std::string& file : request.files) {
    files.inputs.push_back({file, "a document that is checked", {}});
  }
  for (const auto& reference : {request.dag, request.lifetimes}) {
    if (reference) {
      files.inputs.push_back({*reference, "the reference of the plans", {}});
    }
  }
  if (std::ranges::count(files.inputs, "-", &NamedFile::path) > 1) {
    return failure(ErrorCode::invalid_usage, "standard input can be read once",
                   "give - once; with --stream each of its lines is a document");
  }
  // A mistyped document type looks like a file that does not exist.
  const std::string& first = request.files.front();
  if (auto found = documents::find_document(first);
      !request.document && !found && found.error().nearest && ::access(first.c_str(), F_OK) != 0) {
    found.error().code = ErrorCode::invalid_usage;
    return tl::unexpected(std::move(found.error()));
  }
  return refuse_overwriting(files);
}

Result<ExitCode> run_check(CheckSettings& settings) {
  const bool graphs = !settings.files.empty() && settings.files.front() == "graph";
  if (graphs) {
    settings.files.erase(settings.files.begin());
    settings.document = "graph"; // all further arguments are files
  } else {
    TIDEGATE_CHECK(take_type(settings));
  }
  if (settings.files.empty()) {
    settings.files.emplace_back("-");
  }
  TIDEGATE_CHECK(check_words(settings, graphs));
  if (settings.stream) {
    return check_streams(settings);
  }
  TIDEGATE_TRY(const CheckReport report, check_documents(settings, graphs));
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

OptionModel needing(std::string other, OptionModel option) {
  option.needs = std::move(other);
  return option;
}

} // namespace

CommandModel check_command() {
  const auto settings = std::make_shared<CheckSettings>();
  CheckSettings& request = *settings;
  OptionModel files = positional(
      "[KIND] FILE...",
      file_option(
          "", request.files,
          "Documents to check; - or none is standard input. A type before them (see `tidegate schema`) is the type of all. "
          "`check plan` and `check arena` compare plans with their input; `check graph` describes graph files"));
  files.choices = document_kinds();
  return {
      .options = {flag("--stream", request.stream,
                       "Treat each line of a file as a document; print a line for each"),
                  file_option("--dag", request.dag, "Wave DAG, or wave program, to check plans against"),
                  needing("--dag",
                          bytes_option("--budget", request.budget_bytes, "Budget instead of the wave DAG's")),
                  file_option("--lifetimes", request.lifetimes,
                              "Buffer lifetimes to check arena plans against"),
                  needing("--lifetimes", bytes_option("--capacity", request.capacity_bytes,
                                                      "Capacity instead of the lifetimes'")),
                  parameter_option(request.parameters), path_scope_option(request.scope),
                  flag("--strict", request.strict, "Count warnings as errors"),
                  format_option(settings->format, check_formats,
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
