// Streams: order, errors, line numbers, bounded memory, pauses.
#include "app/command_line.hpp"
#include "app/serve.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace tidegate;
using namespace tidegate::app;

namespace {

struct Pipe {
  Descriptor read_end{-1};
  Descriptor write_end{-1};
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void send(const Descriptor& pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(pipe.get(), text.data(), text.size());
    REQUIRE(put > 0);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

std::string receive_all(const Descriptor& pipe) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t got = ::read(pipe.get(), buffer.data(), buffer.size());
    if (got <= 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

// Answers every line with itself in brackets; "bad" has no answer, "throw" throws.
LineAnswer brackets() {
  return [](std::string_view line, LineReply& reply) -> Result<void> {
    if (line == "bad") {
      reply.text += "half an answer";
      return tl::unexpected(
          Error{.code = ErrorCode::syntax_error, .message = "bad", .fix = "good", .line = 1});
    }
    if (line == "throw") {
      throw std::runtime_error("thrown");
    }
    reply.text += '[' + std::string(line) + ']';
    return {};
  };
}

struct Answered {
  std::string text;
  StreamSummary summary;
};

// Runs a stream over pipes, so that reads come in pieces, and collects what it writes.
Answered answer(const std::string& input, unsigned workers) {
  Pipe in = make_pipe();
  const Pipe out = make_pipe();
  Answered answered;
  {
    const std::jthread sender([&] {
      send(in.write_end, input);
      in.write_end = Descriptor(-1);
    });
    const std::jthread receiver([&] { answered.text = receive_all(out.read_end); });
    auto output = Output::open("/proc/self/fd/" + std::to_string(out.write_end.get()));
    REQUIRE(output);
    const auto summary = answer_stream(in.read_end, *output, brackets(), workers);
    REQUIRE(summary);
    answered.summary = *summary;
    *const_cast<Descriptor*>(&out.write_end) = Descriptor(-1); // ends the receiver
    output = tl::unexpected(Error{});
  }
  return answered;
}

} // namespace

TEST_CASE("answers come in the order of the lines, whatever the number of workers") {
  std::string input;
  std::string expected;
  for (int i = 0; i < 200'000; ++i) {
    input += std::to_string(i) + '\n';
    expected += '[' + std::to_string(i) + "]\n";
  }
  for (const unsigned workers : {1U, 2U, 7U}) {
    const Answered answered = answer(input, workers);
    CHECK(answered.text == expected);
    CHECK(answered.summary.lines == 200'000);
    CHECK(answered.summary.failed == 0);
    CHECK(answered.summary.exit_code == ExitCode::done);
  }
}

TEST_CASE("a byte order mark is no part of the first line") {
  for (const unsigned workers : {1U, 2U}) {
    CHECK(answer("\xef\xbb\xbf"
                 "a\nb\n",
                 workers)
              .text == "[a]\n[b]\n");
    const Answered blank = answer("\xef\xbb\xbf\n\xef\xbb\xbf"
                                  "b",
                                  workers); // one elsewhere is text
    CHECK(blank.text == "[\xef\xbb\xbf"
                        "b]\n");
    CHECK(blank.summary.lines == 1);
    CHECK(answer("\xef\xbb\xbf", workers).summary.lines == 0);
  }
}

TEST_CASE("lines are answered one by one, and one that was interrupted is the last") {
  const Descriptor input(::memfd_create("input", MFD_CLOEXEC));
  send(input, "a\n\nbad\nstop\nlate\n");
  REQUIRE(::lseek(input.get(), 0, SEEK_SET) == 0);
  const Pipe out = make_pipe();
  auto output = Output::open("/proc/self/fd/" + std::to_string(out.write_end.get()));
  REQUIRE(output);
  std::string before; // that each answer finds written
  const auto read_and_answer = [&](std::string_view line, LineReply& reply) -> Result<void> {
    std::array<char, 4096> written{};
    const ssize_t got = line == "a" ? 0 : ::read(out.read_end.get(), written.data(), written.size());
    before += std::string(written.data(), static_cast<std::size_t>(got)) + '|';
    reply.id = Identifier(line);
    reply.exit_code = line == "stop" ? ExitCode::interrupted : ExitCode::negative;
    return brackets()(line, reply);
  };
  const auto summary = answer_stream(input, *output, read_and_answer, 1);
  REQUIRE(summary);
  CHECK(before == "|[a]\n|"
                  R"({"id":"bad","error":{"code":"syntax_error","message":"bad","fix":"good"},"line":3})"
                  "\n|");
  CHECK(summary->exit_code == ExitCode::interrupted);
  CHECK(summary->lines == 3);
  CHECK(summary->failed == 3); // a negative answer counts
}

TEST_CASE("a bad line becomes an error line with its number, and the stream goes on") {
  const Answered answered = answer("a\n\n  \nbad\nb\r\nthrow\nlast", 2);
  CHECK(
      answered.text ==
      "[a]\n"
      R"({"error":{"code":"syntax_error","message":"bad","fix":"good"},"line":4})"
      "\n[b\r]\n"
      R"({"error":{"code":"internal_error","message":"thrown","fix":"please report this line as a bug"},"line":6})"
      "\n[last]\n");
  CHECK(answered.summary.lines == 5);
  CHECK(answered.summary.failed == 2);
  CHECK(answered.summary.exit_code == ExitCode::bug);
}

TEST_CASE("exceptions of the standard library have names") {
  CHECK(exit_code(app::uncaught_error(std::bad_alloc(), "")) == ExitCode::environment);
  const auto message = [](const std::exception& exception) {
    const Error error = app::uncaught_error(exception, "report it");
    return fmt::format("{} {}", name(error.code), error.message);
  };
  CHECK(message(std::bad_array_new_length()) == "host_out_of_memory the host has no memory left");
  CHECK(message(std::length_error("vector::reserve")) ==
        "host_out_of_memory the host has no memory left: vector::reserve");
  CHECK(message(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))) ==
        "host_out_of_memory the host has no memory left for another thread");
  CHECK(message(std::out_of_range("at")) == "internal_error at");
}

TEST_CASE("a line longer than a block is one line") {
  const std::string line(3'000'000, 'x');
  CHECK(answer("a\n" + line + "\nb\n", 2).text == "[a]\n[" + line + "]\n[b]\n");
}

TEST_CASE("the answer to a line comes before the next line is written") {
  Pipe in = make_pipe();
  const Pipe out = make_pipe();
  auto output = Output::open("/proc/self/fd/" + std::to_string(out.write_end.get()));
  REQUIRE(output);
  std::jthread stream([&] { (void)answer_stream(in.read_end, *output, brackets(), 2); });
  for (const std::string line : {"one", "two"}) {
    send(in.write_end, line + "\n");
    std::array<char, 64> buffer{};
    const ssize_t got = ::read(out.read_end.get(), buffer.data(), buffer.size());
    CHECK(std::string(buffer.data(), static_cast<std::size_t>(got)) == "[" + line + "]\n");
  }
  in.write_end = Descriptor(-1);
}
