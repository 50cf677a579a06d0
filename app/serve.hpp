// The frame of commands that turn documents into documents: reads files, asks for answers, writes files.
#pragma once
#include "app/terminal.hpp"
#include "core/parameters.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/encode.hpp>

namespace tidegate::app {

// Newline-delimited JSON: answers the lines in order, in memory that does not grow with the stream. What has come before
// input pauses is answered by several threads, a part of the lines each, and written; so a person or a program that
// writes one line and waits gets its answer.

// The answer to one line, and what is known of the request.
struct LineReply {
  std::string& text;                   // takes the answer, without a newline
  std::uint64_t line = 0;              // its number in the stream, 1-based
  std::optional<Identifier> id{};      // of the request, for a stream_error
  ExitCode exit_code = ExitCode::done; // set by a negative answer
};

// Answers one line, or says why there is no answer.
using LineAnswer = std::function<Result<void>(std::string_view line, LineReply& reply)>;

// Lines that share one write of their answers: a worker's part, or one.
enum class Pace : std::uint8_t { parts, lines };

unsigned all_cores(); // for workers

struct StreamSummary {
  std::uint64_t lines = 0;             // with an answer or an error
  std::uint64_t failed = 0;            // with an error, or a negative answer
  ExitCode exit_code = ExitCode::done; // the worst of all lines
};

// Reads lines from `input` and writes their answers to `output`; a line without an answer becomes a
// stream_error document. Skips blank lines; line numbers count them. `make_answer` is
// called once per worker, so an answer may keep working memory. Ends early, without an error, when the reader
// of `output` has gone, and after a line that was interrupted.
Result<StreamSummary> answer_stream(const Descriptor& input, Output& output,
                                    const std::function<LineAnswer()>& make_answer, unsigned workers,
                                    Pace pace = Pace::parts);

struct Route {
  std::string input = "-";          // path, or - for standard input
  std::string output = "-";         // path, or - for standard output
  bool stream = false;              // newline-delimited JSON
  std::string_view format = "json"; // other formats give one answer and no stream
  std::vector<NamedFile> other_inputs;
  std::vector<documents::Parameter> parameters{}; // in place of those of the document

  // Returns all files that are read or written.
  [[nodiscard]] FileUses files() const;
};

// Appends a document's answer: JSON in `style`, or with Style::table the route's format.
using Answer =
    std::function<Result<void>(std::string_view document, documents::Style style, std::string& answer)>;

// Reads the input, answers it and writes the answer; with `stream`, line by line on `workers` threads (0: one
// per core). `make_answer` is called once per worker. The exit code is that of the worst line. Errors,
// besides those of answers: invalid_usage for a stream in another format than JSON, or for an output that
// names an input, which the answer would replace.
Result<ExitCode> serve(const Route& route, const std::function<Answer()>& make_answer, unsigned workers = 0);

// Refuses a stream of tables or pictures. Error: invalid_usage.
Result<void> refuse_stream(bool stream, std::string_view format);

// Refuses parameters of a stream. Error: invalid_usage.
Result<void> refuse_parameters(bool stream, std::span<const documents::Parameter> parameters);

// Writes `text` to a path or to standard output.
Result<ExitCode> write_text(const std::string& output, std::string_view text);

// Returns true if the answer is a table: --format says so, or is left out and a terminal shows it.
bool is_table(std::string_view format, const std::string& output);

// Writes a document as JSON or, if the format is table, as the text of `table(document, colour)`.
template <class T, class Table>
Result<ExitCode> write_document(const std::string& output, std::string_view format, const T& document,
                                Table table) {
  if (is_table(format, output)) {
    return write_text(output, table(document, use_colour(output)));
  }
  return write_text(output, documents::encode(document) + '\n');
}

// A document without its comments.
struct DocumentText {
  std::string json;    // with the values of parameters in place of their uses
  std::string written; // with the uses of parameters, for errors; empty if that is the same
};

// Reads a whole document. An error names the input as its source.
Result<DocumentText> read_document(const std::string& input,
                                   std::span<const documents::Parameter> given = {});

// Adds locations in the document from `input` to the error and its others, and excerpts of `written`, or of
// `document` if that is empty.
Error at_document(Error error, const std::string& input, std::string_view document,
                  std::string_view written = {});

// Reads and decodes a document; an error names the location in the file.
template <class T>
Result<T> read_as(const std::string& file) {
  TIDEGATE_TRY(const DocumentText text, read_document(file));
  return documents::decode<T>(text.json).map_error(
      [&](Error error) { return at_document(std::move(error), file, text.json, text.written); });
}

} // namespace tidegate::app
