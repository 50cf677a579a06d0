// `tidegate check`: is a document well formed, and does its evidence hold?
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/documents/report_documents.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::commands {

// The verdict on one document. `document` names its type; without it the document's own "kind" does.
// `file` and `line` (in a stream) go into the verdict and the error's place.
documents::CheckedDocument check_document(std::string_view json, const std::optional<std::string>& document,
                                          const std::string& file, std::optional<std::uint64_t> line = {});

struct CheckRequest {
  std::optional<std::string> document; // the type of every document; without it each says its own
  std::vector<std::string> files;      // paths, or - for standard input
  bool stream = false;                 // each line of a file is a document
};

// Checks every document of every file. A file that cannot be read is a verdict like any other.
documents::CheckReport check(const CheckRequest& request);

// The worst exit code of the report's verdicts.
ExitCode exit_code(const documents::CheckReport& report);

// One line per document and the counts, for people.
std::string check_table(const documents::CheckReport& report, bool colour);

} // namespace tidegate::commands
