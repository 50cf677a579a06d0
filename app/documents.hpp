// Documents of the tool itself: lines of streams that failed, verdicts of `check`, the list of schemas, versions.
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

struct CheckedDocument {
  std::string file;
  std::optional<std::uint64_t> line;   // within a stream
  std::optional<std::string> document; // kind of document, once known
  Verdict verdict = Verdict::valid;
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

struct SchemaEntry {
  std::string name;
  std::string title;
  std::string direction;
  std::string id;
};

struct SchemaList {
  std::vector<SchemaEntry> schemas;
};

struct ComparedText {
  std::string name;
  std::optional<std::string> a;
  std::optional<std::string> b;
};

struct ComparedNumber {
  std::string name;
  std::optional<double> a;
  std::optional<double> b;
  std::optional<double> ratio; // b / a
};

// Two reports of runs, A the earlier one.
struct ReportComparison {
  std::string a; // files
  std::string b;
  // If both were run with --compare. `run_ns` is the time of A, and `speedup` is that time divided by the time of B.
  std::optional<runtime::Comparison> speed;
  std::vector<ComparedText> texts;
  std::vector<ComparedNumber> numbers;
  std::vector<ComparedNumber> waves; // nanoseconds of an execution
};

struct VersionReport {
  std::string tidegate;
  std::string build_type;
  std::string compiler;
  std::string cli11;
  std::string nlohmann_json;
  std::string fmt;
  std::string opencl_loader;
};

TIDEGATE_HAS_DOCUMENT(StreamError);
TIDEGATE_HAS_DOCUMENT(RunRequest);
TIDEGATE_HAS_DOCUMENT(CheckReport);
TIDEGATE_HAS_DOCUMENT(SchemaList);
TIDEGATE_HAS_DOCUMENT(ReportComparison);
TIDEGATE_HAS_DOCUMENT(VersionReport);

} // namespace tidegate::documents
