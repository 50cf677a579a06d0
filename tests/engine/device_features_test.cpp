// Device features that a program needs, and devices that lack them.
#include "../program_support.hpp"
#include "engine/compile.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

Job program_with(ProgramArgument argument) {
  Job program = program_of(1, {4});
  program.units[0].unit.functions.push_back({.name = "total"});
  program.buffers[0].image = ImageShape{};
  program.waves = {wave_of(0, {std::move(argument)})};
  return program;
}

OutlinedOps calling(std::set<std::string> functions) {
  OutlinedOps ops{.texts = {}, .kernels = {{.function = "f"}}};
  ops.kernels[0].sub_group_functions = std::move(functions);
  return ops;
}

std::string refusal(const Job& program, const OutlinedOps& ops, const device::DeviceInfo* device) {
  const auto found = check_features(program, ops, device);
  return found ? "none"
               : fmt::format("{} {}: {}; {}", name(found.error().code), *found.error().pointer,
                             found.error().message, found.error().fix);
}

} // namespace

TEST_CASE("images") {
  const ProgramArgument read{.kind = ProgramArgument::Kind::image, .access = Access::read, .value = {}};
  const ProgramArgument both{.kind = ProgramArgument::Kind::image, .access = Access::read_write, .value = {}};
  device::DeviceInfo device{.name = "Chip"};
  CHECK(refusal(program_with(read), calling({}), nullptr) == "none");
  CHECK(
      refusal(program_with(read), calling({}), &device) ==
      "unsupported_kernel /images/b0: \"b0\" is an image, and Chip has none; use buffers, or another device");
  device.images = true;
  CHECK(refusal(program_with(read), calling({}), &device) == "none");
  CHECK(refusal(program_with(both), calling({}), &device) ==
        "unsupported_kernel /waves/0/args/0: wave 0 (op0) takes a read_write image, and Chip has none; read "
        "one "
        "image and "
        "write another, or use another device");
  device.max_read_write_images = 1;
  CHECK(refusal(program_with(both), calling({}), &device) == "none");
}

TEST_CASE("sub-groups") {
  const Job program = program_with(value({1}));
  device::DeviceInfo device{.name = "Chip", .images = true, .extensions = "cl_khr_fp64"};
  CHECK(refusal(program, calling({"sub_group_reduce_add"}), &device) ==
        "unsupported_kernel /ops/op0: the kernel \"total\" calls sub_group_reduce_add, and Chip lacks "
        "cl_khr_subgroups; use local memory and barriers of the work-group, or another device");
  device.max_sub_groups = 8; // an OpenCL 3.0 feature
  CHECK(refusal(program, calling({"sub_group_reduce_add"}), &device) == "none");
  CHECK(refusal(program, calling({"sub_group_reduce_add", "sub_group_shuffle_xor"}), &device) ==
        "unsupported_kernel /ops/op0: the kernel \"total\" calls sub_group_shuffle_xor, and Chip lacks "
        "cl_khr_subgroup_shuffle; use local memory and barriers of the work-group, or another device");
  device.extensions = "cl_khr_subgroup_shuffle cl_khr_subgroups";
  device.max_sub_groups = 0;
  CHECK(refusal(program, calling({"sub_group_reduce_add", "sub_group_shuffle_xor"}), &device) == "none");
}

TEST_CASE("extensions of sub-group functions") {
  for (const auto& [name, extension] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"get_sub_group_size", "cl_khr_subgroups"},
           {"sub_group_barrier", "cl_khr_subgroups"},
           {"sub_group_shuffle", "cl_khr_subgroup_shuffle"},
           {"sub_group_shuffle_down", "cl_khr_subgroup_shuffle_relative"},
           {"sub_group_ballot_bit_count", "cl_khr_subgroup_ballot"},
           {"get_sub_group_lt_mask", "cl_khr_subgroup_ballot"},
           {"sub_group_non_uniform_reduce_add", "cl_khr_subgroup_non_uniform_arithmetic"},
           {"sub_group_elect", "cl_khr_subgroup_non_uniform_vote"},
           {"sub_group_clustered_reduce_max", "cl_khr_subgroup_clustered_reduce"},
           {"intel_sub_group_shuffle", "cl_intel_subgroups"}}) {
    const auto& function = name;
    INFO(function);
    CHECK(sub_group_extension(function) == extension);
  }
}
