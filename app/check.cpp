// `tidegate check`: is a document well formed, does its evidence hold, and is a plan right?
#include "app/check.hpp"

#include "app/arena.hpp"
#include "app/run.hpp"
#include "core/catalogue.hpp"

#include <unistd.h>

namespace tidegate::app {
namespace {

using documents::CheckedDocument;
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

// Returns all errors and warnings of a checked document or graph, the error that decides on the exit code first.
std::vector<Error> findings_of(const auto& checked) {
  std::vector<Error> all;
  if (checked.error) {
    all.push_back(*checked.error);
  }
  if constexpr (requires { checked.others; }) {
    for (const auto& list : {checked.others, checked.warnings}) {
      if (list) {
        all.insert(all.end(), list->begin(), list->end());
      }
    }
  }
  return all;
}

ExitCode exit_code_of(const auto& checked) {
  ExitCode code = ExitCode::done;
  for (const Error& error : findings_of(checked)) {
    code = error.code == ErrorCode::warning ? code : worst(code, exit_code(error));
  }
  return code;
}

// The verdict on a line of a stream.
CheckedDocument check_line(std::string_view line, const std::string& file, std::uint64_t number,
                           const CheckSettings& request, const CheckContext& context) {
  auto replaced = documents::replace_parameters(std::string(line));
  return replaced ? check_document(*replaced, request.document, file, number, context)
                  : CheckedDocument{.file = file,
                                    .line = number,
                                    .document = request.document,
                                    .verdict = Verdict::invalid,
                                    .error = std::move(replaced.error())};
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

// Answers each line of each file with a report; a line that is not JSON has none.
Result<ExitCode> check_streams(const CheckSettings& request) {
  TIDEGATE_TRY(const auto context, read_context(request));
  TIDEGATE_TRY(auto output, Output::open(request.output));
  ExitCode code = ExitCode::done;
  for (const std::string& file : request.files) {
    auto input = open_input(file, FileKinds::any);
    if (!input) {
      input.error().source = display_name(file);
      return tl::unexpected(std::move(input.error()));
    }
    const LineAnswer answer = [&](std::string_view line, LineReply& reply) -> Result<void> {
      CheckedDocument checked = check_line(line, file, reply.line, request, context);
      if (checked.error && checked.error->code == ErrorCode::syntax_error) {
        return tl::unexpected(*std::move(checked.error));
      }
      reply.exit_code = exit_code_of(checked);
      documents::CheckReport report;
      count_verdict(report, report.documents, std::move(checked));
      documents::encode(documents::DocumentOf<documents::CheckReport>::document, &report,
                        documents::Style::compact, reply.text);
      return {};
    };
    TIDEGATE_TRY(const StreamSummary summary, answer_stream(
                                                  *input, output, [&answer] { return answer; }, all_cores()));
    code = worst(code, summary.exit_code);
  }
  TIDEGATE_CHECK(output.commit());
  return code;
}

// Checks every document of every file. A file that cannot be read is a verdict like any other; references that cannot
// be read are an error.
Result<documents::CheckReport> check_documents(const CheckSettings& request) {
  TIDEGATE_TRY(const auto context, read_context(request));
  documents::CheckReport report;
  const auto add = [&report](CheckedDocument checked) {
    count_verdict(report, report.documents, std::move(checked));
  };
  for (const std::string& file : request.files) {
    const auto text =
        read_document(file, context.dag || context.lifetimes ? std::span<const documents::Parameter>()
                                                             : request.parameters);
    if (!text) {
      add({.file = file, .document = request.document, .verdict = Verdict::invalid, .error = text.error()});
    } else if (request.stream) {
      for_each_line(text->json, [&](std::string_view line, std::uint64_t number) {
        add(check_line(line, file, number, request, context));
      });
    } else {
      add(check_document(text->json, request.document, file, {}, context, text->written));
    }
  }
  return report;
}

std::string check_table(const documents::CheckReport& report, bool colour) {
  TableRows rows;
  for (const CheckedDocument& checked : report.documents) {
    std::string location = display_name(checked.file);
    if (checked.line) {
      location += fmt::format(":{}", *checked.line);
    }
    const std::string verdict(documents::verdict_names[static_cast<std::size_t>(checked.verdict)]);
    std::string why = checked.error ? checked.error->message : "";
    if (checked.others) {
      why += fmt::format(" (and {})", plural(checked.others->size(), "more error"));
    }
    rows.push_back({location, checked.document.value_or("?"), verdict, std::move(why)});
  }
  return render_table(rows) + verdict_counts(report, colour);
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
  for (const PlanType& plan : plan_types) {
    if (request.*(plan.reference) && request.document && *request.document != plan.document) {
      return failure(ErrorCode::invalid_usage,
                     fmt::format("{} is for plans of type {}", plan.option, plan.document),
                     fmt::format("leave it out, or check {}", plan.word));
    }
  }
  return {};
}

// Refuses options that have no effect on `check graph`.
Result<void> refuse_document_options(const CheckSettings& request) {
  const std::string_view option = request.stream                ? "--stream"
                                  : request.dag                 ? "--dag"
                                  : request.lifetimes           ? "--lifetimes"
                                  : !request.parameters.empty() ? "--param"
                                                                : "";
  if (option.empty()) {
    return {};
  }
  return failure(ErrorCode::invalid_usage,
                 fmt::format("{} is for documents, and check graph reads graphs", option), "leave it out");
}

constexpr std::array<std::string_view, 5> check_formats{"json", "table", "github", "sarif", "junit"};

// A mistyped document type looks like a file that does not exist, and standard input can be read once.
Result<void> refuse_words(const CheckSettings& request) {
  const auto inputs = std::ranges::count(request.files, "-") + (request.dag == "-" ? 1 : 0) +
                      (request.lifetimes == "-" ? 1 : 0);
  if (inputs > 1) {
    return failure(ErrorCode::invalid_usage, "standard input can be read once",
                   "give - once; with --stream each of its lines is a document");
  }
  const std::string& first = request.files.front();
  const auto found = documents::find_document(first);
  if (!request.document && !found && found.error().nearest && ::access(first.c_str(), F_OK) != 0) {
    Error error = found.error();
    error.code = ErrorCode::invalid_usage;
    return tl::unexpected(std::move(error));
  }
  return {};
}

// Refuses words that are not files, and an output that would replace an input.
Result<void> check_files(const CheckSettings& settings) {
  TIDEGATE_CHECK(refuse_words(settings));
  FileUses files{.inputs = {}, .outputs = {{settings.output, "-o", {}}}};
  for (const std::string& file : settings.files) {
    files.inputs.push_back({file, "a document that is checked", {}});
  }
  for (const auto& reference : {settings.dag, settings.lifetimes}) {
    if (reference) {
      files.inputs.push_back({*reference, "the reference of the plans", {}});
    }
  }
  return refuse_overwriting(files);
}

// Writes the report, and the errors and warnings in it to standard error. The exit code is the worst of the errors.
template <class Report, class Table>
Result<ExitCode> answer(const CheckSettings& settings, const Report& report, const auto& verdicts,
                        Table table) {
  ExitCode code = ExitCode::done;
  std::vector<Finding> findings;
  for (const auto& verdict : verdicts) {
    Finding& finding = findings.emplace_back();
    finding.file = display_name(verdict.file);
    if constexpr (requires { verdict.document; }) {
      finding.file += verdict.line ? fmt::format(":{}", *verdict.line) : "";
      finding.document = verdict.document.value_or("unknown");
    } else {
      finding.document = "graph";
    }
    finding.errors = findings_of(verdict);
    print_findings(finding.errors);
    code = worst(code, exit_code_of(verdict));
  }
  if (settings.format.empty() || settings.format == "json" || settings.format == "table") {
    TIDEGATE_CHECK(write_document(settings.output, settings.format, report, table));
  } else {
    TIDEGATE_CHECK(write_text(settings.output, ci_text(settings.format, findings)));
  }
  return code;
}

Result<ExitCode> run_check(CheckSettings& settings) {
  const bool graphs = !settings.files.empty() && settings.files.front() == "graph";
  if (graphs) {
    settings.files.erase(settings.files.begin());
    settings.document = "graph_report"; // all further arguments are files
  } else {
    TIDEGATE_CHECK(take_type(settings));
  }
  if (settings.files.empty()) {
    settings.files.emplace_back("-");
  }
  if (graphs) {
    TIDEGATE_CHECK(refuse_document_options(settings));
  }
  TIDEGATE_CHECK(refuse_parameters(settings.stream, settings.parameters));
  TIDEGATE_CHECK(check_files(settings));
  if (graphs) {
    const documents::GraphCheck report = check_graphs(settings.files);
    return answer(settings, report, report.graphs, graph_table);
  }
  if (settings.stream && (settings.format == "json" ||
                          (settings.format.empty() && !is_table(settings.format, settings.output)))) {
    return check_streams(settings);
  }
  TIDEGATE_TRY(const documents::CheckReport report, check_documents(settings));
  return answer(settings, report, report.documents, check_table);
}

OptionModel needing(std::string other, OptionModel option) {
  option.needs = std::move(other);
  return option;
}

} // namespace

CommandModel check_command() {
  const auto settings = std::make_shared<CheckSettings>();
  CheckSettings& request = *settings;
  OptionModel files = files_positional(
      "[KIND] FILE...", request.files,
      "Documents to check; - or none is standard input. A type before them (see `tidegate schema`) is the type of all. "
      "`check plan` and `check arena` compare plans with their input; `check graph` describes graph files");
  files.choices = document_kinds();
  return {.options =
              {flag("--stream", request.stream,
                    "Treat each line of a file as a document; print a line, or a row of the table, for each"),
               file_option("--dag", request.dag, "Wave DAG, or wave program, to check plans against"),
               needing("--dag",
                       bytes_option("--budget", request.budget_bytes, "Budget instead of the wave DAG's")),
               file_option("--lifetimes", request.lifetimes, "Buffer lifetimes to check arena plans against"),
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
