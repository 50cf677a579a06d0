#include <tidegate/compiler/kernel_objects.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tidegate::compiler {
namespace {

std::string_view qualifier(Access access) {
  switch (access) {
  case Access::read: return "read_only";
  case Access::write: return "write_only";
  case Access::read_write: break;
  }
  return "read_write";
}

} // namespace

KernelObject kernel_object(const ProgramArgument& argument, const std::vector<std::uint32_t>& places) {
  if (argument.kind == ProgramArgument::Kind::sampler) {
    return {.is_sampler = true, .sampler = argument.sampler};
  }
  return {.image = places[argument.buffer], .access = argument.access};
}

std::vector<KernelObject> kernel_objects(const ResolvedProgram& program, const Schedule& schedule) {
  std::vector<KernelObject> objects;
  for (const auto& places : schedule.places) {
    for (const Stage& stage : schedule.stages) {
      for (const std::uint32_t wave : stage.plain ? std::vector<std::uint32_t>() : stage.waves) {
        for (const ProgramArgument& argument : program.waves[wave].arguments) {
          if (argument.is_object()) {
            const KernelObject object = kernel_object(argument, places);
            if (std::ranges::find(objects, object) == objects.end()) {
              objects.push_back(object);
            }
          }
        }
      }
    }
  }
  return objects;
}

std::string object_name(std::uint64_t index) {
  return fmt::format("tg_object{}", index);
}

std::string object_parameters(const ResolvedProgram& program, const std::vector<KernelObject>& objects) {
  std::string text;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const KernelObject& object = objects[i];
    text += object.is_sampler ? fmt::format(", sampler_t {}", object_name(i))
                              : fmt::format(", {} {} {}", qualifier(object.access),
                                            type_name(*program.buffers[object.image].image), object_name(i));
  }
  return text;
}

std::string object_arguments(const std::vector<KernelObject>& objects) {
  std::string text;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    text += ", " + object_name(i);
  }
  return text;
}

} // namespace tidegate::compiler
