// Identity of files, and the refusal to overwrite inputs.
#include "../temporary_folder.hpp"
#include "core/files.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

using namespace tidegate;
namespace fs = std::filesystem;

namespace {

// Returns the error of writing `output` while reading `input`, or "".
std::string refusal(const std::string& input, const std::string& output) {
  const auto kept =
      refuse_overwriting({.inputs = {{input, "the input", {}}}, .outputs = {{output, "-o", {}}}});
  return kept ? "" : describe(kept.error());
}

} // namespace

TEST_CASE("paths without detours") {
  const test::TemporaryFolder folder;
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
  CHECK(is_inside("/a/b", "/a"));
  CHECK(is_inside("/a/b/c", "/a"));
  CHECK(is_inside("/a", "/a"));
  CHECK(is_inside("/a", "/"));
  CHECK_FALSE(is_inside("/ab", "/a"));
  CHECK_FALSE(is_inside("/", "/a"));
  CHECK_FALSE(is_inside("/b/a", "/a"));
}

TEST_CASE("an output does not replace an input under any spelling of its path") {
  const test::TemporaryFolder folder;
  const std::string input = folder.write("in", "x");
  folder.write("other", "x");
  fs::create_directory(folder.file("sub"));
  fs::create_symlink("in", folder.file("symbolic"));
  fs::create_hard_link(input, folder.file("hard"));
  fs::create_directory_symlink(".", folder.file("here"));
  for (const char* const same : {"in", "./in", "here/in", "sub/../in", "symbolic", "here/hard", "hard"}) {
    CHECK(refusal(input, folder.file(same)) == "tidegate: error: -o would overwrite the input, " + input +
                                                   " [invalid_usage]\n  fix: name another file");
  }
  CHECK(refusal(folder.file("symbolic"), input) != "");
  for (const char* const another : {"other", "new", "in.json"}) {
    CHECK(refusal(input, folder.file(another)) == "");
  }
}

TEST_CASE("a missing folder has no parent") {
  const test::TemporaryFolder folder;
  const std::string input = folder.write("in", "x");
  fs::create_symlink("nosuch/../in", folder.file("link"));
  fs::create_symlink("loop", folder.file("loop"));
  const auto missing = [&](const char* name) {
    return "tidegate: error: cannot write " + folder.file(name) +
           ": No such file or directory [cannot_write]\n  fix: name a file in a folder that you may write to";
  };
  for (const char* const name : {"nosuch/../in", "nosuch/../new", "link", "none/in", "none/../none/../in"}) {
    CHECK(refusal(input, folder.file(name)) == missing(name));
    CHECK_FALSE(written_path(folder.file(name)));
    CHECK_FALSE(Output::open(folder.file(name)));
  }
  CHECK(refusal(input, folder.file("loop")).find("Too many levels of symbolic links") != std::string::npos);
  CHECK(refusal(input, folder.file("in/../in")).find("Not a directory") != std::string::npos);
  CHECK(*read_all(input, 10) == "x");
}

TEST_CASE("two outputs must be two files, even if neither exists yet") {
  const test::TemporaryFolder folder;
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

TEST_CASE("the error of an output names its place in the document") {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("in", "x");
  const auto kept =
      refuse_overwriting({.inputs = {{file, "the program", {}}},
                          .outputs = {{file, "the output of buffer \"x\"", "/buffers/x/output"}}});
  REQUIRE_FALSE(kept);
  CHECK(describe(kept.error()) ==
        "tidegate: error: the output of buffer \"x\" would overwrite the program, " + file +
            " [invalid_program]\n  at: /buffers/x/output\n  fix: name another file");
}

TEST_CASE("streams, devices and pipes cannot be overwritten") {
  const test::TemporaryFolder folder;
  CHECK(refusal("-", "-") == "");
  CHECK(refusal("/dev/null", "/dev/null") == "");
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  CHECK(refusal(folder.file("pipe"), folder.file("pipe")) == "");
}
