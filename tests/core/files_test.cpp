// Files: outputs appear complete or not at all.
#include "../skipped.hpp"
#include "../temporary_folder.hpp"
#include "core/files.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tidegate;
namespace fs = std::filesystem;
using tidegate::test::contents;
using tidegate::test::TemporaryFolder;

namespace {

std::ptrdiff_t entries(const TemporaryFolder& folder) {
  return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
}

} // namespace

TEST_CASE(
    "a committed file holds what was written; without a commit the old one stays; nothing else is left") {
  const TemporaryFolder folder;
  for (const std::string_view text : {"one ", "more"}) {
    auto output = Output::open(folder.file("out"));
    REQUIRE(output);
    CHECK(output->write(text).has_value());
    CHECK(output->write("two").has_value());
    CHECK(fs::exists(folder.file("out")) == (text == "more"));
    CHECK((text == "more" || output->commit().has_value()));
  }
  CHECK(contents(folder.file("out")) == "one two");
  CHECK(entries(folder) == 1);
}

TEST_CASE("a process that is killed leaves no unfinished file") {
  const TemporaryFolder folder;
  folder.write("out", "old");
  const int unnamed = ::open(folder.path().c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (unnamed < 0) {
    tidegate::test::skipped("this file system has no files without a name");
    return;
  }
  ::close(unnamed);
  const pid_t child = ::fork();
  if (child == 0) {
    auto output = Output::open(folder.file("out"));
    if (output && output->write("new")) {
      ::raise(SIGKILL);
    }
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(contents(folder.file("out")) == "old");
  CHECK(entries(folder) == 1);
}

TEST_CASE("a replaced file keeps its permissions, a symbolic link its place") {
  const TemporaryFolder folder;
  folder.write("real", "old");
  REQUIRE(::chmod(folder.file("real").c_str(), 0640) == 0);
  fs::create_symlink(folder.file("real"), folder.file("link"));
  auto output = Output::open(folder.file("link"));
  REQUIRE(output);
  CHECK(output->write("new").has_value());
  CHECK(output->commit().has_value());
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(contents(folder.file("real")) == "new");
  CHECK((fs::status(folder.file("real")).permissions() & fs::perms::mask) == static_cast<fs::perms>(0640));
}

TEST_CASE("a named pipe in place of a file is refused without waiting for its other end") {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto text = [](const auto& result) {
    REQUIRE_FALSE(result);
    return result.error().message + "; " + result.error().fix;
  };
  CHECK(text(open_input(pipe)) == "cannot read " + pipe + ": it is a named pipe; name a regular file");
  CHECK(text(read_all(pipe, 10)) == "cannot read " + pipe + ": it is a named pipe; name a regular file");
  CHECK(text(Output::open(pipe, FileKinds::no_named_pipes)) ==
        "cannot write " + pipe + ": it is a named pipe; name a regular file");
  CHECK(text(Output::open(pipe)) ==
        "cannot write " + pipe + ": no process reads from this pipe; start the reader first");
  CHECK(text(read_all("/dev/null", 10, FileKinds::regular)) ==
        "cannot read /dev/null: it is not a regular file, but is read more than once; name a regular file");
  CHECK(*read_all("/dev/null", 10) == "");
}

TEST_CASE("unnamed pipes are read like files, and a named pipe with a reader is written") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const std::string unnamed = "/dev/fd/" + std::to_string(ends[0]);
  auto output = Output::open("/dev/fd/" + std::to_string(ends[1]), FileKinds::no_named_pipes);
  REQUIRE(output);
  CHECK(output->write("text"));
  *output = std::move(*Output::open("/dev/null"));
  ::close(ends[1]);
  CHECK(*read_all(unnamed, 10) == "text");
  ::close(ends[0]);

  const TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  const int reader = ::open(folder.file("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  auto named = Output::open(folder.file("pipe"));
  REQUIRE(named);
  CHECK(named->write("text"));
  std::array<char, 8> found{};
  CHECK(::read(reader, found.data(), found.size()) == 4);
  ::close(reader);
}

TEST_CASE("devices are written directly") {
  auto nothing = Output::open("/dev/null");
  REQUIRE(nothing);
  CHECK(nothing->write("gone").has_value());
  CHECK(nothing->commit().has_value());
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("whole files are read, up to a limit; an unreadable one is an error with its name") {
  const TemporaryFolder folder;
  const std::string text(300'000, 'x');
  folder.write("in", text);
  CHECK(read_all(folder.file("in"), 300'000) == text);
  const auto too_large = read_all(folder.file("in"), 299'999);
  REQUIRE_FALSE(too_large);
  CHECK(too_large.error().code == ErrorCode::input_too_large);
  folder.write("empty", "");
  CHECK(read_all(folder.file("empty"), 10) == "");
  CHECK(read_all("/proc/self/status", 100'000)->starts_with("Name:")); // this file reports size 0
  const auto missing = read_all(folder.file("none"), 10);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::cannot_read);
  CHECK(missing.error().message == "cannot read " + folder.file("none") + ": No such file or directory");
  const auto directory = read_all(folder.file(""), 10);
  REQUIRE_FALSE(directory);
  CHECK(directory.error().fix == "name a file in that folder");
}

TEST_CASE("a name with a NUL is refused, not cut off") {
  const TemporaryFolder folder;
  const std::string path = folder.file("old") + std::string("\0.raw", 5);
  CHECK(describe(open_input(path).error()).find("has a NUL character") != std::string::npos);
  CHECK_FALSE(Output::open(path));
  CHECK_FALSE(written_path(path));
  CHECK_FALSE(check_scope(path, folder.path().string(), PathScope::anywhere));
}

TEST_CASE("the hash of a file is that of its contents") {
  const TemporaryFolder folder;
  const std::string large(3'000'000, 'x');
  CHECK(hash_of_file(folder.write("a", large)) == hash_of(large));
  CHECK(hash_of_file(folder.write("b", "")) == hash_of(""));
  CHECK(hash_of_file(folder.file("none")).empty());
  CHECK(hash_of_file("/dev/null").empty());
  CHECK(hash_of_file("-").empty());
}

namespace {

// Returns the error of writing `output` while reading `input`, or "".
std::string refused_output(const std::string& input, const std::string& output) {
  const auto kept =
      refuse_overwriting({.inputs = {{input, "the input", {}}}, .outputs = {{output, "-o", {}}}});
  return kept ? "" : describe(kept.error());
}

} // namespace

TEST_CASE("paths without detours") {
  const TemporaryFolder folder;
  const std::string file = folder.write("a/file", "x");
  fs::create_symlink("a", folder.file("link"));
  fs::create_symlink("link/file", folder.file("again"));
  fs::create_symlink("a/none", folder.file("dangling"));
  fs::create_symlink("loop", folder.file("loop"));
  CHECK(canonical_path(folder.file("./a/../a//file")) == file);
  CHECK(canonical_path(folder.file("link/file")) == file);
  CHECK(canonical_path(folder.file("again")) == file);
  CHECK(canonical_path(folder.file("link/../a/none")) == folder.file("a/none"));
  CHECK(canonical_path(folder.file("dangling")) == folder.file("a/none"));
  CHECK(canonical_path(folder.file("no/such/../folder")) == folder.file("no/folder"));
  CHECK(canonical_path(folder.file("loop")) == folder.file("loop"));
  CHECK(canonical_path(".") == fs::current_path());
}

TEST_CASE("files inside a folder") {
  struct {
    std::string file, folder;
    bool inside;
  } const cases[]{{"/a/b", "/a", true}, {"/a/b/c", "/a", true}, {"/a", "/a", true},   {"/a", "/", true},
                  {"/ab", "/a", false}, {"/", "/a", false},     {"/b/a", "/a", false}};
  for (const auto& [file, folder, inside] : cases) {
    CHECK(check_scope(file, folder, PathScope::folder).has_value() == inside);
  }
}

TEST_CASE("an output does not replace an input under any spelling of its path") {
  const TemporaryFolder folder;
  const std::string input = folder.write("in", "x");
  folder.write("other", "x");
  fs::create_directory(folder.file("sub"));
  fs::create_symlink("in", folder.file("symbolic"));
  fs::create_hard_link(input, folder.file("hard"));
  fs::create_directory_symlink(".", folder.file("here"));
  for (const char* const same : {"in", "./in", "here/in", "sub/../in", "symbolic", "here/hard", "hard"}) {
    CHECK(refused_output(input, folder.file(same)) == "tidegate: error: -o would overwrite the input, " +
                                                          input +
                                                          " [invalid_usage]\n  fix: name another file");
  }
  CHECK(refused_output(folder.file("symbolic"), input) != "");
  for (const char* const another : {"other", "new", "in.json"}) {
    CHECK(refused_output(input, folder.file(another)) == "");
  }
}

TEST_CASE("a missing folder has no parent") {
  const TemporaryFolder folder;
  const std::string input = folder.write("in", "x");
  fs::create_symlink("nosuch/../in", folder.file("link"));
  fs::create_symlink("loop", folder.file("loop"));
  const auto missing = [&](const char* name) {
    return "tidegate: error: cannot write " + folder.file(name) +
           ": No such file or directory [cannot_write]\n  fix: name a file in a folder that you may write to";
  };
  for (const char* const name : {"nosuch/../in", "nosuch/../new", "link", "none/in", "none/../none/../in"}) {
    CHECK(refused_output(input, folder.file(name)) == missing(name));
    CHECK_FALSE(written_path(folder.file(name)));
    CHECK_FALSE(Output::open(folder.file(name)));
  }
  CHECK(refused_output(input, folder.file("loop")).find("Too many levels of symbolic links") !=
        std::string::npos);
  CHECK(refused_output(input, folder.file("in/../in")).find("Not a directory") != std::string::npos);
  CHECK(*read_all(input, 10) == "x");
}

TEST_CASE("two outputs must be two files, even if neither exists yet") {
  const TemporaryFolder folder;
  fs::create_directory_symlink(".", folder.file("here"));
  fs::create_directory(folder.file("sub"));
  fs::create_symlink("new", folder.file("link"));
  const auto refused = [&](const char* a, const char* b) {
    return !refuse_overwriting(
        {.inputs = {}, .outputs = {{folder.file(a), "a", {}}, {folder.file(b), "b", {}}}});
  };
  for (const char* const same : {"new", "./new", "here/new", "sub/../new", "link", "none/../new"}) {
    CHECK(refused("new", same));
  }
  CHECK_FALSE(refused("new", "newer"));
  CHECK_FALSE(refused("new", "sub/new"));
}

TEST_CASE("streams, devices and pipes cannot be overwritten") {
  const TemporaryFolder folder;
  CHECK(refused_output("-", "-") == "");
  CHECK(refused_output("/dev/null", "/dev/null") == "");
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  CHECK(refused_output(folder.file("pipe"), folder.file("pipe")) == "");
}
