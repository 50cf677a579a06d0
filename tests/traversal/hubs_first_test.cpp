// Changes of rows: with hubs in front, put in order by this machine's CPU, against rows sorted here; and seats.
#include "runtime/memory.hpp"
#include "support.hpp"
#include "traversal/resident.hpp"

namespace tidegate::traversal {
namespace {

constexpr std::size_t front = 4;

// Rows of random lengths, a few of them longer than the kernel looks at, with hubs among the neighbours.
graphs::Rows random_rows(std::mt19937& random) {
  const auto below = [&random](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  graphs::Rows rows;
  const std::uint32_t vertices = 1 + below(3000);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    for (std::uint32_t left = below(200) == 0 ? below(3000) : below(12); left != 0; --left) {
      rows.neighbours.push_back(below(vertices));
    }
    rows.offsets.push_back(rows.neighbours.size());
  }
  return rows;
}

} // namespace

TEST_CASE("the greatest neighbours come first, and all stay") {
  const device::DeviceInfo device = test::cpu();
  const auto opened = device::open_session(device);
  REQUIRE(opened);
  const device::Session& session = **opened;
  constexpr unsigned seed = 11;
  INFO("seed ", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const graphs::Rows before = random_rows(random);
    graphs::Rows after = before;
    const auto degrees = [&before](std::span<const graphs::Vertex> row) {
      std::vector<std::uint64_t> of(row.size());
      std::ranges::transform(row, of.begin(), [&before](graphs::Vertex u) { return before.degree(u); });
      return of;
    };
    ResidentGraph resident{.setting = {.vertices = before.vertices()}};
    const auto put = [&](Part part, const std::vector<std::uint32_t>& values) {
      device::Buffer memory = runtime::allocate(session, values.size() * sizeof(std::uint32_t) + 8);
      runtime::upload(session, memory, 0, std::as_bytes(std::span(values)));
      resident.part(part) = std::move(memory);
    };
    put(Part::in_offsets, {before.offsets.begin(), before.offsets.end()});
    put(Part::in_neighbours, before.neighbours);
    const AskedTraversal asked{.kept = std::make_shared<KeptGraph>()};
    change_rows(session,
                {.asked = asked,
                 .program = asked.program,
                 .device = &device,
                 .shape = {.vertices = 1, .edges = 8},
                 .geometry = {.gpu = true}},
                resident, {});
    runtime::download(session, resident.part(Part::in_neighbours), 0,
                      std::as_writable_bytes(std::span(after.neighbours)));
    for (std::uint32_t v = 0; v < before.vertices(); ++v) {
      CAPTURE(v);
      std::vector<std::uint32_t> wanted(before.row(v).begin(), before.row(v).end());
      std::vector<std::uint32_t> got(after.row(v).begin(), after.row(v).end());
      constexpr std::size_t looked_at = 1024;
      auto greatest = degrees(std::span(wanted).first(std::min(wanted.size(), looked_at)));
      std::ranges::sort(greatest, std::greater<>());
      greatest.resize(std::min(greatest.size(), front));
      CHECK(degrees(std::span(got).first(greatest.size())) == greatest);
      std::ranges::sort(wanted);
      std::ranges::sort(got);
      CHECK(got == wanted);
    }
  }
}

TEST_CASE("hubs come first where it pays") {
  const FrontierGeometry gpu{.gpu = true};
  const TraversalShape wide{.vertices = 100, .edges = 800, .algorithm = graphs::Algorithm::bfs};
  CHECK(hubs_come_first(wide, {}, gpu));
  CHECK_FALSE(hubs_come_first(wide, {}, {}));
  CHECK_FALSE(hubs_come_first(wide, {.constrained = true}, gpu)); // nobody pulls
  CHECK_FALSE(hubs_come_first({.vertices = 100, .edges = 799}, {}, gpu));
  TraversalShape distances = wide;
  distances.algorithm = graphs::Algorithm::sssp; // whose weights would have to go with the neighbours
  CHECK_FALSE(hubs_come_first(distances, {}, gpu));
}

TEST_CASE("seats are in order of the degrees' powers of two, and of numbers") {
  constexpr unsigned seed = 12;
  INFO("seed ", seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const graphs::Rows rows = random_rows(random);
    std::vector<std::uint32_t> by_seat(rows.vertices());
    std::iota(by_seat.begin(), by_seat.end(), 0U);
    std::ranges::stable_sort(by_seat, [&rows](std::uint32_t a, std::uint32_t b) {
      return std::bit_width(rows.degree(a)) > std::bit_width(rows.degree(b));
    });
    const auto seats = seats_of(rows);
    REQUIRE(seats.size() == rows.vertices());
    for (std::uint32_t seat = 0; seat < rows.vertices(); ++seat) {
      CHECK(seats[by_seat[seat]] == seat);
    }
  }
}

TEST_CASE("ranks take seats where hubs have most of the edges") {
  constexpr std::uint32_t vertices = 100;
  const auto takes_seats = [](std::uint32_t of_hub, std::uint32_t of_others, graphs::Algorithm algorithm) {
    graphs::Graph graph;
    graph.out.offsets = {0};
    for (std::uint32_t v = 0; v < vertices; ++v) {
      graph.out.offsets.push_back(graph.out.offsets.back() + (v == 0 ? of_hub : of_others));
    }
    graph.out.neighbours.resize(graph.out.offsets.back());
    graph.symmetric = true;
    graphs::FrontierProgram program;
    program.algorithm = algorithm;
    return shape_of(program, graph).has_seats;
  };
  CHECK(takes_seats(99, 8, graphs::Algorithm::pagerank));
  CHECK_FALSE(takes_seats(99, 8, graphs::Algorithm::reach));
  CHECK_FALSE(takes_seats(60, 8, graphs::Algorithm::pagerank));
  CHECK_FALSE(takes_seats(99, 2, graphs::Algorithm::pagerank));
}

} // namespace tidegate::traversal
