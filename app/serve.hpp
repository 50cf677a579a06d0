// The frame of commands that turn documents into documents: reads files, asks for answers, writes files.
#pragma once
#include "app/catalogue.hpp"
#include "engine/job.hpp"
#include "runtime/monitor.hpp"

namespace tidegate::app {

// The name of an enumerator, as documents have it.
template <class E>
std::string_view choice_name(E value) {
  return documents::Choices<E>::names[static_cast<std::size_t>(value)];
}

inline tl::unexpected<Error> misuse(std::string message, std::string fix) {
  return failure(ErrorCode::invalid_usage, std::move(message), std::move(fix));
}

// Standard error and terminals: colour, errors, warnings, interrupts and progress.

bool use_colour(const std::string& output);      // honours NO_COLOR, CLICOLOR_FORCE and TERM=dumb
bool is_terminal(int descriptor);                // that can overwrite a line: not TERM=dumb, nor under mpirun
void hint_at_terminal(const std::string& input); // if the tool is about to read it from one

struct Reporting {
  bool json = false;                  // --errors json: each error or warning is a JSON object on one line
  bool quiet = false;                 // --quiet: nothing but errors
  std::vector<std::string> command{}; // the words of the command line
};
inline Reporting reporting;

Error interrupt_error(); // of a command that a signal ended before it had an answer

// Handles SIGINT, SIGTERM and SIGHUP from now on (core/interrupt.hpp), and prints an error for them.
void explain_interrupts(bool json);

// Print on standard error; errors of the code `warning` not with --quiet.
void print_error(const Error& error);
void print_findings(const std::vector<Error>& findings);
Error as_error(const Warning& warning, std::optional<std::string> source = {});

// Progress of a long run, on standard error.

enum class ProgressStyle : std::uint8_t {
  none,
  line,  // on a terminal: one line, rewritten from the first second on and removed at the end
  lines, // one for each activity, and one a second while the waves run or candidates are timed
};

// Returns "running the waves, iteration 12 of 500, 3.2 s", or "first run: timing barrier, 2 of 3, at most 2 s".
std::string progress_text(const runtime::Monitor& monitor, std::chrono::nanoseconds elapsed);

// Watches the monitor of a run from a separate thread: writing to a blocked terminal would stall the run's watchdog.
class Progress {
public:
  Progress(runtime::Monitor& monitor, ProgressStyle style);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void finish(); // removes its line; any thread may call it

private:
  void write(std::string_view text) const;
  void report(); // under the lock

  runtime::Monitor& monitor_;
  ProgressStyle style_;
  Descriptor
      error_; // a copy of standard error: what drivers print to the original is caught while they build
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  bool line_shown_ = false;
  std::jthread thread_;
};

// Newline-delimited JSON: answers the lines in order, in memory that does not grow with the stream. What has come before
// input pauses is answered by several threads, a part of the lines each, and written; so a person or a program that
// writes one line and waits gets its answer.

// The answer to one line, and what is known of the request.
struct LineReply {
  std::string& text;                   // takes the answer, without a newline
  std::string_view input;              // name of the stream
  std::uint64_t line = 0;              // its number in the stream, 1-based
  std::optional<Identifier> id{};      // of the request, for a stream_error
  ExitCode exit_code = ExitCode::done; // set by a negative answer
};

// Several threads call it at once.
using LineAnswer = std::function<Result<void>(std::string_view line, LineReply& reply)>;

unsigned all_cores(); // for workers, of which one alone answers and writes line by line

struct StreamSummary {
  std::uint64_t lines = 0;             // with an answer or an error
  std::uint64_t failed = 0;            // with an error, or a negative answer
  ExitCode exit_code = ExitCode::done; // the worst of all lines
};

// Reads lines from `input` and writes their answers to `output`; a line without an answer becomes a
// stream_error document. Skips blank lines; line numbers count them. Ends early, without an error, when the reader
// of `output` has gone, and after a line that was interrupted.
Result<StreamSummary> answer_stream(const Descriptor& input, Output& output, const LineAnswer& answer,
                                    unsigned workers, std::string_view name = "-");

// Answers the lines of each input in turn.
Result<ExitCode> serve_lines(std::span<const std::string> inputs, const std::string& output,
                             const LineAnswer& answer, unsigned workers = all_cores());

struct Route {
  std::string input = "-";   // path, or - for standard input
  std::string output = "-";  // path, or - for standard output
  bool stream = false;       // newline-delimited JSON
  std::string_view format{}; // other than JSON for one answer; empty: JSON, or what `output` ends with
  std::vector<documents::Parameter> parameters{}; // in place of those of the document

  [[nodiscard]] FileUses files() const;
};

// JSON; none is another format.
using AnswerStyle = std::optional<documents::Style>;

// Appends a document's answer, without a style in the route's format.
using Answer = std::function<Result<void>(std::string_view document, AnswerStyle style, std::string& answer)>;

// Returns a table with a row for each value.
std::string table_of(const documents::Record& record, const void* object);

template <class T>
void append(const T& document, AnswerStyle style, std::string& answer) {
  style ? documents::encode(documents::DocumentOf<T>::document, &document, *style, answer)
        : void(answer += table_of(*documents::DocumentOf<T>::document.record, &document));
}

// Decides on the route's format, reads the input, answers it and writes the answer; with `stream`, line by line on all cores. The
// exit code is that of the worst line.
Result<ExitCode> serve(Route& route, const Answer& answer);

// Refuses a stream of tables or pictures, or with parameters.
Result<void> refuse_stream(bool stream, std::string_view format,
                           std::span<const documents::Parameter> parameters = {});

Result<ExitCode> write_text(const std::string& output, std::string_view text);

// Returns true if the answer is a table: --format says so, or is left out and a terminal shows it.
bool is_table(std::string_view format, const std::string& output);

// Writes a document as JSON or, if the format is table, as the text of `table(document, colour)`.
template <class T, class Table>
Result<ExitCode> write_document(const std::string& output, std::string_view format, const T& document,
                                Table table) {
  return write_text(output, is_table(format, output) ? table(document, use_colour(output))
                                                     : documents::encode(document) + '\n');
}

// Returns the text of a document without its comments.
Result<std::string> read_document(const std::string& input);

// Returns the error with line and column for each that points into the document `json`, those of the enclosing value if the
// value is missing, sorted in document order. Errors that have a line keep it; errors without a location and errors in
// other files come last.
Error located(Error error, std::string_view json);

// Adds locations in the document from `input`, with excerpts, to the error and its others.
Error at_document(Error error, const std::string& input, std::string_view json);

template <class T>
Result<T> read_as(const std::string& file) {
  TIDEGATE_TRY(const std::string json, read_document(file));
  return decode_as<T>(json).map_error([&](Error error) { return at_document(std::move(error), file, json); });
}

} // namespace tidegate::app
