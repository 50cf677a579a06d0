// What is decided before a traversal: device memory, how work is shared out, the step of sssp's bound; and changes of rows, with
// hubs in front, put in order by this machine's CPU, against rows sorted here, and seats.
#include "support.hpp"
#include "traversal/resident.hpp"

namespace tidegate::traversal {
namespace {

using policy::Topology;

FrontierGeometry geometry_for(const device::DeviceInfo& device, std::optional<std::uint32_t> group_size,
                              std::optional<std::uint32_t> alone_vertices) {
  RunOptions options;
  options.group_size = group_size;
  options.alone_vertices = alone_vertices;
  return geometry_of({.algorithm = graphs::Algorithm::bfs}, device, options);
}

const TraversalShape bfs{.vertices = 1000, .edges = 6400, .parents = true};
constexpr std::uint64_t plenty = std::uint64_t{1} << 40U;

FrontierMemory planned(const TraversalShape& shape, std::uint64_t budget,
                       std::optional<Topology> forced = {}) {
  auto memory = plan_memory(shape, {}, budget, plenty, forced);
  REQUIRE(memory);
  return *memory;
}

// Every vertex has `degree` edges of the same weight.
graphs::Rows regular(std::uint32_t vertices, std::uint32_t degree,
                     graphs::WeightType type = graphs::WeightType::none, std::uint32_t weight = 0) {
  const std::size_t edges = std::size_t{vertices} * degree;
  graphs::Rows rows{.offsets = {}, .neighbours = std::vector<graphs::Vertex>(edges), .weight_type = type};
  rows.weights.assign(type == graphs::WeightType::none ? 0 : edges, weight);
  for (std::uint32_t v = 0; v <= vertices; ++v) {
    rows.offsets.push_back(std::uint64_t{v} * degree);
  }
  return rows;
}

std::uint32_t width_of_integers(std::uint32_t degree, std::uint32_t weight) {
  return near_width_bits(regular(10, degree, graphs::WeightType::u32, weight), true);
}

float width_of_floats(std::uint32_t degree, float weight) {
  return std::bit_cast<float>(near_width_bits(
      regular(10, degree, graphs::WeightType::f32, std::bit_cast<std::uint32_t>(weight)), false));
}

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

TEST_CASE(
    "a frontier is worked alone up to what was asked for, else the profile's size, else the usual one") {
  device::DeviceInfo gpu{.type = device::DeviceType::gpu, .max_workgroup_size = 1024, .profile = {}};
  device::DeviceInfo cpu{.type = device::DeviceType::cpu, .max_workgroup_size = 4096, .profile = {}};
  CHECK(geometry_for(gpu, {}, {}).alone_vertices == 256);
  CHECK(geometry_for(cpu, {}, {}).alone_vertices == 2048);
  gpu.profile = device::DeviceProfile{.ordering = {}, .trials = {}, .traversal = {}};
  CHECK(geometry_for(gpu, {}, {}).alone_vertices == 256);
  gpu.profile->traversal =
      device::TraversalProfile{.strategy = {}, .workers = {}, .alone_up_to = 300, .switch_rule = {}};
  CHECK(geometry_for(gpu, {}, {}).alone_vertices == 300);
  CHECK(geometry_for(gpu, {}, 7).alone_vertices == 7);
  gpu.profile->traversal->alone_up_to = 1'000'000; // more than local memory has room for
  CHECK(geometry_for(gpu, {}, {}).alone_vertices == 1024);
}

TEST_CASE("a group on a CPU is one work-item") {
  const device::DeviceInfo cpu{.type = device::DeviceType::cpu, .max_workgroup_size = 4096, .profile = {}};
  CHECK(geometry_for(cpu, {}, {}).group_size == 1);
  CHECK(geometry_for(cpu, 12, {}).group_size == 8); // a power of two
}

TEST_CASE("the parts of a breadth-first search") {
  const FrontierMemory memory = planned(bfs, 0);
  CHECK(memory.budget_bytes == plenty);
  CHECK_FALSE(memory.constrained);
  CHECK(part_bytes(memory, Memory::graph) == 1001 * 4 + 6400 * 4);
  CHECK(part_bytes(memory, Memory::transpose) == part_bytes(memory, Memory::graph));
  CHECK(memory.queue_room == 1100);
  CHECK(part_bytes(memory, Memory::far_queues) == 0);
  std::uint64_t sum = 0;
  for (const MemoryPart& part : memory.parts) {
    sum += part.bytes;
  }
  CHECK(sum == memory.bytes);
  CHECK(memory.bytes == memory.full_bytes);
}

TEST_CASE("more than 2^32 edges take places of 64 bits, weights a word for each edge") {
  TraversalShape large{.vertices = 4, .edges = std::uint64_t{1} << 32U, .symmetric = true};
  CHECK(part_bytes(planned(large, 0), Memory::graph) == 5 * 8 + (std::uint64_t{1} << 34U));
  large.edges -= 1;
  CHECK(part_bytes(planned(large, 0), Memory::graph) == 5 * 4 + 4 * large.edges);
  large.weights = true;
  CHECK(part_bytes(planned(large, 0), Memory::graph) == 5 * 4 + 8 * large.edges);
  CHECK(part_bytes(planned(large, 0), Memory::transpose) == 0); // symmetric
}

TEST_CASE("memory_constrained needs neither queues nor the transpose") {
  const FrontierMemory memory = planned(bfs, 0, Topology::memory_constrained);
  CHECK(memory.constrained);
  CHECK(memory.bytes == memory.constrained_bytes);
  for (const Memory part : {Memory::transpose, Memory::stamps, Memory::queues}) {
    CHECK(part_bytes(memory, part) == 0);
  }
  CHECK(memory.full_bytes - memory.constrained_bytes == (1001 + 6400) * 4 + 4000 + 2 * 1100 * 16);
}

TEST_CASE("the layout follows from the pressure on the budget") {
  const std::uint64_t full = planned(bfs, 0).full_bytes;
  CHECK_FALSE(planned(bfs, full * 10'000 / 8490).constrained);
  const FrontierMemory short_of = planned(bfs, full * 10'000 / 8510);
  CHECK(short_of.constrained);
  CHECK(short_of.pressure_bps >= 8500);
  CHECK_FALSE(planned(bfs, full, Topology::dense_frontier).constrained); // as it was told to
}

TEST_CASE("a budget that no layout fits is refused with the bytes of each part") {
  const auto refused = plan_memory(bfs, {}, 1000, plenty, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::device_out_of_memory);
  CHECK(refused.error().available == 1000);
  CHECK(refused.error().pointer == "/device_memory_budget_bytes");
  CHECK(refused.error().message.find(
            "the budget is 1000 bytes: graph 28.9 KiB, values 3.9 KiB, parents 3.9 KiB, "
            "bitmaps 384 bytes, state and log 1.2 MiB") != std::string::npos);
  CHECK(refused.error().fix ==
        "give device_memory_budget_bytes more, or a smaller graph: this is the smallest layout");
  const auto forced =
      plan_memory(bfs, {}, planned(bfs, 0).constrained_bytes, plenty, Topology::sparse_frontier);
  REQUIRE_FALSE(forced);
  CHECK(forced.error().fix == "give device_memory_budget_bytes more; memory_constrained takes 1.2 MiB");
}

TEST_CASE("kernels take sssp's step as whole as the weights are, and never as nothing") {
  CHECK(width_of_integers(64, 1) == 1);
  CHECK(width_of_integers(4, 0) == 1);
  CHECK(width_of_integers(1, std::numeric_limits<std::uint32_t>::max()) == 4000000000U);
  CHECK(width_of_floats(4, 0.5F) == 4.0F);
  CHECK(width_of_floats(4, 0) > 0);
  CHECK(near_width_bits(regular(1, 0), true) >= 1);
}

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
      device::Buffer memory = session.allocate(values.size() * sizeof(std::uint32_t) + 8);
      session.write(memory, 0, std::as_bytes(std::span(values)));
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
    session.read(resident.part(Part::in_neighbours), 0, std::as_writable_bytes(std::span(after.neighbours)));
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

TEST_CASE("rules of speed change their mind at the sizes that were measured") {
  using graphs::Algorithm;
  constexpr std::uint32_t vertices = 100;
  const auto shape = [](std::uint32_t of_hub, std::uint32_t of_others, Algorithm algorithm) {
    graphs::Graph graph;
    graph.out.offsets = {0};
    for (std::uint32_t v = 0; v < vertices; ++v) {
      graph.out.offsets.push_back(graph.out.offsets.back() + (v == 0 ? of_hub : of_others));
    }
    graph.out.neighbours.resize(graph.out.offsets.back());
    graph.symmetric = true;
    return shape_of({.algorithm = algorithm}, graph);
  };
  // Ranks take seats if rows have 8 edges on average, and a hub more than 8 times as many as the average and one.
  CHECK(shape(73, 8, Algorithm::pagerank).has_seats);
  CHECK_FALSE(shape(72, 8, Algorithm::pagerank).has_seats);
  CHECK(shape(107, 7, Algorithm::pagerank).has_seats);
  CHECK_FALSE(shape(106, 7, Algorithm::pagerank).has_seats);
  CHECK_FALSE(shape(99, 8, Algorithm::reach).has_seats);
  // A work-item adds up a row as long as a warp.
  CHECK(shape(32, 8, Algorithm::pagerank).short_rows);
  CHECK_FALSE(shape(33, 8, Algorithm::pagerank).short_rows);
  CHECK_FALSE(shape(32, 8, Algorithm::bfs).short_rows);
  // Shares of pagerank leave room in the local memory for what large graphs pass on.
  CHECK(share_size({.vertices = 1U << 21U, .algorithm = Algorithm::pagerank}) == 6144);
  CHECK(share_size({.vertices = (1U << 21U) + 1, .algorithm = Algorithm::pagerank}) == 4096);
  // On a GPU sssp's step shrinks with the square of the degree, between bounds, of which large graphs have a lower one.
  for (const auto& [degree, width] : {std::pair(1U, 192.0F), {4, 192.0F}, {8, 48.0F}, {16, 24.0F}}) {
    const graphs::Rows each =
        regular(10, degree, graphs::WeightType::f32, std::bit_cast<std::uint32_t>(1.0F));
    CHECK(std::bit_cast<float>(near_width_bits(each, true)) == width / static_cast<float>(degree));
  }
  graphs::Rows rows{.offsets = std::vector<std::uint64_t>(1U << 23U), .neighbours = {}}; // one vertex less
  CHECK(near_width_bits(rows, true) == 192);
  rows.offsets.push_back(0);
  CHECK(near_width_bits(rows, true) == 96);
}

} // namespace tidegate::traversal
