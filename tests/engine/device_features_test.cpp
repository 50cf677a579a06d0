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
  const std::set<std::string> sum{"sub_group_reduce_add"};
  const std::set<std::string> both{"sub_group_reduce_add", "sub_group_shuffle_xor"};
  struct Row {
    std::set<std::string> calls;
    std::string extensions;
    std::uint32_t sub_groups; // of OpenCL 3.0
    std::string lacks;
  };
  for (const Row& row :
       {Row{sum, "cl_khr_fp64", 0, "sub_group_reduce_add, and Chip lacks cl_khr_subgroups"},
        Row{sum, "cl_khr_fp64", 8, ""},
        Row{{"get_sub_group_lt_mask"}, "", 8, "get_sub_group_lt_mask, and Chip lacks cl_khr_subgroup_ballot"},
        Row{{"intel_sub_group_shuffle"},
            "cl_khr_subgroup_shuffle",
            8,
            "intel_sub_group_shuffle, and Chip lacks cl_intel_subgroups"},
        Row{both, "cl_khr_fp64", 8, "sub_group_shuffle_xor, and Chip lacks cl_khr_subgroup_shuffle"},
        Row{both, "cl_khr_subgroup_shuffle cl_khr_subgroups", 0, ""}}) {
    const device::DeviceInfo device{
        .name = "Chip", .images = true, .max_sub_groups = row.sub_groups, .extensions = row.extensions};
    CHECK(
        refusal(program_with(value({1})), calling(row.calls), &device) ==
        (row.lacks.empty()
             ? "none"
             : fmt::format("unsupported_kernel /ops/op0: the kernel \"total\" calls {}; use local memory and "
                           "barriers of the work-group, or another device",
                           row.lacks)));
  }
}
