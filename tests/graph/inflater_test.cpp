// Both inflaters, against each other: whatever the sizes of what they are given, and damaged or cut off
// anywhere.
#include <tidegate/graph/text_blocks.hpp>

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace tidegate::graphs;

namespace {

constexpr std::uint32_t seed = 20261123;

// A member of a gzip file, with a name and a comment in its header.
std::string member(const std::string& text, int level, int strategy) {
  std::string packed(text.size() + text.size() / 100 + 4096, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, strategy) == Z_OK);
  std::string name = "edges.txt", comment = "of a graph", extra = "more";
  gz_header header{};
  header.name = reinterpret_cast<Bytef*>(name.data());
  header.comment = reinterpret_cast<Bytef*>(comment.data());
  header.extra = reinterpret_cast<Bytef*>(extra.data());
  header.extra_len = static_cast<uInt>(extra.size());
  header.hcrc = 1;
  REQUIRE(deflateSetHeader(&stream, &header) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string lines(std::mt19937& rng, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += std::to_string(rng() % 1000) + ' ' + std::to_string(rng()) + '\n';
  }
  return text;
}

struct Outcome {
  std::string text;
  std::size_t taken = 0;
  bool ended = false;
};

// The first member of `packed`, in pieces of up to so many bytes, with room for up to so many.
Outcome inflate(Inflater& inflater, const std::string& packed, std::size_t most_in, std::size_t most_out,
                std::mt19937& rng) {
  inflater.start();
  Outcome outcome;
  std::vector<char> room(most_out);
  while (!outcome.ended) {
    const std::size_t size = std::min<std::size_t>(1 + rng() % most_in, packed.size() - outcome.taken);
    const Inflated step = inflater.inflate(std::span(packed).subspan(outcome.taken, size),
                                           std::span(room).first(1 + rng() % most_out));
    if (!step.problem.empty() || (step.taken == 0 && step.given == 0 && !step.ended)) {
      return outcome;
    }
    REQUIRE(step.taken <= size);
    outcome.taken += step.taken;
    outcome.text.append(room.data(), step.given);
    outcome.ended = step.ended;
  }
  return outcome;
}

// zlib's, and ISA-L's where it is installed.
std::vector<std::unique_ptr<Inflater>> inflaters() {
  std::vector<std::unique_ptr<Inflater>> all;
  all.push_back(make_zlib_inflater());
  if (auto isal = make_isal_inflater()) {
    all.push_back(std::move(isal));
  } else {
    MESSAGE("skipped for ISA-L, which is not installed");
  }
  return all;
}

} // namespace

TEST_CASE("members are inflated whole, and no byte behind them is taken") {
  MESSAGE("seed " << seed);
  std::mt19937 rng(seed);
  for (const auto& inflater : inflaters()) {
    for (const int count : {0, 1, 100, 20000}) {
      for (const int level : {0, 1, 6, 9}) {
        for (const int strategy : {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY}) {
          const std::string text = lines(rng, count), packed = member(text, level, strategy);
          for (const std::size_t most : {std::size_t{1}, std::size_t{30}, std::size_t{1} << 17U}) {
            if (count == 20000 && most == 1) {
              continue;
            }
            const Outcome outcome = inflate(*inflater, packed + packed, most, most, rng);
            CHECK(outcome.ended);
            CHECK(outcome.taken == packed.size());
            CHECK((outcome.text == text));
          }
        }
      }
    }
  }
}

TEST_CASE("a member that is cut off does not end") {
  std::mt19937 rng(seed);
  for (const auto& inflater : inflaters()) {
    for (const int level : {0, 6}) {
      const std::string packed = member(lines(rng, 40), level, Z_DEFAULT_STRATEGY);
      for (std::size_t size = 0; size < packed.size(); ++size) {
        CHECK_FALSE(inflate(*inflater, packed.substr(0, size), 64, 64, rng).ended);
      }
    }
  }
}

TEST_CASE("a member with a wrong bit ends with neither, or with the same text") {
  std::mt19937 rng(seed);
  const auto all = inflaters();
  int ended = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = lines(rng, 1 + static_cast<int>(rng() % 60));
    std::string packed = member(text, static_cast<int>(rng() % 10), Z_DEFAULT_STRATEGY);
    const std::size_t at = rng() % packed.size();
    packed[at] = static_cast<char>(packed[at] ^ (1 << rng() % 8));
    std::optional<Outcome> first;
    for (const auto& inflater : all) {
      const Outcome outcome = inflate(*inflater, packed, 1U << 16U, 1U << 16U, rng);
      CAPTURE(i);
      CAPTURE(at);
      CHECK((!outcome.ended || outcome.text == text)); // a bit of the header that says nothing
      if (first) {
        CHECK(outcome.ended == first->ended);
      }
      first = outcome;
      ended += outcome.ended ? 1 : 0;
    }
  }
  CHECK(ended < 400 * static_cast<int>(all.size()));
}
