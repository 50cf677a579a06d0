// Files: outputs appear complete or not at all.
#include <tidegate/core/files.hpp>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

using namespace tidegate;
namespace fs = std::filesystem;

namespace {

// A folder that goes away with the test.
class Folder {
public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "tidegate-files-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

private:
  fs::path path_;
};

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

} // namespace

TEST_CASE("a committed file holds what was written, and nothing else is left") {
  const Folder folder;
  auto output = Output::open(folder.file("out"));
  REQUIRE(output);
  CHECK(output->write("one ").has_value());
  CHECK(output->write("two").has_value());
  CHECK_FALSE(fs::exists(folder.file("out")));
  CHECK(output->commit().has_value());
  CHECK(content(folder.file("out")) == "one two");
  CHECK(folder.entries() == 1);
}

TEST_CASE("without a commit the old file stays") {
  const Folder folder;
  put(folder.file("out"), "old");
  {
    auto output = Output::open(folder.file("out"));
    REQUIRE(output);
    CHECK(output->write("new").has_value());
  }
  CHECK(content(folder.file("out")) == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a replaced file keeps its permissions, a symbolic link its place") {
  const Folder folder;
  put(folder.file("real"), "old");
  REQUIRE(::chmod(folder.file("real").c_str(), 0640) == 0);
  fs::create_symlink(folder.file("real"), folder.file("link"));
  auto output = Output::open(folder.file("link"));
  REQUIRE(output);
  CHECK(output->write("new").has_value());
  CHECK(output->commit().has_value());
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(content(folder.file("real")) == "new");
  CHECK((fs::status(folder.file("real")).permissions() & fs::perms::mask) == static_cast<fs::perms>(0640));
}

TEST_CASE("devices are written directly") {
  auto output = Output::open("/dev/null");
  REQUIRE(output);
  CHECK(output->write("gone").has_value());
  CHECK(output->commit().has_value());
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a full disk and a missing folder are errors with the name of the file") {
  auto full = Output::open("/dev/full");
  REQUIRE(full);
  const auto written = full->write("text");
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::cannot_write);
  CHECK(written.error().message == "cannot write /dev/full: No space left on device");

  const Folder folder;
  const auto missing = Output::open(folder.file("no/such"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::cannot_write);
  CHECK(missing.error().message == "cannot write " + folder.file("no/such") + ": No such file or directory");
}

TEST_CASE("whole files are read, up to a limit") {
  const Folder folder;
  const std::string text(300'000, 'x');
  put(folder.file("in"), text);
  CHECK(read_all(folder.file("in"), 300'000) == text);
  const auto too_large = read_all(folder.file("in"), 299'999);
  REQUIRE_FALSE(too_large);
  CHECK(too_large.error().code == ErrorCode::input_too_large);
  put(folder.file("empty"), "");
  CHECK(read_all(folder.file("empty"), 10) == "");
  CHECK(read_all("/proc/self/status", 100'000)->starts_with("Name:")); // a file that says it has no size
}

TEST_CASE("what cannot be read is an error with the name of the file") {
  const Folder folder;
  const auto missing = read_all(folder.file("none"), 10);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::cannot_read);
  CHECK(missing.error().message == "cannot read " + folder.file("none") + ": No such file or directory");
  const auto directory = read_all(folder.file(""), 10);
  REQUIRE_FALSE(directory);
  CHECK(directory.error().fix == "name a file in that folder");
}

TEST_CASE("standard streams have a name of their own") {
  CHECK(display_name("-") == "standard input");
  CHECK(display_name("a.json") == "a.json");
}
