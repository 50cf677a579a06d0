// Where launches end for images, and the image parameters of the generated kernel.
#include "../program_support.hpp"
#include "engine/schedule.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

ProgramArgument image(std::uint32_t index, Access access) {
  return {.kind = ProgramArgument::Kind::image, .buffer = index, .access = access, .value = {}};
}
ProgramArgument in(std::uint32_t index) {
  return image(index, Access::read);
}
ProgramArgument out(std::uint32_t index) {
  return image(index, Access::write);
}
ProgramArgument sampler(FilterMode filter) {
  return {.kind = ProgramArgument::Kind::sampler, .value = {}, .sampler = {.filter = filter}};
}

Job images(std::size_t count, std::vector<std::vector<ProgramArgument>> waves) {
  Job program = program_of(1, std::vector<std::uint64_t>(count, 4));
  for (ProgramBuffer& buffer : program.buffers) {
    buffer.image = ImageShape{};
  }
  for (auto& arguments : waves) {
    program.waves.push_back(wave_of(0, std::move(arguments)));
  }
  return program;
}

OutlinedOps one_op(bool needs_whole_group = false) {
  return {.kernels = {{.function = "f", .locals = "", .needs_whole_group = needs_whole_group}},
          .alone = {""}};
}

Schedule schedule(const Job& program, const std::vector<std::vector<std::uint32_t>>& groups,
                  Strategy strategy = Strategy::barrier, const KernelLimits& limits = {},
                  bool needs_whole_group = false) {
  auto made = make_schedule(program, one_op(needs_whole_group), groups_of(groups), strategy, limits);
  REQUIRE(made);
  CHECK(schedule_violation(program, *made).empty());
  return *made;
}

// "1: reason".
std::vector<std::string> reasons(const std::vector<Fallback>& waves) {
  std::vector<std::string> found;
  for (const Fallback& wave : waves) {
    found.push_back(std::to_string(wave.wave) + ": " + wave.reason);
  }
  return found;
}
std::vector<std::string> reasons(const Schedule& schedule) {
  return reasons(schedule.fallbacks);
}

// The waves of persistent launches, as "0 1 | 2": the text of one stage after the other.
std::string launches(const Schedule& schedule) {
  std::string text;
  for (const Stage& stage : schedule.stages) {
    text += text.empty() ? "" : stage.new_launch ? " | " : " ";
    for (const std::uint32_t wave : stage.waves) {
      text += std::to_string(wave);
    }
  }
  return text;
}

using Reasons = std::vector<std::string>;
constexpr std::string_view until_the_end =
    ": what is written to an image reaches other work-groups when the launch ends";

std::string because(std::string_view text) {
  return std::string(text) + std::string(until_the_end);
}

} // namespace

TEST_CASE("a launch of all iterations writes no images") {
  Job program = images(2, {{in(0), out(1)}, {in(0)}});
  CHECK(schedule(program, {{0}, {1}}).is_one_launch());
  program.iterations = 2;
  const Schedule made = schedule(program, {{0}, {1}});
  CHECK_FALSE(made.repeats_in_one_launch());
  CHECK(reasons(made.new_launches) == Reasons{because("0: the image \"b1\" is written in every iteration")});
  CHECK_FALSE(schedule(program, {{0}, {1}}, Strategy::launch).launch_per_iteration);
}

TEST_CASE("iterations share a launch after one that writes images") {
  Job program = images(2, {{out(0)}, {in(0)}, {in(0)}, {out(0)}});
  program.iterations = 9;
  program.waves[0].section = Section::before;
  program.waves[3].section = Section::after;
  const Schedule made = schedule(program, {{0}, {1}, {2}, {3}});
  CHECK(launches(made) == "0 | 1 2 | 3");
  CHECK(made.repeats_in_one_launch());
  CHECK_FALSE(made.is_one_launch());
  CHECK(reasons(made.new_launches)[0] == because("1: the image \"b0\" is written before it"));
}

