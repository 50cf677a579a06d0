#include "app/serve.hpp"

#include "app/command_line.hpp"
#include "app/documents.hpp"
#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "core/json.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/core/encode.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace tidegate::app {
namespace {

using documents::DocumentOf;
using documents::StreamError;
using documents::Style;

constexpr std::size_t block_bytes = std::size_t{256} << 10U;
constexpr std::size_t most_kept_bytes = 16 * block_bytes;

// Whole lines of input and, later, their answers.
struct Block {
  std::string lines;
  std::uint64_t first_line = 1;
  bool oversized = false; // a line longer than the limit; its text was dropped
  std::string answers;
  StreamSummary summary;
  bool answered = false;

  // Keeps the buffers for the next block, unless one line has made them huge.
  void reset() {
    for (std::string* text : {&lines, &answers}) {
      if (text->capacity() > most_kept_bytes) {
        *text = {};
      }
      text->clear();
    }
    oversized = false;
    summary = {};
    answered = false;
  }
};

void add(StreamSummary& total, const StreamSummary& part) {
  total.lines += part.lines;
  total.failed += part.failed;
  total.exit_code = worst(total.exit_code, part.exit_code);
}

void append_error(Block& block, Error error, std::uint64_t line, std::optional<Identifier> id = {}) {
  ++block.summary.failed;
  block.summary.exit_code = worst(block.summary.exit_code, exit_code(error));
  if (!error.source) { // StreamError::line has the line in the stream
    error.line.reset();
  }
  const StreamError document{.id = std::move(id), .error = std::move(error), .line = line};
  documents::encode(DocumentOf<StreamError>::document, &document, Style::compact, block.answers);
}

// Turns an exception, such as a lack of memory, into an error of this line, so that the stream goes on.
Result<void> answer_or_bug(const LineAnswer& answer, std::string_view line, LineReply& reply) {
  try {
    return answer(line, reply);
  } catch (const std::exception& exception) {
    return tl::unexpected(uncaught_error(exception, "please report this line as a bug"));
  }
}

void answer_block(Block& block, const LineAnswer& answer) {
  std::uint64_t number = block.first_line;
  std::string_view rest = number == 1 ? without_byte_order_mark(block.lines) : block.lines;
  if (block.oversized) {
    ++block.summary.lines;
    append_error(block, documents::too_large(), number);
    block.answers += '\n';
    return;
  }
  block.answers.reserve(std::min(block.lines.size() * 3 / 2, most_kept_bytes));
  for (; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    ++block.summary.lines;
    const std::size_t start = block.answers.size();
    LineReply reply{.text = block.answers, .line = number};
    if (auto result = answer_or_bug(answer, line, reply); !result) {
      block.answers.resize(start);
      append_error(block, documents::located(std::move(result.error()), line), number, std::move(reply.id));
    }
    block.summary.exit_code = worst(block.summary.exit_code, reply.exit_code);
    block.answers += '\n';
  }
}

// Blocks between the reader, the workers and the output. `mutex_` guards what changes; one thread at a time writes to
// the output (`writing_`).
class Pipeline {
public:
  Pipeline(Output& output, unsigned workers)
      : output_(output), most_in_flight_(std::size_t{2} * workers + 2) {}

  // Returns an empty block, preferably a used one, whose buffers are large enough already.
  std::unique_ptr<Block> take_block() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) {
      return std::make_unique<Block>();
    }
    std::unique_ptr<Block> block = std::move(spare_.back());
    spare_.pop_back();
    return block;
  }

  // Waits until fewer blocks are in flight. Returns false if the pipeline has stopped.
  bool push(std::unique_ptr<Block> block) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || in_flight_.size() < most_in_flight_; });
    if (stopped_) {
      return false;
    }
    waiting_.push_back(block.get());
    in_flight_.push_back(std::move(block));
    changed_.notify_all();
    return true;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }

  // An exception of a worker outside a line's answer, such as a lack of memory, ends the stream with an error.
  void work(const LineAnswer& answer) {
    try {
      while (Block* block = take()) {
        answer_block(*block, answer);
        complete(*block);
      }
    } catch (const std::exception& exception) {
      const std::lock_guard lock(mutex_);
      failure_ = uncaught_error(exception, "please report these lines as a bug");
      stop();
    }
  }

  // Returns a file descriptor that becomes readable once the pipeline has stopped.
  [[nodiscard]] int stopped_event() const { return stopped_event_.get(); }

  // Call it after close(), when all workers have ended.
  Result<StreamSummary> result() {
    if (failure_) {
      return tl::unexpected(std::move(*failure_));
    }
    return total_;
  }

