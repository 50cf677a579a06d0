// tidegate check
#include "app/check.hpp"
#include "app/command_line.hpp"
#include "app/options.hpp"
#include "app/terminal.hpp"
#include "core/catalogue.hpp"
#include "core/files.hpp"
#include "core/table.hpp"
#include <tidegate/core/text.hpp>
#include <tidegate/graph/load.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::commands {
namespace {

using documents::CheckedGraph;
using documents::GraphContents;
using documents::Verdict;

constexpr std::array<std::string_view, 3> format_titles{"Matrix Market", "DIMACS", "list of edges"};

CheckedGraph check_graph(const std::string& file) {
  auto loaded = graphs::load_graph(file, {.build = {.in_rows = true}});
  if (!loaded) {
    return {.file = file, .verdict = Verdict::invalid, .graph = {}, .error = std::move(loaded.error())};
  }
  const graphs::FileFacts& facts = *loaded->facts; // as no cache is used
  return {.file = file,
          .verdict = Verdict::valid,
          .graph = GraphContents{.format = facts.format,
                                 .compressed = facts.compressed,
                                 .lines = facts.lines,
                                 .entries = facts.entries,
                                 .both_directions = facts.both_directions,
                                 .summary = summarise(loaded->graph),
                                 .values = {.type = facts.values,
                                            .least = facts.value_range.least,
                                            .greatest = facts.value_range.greatest,
                                            .negative = facts.value_range.negative}},
          .error = {}};
}

std::string number_text(const Number& number) {
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

std::vector<std::string> degree_row(std::string_view name, const graphs::DegreeRange& degrees) {
  return {std::string(name), fmt::format("{}", degrees.max),
          fmt::format("at least {}, in the median {}", degrees.min, degrees.median)};
}

std::vector<std::string> value_row(const documents::GraphValues& values) {
  if (!values.least) {
    return {"values", "none", "every edge weighs 1"};
  }
  return {"values", std::string(graphs::value_column_names[static_cast<std::size_t>(values.type)]),
          fmt::format(
              "{} to {}{}", number_text(*values.least), number_text(*values.greatest),
              values.negative == 0 ? "" : fmt::format(", {} below 0: no weights for sssp", values.negative))};
}

std::string headline(const CheckedGraph& checked) {
  const GraphContents& graph = *checked.graph;
  return fmt::format("{}: {}{}, {}", printable(display_name(checked.file)),
                     format_titles[static_cast<std::size_t>(graph.format)],
                     graph.compressed ? " in gzip" : "", plural(graph.lines, "line"));
}

std::string contents_table(const GraphContents& graph) {
  const graphs::GraphSummary& summary = graph.summary;
  const auto count = [](std::uint64_t number) { return fmt::format("{}", number); };
  return render_table(
      {{"vertices", count(summary.vertices),
        fmt::format("{} of them without a neighbour", summary.isolated_vertices)},
       {"edges", count(summary.edges),
        fmt::format("of {} entries{}; {}", graph.entries,
                    graph.both_directions ? ", each in both directions" : "",
                    summary.symmetric ? "each has its opposite" : "not each has its opposite")},
       degree_row("out degree", summary.out_degree),
       degree_row("in degree", summary.in_degree),
       {"self-loops", count(summary.self_loops), ""},
       {"repeated edges", count(summary.repeated_edges), ""},
       {"components", count(summary.components),
        fmt::format("{} vertices in the largest", summary.largest_component)},
       value_row(graph.values)});
}

} // namespace

documents::GraphReport check_graphs(const std::vector<std::string>& files) {
  documents::GraphReport report;
  for (const std::string& file : files) {
    CheckedGraph checked = check_graph(file);
    ++report.checked;
    ++(checked.verdict == Verdict::valid ? report.valid : report.failed);
    report.graphs.push_back(std::move(checked));
  }
  return report;
}

ExitCode exit_code(const documents::GraphReport& report) {
  ExitCode code = ExitCode::done;
  for (const CheckedGraph& checked : report.graphs) {
    if (checked.error) {
      code = worst(code, tidegate::exit_code(checked.error->code));
    }
  }
  return code;
}

std::string graph_table(const documents::GraphReport& report, bool colour) {
  std::string text;
  for (const CheckedGraph& checked : report.graphs) {
    text +=
        checked.graph
            ? fmt::format("{}\n\n{}\n", bold(headline(checked), colour), contents_table(*checked.graph))
            : fmt::format("{}\n\n{}\n\n",
                          bold(fmt::format("{}: no graph", printable(display_name(checked.file))), colour),
                          printable(checked.error->message));
  }
  return text +
         bold(fmt::format("{} checked, {} valid, {} not", report.checked, report.valid, report.failed),
              colour) +
         '\n';
}

} // namespace tidegate::commands