TEST_CASE("random programs: in no launch a wave uses what another one writes") {
  const std::uint64_t start = seed();
  MESSAGE("TIDEGATE_SEED=" << start);
  Numbers random(start);
  for (int round = 0; round < 500; ++round) {
    INFO("TIDEGATE_SEED=", start, " round ", round);
    std::vector<std::vector<ProgramArgument>> waves(1 + random.below(8));
    std::vector<std::vector<std::uint32_t>> groups;
    for (std::uint32_t wave = 0; wave < waves.size(); ++wave) {
      waves[wave] = {random.chance(40) ? out(random.below(3)) : in(random.below(3))};
      if (groups.empty() || random.chance(60)) {
        groups.emplace_back();
      }
      groups.back().push_back(wave);
    }
    Job program = images(3, waves);
    program.iterations = 1 + random.below(3);
    const std::size_t begin = random.below(static_cast<std::uint32_t>(groups.size()));
    const std::size_t end = begin + 1 + random.below(static_cast<std::uint32_t>(groups.size() - begin));
    for (std::size_t group = 0; group < groups.size(); ++group) {
      for (const std::uint32_t wave : groups[group]) {
        program.waves[wave].section = group < begin ? Section::before
                                      : group < end ? Section::each
                                                    : Section::after;
      }
    }
    const Schedule made = schedule(program, groups);
    // The stages in the order in which they run.
    std::vector<std::pair<std::size_t, std::uint32_t>> run; // with the iteration
    for (std::size_t stage = 0; stage < made.repeat_begin; ++stage) {
      run.emplace_back(stage, 0);
    }
    for (std::uint32_t iteration = 0; iteration < program.iterations; ++iteration) {
      for (std::size_t stage = made.repeat_begin; stage < made.repeat_end; ++stage) {
        run.emplace_back(stage, iteration);
      }
    }
    for (std::size_t stage = made.repeat_end; stage < made.stages.size(); ++stage) {
      run.emplace_back(stage, program.iterations - 1);
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> in_launch; // waves, with the iteration
    std::uint32_t last = 0;
    for (const auto& [stage, iteration] : run) {
      const bool repeats_again = iteration != last && made.repeats(stage);
      if (made.stages[stage].new_launch ? !repeats_again || !made.repeats_in_one_launch()
                                        : repeats_again && !made.repeats_in_one_launch()) {
        in_launch.clear();
      }
      last = iteration;
      for (const std::uint32_t wave : made.stages[stage].waves) {
        for (const auto& [other, when] : in_launch) {
          const ProgramArgument& a = program.waves[other].arguments[0];
          const ProgramArgument& b = program.waves[wave].arguments[0];
          CHECK_FALSE(((other != wave || when != iteration) && a.buffer == b.buffer &&
                       (a.access == Access::write || b.access == Access::write)));
        }
      }
      for (const std::uint32_t wave : made.stages[stage].waves) {
        in_launch.emplace_back(wave, iteration);
        for (const std::uint32_t other : made.stages[stage].waves) {
          const ProgramArgument& a = program.waves[other].arguments[0];
          const ProgramArgument& b = program.waves[wave].arguments[0];
          CHECK_FALSE((other != wave && a.buffer == b.buffer &&
                       (a.access == Access::write || b.access == Access::write)));
        }
      }
    }
  }
}

TEST_CASE("limits on images and samplers of a kernel") {
  const Job program =
      images(3, {{in(0), sampler(FilterMode::nearest)}, {in(1), sampler(FilterMode::linear)}, {in(0)}});
  KernelLimits limits{.objects = {.read_images = 1}};
  CHECK(reasons(schedule(program, {{0, 1, 2}}, Strategy::barrier, limits)) ==
        Reasons{"1: with it the waves that share a kernel would have 2 images to read; the device takes 1"});
  limits.objects = {.samplers = 1};
  CHECK(reasons(schedule(program, {{0, 1, 2}}, Strategy::barrier, limits)) ==
        Reasons{"1: with it the waves that share a kernel would have 2 samplers; the device takes 1"});
  CHECK(reasons(schedule(program, {{0}, {1}, {2}}, Strategy::launch, limits)).empty()); // separate kernels
}

TEST_CASE("kernels with sub-groups run as they are") {
  const Job program = images(1, {{}, {}});
  OutlinedOps ops = one_op(true);
  ops.kernels[0].sub_group_functions = {"sub_group_reduce_add"};
  const auto made = make_schedule(program, ops, groups_of({{0, 1}}), Strategy::barrier, {.group_size = 64});
  REQUIRE(made);
  CHECK(
      reasons(*made) ==
      Reasons{
          "0: its kernel calls sub_group_reduce_add: a compiler chooses the sub-groups again for every kernel",
          "1: its kernel calls sub_group_reduce_add: a compiler chooses the sub-groups again for every "
          "kernel"});
}
