// `tidegate check graph`: reports what graph files contain.
#include "app/check.hpp"

namespace tidegate::app {
namespace {

using documents::CheckedGraph;
using documents::GraphContents;
using documents::Verdict;

constexpr std::array<std::string_view, 5> format_titles{"Matrix Market", "DIMACS", "list of edges", "METIS",
                                                        "CSV"};

CheckedGraph check_graph(const std::string& file) {
  auto loaded = graphs::load_graph(file, {.build = {.in_rows = true}});
  if (!loaded) {
    return {.file = file, .verdict = Verdict::invalid, .graph = {}, .error = std::move(loaded.error())};
  }
  const graphs::FileFacts& facts = *loaded->facts; // set, because no cache is used
  return {.file = file,
          .verdict = Verdict::valid,
          .graph = GraphContents{.format = facts.format,
                                 .first_id = facts.first_vertex,
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
          fmt::format("minimum {}, median {}", degrees.min, degrees.median)};
}

std::vector<std::string> value_row(const documents::GraphValues& values) {
  if (!values.least) {
    return {"values", "none", "unweighted"};
  }
  return {"values", std::string(graphs::value_column_names[static_cast<std::size_t>(values.type)]),
          fmt::format("{} to {}{}", number_text(*values.least), number_text(*values.greatest),
                      values.negative == 0
                          ? ""
                          : fmt::format(", {} negative: sssp cannot use them", values.negative))};
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
        fmt::format("counted from {}; {} isolated", graph.first_id, summary.isolated_vertices)},
       {"edges", count(summary.edges),
        fmt::format("from {} {}{}; {}", graph.entries, graph.entries == 1 ? "entry" : "entries",
                    graph.both_directions ? ", each in both directions" : "",
                    summary.symmetric ? "symmetric" : "not symmetric")},
       degree_row("out degree", summary.out_degree),
       degree_row("in degree", summary.in_degree),
       {"self-loops", count(summary.self_loops), ""},
       {"repeated edges", count(summary.repeated_edges), ""},
       {"components", count(summary.components),
        fmt::format("{} vertices in the largest", summary.largest_component)},
       value_row(graph.values)});
}

} // namespace

documents::GraphCheck check_graphs(const std::vector<std::string>& files) {
  documents::GraphCheck report;
  for (const std::string& file : files) {
    count_verdict(report, report.graphs, check_graph(file));
  }
  return report;
}

std::string graph_table(const documents::GraphCheck& report, bool colour) {
  std::string text;
  for (const CheckedGraph& checked : report.graphs) {
    text +=
        checked.graph
            ? fmt::format("{}\n\n{}\n", bold(headline(checked), colour), contents_table(*checked.graph))
            : fmt::format("{}\n\n{}\n\n",
                          bold(fmt::format("{}: not a graph", printable(display_name(checked.file))), colour),
                          printable(checked.error->message));
  }
  return text + verdict_counts(report, colour);
}

} // namespace tidegate::app
