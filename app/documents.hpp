// Documents of the tool itself: requests and failed lines of streams, verdicts of `check`.
#pragma once
#include "traversal/documents.hpp"

namespace tidegate::documents {

// Output line of a stream for an input line that failed.
struct StreamError {
  std::optional<Identifier> id{}; // of the request, where it has one
  Error error;                    // first error of the line; `check --stream` lists all
  std::uint64_t line = 0;         // of the input stream, 1-based
};

// Input line of `tidegate run --stream`.
struct RunRequest {
  std::optional<Identifier> id;
  std::optional<std::string> program;             // path; left out, the one of the command line
  std::vector<std::pair<std::string, Value>> set; // replaced values of the program, by RFC 6901 pointer
};

// A file of a graph.
struct GraphContents {
  graphs::FileFacts facts;
  graphs::GraphSummary summary;
};

struct CheckedDocument {
  std::string file;
  std::optional<std::uint64_t> line;   // within a stream
  std::optional<std::string> document; // kind of document, once known
  Verdict verdict = Verdict::valid;
  std::optional<GraphContents> graph; // of `check graph`
  std::optional<Error> error;
  std::optional<std::vector<Error>> others;   // none has others itself
  std::optional<std::vector<Error>> warnings; // of a valid program, with the code `warning`
};

struct CheckReport {
  std::uint64_t checked = 0;
  std::uint64_t valid = 0;
  std::uint64_t failed = 0;
  std::vector<CheckedDocument> documents;
};

TIDEGATE_CHOICES(graphs::FileFormat, graphs::file_format_names);
TIDEGATE_CHOICES(graphs::ValueColumn, graphs::value_column_names);

TIDEGATE_HAS_RECORD(GraphContents);
TIDEGATE_HAS_DOCUMENT(StreamError);
TIDEGATE_HAS_DOCUMENT(RunRequest);
TIDEGATE_HAS_DOCUMENT(CheckReport);

} // namespace tidegate::documents
