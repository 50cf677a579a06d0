// Rows with hubs in front, put in order by this machine's CPU, against rows sorted here.
#include "engine/device_memory.hpp"
#include "engine/traversal/resident.hpp"
#include <tidegate/device/device_list.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <span>

namespace tidegate::traversal {
namespace {

constexpr std::size_t front = 4;

// Rows of random lengths, a few of them longer than the kernel looks at, with hubs among the neighbours.
struct RandomRows {
  std::vector<std::uint32_t> offsets{0};
  std::vector<std::uint32_t> neighbours;

  explicit RandomRows(std::mt19937& random) {
    const auto below = [&random](std::uint32_t bound) {
      return static_cast<std::uint32_t>(random() % bound);
    };
    const std::uint32_t vertices = 1 + below(3000);
    for (std::uint32_t v = 0; v < vertices; ++v) {
      const std::uint32_t degree = below(200) == 0 ? below(3000) : below(12);
      for (std::uint32_t i = 0; i < degree; ++i) {
        neighbours.push_back(below(vertices));
      }
      offsets.push_back(static_cast<std::uint32_t>(neighbours.size()));
    }
  }

  [[nodiscard]] std::uint32_t vertices() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
  [[nodiscard]] std::uint32_t degree(std::uint32_t v) const { return offsets[v + 1] - offsets[v]; }
  [[nodiscard]] std::span<const std::uint32_t> row(std::uint32_t v) const {
    return std::span(neighbours).subspan(offsets[v], degree(v));
  }
  [[nodiscard]] std::vector<std::uint32_t> degrees(std::span<const std::uint32_t> row) const {
    std::vector<std::uint32_t> of(row.size());
    std::ranges::transform(row, of.begin(), [this](std::uint32_t u) { return degree(u); });
    return of;
  }
};

} // namespace

TEST_CASE("the greatest neighbours come first, and all stay") {
  const auto list = device::list_devices();
  REQUIRE(list);
  const auto device = device::select_device(*list, "cpu");
  REQUIRE(device);
  const auto opened = device::open_session(**device);
  REQUIRE(opened);
  const device::Session& session = **opened;
  constexpr unsigned seed = 11;
  INFO("seed ", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const RandomRows before(random);
    RandomRows after = before;
    ResidentGraph resident{.parts = {}, .setting = {}, .vertices = before.vertices()};
    const auto put = [&](Part part, const std::vector<std::uint32_t>& values) {
      device::Buffer memory = engine::allocate(session, values.size() * sizeof(std::uint32_t) + 8);
      engine::upload(session, memory, 0, std::as_bytes(std::span(values)));
      resident.parts[static_cast<std::size_t>(part)] = std::move(memory);
    };
    put(Part::in_offsets, before.offsets);
    put(Part::in_neighbours, before.neighbours);
    auto kernel = build_hubs_first(session, **device, {.vertices = before.vertices()}, {});
    put_hubs_first(session, kernel, resident);
    engine::download(session, resident.part(Part::in_neighbours), 0,
                     std::as_writable_bytes(std::span(after.neighbours)));
    for (std::uint32_t v = 0; v < before.vertices(); ++v) {
      CAPTURE(v);
      std::vector<std::uint32_t> wanted(before.row(v).begin(), before.row(v).end());
      std::vector<std::uint32_t> got(after.row(v).begin(), after.row(v).end());
      constexpr std::size_t looked_at = 1024;
      auto greatest = before.degrees(std::span(wanted).first(std::min(wanted.size(), looked_at)));
      std::ranges::sort(greatest, std::greater<>());
      greatest.resize(std::min(greatest.size(), front));
      CHECK(before.degrees(std::span(got).first(greatest.size())) == greatest);
      std::ranges::sort(wanted);
      std::ranges::sort(got);
      CHECK(got == wanted);
    }
  }
}

TEST_CASE("hubs come first where it pays") {
  const FrontierGeometry gpu{.hubs_first = true};
  const TraversalShape wide{.vertices = 100, .edges = 800, .algorithm = graphs::Algorithm::bfs};
  CHECK(hubs_come_first(wide, {}, gpu));
  CHECK_FALSE(hubs_come_first(wide, {}, {}));
  CHECK_FALSE(hubs_come_first(wide, {.constrained = true}, gpu)); // nobody pulls
  CHECK_FALSE(hubs_come_first({.vertices = 100, .edges = 799}, {}, gpu));
  TraversalShape distances = wide;
  distances.algorithm = graphs::Algorithm::sssp; // whose weights would have to go with the neighbours
  CHECK_FALSE(hubs_come_first(distances, {}, gpu));
}

} // namespace tidegate::traversal
