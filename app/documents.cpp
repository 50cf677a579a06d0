#include "app/documents.hpp"

namespace tidegate::documents {

constexpr Field stream_error_fields[] = {
    optional<&StreamError::id>("id of the request, where it has one"),
    required<&StreamError::error>("error of the line"),
    required<&StreamError::line>("line of the input stream, counted from 1"),
};
TIDEGATE_RECORD(StreamError, stream_error_fields);

constexpr Field run_request_fields[] = {
    optional<&RunRequest::id>("any number or name; the answer has it too"),
    optional<&RunRequest::program>(
        "path of a wave or frontier program; left out: the program of the command line"),
    defaulted<&RunRequest::set>(
        "values that replace those of the program for this request, by their place (RFC 6901), such "
        "as \"/buffers/x/init/file\""),
};
TIDEGATE_RECORD(RunRequest, run_request_fields);

constexpr Field degree_fields[] = {
    required<&graphs::DegreeRange::min>("least degree"),
    required<&graphs::DegreeRange::median>("median degree"),
    required<&graphs::DegreeRange::max>("greatest degree"),
};
TIDEGATE_RECORD(graphs::DegreeRange, degree_fields);

template <auto... Members>
constexpr Field fact(std::string_view meaning) {
  return required<&GraphContents::facts, Members...>(meaning);
}
template <auto Member>
constexpr Field summary_field(std::string_view meaning) {
  return required<&GraphContents::summary, Member>(meaning);
}

using graphs::FileFacts;

constexpr Field contents_fields[] = {
    fact<&FileFacts::format>("format of the file"),
    fact<&FileFacts::first_vertex>("number that the file has for its first vertex").named("first_id"),
    fact<&FileFacts::entries>("edges as they are listed: one a line, or each neighbour of METIS"),
    fact<&FileFacts::both_directions>("whether each also represents its opposite"),
    summary_field<&graphs::GraphSummary::vertices>("vertices"),
    summary_field<&graphs::GraphSummary::edges>("directed edges"),
    summary_field<&graphs::GraphSummary::symmetric>("whether each edge has its opposite"),
    summary_field<&graphs::GraphSummary::out_degree>("edges from a vertex"),
    summary_field<&graphs::GraphSummary::in_degree>("edges to a vertex"),
    summary_field<&graphs::GraphSummary::isolated_vertices>(
        "vertices without an edge to or from another one"),
    summary_field<&graphs::GraphSummary::self_loops>("edges from a vertex to itself"),
    summary_field<&graphs::GraphSummary::repeated_edges>("further edges between the same two vertices"),
    summary_field<&graphs::GraphSummary::components>("connected components, including isolated vertices"),
    summary_field<&graphs::GraphSummary::largest_component>("vertices of the largest component"),
    fact<&FileFacts::values>(
        "type of the value after the two vertices of an entry, which sssp uses as weight"),
    fact<&FileFacts::value_range, &graphs::ValueRange::least>("the least value").named("least_value"),
    fact<&FileFacts::value_range, &graphs::ValueRange::greatest>("the greatest").named("greatest_value"),
};
TIDEGATE_RECORD(GraphContents, contents_fields);

constexpr Field checked_fields[] = {
    required<&CheckedDocument::file>("path, or - for standard input"),
    optional<&CheckedDocument::line>("line of a stream, counted from 1"),
    optional<&CheckedDocument::document>("kind of the document, once known"),
    required<&CheckedDocument::verdict>("valid, or the kind of fault"),
    optional<&CheckedDocument::graph>("of `check graph`: content of the file"),
    optional<&CheckedDocument::error>("why it is invalid"),
    optional<&CheckedDocument::others>("further errors, in document order"),
    optional<&CheckedDocument::warnings>("likely mistakes in a valid program"),
};
TIDEGATE_RECORD(CheckedDocument, checked_fields);

constexpr Field check_report_fields[] = {
    required<&CheckReport::checked>("number of documents"),
    required<&CheckReport::valid>("number of valid documents"),
    required<&CheckReport::failed>("number of other documents"),
    required<&CheckReport::documents>("all documents with their verdicts"),
};
TIDEGATE_RECORD(CheckReport, check_report_fields);

template <>
constinit const Document DocumentOf<StreamError>::document{.kind = "stream_error",
                                                           .title = "A line of a stream that failed",
                                                           .direction = Direction::output,
                                                           .record = &Description<StreamError>::record,
                                                           .has_kind = false};
TIDEGATE_DOCUMENT(RunRequest, "run_request",
                  "A line of `tidegate run --stream`: a program to run, and what is different this time",
                  Direction::input);
TIDEGATE_DOCUMENT(CheckReport, "check_report", "Verdicts on documents", Direction::output);

} // namespace tidegate::documents
