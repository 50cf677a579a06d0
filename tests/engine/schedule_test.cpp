// Stages of a launch, waves that need separate launches, and storage of buffers under swaps.
#include "../program_support.hpp"
#include "engine/schedule.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

OutlinedOps ops_of(const std::vector<bool>& need_whole_group) {
  OutlinedOps ops;
  for (const bool needs : need_whole_group) {
    ops.kernels.push_back({.function = "f", .locals = "", .needs_whole_group = needs});
  }
  ops.alone.resize(need_whole_group.size());
  return ops;
}

Schedule schedule(const Job& program, const OutlinedOps& ops, const planning::BarrierGroups& groups,
                  Strategy strategy = Strategy::barrier, std::uint32_t most = 1024) {
  auto made = make_schedule(program, ops, groups, strategy, {.group_size = most});
  REQUIRE_MESSAGE(made, made.error().message);
  CHECK(schedule_violation(program, *made).empty());
  return *made;
}

// Stages as "0,1:128 2:64!": waves and tiles, with ! for the user's kernels.
std::string stages(const Schedule& schedule) {
  std::string text;
  for (const Stage& stage : schedule.stages) {
    text += text.empty() ? "" : " ";
    for (std::size_t i = 0; i < stage.waves.size(); ++i) {
      text += (i == 0 ? "" : ",") + std::to_string(stage.waves[i]);
    }
    text += ":" + std::to_string(stage.tiles) + (stage.plain ? "!" : "");
  }
  return text;
}

using Texts = std::vector<std::string>;

// "wave: reason".
Texts fallbacks(const Schedule& schedule) {
  Texts texts;
  for (const Fallback& fallback : schedule.fallbacks) {
    texts.push_back(std::to_string(fallback.wave) + ": " + fallback.reason);
  }
  return texts;
}

Job swapping(std::uint32_t buffers, std::vector<std::array<std::uint32_t, 2>> swaps) {
  Job program = program_of(1, std::vector<std::uint64_t>(buffers, 4));
  program.waves = {wave_of(0, {})};
  program.swaps = std::move(swaps);
  return program;
}

} // namespace

TEST_CASE("the group size is that of most work-items, and first of tiles with barriers") {
  Job program = program_of(2, {});
  program.waves = {wave_of(0, {}, range_of(6400, 64)), wave_of(0, {}, range_of(6400, 32))};
  const auto groups = groups_of({{0}, {1}});
  const auto size = [&] { return schedule(program, ops_of({false, false}), groups).group_size; };
  CHECK(size() == 32);                         // as many each: the smaller size
  program.waves[1].range = range_of(6336, 32); // fewer work-items, in more tiles
  CHECK(size() == 64);
  program.waves[0].section = Section::before;
  program.iterations = 3;
  CHECK(size() == 32);
  program.waves[0].section = Section::each;
  program.waves[1] = wave_of(1, {}, range_of(16, 16));
  CHECK(schedule(program, ops_of({false, true}), groups).group_size == 16);
  program.waves[1].range = range_of(17, 16); // ragged waves never share a launch
  CHECK(schedule(program, ops_of({false, true}), groups).group_size == 64);
  CHECK(schedule(program, ops_of({false, true}), groups, Strategy::barrier, 63).group_size == 16);
  CHECK(schedule(program, ops_of({false, true}), groups, Strategy::barrier, 8).group_size == 8);
  program.waves = {wave_of(0, {}, range_of(1024, 512))};
  CHECK(schedule(program, ops_of({false, true}), groups_of({{0}}), Strategy::barrier, 500).group_size == 256);
}

TEST_CASE("waves that cannot share a launch are excluded with the reason") {
  Job program = program_of(3, {});
  program.waves = {wave_of(0, {}, range_of(640, 64)),  wave_of(1, {}, range_of(32, 32)),
                   wave_of(1, {}, range_of(100, 64)),  wave_of(0, {}, range_of(100, 64)),
                   wave_of(1, {}, range_of(1280, 64)), wave_of(0, {}, range_of(7, 7))};
  program.waves.push_back(wave_of(2, {}));
  OutlinedOps ops = ops_of({false, true, true});
  ops.kernels[2].sub_group_functions = {"sub_group_reduce_add"};
  const Schedule made = schedule(program, ops, groups_of({{0, 1, 2, 3, 4, 5, 6}}));
  CHECK(made.group_size == 64);
  CHECK(stages(made) == "0,3,4,5:33 1:1! 2:2! 6:1!");
  CHECK(
      fallbacks(made) ==
      Texts{
          "1: its kernel has barriers or local memory and work-groups of 32, the others of 64",
          "2: its kernel has barriers or local memory and its last work-group is smaller",
          "6: its kernel calls sub_group_reduce_add: a compiler chooses the sub-groups again for every kernel"});
  CHECK_FALSE(made.is_one_launch());
}

