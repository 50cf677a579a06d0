// Command lines and all that they print: each transcripts/*.txt is run in this process, in an empty folder.
//
//   # text                        a heading
//   file NAME                     the following lines, without their "| ", become a file
//   edit NAME: OLD => NEW         for the next command alone
//   $ tidegate WORDS              as in a shell, with < FILE or <<< 'TEXT'; the lines below are all that it prints,
//   output                        with the scratch folder as FOLDER, and its exit code in brackets unless it is 0;
//                                 nothing may use a device, which forks the process
//   ! tidegate WORDS              the same, with a line for each error instead of the output
//     LINE:COLUMN POINTER: MESSAGE [CODE]; FIX
//   each of NAME: tidegate WORDS  is run once for each of the following edits of the file
//   OLD => NEW                    or "as it is"
//     LINE:COLUMN POINTER: MESSAGE [CODE]; FIX
//
// TIDEGATE_UPDATE_TRANSCRIPTS=1 rewrites the files with what is printed now; look at the difference.
#include "app/command_line.hpp"
#include "core/files.hpp"
#include "temporary_folder.hpp"
#include <tidegate/core/describe.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <iostream>

using namespace tidegate;
using test::contents;

namespace {

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + with.size())) {
    text.replace(at, old.size(), with);
  }
  return text;
}

// While it lives, standard input holds a text, and what goes to standard output and error is kept.
class StandardStreams {
public:
  explicit StandardStreams(const std::string& input) {
    std::cout.flush();
    REQUIRE(::write(input_, input.data(), input.size()) == static_cast<ssize_t>(input.size()));
    ::lseek(input_, 0, SEEK_SET);
    ::dup2(input_, STDIN_FILENO);
    ::dup2(output_, STDOUT_FILENO);
    ::dup2(output_, STDERR_FILENO);
  }
  StandardStreams(const StandardStreams&) = delete;
  StandardStreams& operator=(const StandardStreams&) = delete;
  ~StandardStreams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(saved_[stream], stream);
      ::close(saved_[stream]);
    }
    ::close(input_);
    ::close(output_);
  }

  [[nodiscard]] std::string printed() const {
    std::string text(static_cast<std::size_t>(::lseek(output_, 0, SEEK_END)), '\0');
    REQUIRE(::pread(output_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    return text;
  }

private:
  int saved_[3] = {::dup(STDIN_FILENO), ::dup(STDOUT_FILENO), ::dup(STDERR_FILENO)};
  int input_ = ::memfd_create("input", MFD_CLOEXEC);
  int output_ = ::memfd_create("output", MFD_CLOEXEC);
};

// Words of a shell: separated by blanks, '' and $'' (with \n, \t, \\ and \xHH) quote.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) {
      words.emplace_back();
      in_word = true;
    }
    const bool escapes = line.substr(i).starts_with("$'");
    if (!escapes && line[i] != '\'') {
      words.back() += line[i];
      continue;
    }
    for (i += escapes ? 2 : 1; line.at(i) != '\''; ++i) {
      if (!escapes || line[i] != '\\') {
        words.back() += line[i];
      } else if (const char kind = line.at(++i); kind == 'x') {
        words.back() += static_cast<char>(std::stoi(std::string(line.substr(i + 1, 2)), nullptr, 16));
        i += 2;
      } else {
        words.back() += kind == 'n' ? '\n' : kind == 't' ? '\t' : kind;
      }
    }
  }
  return words;
}

struct Answer {
  std::string printed;
  ExitCode code = ExitCode::done;
};

// `line` without its "tidegate".
Answer run(std::string_view line, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = words_of(line);
  REQUIRE(words.at(0) == "tidegate");
  words.erase(words.begin());
  std::string input;
  if (words.size() >= 2 && words[words.size() - 2].starts_with("<")) {
    input = words[words.size() - 2] == "<" ? contents(words.back()) : words.back() + "\n";
    words.resize(words.size() - 2);
  }
  words.insert(words.end(), more.begin(), more.end());
  const StandardStreams streams(input);
  const pid_t process = ::getpid();
  const ExitCode code = app::run_tidegate(words);
  if (::getpid() != process) {
    ::_exit(1);
  }
  const std::string here = std::filesystem::current_path().string();
  return {.printed = replaced(streams.printed(), here, "FOLDER"), .code = code};
}

std::string output_of(std::string_view line) {
  const Answer answer = run(line);
  return answer.printed +
         (answer.code == ExitCode::done ? "" : fmt::format("[{}]\n", static_cast<int>(answer.code)));
}

// A line for each error, from its JSON; the exit code is the worst of theirs.
std::string errors_of(std::string_view line) {
  const Answer answer = run(line, {"--errors", "json"});
  std::istringstream lines(answer.printed);
  std::string text;
  ExitCode code = ExitCode::done;
  for (std::string json; std::getline(lines, json);) {
    const auto error = documents::decode<Error>(json);
    if (!error) {
      return "  " + answer.printed;
    }
    const std::string place =
        error->line ? fmt::format("{}:{}", *error->line, error->column.value_or(0)) : "";
    const std::string pointer = error->pointer.value_or("");
    text += fmt::format("  {}{}{}{}{} [{}]; {}\n", place, place.empty() || pointer.empty() ? "" : " ",
                        pointer, place.empty() && pointer.empty() ? "" : ": ", error->message,
                        name(error->code), error->fix);
    code = worst(code, exit_code(*error));
  }
  CHECK(answer.code == code);
  return text;
}

