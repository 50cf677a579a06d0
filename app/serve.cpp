#include "app/serve.hpp"

#include "app/command_line.hpp"
#include "app/documents.hpp"
#include "core/interrupt.hpp"
#include "core/json.hpp"

#include <poll.h>
#include <unistd.h>

#include <future>

namespace tidegate::app {
namespace {

using documents::DocumentOf;
using documents::StreamError;
using documents::Style;

// Lines that one worker answers, and the answers.
struct StreamPart {
  std::string_view input; // its name
  std::string_view lines;
  std::uint64_t first_line = 1;
  std::string answers{};
  StreamSummary summary{};
};

void append_error(StreamPart& part, Error error, std::uint64_t line, std::optional<Identifier> id) {
  if (!error.source) { // StreamError::line has the line in the stream
    error.line.reset();
  }
  const StreamError document{.id = std::move(id), .error = std::move(error), .line = line};
  documents::encode(DocumentOf<StreamError>::document, &document, Style::compact, part.answers);
}

// An exception, such as a lack of memory, becomes an error of this line, so that the stream goes on.
Result<void> answer_or_bug(const LineAnswer& answer, std::string_view line, LineReply& reply) {
  try {
    return answer(line, reply);
  } catch (const std::exception& exception) {
    return tl::unexpected(uncaught_error(exception, "please report this line as a bug"));
  }
}

void answer_part(StreamPart& part, const LineAnswer& answer) {
  std::uint64_t number = part.first_line;
  std::string_view rest = number == 1 ? without_byte_order_mark(part.lines) : part.lines;
  for (; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    ++part.summary.lines;
    const std::size_t start = part.answers.size();
    LineReply reply{.text = part.answers, .input = part.input, .line = number};
    if (auto result = answer_or_bug(answer, line, reply); !result) {
      part.answers.resize(start);
      reply.exit_code = exit_code(result.error());
      append_error(part, located(std::move(result.error()), line), number, std::move(reply.id));
    }
    part.summary.failed += reply.exit_code == ExitCode::done ? 0 : 1;
    part.summary.exit_code = worst(part.summary.exit_code, reply.exit_code);
    part.answers += '\n';
  }
}

// Reads whole lines from a stream.
class Lines {
public:
  Lines(const Descriptor& input, const Output& output) : input_(input), output_(output) {}

  // Returns the lines that are there before input pauses, at least one and about `most` bytes of them; none at the end, and
  // once the reader of the output has gone. Error: cannot_read.
  Result<std::string_view> next(std::size_t most) {
    first_ += static_cast<std::uint64_t>(std::ranges::count(std::string_view(text_).substr(0, given_), '\n'));
    text_.erase(0, std::exchange(given_, 0));
    while (given_ == 0 || (text_.size() < most && has_input(a_pause))) {
      if (given_ == 0 && !has_input(forever)) {
        return std::string_view();
      }
      const std::size_t old_size = text_.size();
      text_.resize(old_size + block);
      const ssize_t got = ::read(input_.get(), text_.data() + old_size, block);
      text_.resize(old_size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0 && errno != EINTR && errno != EAGAIN) {
        return failure(ErrorCode::cannot_read,
                       "cannot read the input stream: " + std::generic_category().message(errno),
                       "name a readable file, or pipe the stream in");
      }
      if (got == 0) {
        given_ = text_.size();
        break;
      }
      const std::size_t newline = std::string_view(text_).substr(old_size).rfind('\n');
      given_ = newline == std::string_view::npos ? given_ : old_size + newline + 1;
      if (given_ == 0 && text_.size() > most_line) { // it will be refused: its rest is not kept
        text_.resize(most_line);
      }
    }
    return std::string_view(text_).substr(0, given_);
  }

  // The number of the first line that next() returned.
  [[nodiscard]] std::uint64_t first() const { return first_; }

private:
  static constexpr std::size_t block = std::size_t{256} << 10U;
  static constexpr std::size_t most_line = documents::document_bytes_limit + 1;
  static constexpr int forever = -1, a_pause = 1; // ms

  // Waits for input, or its end. Returns false if there is none for so long, or the reader of the output has gone.
  [[nodiscard]] bool has_input(int longest_ms) const {
    pollfd waited[] = {{.fd = input_.get(), .events = POLLIN, .revents = 0},
                       {.fd = output_.descriptor(), .events = 0, .revents = 0}};
    int ready = 0;
    while ((ready = ::poll(waited, 2, longest_ms)) < 0 && errno == EINTR) {
    }
    return ready < 0 || (waited[0].revents != 0 && (waited[1].revents & POLLERR) == 0);
  }