// Waves of one op with these arguments, in one group; images are the buffers.
struct ImageCase {
  std::string name;
  std::vector<std::vector<ProgramArgument>> waves;
  std::vector<std::array<std::uint32_t, 2>> swaps = {};
  std::vector<std::string> fallbacks = {}; // "wave: reason"
  std::size_t objects = 0;
  KernelLimits limits = {};
  bool barriers = false;
  Strategy strategy = Strategy::barrier;
};

ProgramArgument image(std::uint32_t index, Access access = Access::read) {
  return {.kind = ProgramArgument::Kind::image, .buffer = index, .access = access, .value = {}};
}
ProgramArgument sampler(FilterMode filter) {
  return {.kind = ProgramArgument::Kind::sampler, .value = {}, .sampler = {.filter = filter}};
}

TEST_CASE("images that no wave writes, and samplers, are parameters of the shared kernel") {
  const auto nearest = sampler(FilterMode::nearest);
  const auto linear = sampler(FilterMode::linear);
  const auto written = [](const std::string& wave, const std::string& name) {
    return wave + ": it uses the image \"" + name +
           "\", which waves write: that reaches other work-groups when a launch ends";
  };
  const std::string several = "1: its kernel has barriers or local memory and is called with several images "
                              "or samplers, which compilers for CPUs do not keep apart";
  for (const ImageCase& expected : std::vector<ImageCase>{
           {.name = "each object is one parameter",
            .waves = {{image(0), nearest}, {image(0), linear}, {image(1)}, {}, {image(1), nearest}},
            .objects = 4},
           {.name = "a wave that writes an image, and those that read it",
           .waves = {{image(0), image(1, Access::write)}, {image(1)}, {image(2)}, {image(2), image(0)}},
           .fallbacks = {written("0", "b1"), written("1", "b1")},
           .objects = 2},
           {.name = "images that change places", .waves = {{image(0)}}, .swaps = {{0, 1}}, .objects = 2},
           {.name = "images that change places with one that is written",
           .waves = {{image(0)}, {image(1, Access::read_write)}, {image(2)}},
           .swaps = {{0, 1}},
           .fallbacks = {written("0", "b0"), written("1", "b1")},
           .objects = 1},
           {.name = "few images",
           .waves = {{image(0)}, {image(1)}, {image(0)}},
           .fallbacks = {"1: with it the waves that share a kernel would have 2 images and 0 samplers; the "
                         "device takes 1 and 9"},
           .objects = 1,
           .limits = {.read_images = 1, .samplers = 9}},
           {.name = "few samplers",
           .waves = {{nearest}, {linear, image(0)}},
           .fallbacks = {"1: with it the waves that share a kernel would have 1 image and 2 samplers; the "
                         "device takes 9 and 1"},
           .objects = 1,
           .limits = {.read_images = 9, .samplers = 1}},
           {.name = "plain launches",
           .waves = {{image(0)}, {image(1)}},
           .limits = {.read_images = 0},
           .strategy = Strategy::plain},
           {.name = "one call of a kernel with barriers",
           .waves = {{image(0)}, {image(1)}, {image(0)}},
           .fallbacks = {several},
           .objects = 1,
           .limits = {.one_call_with_barriers = true},
           .barriers = true},
           {.name = "several calls of a kernel with barriers",
           .waves = {{image(0)}, {image(1)}},
           .objects = 2,
           .barriers = true}}) {
    INFO(expected.name);
    Job program = program_of(1, {4, 4, 4});
    for (ProgramBuffer& buffer : program.buffers) {
      buffer.image = ImageShape{};
    }
    program.swaps = expected.swaps;
    for (const auto& [first, second] : expected.swaps) {
      program.buffers[first].swapped = program.buffers[second].swapped = true;
    }
    std::vector<std::uint32_t> group;
    for (const auto& arguments : expected.waves) {
      group.push_back(static_cast<std::uint32_t>(program.waves.size()));
      program.waves.push_back(wave_of(0, arguments));
    }
    const auto made = make_schedule(program, ops_of({expected.barriers}), groups_of({group}),
                                    expected.strategy, expected.limits);
    REQUIRE(made);
    CHECK(fallbacks(*made) == expected.fallbacks);
    CHECK(made->objects.size() == expected.objects);
    for (const Stage& stage : made->stages) {
      for (std::size_t i = 0; i < stage.waves.size() && !stage.plain; ++i) {
        for (const ProgramArgument& argument : program.waves[stage.waves[i]].arguments) {
          for (std::uint32_t phase = 0; phase < made->phases(); ++phase) {
            CHECK(made->object_index(argument, phase) < expected.objects);
          }
        }
      }
    }
  }
}

