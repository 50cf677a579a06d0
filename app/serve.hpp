// From file to answer to file: what every command that turns documents into documents does around its own
// work.
#pragma once
#include "core/files.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/encode.hpp>
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::documents {

// Newline-delimited JSON: one answer per line, in order, on all cores, in memory that does not grow with the
// stream.
//
//   reader ──blocks of whole lines──▶ workers ──answers──▶ written in the order of the blocks
//
// The reader hands on whatever complete lines it has as soon as input pauses, so a person or a program that
// writes one line and waits gets its answer.

// Appends the answer to one line (without a newline), or says why there is none.
using LineAnswer = std::function<Result<void>(std::string_view line, std::string& answer)>;

struct StreamSummary {
  std::uint64_t lines = 0; // with an answer or an error
  std::uint64_t failed = 0;
  ExitCode exit_code = ExitCode::done; // the worst of the lines' errors
};

// Reads lines from `input` and writes their answers to `output`; a line without an answer becomes a
// stream_error document. Blank lines are passed over; only the numbers of lines count them. `make_answer` is
// called once per worker, so an answer may keep working memory. Ends early, without an error, when the reader
// of `output` has gone.
Result<StreamSummary> answer_stream(const Descriptor& input, Output& output,
                                    const std::function<LineAnswer()>& make_answer, unsigned workers);

} // namespace tidegate::documents

namespace tidegate::commands {

struct Route {
  std::string input = "-";  // path, or - for standard input
  std::string output = "-"; // path, or - for standard output
  bool stream = false;      // newline-delimited JSON
  std::vector<NamedFile> other_inputs;

  // All that it reads and writes.
  [[nodiscard]] FileUses files() const;
};

// Appends the answer to one document.
using Answer =
    std::function<Result<void>(std::string_view document, documents::Style style, std::string& answer)>;

// An output that names an input is refused before either is opened: the answer would replace the question.

// Reads the input, answers it and writes the answer; with `stream`, line by line on `workers` threads (0: one
// per core). `make_answer` is called once per worker. The exit code is that of the worst line.
Result<ExitCode> serve(const Route& route, const std::function<Answer()>& make_answer, unsigned workers = 0);

// The same for an answer that is text and comes from one document.
Result<ExitCode> serve_text(const Route& route,
                            const std::function<Result<std::string>(std::string_view)>& answer);

// Writes `text` to a path or to standard output.
Result<ExitCode> write_text(const std::string& output, std::string_view text);

// Reads a whole document. An error names the input as its source.
Result<std::string> read_document(const std::string& input);

// The error, and its others, with their places in the document that was read from `input`, and their lines.
Error at_document(Error error, const std::string& input, std::string_view document);

// Reads and decodes a document; an error names the place in the file.
template <class T>
Result<T> read_as(const std::string& file) {
  TIDEGATE_TRY(const std::string text, read_document(file));
  auto decoded = documents::decode<T>(text);
  if (!decoded) {
    return tl::unexpected(at_document(std::move(decoded.error()), file, text));
  }
  return *std::move(decoded);
}

} // namespace tidegate::commands
