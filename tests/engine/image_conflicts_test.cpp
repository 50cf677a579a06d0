// Waves that may access images in a shared launch, and the image parameters of the generated kernel.
#include "../program_support.hpp"
#include "engine/kernel_objects.hpp"
#include "engine/schedule.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
std::vector<std::string> reasons(const Schedule& schedule) {
  std::vector<std::string> found;
  for (const Fallback& fallback : schedule.fallbacks) {
    found.push_back(std::to_string(fallback.wave) + ": " + fallback.reason);
  }
  return found;
}

using Reasons = std::vector<std::string>;
constexpr std::string_view until_the_end =
    ": what is written to an image reaches other work-groups when the launch ends";

std::string because(std::string_view text) {
  return std::string(text) + std::string(until_the_end);
}

} // namespace

TEST_CASE("images that are only read are read in any launch") {
  const Job program = images(1, {{in(0)}, {in(0)}, {in(0)}});
  CHECK(reasons(schedule(program, {{0, 1}, {2}})).empty());
}

TEST_CASE("what a wave of the launch writes, no other wave of it touches") {
  // A separate launch divides the others: later waves may read what earlier ones wrote.
  const Job chain = images(4, {{in(0), out(1)}, {in(1), out(2)}, {in(2), out(3)}, {in(3), out(0)}});
  CHECK(reasons(schedule(chain, {{0}, {1}, {2}, {3}})) ==
        Reasons{because("1: it reads the image \"b1\", which wave 0 (op0) writes in the same launch"),
                because("3: it reads the image \"b3\", which wave 2 (op0) writes in the same launch")});
  // With one launch per stage nothing conflicts.
  CHECK(reasons(schedule(chain, {{0}, {1}, {2}, {3}}, Strategy::launch)).empty());
  const Job later = images(2, {{in(0)}, {out(0)}});
  CHECK(reasons(schedule(later, {{0}, {1}})) ==
        Reasons{because("1: it writes the image \"b0\", which wave 0 (op0) reads in the same launch")});
  const Job twice = images(2, {{out(0)}, {out(0)}});
  CHECK(reasons(schedule(twice, {{0, 1}}, Strategy::launch)) ==
        Reasons{because("1: it writes the image \"b0\", which wave 0 (op0) writes in the same launch")});
  const Job itself = images(2, {{in(0), out(1)}, {image(0, Access::read)}});
  CHECK(reasons(schedule(itself, {{0}, {1}})).empty());
}

TEST_CASE("a launch of all iterations writes no images") {
  Job program = images(2, {{in(0), out(1)}, {in(0)}});
  CHECK(reasons(schedule(program, {{0}, {1}})).empty());
  program.iterations = 2;
  CHECK(reasons(schedule(program, {{0}, {1}})) ==
        Reasons{because("0: it writes the image \"b1\" in every iteration")});
  CHECK(reasons(schedule(program, {{0}, {1}}, Strategy::launch)).empty());
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

TEST_CASE("compilers for CPUs keep one call of a function with barriers apart") {
  const Job program = images(3, {{in(0)}, {in(1)}, {in(0)}});
  const KernelLimits limits{.group_size = 64, .one_call_with_barriers = true};
  CHECK(reasons(schedule(program, {{0, 1, 2}}, Strategy::barrier, limits)).empty());
  CHECK(reasons(schedule(program, {{0, 1, 2}}, Strategy::barrier, limits, true)) ==
        Reasons{
            "1: its kernel has barriers or local memory and is called with several images or samplers, which "
            "compilers for CPUs do not keep apart"});
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
          "0: its kernel calls sub_group_reduce_add: a compiler chooses the sub-groups anew for every kernel",
          "1: its kernel calls sub_group_reduce_add: a compiler chooses the sub-groups anew for every "
          "kernel"});
}

TEST_CASE("each image and sampler is a parameter of the kernel") {
  Job program = images(
      3, {{in(0), out(1), sampler(FilterMode::nearest)}, {in(0), out(2), sampler(FilterMode::nearest)}});
  program.buffers[2].image = ImageShape{.kind = ImageKind::image3d};
  const Schedule made = schedule(program, {{0, 1}});
  const auto objects = kernel_objects(program, made);
  CHECK(object_parameters(program, objects) ==
        ", read_only image2d_t tg_object0, write_only image2d_t tg_object1, sampler_t tg_object2, write_only "
        "image3d_t tg_object3");
  CHECK(object_arguments(objects) == ", tg_object0, tg_object1, tg_object2, tg_object3");
  CHECK(object_parameters(program, {}).empty());
}