  const Descriptor& input_;
  const Output& output_;
  std::string text_;
  std::size_t given_ = 0; // of it
  std::uint64_t first_ = 1;
};

// Takes lines of about `most` bytes, at least one.
std::string_view take_lines(std::string_view& lines, std::size_t most) {
  const std::string_view taken =
      lines.substr(0, std::min(lines.find('\n', std::min(most, lines.size()) - 1), lines.size() - 1) + 1);
  lines.remove_prefix(taken.size());
  return taken;
}

Result<ExitCode> finish(Output& output, std::string_view text) {
  const InterruptWatch interrupts; // an interrupt must not cut the text
  return output.write(text).and_then([&] { return output.commit(); }).map([] { return ExitCode::done; });
}

// Adds the name of the input to an error.
auto in_file(const std::string& input) {
  return [&input](Error error) {
    if (!input.empty()) {
      error.source = display_name(input);
    }
    return error;
  };
}

} // namespace

unsigned all_cores() {
  return std::max(std::thread::hardware_concurrency(), 2U); // one alone would write each line by itself
}

Result<StreamSummary> answer_stream(const Descriptor& input, Output& output, const LineAnswer& answer,
                                    unsigned workers, std::string_view name) {
  constexpr std::size_t most_of_worker = std::size_t{1} << 20U, least_of_worker = std::size_t{16} << 10U;
  StreamSummary total;
  const auto ends = [&] { return output.closed() || total.exit_code == ExitCode::interrupted; };
  Lines input_lines(input, output);
  while (!ends()) {
    TIDEGATE_TRY(std::string_view lines, input_lines.next(most_of_worker * workers));
    if (lines.empty()) {
      break;
    }
    const std::size_t share = workers == 1 ? 1 : std::max(lines.size() / workers + 1, least_of_worker);
    for (std::uint64_t number = input_lines.first(); !lines.empty() && !ends();) {
      std::vector<StreamPart> parts;
      while (parts.size() < workers && !lines.empty()) {
        parts.push_back({.input = name, .lines = take_lines(lines, share), .first_line = number});
        number += static_cast<std::uint64_t>(std::ranges::count(parts.back().lines, '\n'));
      }
      std::vector<std::future<void>> others; // in this thread if there are no more
      for (std::size_t i = 1; i < parts.size(); ++i) {
        others.push_back(std::async(answer_part, std::ref(parts[i]), std::cref(answer)));
      }
      answer_part(parts.front(), answer);
      std::ranges::for_each(others, &std::future<void>::get);
      for (const StreamPart& part : parts) {
        total.lines += part.summary.lines;
        total.failed += part.summary.failed;
        total.exit_code = worst(total.exit_code, part.summary.exit_code);
        TIDEGATE_CHECK(output.write(part.answers));
      }
    }
  }
  if (!reporting.quiet && !reporting.json && !output.closed()) {
    std::fputs(fmt::format("tidegate: {}, {} failed\n", plural(total.lines, "line"), total.failed).c_str(),
               stderr);
  }
  return total;
}

Result<ExitCode> serve_lines(std::span<const std::string> inputs, const std::string& output,
                             const LineAnswer& answer, unsigned workers) {
  ExitCode code = ExitCode::done;
  std::optional<Output> opened;
  for (const std::string& input : inputs) {
    TIDEGATE_TRY(const auto lines, open_input(input, FileKinds::any).map_error(in_file(input)));
    if (!opened) {
      TIDEGATE_TRY(opened, Output::open(output));
    }
    TIDEGATE_TRY(const StreamSummary summary, answer_stream(lines, *opened, answer, workers, input));
    code = worst(code, summary.exit_code);
  }
  TIDEGATE_CHECK(opened->commit());
  return code;
}

Result<void> refuse_stream(bool stream, std::string_view format,
                           std::span<const documents::Parameter> parameters) {
  if (stream && !format.empty() && format != "json") {
    return misuse(fmt::format("--format {} shows one answer, not a stream", format),
                  "leave --stream or --format out");
  }
  if (stream && !parameters.empty()) {
    return misuse("--param cannot be combined with --stream", "leave --stream or --param out");
  }
  return {};
}

FileUses Route::files() const {
  return {.inputs = {{input, "the input", {}}}, .outputs = {{output, "-o", {}}}};
}

// Sort key: first errors with a location, by location, but cycles after the others of the document, because each
// dependency of a cycle may be right; then errors without a location.
static auto order(const Error& error) {
  const bool has_location = error.line && !error.source;
  return std::tuple(!has_location, error.code == ErrorCode::cycle, has_location ? error.line : std::nullopt,
                    has_location ? error.column : std::nullopt);
}

Error located(Error error, std::string_view json) {
  std::vector<Error> errors = std::exchange(error.others, {});
  errors.insert(errors.begin(), std::move(error));
  documents::JsonParser parser;
  std::optional<Result<documents::JsonValue>> document; // parsed if an error needs it
  for (Error& each : errors) {
    if (!each.pointer || each.pointer->empty() || each.line || each.source) {
      continue;
    }
    document = document ? document : parser.parse(json);
    if (!*document) {
      break; // the error is that
    }
    if (const documents::JsonValue value = value_at(**document, *each.pointer); value != **document) {
      each = documents::error_at(json, value.begin(), std::move(each));
    }
  }
  std::ranges::stable_sort(errors, {}, order);
  error = std::move(errors.front());
  error.others.assign(std::make_move_iterator(errors.begin() + 1), std::make_move_iterator(errors.end()));
  return error;
}

Error at_document(Error error, const std::string& input, std::string_view json) {
  error = located(std::move(error), json);
  if (error.code == ErrorCode::syntax_error && input.ends_with(".cl")) {
    error.fix = fmt::format("this is OpenCL C: `tidegate init {}` writes a program for its kernels",
                            display_name(input));
  }
  const auto complete = [&](Error& each) {
    if (!each.source) {
      each = with_excerpt(std::move(each), json);
      each.source = display_name(input);
    }
  };
  complete(error);
  std::ranges::for_each(error.others, complete);
  return error;
}

Result<std::string> read_document(const std::string& input) {
  TIDEGATE_TRY(std::string json,
               read_all(input, documents::document_bytes_limit, FileKinds::any).map_error(in_file(input)));
  documents::remove_comments(json);
  return json;
}

// Adds a row "name  value" for each value but objects and lists of them, whose parts have names such as "name.0.code".
static void add_rows(documents::JsonValue value, const std::string& name, TableRows& rows) {
  if (value.first() == '{' || (value.first() == '[' && value.inner().first() == '{')) {
    (void)find_inner(value, [&](const std::string& part, documents::JsonValue inner) {
      add_rows(inner, name.empty() ? part : name + "." + part, rows);
      return false;
    });
    return;
  }
  const std::string_view text = value.text();
  rows.push_back({name, std::string(value.first() == '"' ? text.substr(1, text.size() - 2) : text)});
}

std::string table_of(const documents::Record& record, const void* object) {
  std::string json;
  documents::encode(record, object, Style::pretty, json);
  documents::JsonParser parser;
  TableRows rows;
  add_rows(parser.parse(json).value(), "", rows);
  return render_table(std::move(rows));
}

bool is_table(std::string_view format, const std::string& output) {
  return format == "table" || (format.empty() && output == standard_stream && is_terminal(STDOUT_FILENO));
}

Result<ExitCode> write_text(const std::string& output, std::string_view text) {
  return Output::open(output).and_then([text](Output file) { return finish(file, text); });
}

Result<ExitCode> serve(Route& route, const Answer& answer) {
  if (route.format.empty()) {
    route.format = route.output.ends_with(".svg") ? "svg" : "json";
  }
  const bool json = route.format == "json";
  TIDEGATE_CHECK(refuse_stream(route.stream, route.format, route.parameters));
  hint_at_terminal(route.input);
  TIDEGATE_CHECK(refuse_overwriting(route.files()));
  if (route.stream) {
    const auto answer_line = [&answer](std::string_view line, LineReply& reply) {
      return answer(line, Style::compact, reply.text);
    };
    return serve_lines({&route.input, 1}, route.output, answer_line);
  }
  // Opens the output first, so that no answer is computed that cannot be written.
  TIDEGATE_TRY(auto output, Output::open(route.output));
  TIDEGATE_TRY(const std::string document, read_document(route.input));
  std::string text;
  if (auto answered = answer(document, json ? AnswerStyle(Style::pretty) : std::nullopt, text); !answered) {
    return tl::unexpected(at_document(std::move(answered.error()), route.input, document));
  }
  return finish(output, json ? text + '\n' : text);
}

} // namespace tidegate::app
