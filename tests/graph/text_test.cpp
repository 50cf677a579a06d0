// Files of graphs, plain and gzip.
#include "graph_support.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += std::to_string(i * i) + ' ' + std::to_string(i) + '\n';
  }
  return text;
}

} // namespace

TEST_CASE("a file is its lines, in blocks of any size, plain and inflated, with zeros after gzip members") {
  const TemporaryFolder folder;
  for (const int count : {0, 1, 2, 1000}) {
    const std::string text = numbered_lines(count);
    for (const std::string& bytes :
         {text, text.substr(0, text.size() - (text.empty() ? 0 : 1)), gzip_member(text),
          gzip_member(text.substr(0, text.size() / 2)) + gzip_member(text.substr(text.size() / 2)) +
              std::string(100, '\0')}) {
      const std::string path = folder.write("a.txt", count == 0 ? "# none\n" : bytes);
      for (const std::size_t block_bytes : {1U, 7U, 64U, 1U << 20U}) {
        const auto loaded = load_graph(path, {.block_bytes = block_bytes});
        REQUIRE(loaded);
        CHECK(edge_count(loaded->graph) == static_cast<std::uint64_t>(count));
      }
    }
  }
}

TEST_CASE("gzip data that are damaged or cut off") {
  const TemporaryFolder folder;
  const std::string text = numbered_lines(5000), packed = gzip_member(text);
  std::string flipped = packed;
  flipped[packed.size() / 2] = static_cast<char>(~flipped[packed.size() / 2]);
  const auto of = [&](const std::string& bytes) { return load_graph(folder.write("a.gz", bytes), {}); };
  CHECK(edge_count(of(packed)->graph) == 5000);
  const auto cut = of(packed.substr(0, packed.size() - 9));
  REQUIRE_FALSE(cut);
  CHECK(cut.error().code == ErrorCode::bad_graph);
  CHECK(cut.error().message == "the gzip data end early");
  CHECK(cut.error().fix == "compress or download the file again; `gzip -t` tests it");
  CHECK_FALSE(of(flipped));
  const auto wrong_sum = of(packed.substr(0, packed.size() - 8) + std::string(8, '\1'));
  REQUIRE_FALSE(wrong_sum);
  CHECK(wrong_sum.error().message == "the gzip data are damaged: incorrect data check");
  CHECK_FALSE(of(packed + "garbage"));
}

TEST_CASE("the first fault of a file is reported with its line, on any number of threads") {
  for (const std::size_t block_bytes : {32U, 1000U, 1U << 20U}) {
    for (const unsigned threads : {1U, 2U, 5U}) {
      std::string text;
      for (int i = 1; i <= 3000; ++i) {
        text += i % 1000 == 777 ? "0 flaw" + std::to_string(i) + "\n" : i % 7 == 0 ? "# comment\n" : "1 2\n";
      }
      const TemporaryFolder folder;
      const auto loaded =
          load_graph(folder.write("a", text), {.build = {.threads = threads}, .block_bytes = block_bytes});
      REQUIRE_FALSE(loaded);
      CHECK(loaded.error().line == 777);
      CHECK(loaded.error().column == 3);
      CHECK(loaded.error().message == "expected the target, a whole number, got \"flaw777\"");
    }
  }
}

TEST_CASE("a folder, a missing file, and numbers of any length") {
  const TemporaryFolder folder;
  CHECK(load_graph(folder.path(), {}).error().code == ErrorCode::cannot_read);
  CHECK(load_graph(folder.file("nowhere"), {}).error().code == ErrorCode::cannot_read);
  std::string text = "0 0 0\n";
  std::vector<std::uint32_t> wanted{0};
  for (std::uint64_t number = 1; number <= 0xffffffffU; number *= 7) {
    text += "0 0 " + std::to_string(number) + "\n";
    wanted.push_back(static_cast<std::uint32_t>(number));
  }
  text += "0 0 00000000000000012\n";
  wanted.push_back(12);
  std::ranges::sort(wanted);
  const auto loaded = load_graph(folder.write("numbers", text), {.weights = WeightUse::u32});
  CHECK(integers_of(loaded->graph.out) == wanted);
}
