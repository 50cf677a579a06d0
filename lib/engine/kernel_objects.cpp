#include "engine/kernel_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tidegate::engine {

KernelObject kernel_object(const ProgramArgument& argument, const std::vector<std::uint32_t>& storage) {
  if (argument.kind == ProgramArgument::Kind::sampler) {
    return {.is_sampler = true, .sampler = argument.sampler};
  }
  return {.image = storage[argument.buffer], .access = argument.access};
}

void add_objects(const ProgramWave& wave, const std::vector<std::uint32_t>& storage,
                 std::vector<KernelObject>& objects) {
  for (const ProgramArgument& argument : wave.arguments) {
    if (argument.is_object()) {
      const KernelObject object = kernel_object(argument, storage);
      if (std::ranges::find(objects, object) == objects.end()) {
        objects.push_back(object);
      }
    }
  }
}

std::string object_name(std::uint64_t index) {
  return fmt::format("tg_object{}", index);
}

std::string object_parameters(const Job& program, const std::vector<KernelObject>& objects) {
  constexpr std::array<std::string_view, 3> qualifiers{"read_only", "write_only", "read_write"};
  std::string text;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const KernelObject& object = objects[i];
    text += object.is_sampler ? fmt::format(", sampler_t {}", object_name(i))
                              : fmt::format(", {} {} {}", qualifiers[static_cast<std::size_t>(object.access)],
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

} // namespace tidegate::engine