namespace tidegate::app {
namespace {

struct CheckSettings {
  commands::CheckRequest request;
  std::string output = "-";
  Format format = Format::json;
  bool quiet = false;
};

// Short names of document types on the command line, and the option whose document a plan is checked against.
struct PlanType {
  std::string_view word;
  std::string_view document;
  std::string_view option;
  std::optional<std::string> commands::CheckRequest::*premise;
};
constexpr std::array<PlanType, 2> plan_types{
    PlanType{"plan", "frontier_memory_plan", "--dag", &commands::CheckRequest::dag},
    PlanType{"arena", "arena_plan", "--lifetimes", &commands::CheckRequest::lifetimes}};

// Takes the type off the front of the words, where one stands there, and minds that plans have what they are
// held against.
Result<void> take_type(commands::CheckRequest& request) {
  const std::string first = request.files.empty() ? std::string() : request.files.front();
  const auto* const type = std::ranges::find(plan_types, first, &PlanType::word);
  if (type != plan_types.end()) {
    if (!(request.*(type->premise))) {
      return tl::unexpected(
          Error{.code = ErrorCode::invalid_usage,
                .message = fmt::format("check {} holds a plan against its input and needs {}", type->word,
                                       type->option),
                .fix = fmt::format("`tidegate check {} {} FILE PLAN`; `tidegate check {} PLAN` looks at the "
                                   "document alone",
                                   type->word, type->option, type->document)});
    }
    request.document = std::string(type->document);
  } else if (documents::find_document(first)) {
    request.document = first;
  }
  if (request.document) {
    request.files.erase(request.files.begin());
  }
  for (const PlanType& plan : plan_types) {
    if (request.*(plan.premise) && request.document && *request.document != plan.document) {
      return tl::unexpected(
          Error{.code = ErrorCode::invalid_usage,
                .message = fmt::format("{} is for plans of type {}", plan.option, plan.document),
                .fix = fmt::format("leave it out, or check {}", plan.word)});
    }
  }
  if (request.files.empty()) {
    request.files.emplace_back("-");
  }
  return {};
}

// Refuses options that have no effect on `check graph`.
Result<void> refuse_document_options(const commands::CheckRequest& request) {
  const std::string_view option = request.stream      ? "--stream"
                                  : request.dag       ? "--dag"
                                  : request.lifetimes ? "--lifetimes"
                                                      : "";
  if (option.empty()) {
    return {};
  }
  return tl::unexpected(
      Error{.code = ErrorCode::invalid_usage,
            .message = fmt::format("{} is for documents, and check graph reads graphs", option),
            .fix = "leave it out"});
}

// A mistyped document type looks like a file that does not exist, and standard input can be read once.
std::optional<Error> wrong_words(const commands::CheckRequest& request) {
  const auto inputs = std::ranges::count(request.files, "-") + (request.dag == "-" ? 1 : 0) +
                      (request.lifetimes == "-" ? 1 : 0);
  if (inputs > 1) {
    return Error{.code = ErrorCode::invalid_usage,
                 .message = "standard input can be read once",
                 .fix = "give - once; with --stream each of its lines is a document"};
  }
  const std::string& first = request.files.front();
  const auto found = documents::find_document(first);
  if (!request.document && !found && found.error().nearest && ::access(first.c_str(), F_OK) != 0) {
    Error error = found.error();
    error.code = ErrorCode::invalid_usage;
    return error;
  }
  return {};
}

FileUses files_of(const commands::CheckRequest& request, const std::string& output) {
  FileUses files{.inputs = {}, .outputs = {{output, "-o", {}}}};
  for (const std::string& file : request.files) {
    files.inputs.push_back({file, "a document that is checked", {}});
  }
  for (const auto& premise : {request.dag, request.lifetimes}) {
    if (premise) {
      files.inputs.push_back({*premise, "what plans are held against", {}});
    }
  }
  return files;
}

// Prints one verdict to standard error.
void tell(const auto& verdict, const CheckSettings& /*settings*/) {
  if (verdict.error) {
    print_error(*verdict.error);
  }
}
void tell(const documents::CheckedDocument& checked, const CheckSettings& settings) {
  if (checked.error) {
    print_error(commands::all_of(checked));
  }
  if (checked.warnings && !settings.quiet) {
    for (const engine::Warning& warning : *checked.warnings) {
      print_warning(warning, checked.file);
    }
  }
}

// The report as it is asked for, the errors in it on standard error as well, and its exit code.
template <class Report, class Table>
Result<ExitCode> answer(const CheckSettings& settings, const Report& report, const auto& verdicts,
                        Table table) {
  for (const auto& verdict : verdicts) {
    tell(verdict, settings);
  }
  const bool colour = settings.output == "-" && use_colour(STDOUT_FILENO);
  const std::string text =
      settings.format == Format::table ? table(report, colour) : documents::encode(report) + '\n';
  return commands::write_text(settings.output, text).map([&](ExitCode) {
    return commands::exit_code(report);
  });
}

// `check graph FILE...`
Result<ExitCode> run_graphs(CheckSettings& settings) {
  commands::CheckRequest& request = settings.request;
  request.files.erase(request.files.begin());
  if (request.files.empty()) {
    request.files.emplace_back("-");
  }
  TIDEGATE_CHECK(refuse_document_options(request));
  request.document = "graph_report"; // no word of the command line is one
  if (auto wrong = wrong_words(request); wrong) {
    return tl::unexpected(std::move(*wrong));
  }
  TIDEGATE_CHECK(refuse_overwriting(files_of(request, settings.output)));
  const documents::GraphReport report = commands::check_graphs(request.files);
  return answer(settings, report, report.graphs, commands::graph_table);
}

Result<ExitCode> run_check(CheckSettings& settings) {
  commands::CheckRequest& request = settings.request;
  if (!request.files.empty() && request.files.front() == "graph") {
    return run_graphs(settings);
  }
  TIDEGATE_CHECK(take_type(request));
  if (auto wrong = wrong_words(request); wrong) {
    return tl::unexpected(std::move(*wrong));
  }
  TIDEGATE_CHECK(refuse_overwriting(files_of(request, settings.output)));
  TIDEGATE_TRY(const auto report, commands::check(request));
  return answer(settings, report, report.documents, commands::check_table);
}

OptionModel files_positional(std::vector<std::string>& files) {
  return {.value = "[KIND] FILE...",
          .choices = document_kinds(),
          .takes_file = true,
          .meaning =
              "Documents to check; - or none is standard input. A type before them (see `tidegate "
              "schema`) is that of all; plan and arena hold plans against their input; graph tells what "
              "graph files hold",
          .take = [&files](const std::string& word) -> Result<void> {
            files.push_back(word);
            return {};
          }};
}

OptionModel needing(std::string other, OptionModel option) {
  option.needs = std::move(other);
  return option;
}

} // namespace

CommandModel check_command() {
  const auto settings = std::make_shared<CheckSettings>();
  commands::CheckRequest& request = settings->request;
  return {
      .options = {flag("--stream", request.stream, "Each line of a file is a document"),
                  file_option("--dag", request.dag, "Wave DAG, or wave program, that plans are held against"),
                  needing("--dag",
                          bytes_option("--budget", request.budget_bytes, "Budget instead of the wave DAG's")),
                  file_option("--lifetimes", request.lifetimes,
                              "Buffer lifetimes that arena plans are held against"),
                  needing("--lifetimes", bytes_option("--capacity", request.capacity_bytes,
                                                      "Capacity instead of the lifetimes'")),
                  path_scope_option(request.scope),
                  short_flag("-q", "--quiet", settings->quiet, "Print errors only, no warnings"),
                  format_option(settings->format), output_option(settings->output)},
      .positionals = {files_positional(request.files)},
      .examples = {{"Is the evidence complete?",
                    "tidegate recommend examples/bfs_wave.json --evidence all | tidegate check -"},
                   {"Does a plan keep what it promises?",
                    "tidegate plan examples/stereo_camera.json | tidegate check plan --dag "
                    "examples/stereo_camera.json -"}},
      .run = [settings] { return run_check(*settings); }};
}

} // namespace tidegate::app