TEST_CASE("waves with other compiler options are excluded") {
  Job program = program_of(2, {});
  program.units.push_back(program.units[0]);
  program.units[1].parsed_options.others = {"-cl-fast-relaxed-math"};
  program.ops[1].unit = 1;
  program.waves = {wave_of(0, {}, range_of(64, 64)), wave_of(1, {}, range_of(128, 64))};
  const Schedule made = schedule(program, ops_of({false, false}), groups_of({{0, 1}}));
  CHECK(made.main_options == 1); // the options with most tiles
  CHECK(stages(made) == "1:2 0:1!");
  CHECK(fallbacks(made) == Texts{"0: its compiler options differ from those of the other ops"});
  program.units[0].parsed_options.others = program.units[1].parsed_options.others;
  const Schedule same = schedule(program, ops_of({false, false}), groups_of({{0, 1}}));
  CHECK(same.main_options == 0);
  CHECK(stages(same) == "0,1:3");
}

TEST_CASE("a stage counts its tiles in 31 bits") {
  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  Job program = program_of(1, {});
  program.waves = {wave_of(0, {}, range_of(most, 1)), wave_of(0, {}, range_of(1, 1)),
                   wave_of(0, {}, range_of(most - 1, 1)), wave_of(0, {}, range_of(1, 1))};
  const Schedule made = schedule(program, ops_of({false}), groups_of({{0, 1, 2, 3}}));
  CHECK(stages(made) == "0:2147483647 1,2:2147483647 3:1");
}

TEST_CASE("storage is that of contents that are swapped one after the other") {
  Numbers random(seed());
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t buffers = 2 + random.below(7);
    std::vector<std::array<std::uint32_t, 2>> swaps;
    for (std::uint32_t count = random.below(6); count > 0; --count) {
      const std::uint32_t a = random.below(buffers);
      swaps.push_back({a, (a + 1 + random.below(buffers - 1)) % buffers});
    }
    const Job program = swapping(buffers, swaps);
    const Schedule made = schedule(program, ops_of({false}), groups_of({{0}}));
    std::vector<std::uint32_t> memory_of(buffers);
    std::iota(memory_of.begin(), memory_of.end(), 0U);
    const auto first = memory_of;
    for (std::uint32_t iteration = 0; iteration < 3 * made.phases(); ++iteration) {
      INFO("round ", round, " iteration ", iteration);
      CHECK(made.storage[iteration % made.phases()] == memory_of);
      CHECK((memory_of == first) == (iteration % made.phases() == 0));
      for (const auto& [a, b] : swaps) {
        std::swap(memory_of[a], memory_of[b]);
      }
    }
  }
}

TEST_CASE("swaps that take long to come round are refused") {
  const auto cycles = [](const std::vector<std::uint32_t>& lengths) {
    std::vector<std::array<std::uint32_t, 2>> swaps;
    std::uint32_t first = 0;
    for (const std::uint32_t length : lengths) {
      for (std::uint32_t i = 1; i < length; ++i) {
        swaps.push_back({first + i - 1, first + i});
      }
      first += length;
    }
    return swapping(first, swaps);
  };
  CHECK(schedule(cycles({64}), ops_of({false}), groups_of({{0}})).phases() == 64);
  CHECK(schedule(cycles({3, 4, 5}), ops_of({false}), groups_of({{0}})).phases() == 60);
  for (const auto& program : {cycles({65}), cycles({5, 7, 2})}) {
    const auto refused =
        make_schedule(program, ops_of({false}), groups_of({{0}}), Strategy::barrier, {.group_size = 64});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_program);
    CHECK(refused.error().pointer == "/swap");
  }
}

