// Launch geometry: widths, padded slots, dispatch grids and worker groups, saturating at the end of u32.
#include "policy/sizing.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidegate::policy {
namespace {

using namespace test;

TEST_CASE("a worker work-group is as wide as its workers, the adapter permitting") {
  struct Case {
    std::uint32_t workers, limit, width;
  };
  for (const Case& c : {Case{64, 256, 64}, Case{256, 256, 256}, Case{257, 256, 256}, Case{0, 256, 1},
                        Case{64, 0, 1}, Case{0, 0, 1}, Case{u32_max, u32_max, u32_max}}) {
    CAPTURE(c.workers);
    CAPTURE(c.limit);
    CHECK(worker_workgroup_size(c.workers, c.limit) == c.width);
  }
}

TEST_CASE("slots are padded to a multiple of the width and saturate at the end of u32") {
  struct Case {
    std::string_view what;
    std::uint32_t slots, width, padded;
  };
  for (const Case& c :
       {Case{"rounded up", 300, 64, 320}, Case{"already a multiple", 320, 64, 320},
        Case{"no slots count as one", 0, 64, 64}, Case{"no width counts as one", 300, 0, 300},
        Case{"nothing at all", 0, 0, 1}, Case{"width 1 at the end", u32_max, 1, u32_max},
        Case{"the last multiple of 64", u32_max - 63, 64, u32_max - 63},
        Case{"one slot more rounds down", u32_max - 62, 64, u32_max - 63},
        Case{"the last slot rounds down", u32_max, 64, u32_max - 63},
        Case{"3 divides u32 max", u32_max - 1, 3, u32_max}, Case{"the widest group", 1, u32_max, u32_max},
        Case{"the widest group, saturated", u32_max, u32_max, u32_max}}) {
    CAPTURE(c.what);
    CHECK(padded_slot_count(c.slots, c.width) == c.padded);
  }
}

TEST_CASE("a dispatch covers the queue in adapter-wide work-groups, at most one per worker and 1024") {
  struct Case {
    std::string_view what;
    std::uint32_t workers, queue_len, limit;
    std::uint32_t groups;
  };
  for (const Case& c :
       {Case{"rounded up, over the adapter's width", 64, 300, 256, 2},
        Case{"an exact multiple", 64, 512, 256, 2},
        Case{"fewer workers than the adapter is wide", 3, 1, 64, 1},
        Case{"one group per worker", 2, 4096, 64, 2}, Case{"1024 groups", 9999, 999'999, 64, 1024},
        Case{"an empty queue", 64, 0, 64, 1}, Case{"no workers", 0, 4096, 64, 1},
        Case{"no width", 64, 10, 0, 10}, Case{"nothing at all", 0, 0, 0, 1},
        Case{"the longest queue", u32_max, u32_max, 1, 1024}}) {
    CAPTURE(c.what);
    const auto grid = dispatch_grid_for(c.workers, c.queue_len, c.limit);
    CHECK(grid[0] == c.groups);
    CHECK(grid[1] == 1);
    CHECK(grid[2] == 1);
  }
  CHECK(dispatch_grid_for(64, 100, 1, {.max_dispatch_workgroups = 0})[0] == 1); // 0 counts as 1
  CHECK(dispatch_grid_for(u32_max, u32_max, 1, {.max_dispatch_workgroups = u32_max})[0] == u32_max);
}

TEST_CASE("default worker groups: a share of the dimension, more on a powerful adapter") {
  struct Case {
    std::string_view what;
    std::uint32_t dimension, invocations;
    SizingPolicy sizing;
    std::uint32_t groups;
  };
  for (const Case& c :
       {Case{"a 256th", 65'535, 1'024, {}, 255}, Case{"at least 1", 255, 4'095, {}, 1},
        Case{"at least 1 of nothing", 0, 0, {}, 1}, Case{"at most 1024", u32_max, 1'024, {}, 1'024},
        Case{"powerful: at least 64", 255, 4'096, {}, 64},
        Case{"powerful: the share when it is more", 65'535, 4'096, {}, 255},
        Case{"a divisor of 0 counts as 1", 100, 1, {.occupancy_worker_divisor = 0}, 100},
        Case{"a ceiling of 0 counts as 1", 65'535, 1, {.max_dispatch_workgroups = 0}, 1},
        Case{"the powerful minimum may exceed the ceiling",
             65'535,
             1,
             {.max_dispatch_workgroups = 8,
             .powerful_invocation_threshold = 1,
             .powerful_min_worker_groups = 9},
             9}}) {
    CAPTURE(c.what);
    CHECK(default_worker_groups_from_limits(c.dimension, c.invocations, c.sizing) == c.groups);
  }
}

TEST_CASE("the geometry of a 64-bit item count, or queue_too_long with what left u32") {
  struct Case {
    std::string_view what;
    std::uint64_t items;
    std::uint32_t workers, limit;
    std::string_view error;
    LaunchGeometry geometry;
  };
  for (const Case& c :
       {Case{"padded", 300, 64, 256, "none", {64, 320, {5, 1, 1}}},
        Case{"no items still own a group", 0, 64, 256, "none", {64, 64, {1, 1, 1}}},
        Case{"nothing at all", 0, 0, 0, "none", {1, 1, {1, 1, 1}}},
        Case{"the last count", u32_max, 1, 1, "none", {1, u32_max, {1, 1, 1}}},
        Case{"the last multiple", u32_max - 63, 64, 64, "none", {64, u32_max - 63, {64, 1, 1}}},
        Case{"its padding leaves u32", u32_max - 62, 64, 64, "queue_too_long {slot_count}", {}},
        Case{"the count leaves u32", std::uint64_t{u32_max} + 1, 64, 64, "queue_too_long {queue_len}", {}},
        Case{"the largest count", u64_max, u32_max, u32_max, "queue_too_long {queue_len}", {}}}) {
    CAPTURE(c.what);
    const auto geometry = geometry_from_item_count(c.items, c.workers, c.limit);
    REQUIRE(error_of(geometry) == c.error);
    CHECK((geometry.value_or(LaunchGeometry{}) == c.geometry));
  }
}

TEST_CASE("grid: the first adapter limit of 0 is the error") {
  struct Case {
    AdapterLimits limits;
    std::string_view field;
  };
  for (const Case& c : {Case{{0, 0, 0}, "max_workgroup_size_x"}, Case{{0, 1, 1}, "max_workgroup_size_x"},
                        Case{{1, 0, 0}, "max_compute_workgroups_per_dimension"},
                        Case{{1, 0, 1}, "max_compute_workgroups_per_dimension"},
                        Case{{1, 1, 0}, "max_compute_invocations_per_workgroup"}}) {
    CHECK(error_of(grid_for(1, 1, c.limits)) == "zero_adapter_limit {" + std::string(c.field) + "}");
  }
}

TEST_CASE("grid: worker groups, width, slots and dispatch of a queue") {
  struct Case {
    std::string_view what;
    std::uint32_t queue_len, requested;
    AdapterLimits limits;
    Grid grid;
  };
  for (const Case& c : {
           Case{"requested", 300, 64, {256, 65'535, 256}, {{64, 320, {5, 1, 1}}, 64}},
           Case{"an empty queue", 0, 64, {256, 65'535, 256}, {{64, 64, {1, 1, 1}}, 64}},
           Case{"the dimension caps the request", 300, 64, {256, 16, 256}, {{16, 304, {16, 1, 1}}, 16}},
           Case{"derived", 300, 0, {256, 65'535, 1'024}, {{255, 510, {2, 1, 1}}, 255}},
           Case{"derived for a powerful adapter", 300, 0, {256, 255, 4'096}, {{64, 320, {5, 1, 1}}, 64}},
           Case{"the dimension caps what is derived", 300, 0, {256, 8, 4'096}, {{8, 304, {8, 1, 1}}, 8}},
           Case{"invocations do not bound the width", 300, 64, {256, 65'535, 1}, {{64, 320, {5, 1, 1}}, 64}},
           Case{"the grid stops at 1024, the groups do not",
                u32_max,
                5'000,
                {1, 65'535, 1},
                {{1, u32_max, {1'024, 1, 1}}, 5'000}},
           Case{"slots saturate", u32_max, 64, {64, 64, 64}, {{64, u32_max - 63, {64, 1, 1}}, 64}},
       }) {
    CAPTURE(c.what);
    const auto grid = grid_for(c.queue_len, c.requested, c.limits);
    REQUIRE(error_of(grid) == "none");
    CHECK((*grid == c.grid));
  }
}

TEST_CASE("grid: slots hold the queue in whole work-groups, and no work-group is without slots") {
  const std::uint64_t used_seed = seed();
  INFO("TIDEGATE_SEED=", used_seed);
  Random random(used_seed);
  for (int round = 0; round < 5'000; ++round) {
    const std::uint32_t queue_len = random.magnitude(32);
    const std::uint32_t requested = random.magnitude(16);
    const AdapterLimits limits{random.magnitude(10) + 1, random.magnitude(20) + 1, random.magnitude(13) + 1};
    CAPTURE(queue_len);
    CAPTURE(requested);
    CAPTURE(limits.max_workgroup_size_x);
    CAPTURE(limits.max_compute_workgroups_per_dimension);
    const auto grid = grid_for(queue_len, requested, limits);
    REQUIRE(error_of(grid) == "none");
    const auto& [width, slots, dispatch] = grid->geometry;
    const std::uint64_t groups = grid->worker_groups;
    const std::uint64_t padding = u32_max - std::uint64_t{queue_len};

    REQUIRE((groups >= 1 && groups <= limits.max_compute_workgroups_per_dimension));
    REQUIRE(width == std::min<std::uint64_t>(groups, limits.max_workgroup_size_x));
    REQUIRE(slots % width == 0);
    REQUIRE(
        (slots >= queue_len || padding < width)); // only within one width of the end does rounding go down
    REQUIRE(slots < std::uint64_t{std::max(queue_len, 1U)} + width);
    REQUIRE((dispatch[0] >= 1 && dispatch[0] <= std::min<std::uint64_t>(groups, 1'024)));
    REQUIRE(std::uint64_t{dispatch[0]} * width <= slots);
    REQUIRE((dispatch[1] == 1 && dispatch[2] == 1));
  }
}

} // namespace
} // namespace tidegate::policy
