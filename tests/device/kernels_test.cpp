// The embedded kernels: includes are in place, and lines keep their numbers.
#include "device/kernels.hpp"

using tidegate::device::kernel_source;

namespace {

const std::filesystem::path folder = TIDEGATE_SOURCE_DIR "/kernels";

std::vector<std::string> lines_of(std::istream& text) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(line);
  }
  return lines;
}

} // namespace

TEST_CASE("each line of a kernel stands where its #line directives say") {
  int included = 0;
  for (const char* const root :
       {"common/self_test.cl", "frontier/traversal.cl", "frontier/rows.cl", "wave/progress.cl",
        "wave/persistent.cl", "wave/stage.cl", "wave/queue.cl"}) {
    std::istringstream source(kernel_source(root));
    std::vector<std::string> file;
    std::size_t next = 0;
    for (const std::string& line : lines_of(source)) {
      CAPTURE(root);
      if (line.starts_with("#line ")) {
        const std::size_t quote = line.find('"');
        const std::string path = line.substr(quote + 1, line.rfind('"') - quote - 1);
        REQUIRE(path.starts_with("tidegate/kernels/"));
        std::ifstream text(folder / path.substr(std::string("tidegate/kernels/").size()));
        REQUIRE(text);
        file = lines_of(text);
        next = std::stoul(line.substr(6)) - 1;
        ++included;
        continue;
      }
      REQUIRE(next < file.size());
      CHECK(line == file[next++]);
      CHECK_FALSE(line.starts_with("#include"));
    }
  }
  CHECK(included > 40);
}
