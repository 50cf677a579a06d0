// Memory layout: buffers alive at the same time never overlap, checked for every pair and every group.
#include "../program_support.hpp"
#include "engine/device_memory.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

using Groups = std::vector<std::vector<std::uint32_t>>;

bool overlap(const Job& program, const MemoryLayout& layout, std::size_t a, std::size_t b) {
  return layout.offsets[a] < layout.offsets[b] + program.buffers[b].bytes &&
         layout.offsets[b] < layout.offsets[a] + program.buffers[a].bytes;
}

// Runs the program's groups on tags instead of bytes, and finds a group that reads bytes of another buffer:
// the definition, byte by byte, of invalid sharing.
std::string first_clash(const Job& program, const planning::BarrierGroups& groups,
                        const MemoryLayout& layout) {
  constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::vector<std::uint32_t> owner(layout.arena_bytes, nobody);
  std::vector<std::uint64_t> written(program.buffers.size(), 0); // number of leading bytes written
  const auto write = [&](std::uint32_t buffer, std::uint64_t bytes) {
    std::fill_n(owner.begin() + static_cast<std::ptrdiff_t>(layout.offsets[buffer]), bytes, buffer);
    written[buffer] = std::max(written[buffer], bytes);
  };
  const auto intact = [&](std::uint32_t buffer) {
    const auto first = owner.begin() + static_cast<std::ptrdiff_t>(layout.offsets[buffer]);
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(written[buffer]),
                       [buffer](std::uint32_t found) { return found == buffer; });
  };
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    if (!program.buffers[i].transient()) {
      write(i, program.buffers[i].bytes);
    }
  }
  const std::uint32_t iterations = std::min(program.iterations, 3U);
  for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
    for (std::size_t group = 0; group < groups.group_count(); ++group) {
      const Section section = program.waves[groups.group(group).front()].section;
      if ((section == Section::before && iteration != 0) ||
          (section == Section::after && iteration + 1 != iterations)) {
        continue;
      }
      const auto for_each = [&](auto&& act) {
        for (const std::uint32_t wave : groups.group(group)) {
          for (const ProgramArgument& argument : program.waves[wave].arguments) {
            act(argument);
          }
        }
      };
      for_each([&](const ProgramArgument& argument) {
        if (argument.access != Access::read) { // other writes may be partial
          const std::uint64_t bytes = program.buffers[argument.buffer].bytes;
          write(argument.buffer, argument.overwrites ? bytes : (bytes + 1) / 2);
        }
      });
      std::string clash; // tested after all writes of the group: its waves run at the same time
      for_each([&](const ProgramArgument& argument) {
        if (!intact(argument.buffer)) {
          clash = "iteration " + std::to_string(iteration) + " group " + std::to_string(group) + " buffer " +
                  std::to_string(argument.buffer);
        }
      });
      if (!clash.empty()) {
        return clash;
      }
    }
  }
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    if (!program.buffers[i].transient() && !intact(i)) {
      return "kept buffer " + std::to_string(i);
    }
  }
  return {};
}

MemoryLayout plan(const Job& program, const Groups& groups, std::uint64_t alignment = 1,
                  std::uint64_t capacity = 0) {
  auto layout = plan_memory(program, groups_of(groups), alignment, capacity);
  REQUIRE_MESSAGE(layout, layout.error().message);
  CHECK(first_clash(program, groups_of(groups), *layout).empty());
  return *layout;
}

// Three buffers in a chain of waves: 0 to 1, 1 to 2.
Job chain() {
  Job program = program_of(1, {100, 100, 100});
  program.waves = {wave_of(0, {overwrites(0)}), wave_of(0, {reads(0), overwrites(1)}),
                   wave_of(0, {reads(1), overwrites(2)})};
  return program;
}

} // namespace

TEST_CASE("transient buffers live from the first group that touches them to the last") {
  const Job program = chain();
  const MemoryLayout layout = plan(program, {{0}, {1}, {2}});
  CHECK(layout.arena_bytes == 200);
  CHECK(layout.sum_bytes == 300);
  CHECK(layout.lower_bound_bytes == 200);
  CHECK(overlap(program, layout, 0, 2));
  // In one group all buffers are alive.
  CHECK(plan(program, {{0, 1, 2}}).arena_bytes == 300);
}

TEST_CASE("what one section leaves for another lives until then, and no longer") {
  // 0 to 1 before, 1 to 2 and 2 to 3 repeated, 3 to 4 after.
  Job program = program_of(1, {100, 100, 100, 100, 100});
  program.waves = {wave_of(0, {overwrites(0)}), wave_of(0, {reads(0), overwrites(1)}),
                   wave_of(0, {reads(1), overwrites(2)}), wave_of(0, {reads(2), overwrites(3)}),
                   wave_of(0, {reads(3), overwrites(4)})};
  program.waves[0].section = program.waves[1].section = Section::before;
  program.waves[4].section = Section::after;
  program.iterations = 3;
  const MemoryLayout layout = plan(program, {{0}, {1}, {2}, {3}, {4}});
  CHECK(overlap(program, layout, 0, 2) + overlap(program, layout, 0, 3) + overlap(program, layout, 0, 4) > 0);
  // Every iteration reads 1: it stays alive in all of them, together with 2 and 3.
  CHECK_FALSE(overlap(program, layout, 1, 2));
  CHECK_FALSE(overlap(program, layout, 1, 3));
  CHECK(layout.arena_bytes == 300);
  program.iterations = 1;
  CHECK(plan(program, {{0}, {1}, {2}, {3}, {4}}).arena_bytes == 200);
}