// "OLD => NEW" applied to a file, until the object is gone.
class Edit {
public:
  Edit(const std::string& file, const std::string& change) : file_(file), before_(contents(file)) {
    if (change == "as it is") {
      return;
    }
    const std::size_t arrow = change.find(" => ");
    REQUIRE(arrow != std::string::npos);
    const std::size_t at = before_.find(change.substr(0, arrow));
    CHECK_MESSAGE(at != std::string::npos, change);
    if (at != std::string::npos) {
      std::ofstream(file) << std::string(before_).replace(at, arrow, change.substr(arrow + 4));
    }
  }
  Edit(Edit&&) = default;
  ~Edit() { std::ofstream(file_) << before_; }

private:
  std::string file_, before_;
};

// Splits "NAME: TEXT" after a keyword of `skip` characters.
std::pair<std::string, std::string> named(const std::string& line, std::size_t skip) {
  const std::size_t colon = line.find(": ", skip);
  REQUIRE(colon != std::string::npos);
  return {line.substr(skip, colon - skip), line.substr(colon + 2)};
}

bool begins_a_part(const std::string& line) {
  return line.starts_with("# ") || line.starts_with("file ") || line.starts_with("edit ") ||
         line.starts_with("$ ") || line.starts_with("! ") || line.starts_with("each of ");
}

class Transcript {
public:
  explicit Transcript(const std::filesystem::path& path) {
    std::istringstream text(contents(path));
    for (std::string line; std::getline(text, line);) {
      lines_.push_back(line);
    }
  }

  // The transcript as it is now.
  std::string run_all() {
    while (next_ < lines_.size()) {
      const std::string line = take();
      if (line.starts_with("file ")) {
        write_file(line.substr(5));
      } else if (line.starts_with("edit ")) {
        const auto [file, change] = named(line, 5);
        edits_.push_back(std::make_unique<Edit>(file, change));
      } else if (line.starts_with("$ ") || line.starts_with("! ")) {
        INFO(line);
        compare(line.starts_with("$ ") ? output_of(line.substr(2)) : errors_of(line.substr(2)));
        while (!edits_.empty()) { // the last one first
          edits_.pop_back();
        }
      } else if (line.starts_with("each of ")) {
        run_each(line);
      }
    }
    return now_;
  }

private:
  std::string take() {
    now_ += lines_[next_] + "\n";
    return lines_[next_++];
  }

  void write_file(const std::string& name) {
    std::filesystem::create_directories(std::filesystem::absolute(name).parent_path());
    std::ofstream file(name);
    while (next_ < lines_.size() && lines_[next_].starts_with("|")) {
      const std::string line = take();
      file << line.substr(std::min<std::size_t>(line.size(), 2)) << "\n";
    }
  }

  // The expected lines: up to the next part, or, of one of several edits, as far as they are indented.
  void compare(const std::string& printed, bool indented = false) {
    std::string expected;
    const std::size_t first = next_;
    std::size_t end = next_;
    for (; end < lines_.size() && (indented ? lines_[end].starts_with("  ") : !begins_a_part(lines_[end]));
         ++end) {
    }
    for (next_ = end; end > first && lines_[end - 1].empty(); --end) {
    }
    for (std::size_t i = first; i < end; ++i) {
      expected += lines_[i] + "\n";
    }
    CHECK(printed == expected);
    now_ += printed;
    for (; end < next_; ++end) {
      now_ += "\n";
    }
  }

  void run_each(const std::string& line) {
    const auto [file, words] = named(line, 8);
    const std::string& command = words;
    while (next_ < lines_.size() && !lines_[next_].empty() && !begins_a_part(lines_[next_])) {
      const std::string change = take();
      INFO(command << " after " << change);
      const Edit edit(file, change);
      compare(errors_of(command), true);
    }
  }

  std::vector<std::string> lines_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<Edit>> edits_; // of the next command
  std::string now_;
};

} // namespace

TEST_CASE("command lines print what their transcripts say") {
  const std::filesystem::path before = std::filesystem::current_path();
  for (const auto& entry :
       std::filesystem::directory_iterator(TIDEGATE_SOURCE_DIR "/tests/app/transcripts")) {
    INFO(entry.path().string());
    const test::TemporaryFolder scratch;
    std::filesystem::current_path(scratch.path());
    std::filesystem::create_directory_symlink(TIDEGATE_SOURCE_DIR "/examples", "examples");
    const std::string now = Transcript(entry.path()).run_all();
    std::filesystem::current_path(before);
    if (std::getenv("TIDEGATE_UPDATE_TRANSCRIPTS") != nullptr) {
      std::ofstream(entry.path()) << now;
    }
  }
}