TEST_CASE("a wrong schedule is named") {
  struct Fault {
    std::function<void(Schedule&)> corrupt;
    std::string_view named;
  };
  Job program = program_of(1, {4, 4});
  program.waves = {wave_of(0, {}, range_of(128, 64)), wave_of(0, {}), wave_of(0, {})};
  program.waves[1].name = "second";
  program.dependencies = {{.before = 0, .after = 2}, {.before = 1, .after = 2}};
  for (const Fault& fault : std::initializer_list<Fault>{
           {[](Schedule&) {}, ""},
           {[](Schedule& made) { made.stages[1] = {}; }, "stage 1 counts 0 tiles, its waves have 0"},
           {[](Schedule& made) { made.stages.pop_back(); }, "wave 2 (op0) is in no stage"},
           {[](Schedule& made) { made.stages[0] = {.waves = {0}, .tiles = 2}; }, "\"second\" is in no stage"},
           {[](Schedule& made) {
              made.stages[1].waves = {2, 1};
            },
            "stage 1 runs wave 1 a second time"},
           {[](Schedule& made) { made.stages[1].waves = {3}; }, "stage 1 runs wave 3 a second time"},
           {[](Schedule& made) { std::swap(made.stages[0], made.stages[1]); },
            "wave 2 (op0) waits for wave 0 (op0), which no earlier stage runs"},
           {[](Schedule& made) {
              made.stages = {{.waves = {0}, .tiles = 2}, {.waves = {1, 2}, .tiles = 2}};
            },
            "wave 2 (op0) waits for \"second\", which no earlier stage runs"},
           {[](Schedule& made) { ++made.stages[0].tiles; }, "stage 0 counts 4 tiles, its waves have 3"},
       }) {
    Schedule made = schedule(program, ops_of({false}), groups_of({{0, 1}, {2}}));
    fault.corrupt(made);
    CHECK(schedule_violation(program, made) == fault.named);
  }
}

TEST_CASE("a range of the stages repeats") {
  Job program = program_of(1, {});
  program.waves = std::vector<ProgramWave>(4, wave_of(0, {}));
  program.waves[1].section = Section::before;
  program.waves[2].section = Section::after;
  program.iterations = 10;
  Schedule made = schedule(program, ops_of({false}), groups_of({{1}, {0, 3}, {2}}));
  CHECK(stages(made) == "1:1 0,3:2 2:1");
  CHECK(made.repeat_begin == 1);
  CHECK(made.repeat_end == 2);
  const auto runs = [&made](const Position& at) {
    return std::array{made.runs_of(0, at), made.runs_of(1, at), made.runs_of(2, at)};
  };
  using Runs = std::array<std::uint64_t, 3>;
  CHECK(runs({}) == Runs{0, 0, 0});
  CHECK(runs({.stage = 1}) == Runs{1, 0, 0});
  CHECK(runs({.iteration = 4, .stage = 1}) == Runs{1, 4, 0});
  CHECK(runs({.iteration = 10, .stage = 2}) == Runs{1, 10, 0}); // the last iteration is done
  CHECK(runs({.iteration = 10, .stage = 3}) == Runs{1, 10, 1});
  made.repeat_end = 3;
  CHECK(schedule_violation(program, made) == "stage 2 runs wave 2 (op0) in the phase \"each\"");
  made.repeat_end = 2;
  made.repeat_begin = 0;
  CHECK(schedule_violation(program, made) == "stage 0 runs wave 1 (op0) in the phase \"each\"");
  made.repeat_begin = 1;
  std::swap(made.stages[0], made.stages[1]);
  CHECK(schedule_violation(program, made) == "stage 0 runs wave 0 (op0) in the phase \"before\"");
  const Schedule no_more = schedule(program, ops_of({false}), groups_of({{1}, {3}, {0}, {2}}));
  CHECK(no_more.repeat_begin == 1);
  CHECK(no_more.repeat_end == 3);
}