TEST_CASE("what somebody gives or keeps lives throughout; in a loop also what is read before it is written") {
  using Arguments = std::vector<ProgramArgument>;
  const auto first = [](Arguments arguments, std::uint32_t iterations) {
    return [arguments = std::move(arguments), iterations](Job& program) {
      program.iterations = iterations;
      program.waves[0].arguments = arguments;
    };
  };
  for (const auto& [change, bytes] : std::vector<std::pair<std::function<void(Job&)>, std::uint64_t>>{
           {[](Job& program) { program.buffers[0].first = [] { return std::vector<std::byte>(); }; }, 300},
           {[](Job& program) { program.buffers[2].output = "c.npy"; }, 300},
           {[](Job& program) {
              program.buffers[0].swapped = program.buffers[2].swapped = true;
              program.swaps = {{0, 2}};
            },
            300},
           {[](Job& program) { program.until = ResolvedUntil{.buffer = 0, .value = {}}; }, 300},
           {first({}, 1), 200},
           {first({overwrites(0)}, 3), 200},
           {first({updates(0)}, 3), 300},
           {first({writes(0)}, 3), 300}, // the rest of it is kept
           {[](Job& program) {           // the second wave reads what the third left in the iteration before
              program.iterations = 3;
              program.waves[2].arguments = {overwrites(2)};
              program.waves[1].arguments = {reads(2), reads(0), overwrites(1)};
            },
            300}}) {
    Job program = chain();
    change(program);
    CHECK(plan(program, {{0}, {1}, {2}}).arena_bytes == bytes);
  }
}

TEST_CASE("an arena that does not fit") {
  Job program = chain();
  program.buffers[1].name = "middle";
  program.buffers[1].bytes = 110;
  CHECK(plan(program, {{0}, {1}, {2}}, 1, 210).arena_bytes == 210);
  for (const bool given : {false, true}) {
    program.budget_bytes = given ? 209 : 0;
    const auto refused = plan_memory(program, groups_of({{0}, {1}, {2}}), 1, 209);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::arena_over_capacity);
    CHECK(refused.error().required_bytes == 210);
    CHECK(refused.error().capacity_bytes == 209);
    CHECK(refused.error().message ==
          fmt::format(
              "the buffers need 210 bytes of device memory, the {} 209 bytes; the largest is \"middle\", "
              "110 bytes",
              given ? "budget leaves" : "device has"));
    CHECK(refused.error().fix.starts_with("raise device_memory_budget_bytes") == given);
  }
}

TEST_CASE("buffers whose sum leaves 64 bits") {
  Job program = program_of(1, {std::uint64_t{1} << 63U, std::uint64_t{1} << 63U});
  program.waves = {wave_of(0, {writes(0), writes(1)})};
  const auto refused = plan_memory(program, groups_of({{0}}), 1, 0);
  REQUIRE_FALSE(refused);
  INFO(refused.error().message);
  CHECK(refused.error().code != ErrorCode::arena_search_exhausted); // nothing needs a search
  CHECK(refused.error().message.find("need 0 bytes") == std::string::npos);
}

TEST_CASE("random programs never read what another buffer has overwritten") {
  Numbers random(seed());
  std::size_t shared = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> sizes;
    for (std::uint32_t count = 1 + random.below(7); count > 0; --count) {
      sizes.push_back(1 + random.below(60));
    }
    Job program = program_of(1, sizes);
    for (ProgramBuffer& buffer : program.buffers) {
      if (random.chance(15)) {
        buffer.first = [] { return std::vector<std::byte>(); };
      }
      if (random.chance(15)) {
        buffer.output = "x";
      }
    }
    for (std::uint32_t count = random.below(12); count > 0; --count) {
      std::vector<ProgramArgument> arguments;
      for (std::uint32_t k = 1 + random.below(3); k > 0; --k) {
        const std::uint32_t buffer = random.below(sizes.size());
        arguments.push_back(random.chance(50)   ? reads(buffer)
                            : random.chance(50) ? overwrites(buffer)
                            : random.chance(50) ? writes(buffer)
                                                : updates(buffer));
      }
      program.waves.push_back(wave_of(0, std::move(arguments)));
      const bool others = program.waves.size() > 1;
      program.waves.back().section = others && random.chance(20)   ? Section::before
                                     : others && random.chance(25) ? Section::after
                                                                   : Section::each;
    }
    program.iterations = 1 + random.below(3);
    program.dependencies = derive_dependencies(program.waves, sizes.size());
    const auto groups = layers_of(program);
    const std::uint64_t alignment = std::uint64_t{1} << random.below(6);
    const auto layout = plan_memory(program, groups, alignment, 0);
    INFO("round ", round);
    REQUIRE(layout);
    CHECK(first_clash(program, groups, *layout).empty());
    CHECK(layout->arena_bytes <= layout->sum_bytes);
    CHECK(layout->arena_bytes >= layout->lower_bound_bytes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      CHECK(layout->offsets[i] % alignment == 0);
      CHECK(layout->offsets[i] + sizes[i] <= layout->arena_bytes);
    }
    shared += layout->arena_bytes < layout->sum_bytes ? 1U : 0U;
  }
  CHECK(shared > 20);
}
