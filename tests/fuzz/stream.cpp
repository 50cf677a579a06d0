// Any bytes as newline-delimited JSON: one line of JSON comes back for each that is not blank, in their
// order, and the summary counts them.
#include "app/serve.hpp"
#include "core/files.hpp"
#include "fuzz.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/policy/documents.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

using namespace tidegate;

namespace {

bool blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

Descriptor file_of(std::string_view bytes) {
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  fuzz::require(file.get() >= 0 &&
                    ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
                    ::lseek(file.get(), 0, SEEK_SET) == 0,
                "there is memory for the input");
  return file;
}

Result<void> answer(std::string_view line, std::string& text) {
  return documents::decode<documents::LaunchRequestDocument>(line).map([&](const auto& request) {
    documents::encode(documents::DocumentOf<documents::LaunchRequestDocument>::document, &request,
                      documents::Style::compact, text);
  });
}

} // namespace

FUZZ_TARGET(stream) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Descriptor input = file_of(text);
  int ends[2];
  fuzz::require(::pipe(ends) == 0, "there is a pipe");
  const Descriptor read_end(ends[0]);
  std::string answers;
  std::thread reader([&] {
    char block[4096];
    for (ssize_t got = 0; (got = ::read(read_end.get(), block, sizeof block)) > 0;) {
      answers.append(block, static_cast<std::size_t>(got));
    }
  });
  auto output = Output::open(fmt::format("/proc/self/fd/{}", ends[1]));
  ::close(ends[1]);
  fuzz::require(output.has_value(), "the pipe is opened");
  constexpr unsigned workers = 2;
  const auto summary = app::answer_stream(
      input, *output, [](std::string_view line, app::LineReply& reply) { return answer(line, reply.text); },
      workers);
  { const Output closed = std::move(*output); }
  reader.join();
  fuzz::require(summary.has_value(), "a stream comes to its end");

  std::uint64_t number = 0; // of the line
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;
  std::string_view rest = answers;
  for (std::string_view left = text; !left.empty();) {
    ++number;
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view line = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (blank(line)) {
      continue;
    }
    ++answered;
    const std::string_view said = rest.substr(0, rest.find('\n'));
    fuzz::require(said.size() < rest.size(), "every line has an answer that ends");
    rest.remove_prefix(said.size() + 1);
    std::string expected;
    if (answer(line, expected)) {
      fuzz::require(said == expected, "answers come in the order of their lines");
    } else {
      ++failed;
      fuzz::require(said.ends_with(fmt::format("\"line\":{}}}", number)), "an error names its line");
      fuzz::require(documents::JsonParser().parse(said).has_value(), "an error is JSON");
    }
  }
  fuzz::require(rest.empty(), "nothing else is written");
  fuzz::require(summary->lines == answered && summary->failed == failed, "the summary counts the lines");
  return 0;
}