private:
  // The caller holds `mutex_`.
  void stop() {
    stopped_ = true;
    changed_.notify_all();
    const std::uint64_t one = 1;
    (void)!::write(stopped_event_.get(), &one, sizeof one);
  }

  Block* take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || finished_ || !waiting_.empty(); });
    if (stopped_ || waiting_.empty()) {
      return nullptr;
    }
    Block* block = waiting_.front();
    waiting_.pop_front();
    return block;
  }

  // The worker that completes the oldest block writes it, and every completed one after it.
  void complete(Block& block) {
    std::unique_lock lock(mutex_);
    block.answered = true;
    if (writing_) {
      return;
    }
    writing_ = true;
    while (!stopped_ && !in_flight_.empty() && in_flight_.front()->answered) {
      std::unique_ptr<Block> oldest = std::move(in_flight_.front());
      in_flight_.pop_front();
      add(total_, oldest->summary);
      lock.unlock();
      auto written = output_.write(oldest->answers);
      lock.lock();
      if (!written) {
        failure_ = std::move(written.error());
      }
      if (!written || output_.closed() || total_.exit_code == ExitCode::interrupted) {
        stop();
      }
      oldest->reset();
      spare_.push_back(std::move(oldest));
      changed_.notify_all();
    }
    writing_ = false;
  }

  Output& output_;
  const std::size_t most_in_flight_;
  const Descriptor stopped_event_{::eventfd(0, EFD_CLOEXEC)};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Block>> in_flight_; // oldest first
  std::deque<Block*> waiting_;                   // not yet taken by a worker
  std::vector<std::unique_ptr<Block>> spare_;
  bool finished_ = false;
  bool stopped_ = false;
  bool writing_ = false;
  StreamSummary total_;
  std::optional<Error> failure_;
};

