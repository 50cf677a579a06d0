// Device features that a program needs, and devices that lack them.
#include "../program_support.hpp"
#include "engine/compile.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

Job program_with(ProgramArgument argument) {
  Job program = program_of(1, {4});
  program.buffers[0].image = ImageShape{};
  program.waves = {wave_of(0, {std::move(argument)})};
  return program;
}

std::string refusal(const Job& program, const device::DeviceInfo& device) {
  const auto found = check_device(program, device);
  return found ? "none"
               : fmt::format("{} {}: {}; {}", name(found.error().code), *found.error().pointer,
                             found.error().message, found.error().fix);
}

} // namespace

TEST_CASE("images") {
  const ProgramArgument read{.kind = ProgramArgument::Kind::image, .access = Access::read, .value = {}};
  const ProgramArgument both{.kind = ProgramArgument::Kind::image, .access = Access::read_write, .value = {}};
  device::DeviceInfo device{.name = "Chip", .max_workgroup_size = 64};
  CHECK(
      refusal(program_with(read), device) ==
      "unsupported_kernel /images/b0: \"b0\" is an image, and Chip has none; use buffers, or another device");
  device.images = true;
  CHECK(refusal(program_with(read), device) == "none");
  CHECK(refusal(program_with(both), device) ==
        "unsupported_kernel /waves/0/args/0: wave 0 (op0) takes a read_write image, and Chip has none; read "
        "one "
        "image and "
        "write another, or use another device");
  device.max_read_write_images = 1;
  CHECK(refusal(program_with(both), device) == "none");
}
