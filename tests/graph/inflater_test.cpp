// gzip files: several members, damaged or cut off anywhere.
#include "graph/entries.hpp"
#include "graph_support.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace tidegate::graphs;
using tidegate::test::gzip_member;
using tidegate::test::TemporaryFolder;

namespace {

constexpr std::uint32_t seed = 20261123;

std::string lines(std::mt19937& rng, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += std::to_string(rng() % 1000) + ' ' + std::to_string(rng()) + '\n';
  }
  return text;
}

// Returns the text of a file, or nothing if it is refused.
std::optional<std::string> text_of(const std::string& path, std::size_t block_bytes) {
  auto blocks = TextBlocks::open(path, block_bytes);
  REQUIRE(blocks);
  std::string text;
  TextBlock block;
  while (true) {
    const auto more = blocks->next(block);
    if (!more) {
      return std::nullopt;
    }
    if (!*more) {
      return text;
    }
    text += block.text();
  }
}

} // namespace

TEST_CASE("members are inflated one after the other, with zeros after them or not") {
  MESSAGE("seed " << seed);
  std::mt19937 rng(seed);
  const TemporaryFolder folder;
  for (const int count : {0, 1, 100, 5000}) {
    for (const int level : {0, 1, 6, 9}) {
      for (const int strategy : {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY}) {
        const std::string text = lines(rng, count), more = lines(rng, count);
        const std::string zeros(rng() % 3, '\0');
        const std::string path = folder.write("a.gz", gzip_member(text, level, strategy) +
                                                          gzip_member(more, level, strategy) + zeros);
        CHECK((text_of(path, 64 + rng() % 4096) == text + more));
      }
    }
  }
}

TEST_CASE("a member that is cut off is refused") {
  std::mt19937 rng(seed);
  const TemporaryFolder folder;
  for (const int level : {0, 6}) {
    const std::string packed = gzip_member(lines(rng, 40), level, Z_DEFAULT_STRATEGY);
    for (std::size_t size = 2; size < packed.size(); ++size) { // with one byte it is not recognised as gzip
      CHECK_FALSE(text_of(folder.write("a.gz", packed.substr(0, size)), 64));
    }
  }
}

TEST_CASE("a member with a wrong bit is refused, or gives the same text") {
  std::mt19937 rng(seed);
  const TemporaryFolder folder;
  int read = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string text = lines(rng, 1 + static_cast<int>(rng() % 60));
    std::string packed = gzip_member(text, static_cast<int>(rng() % 10), Z_DEFAULT_STRATEGY);
    const std::size_t at = 2 + rng() % (packed.size() - 2);
    packed[at] = static_cast<char>(packed[at] ^ (1 << rng() % 8));
    CAPTURE(i);
    CAPTURE(at);
    const auto found = text_of(folder.write("a.gz", packed + packed), 1U << 16U);
    CHECK((!found || *found == text + text)); // some header bits have no effect
    read += found ? 1 : 0;
  }
  CHECK(read < 50);
}