// Waits for input. Returns false if the reader of the output has closed it or the workers have stopped.
bool wait_for_input(int input, int output, int stopped) {
  pollfd waited[] = {{.fd = input, .events = POLLIN, .revents = 0},
                     {.fd = output, .events = 0, .revents = 0},
                     {.fd = stopped, .events = POLLIN, .revents = 0}};
  while (true) {
    if (::poll(waited, 3, -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      return true;
    }
    if ((waited[1].revents & POLLERR) != 0 || waited[2].revents != 0) {
      return false;
    }
    if (waited[0].revents != 0) {
      return true;
    }
  }
}

Error read_failure(int code) {
  return {.code = ErrorCode::cannot_read,
          .message = "cannot read the input stream: " + system_message(code),
          .fix = "name a readable file, or pipe the stream in"};
}

// Returns true if the input begins as one document that is written over several lines: "{", then a key.
bool is_indented(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  text = without_byte_order_mark(text);
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  const std::size_t end = text.find('\n');
  if (!text.starts_with('{') || end == std::string_view::npos ||
      text.substr(1, end - 1).find_first_not_of(blank) != std::string_view::npos) {
    return false;
  }
  const std::size_t next = text.find_first_not_of(blank, end);
  return next != std::string_view::npos && text[next] == '"';
}

// Cuts the input into blocks of whole lines.
Result<void> read_blocks(const Descriptor& input, const Output& output, Pipeline& pipeline, Pace pace) {
  std::string pending; // text that is not handed on yet
  std::uint64_t next_line = 1;
  bool dropping = false; // inside a line past the limit
  while (wait_for_input(input.get(), output.descriptor(), pipeline.stopped_event())) {
    const std::size_t old_size = pending.size();
    pending.resize(old_size + block_bytes);
    const ssize_t got = ::read(input.get(), pending.data() + old_size, block_bytes);
    if (got < 0 && errno != EINTR && errno != EAGAIN) {
      return tl::unexpected(read_failure(errno));
    }
    pending.resize(old_size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    const bool at_end = got == 0;
    if (next_line == 1 && is_indented(pending)) {
      return failure(ErrorCode::invalid_usage,
                     "the input is one document over several lines, and --stream reads one from each line",
                     "leave --stream out, or write each document on one line, as `jq -c .` does");
    }
    const std::size_t last_newline =
        got > 0 ? std::string_view(pending).substr(old_size).rfind('\n') : std::string::npos;
    std::size_t whole = last_newline == std::string::npos ? 0 : old_size + last_newline + 1;
    if (at_end) {
      whole = pending.size();
    }
    if (dropping && whole > 0) {
      const std::size_t line_end = std::min(pending.find('\n') + 1, whole);
      pending.erase(0, at_end ? whole : line_end);
      whole = at_end ? 0 : whole - line_end;
      dropping = false;
      ++next_line;
    } else if (dropping) {
      pending.clear();
    } else if (whole == 0 && pending.size() > documents::document_bytes_limit) {
      auto block = pipeline.take_block();
      block->first_line = next_line;
      block->oversized = true;
      pending.clear();
      dropping = true;
      if (!pipeline.push(std::move(block))) {
        return {};
      }
    }
    for (; pace == Pace::lines && whole > 0; ++next_line) {
      const std::size_t line = std::min(pending.find('\n') + 1, whole);
      auto block = pipeline.take_block();
      block->first_line = next_line;
      block->lines.assign(pending, 0, line == 0 ? whole : line);
      pending.erase(0, block->lines.size());
      whole -= block->lines.size();
      if (!pipeline.push(std::move(block))) {
        return {};
      }
    }
    if (whole > 0) {
      auto block = pipeline.take_block();
      block->first_line = next_line;
      // Copies the unfinished line to the block's buffer and swaps the buffers, so that whole lines are not copied.
      block->lines.assign(pending, whole);
      pending.resize(whole);
      std::swap(block->lines, pending);
      next_line += static_cast<std::uint64_t>(std::ranges::count(block->lines, '\n'));
      if (!pipeline.push(std::move(block))) {
        return {};
      }
    }
    if (at_end) {
      return {};
    }
  }
  return {};
}

} // namespace

unsigned all_cores() {
  return std::max(std::thread::hardware_concurrency(), 1U);
}

Result<StreamSummary> answer_stream(const Descriptor& input, Output& output,
                                    const std::function<LineAnswer()>& make_answer, unsigned workers,
                                    Pace pace) {
  Pipeline pipeline(output, workers);
  std::vector<std::jthread> threads;
  // On every way out, closes the pipeline before `threads` joins the workers, which would otherwise wait for ever.
  struct Closing {
    Pipeline& pipeline;
    ~Closing() { pipeline.close(); }
  } const closing{pipeline};
  try {
    for (unsigned i = 0; i < std::max(workers, 1U); ++i) {
      threads.emplace_back([&pipeline, answer = make_answer()] { pipeline.work(answer); });
    }
  } catch (const std::system_error& error) {
    if (threads.empty()) { // with fewer threads than workers the stream is only slower
      return tl::unexpected(uncaught_error(error, "please report this as a bug"));
    }
  }
  auto read = read_blocks(input, output, pipeline, pace);
  pipeline.close();
  threads.clear(); // joins
  if (!read) {
    return tl::unexpected(std::move(read.error()));
  }
  TIDEGATE_TRY(const StreamSummary summary, pipeline.result());
  if (!is_quiet() && !errors_are_json() && !output.closed()) {
    std::fputs(
        fmt::format("tidegate: {}, {} failed\n", plural(summary.lines, "line"), summary.failed).c_str(),
        stderr);
  }
  return summary;
}

namespace {

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

Result<ExitCode> serve_stream(const Route& route, const std::function<Answer()>& make_answer,
                              unsigned workers) {
  TIDEGATE_TRY(auto input, open_input(route.input, FileKinds::any).map_error(in_file(route.input)));
  TIDEGATE_TRY(auto output, Output::open(route.output));
  const auto make_line_answer = [&make_answer]() -> LineAnswer {
    return [answer = make_answer()](std::string_view line, LineReply& reply) -> Result<void> {
      if (line.find("\"parameter") == std::string_view::npos) { // nearly all lines
        return answer(line, Style::compact, reply.text);
      }
      TIDEGATE_TRY(const std::string replaced, documents::replace_parameters(std::string(line)));
      return answer(replaced, Style::compact, reply.text);
    };
  };
  TIDEGATE_TRY(auto summary,
               answer_stream(input, output, make_line_answer, workers != 0 ? workers : all_cores()));
  TIDEGATE_CHECK(output.commit());
  return summary.exit_code;
}

} // namespace

Result<void> refuse_stream(bool stream, std::string_view format) {
  if (!stream || format.empty() || format == "json") {
    return {};
  }
  return failure(ErrorCode::invalid_usage, fmt::format("--format {} shows one answer, not a stream", format),
                 "leave --stream or --format out");
}

Result<void> refuse_parameters(bool stream, std::span<const documents::Parameter> parameters) {
  if (!stream || parameters.empty()) {
    return {};
  }
  return failure(ErrorCode::invalid_usage, "--param cannot be combined with --stream",
                 "leave --stream or --param out");
}

FileUses Route::files() const {
  FileUses files{.inputs = other_inputs, .outputs = {{output, "-o", {}}}};
  files.inputs.push_back({input, "the input", {}});
  return files;
}

Error at_document(Error error, const std::string& input, std::string_view document,
                  std::string_view written) {
  error = documents::located(std::move(error), document);
  if (error.code == ErrorCode::syntax_error && input.ends_with(".cl")) {
    error.fix = fmt::format("this is OpenCL C: `tidegate init {}` writes a program for its kernels",
                            display_name(input));
  }
  const auto complete = [&](Error& each) {
    if (!each.source) {
      each = with_excerpt(std::move(each), written.empty() ? document : written);
      each.source = display_name(input);
    }
  };
  complete(error);
  std::ranges::for_each(error.others, complete);
  return error;
}

Result<DocumentText> read_document(const std::string& input, std::span<const documents::Parameter> given) {
  TIDEGATE_TRY(std::string text,
               read_all(input, documents::document_bytes_limit, FileKinds::any).map_error(in_file(input)));
  documents::remove_comments(text);
  auto replaced = documents::replace_parameters(text, given);
  if (!replaced) {
    return tl::unexpected(at_document(std::move(replaced.error()), input, text));
  }
  DocumentText document{.json = std::move(*replaced), .written = {}};
  if (document.json != text) {
    document.written = std::move(text);
  }
  return document;
}

bool is_table(std::string_view format, const std::string& output) {
  return format == "table" || (format.empty() && output == standard_stream && is_terminal(STDOUT_FILENO));
}

Result<ExitCode> write_text(const std::string& output, std::string_view text) {
  return Output::open(output).and_then([text](Output file) { return finish(file, text); });
}

Result<ExitCode> serve(const Route& route, const std::function<Answer()>& make_answer, unsigned workers) {
  const bool json = route.format == "json";
  TIDEGATE_CHECK(refuse_stream(route.stream, route.format));
  TIDEGATE_CHECK(refuse_parameters(route.stream, route.parameters));
  hint_at_terminal(route.input);
  TIDEGATE_CHECK(refuse_overwriting(route.files()));
  if (route.stream) {
    return serve_stream(route, make_answer, workers);
  }
  // Opens the output first, so that no answer is computed that cannot be written.
  TIDEGATE_TRY(auto output, Output::open(route.output));
  TIDEGATE_TRY(const auto document, read_document(route.input, route.parameters));
  std::string text;
  if (auto answered = make_answer()(document.json, json ? Style::pretty : Style::table, text); !answered) {
    return tl::unexpected(
        at_document(std::move(answered.error()), route.input, document.json, document.written));
  }
  return finish(output, json ? text + '\n' : text);
}

} // namespace tidegate::app
