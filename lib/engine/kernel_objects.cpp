#include "engine/kernel_objects.hpp"

#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tidegate::engine {
namespace {

std::string_view qualifier(Access access) {
  switch (access) {
  case Access::read: return "read_only";
  case Access::write: return "write_only";
  case Access::read_write: break;
  }
  return "read_write";
}

constexpr std::string_view arrival =
    "what is written to an image reaches other work-groups when the launch ends";

} // namespace

KernelObject kernel_object(const ProgramArgument& argument, const std::vector<std::uint32_t>& storage) {
  if (argument.kind == ProgramArgument::Kind::sampler) {
    return {.is_sampler = true, .sampler = argument.sampler};
  }
  return {.image = storage[argument.buffer], .access = argument.access};
}

// Adds the objects of a wave that are not there yet.
static void add_objects(const ProgramWave& wave, const std::vector<std::uint32_t>& storage,
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

std::vector<KernelObject> kernel_objects(const Job& program, const Schedule& schedule) {
  std::vector<KernelObject> objects;
  for (const auto& storage : schedule.storage) {
    for (const Stage& stage : schedule.stages) {
      for (const std::uint32_t wave : stage.plain ? std::vector<std::uint32_t>() : stage.waves) {
        add_objects(program.waves[wave], storage, objects);
      }
    }
  }
  return objects;
}

std::string object_name(std::uint64_t index) {
  return fmt::format("tg_object{}", index);
}

std::string object_parameters(const Job& program, const std::vector<KernelObject>& objects) {
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

ImageConflicts::ImageConflicts(const Job& program, const std::vector<std::vector<std::uint32_t>>& storage,
                               const ObjectLimits& limits)
    : program_(program), storage_(storage), limits_(limits) {}

std::string ImageConflicts::ends_before(std::uint32_t wave) const {
  for (const ProgramArgument& argument : program_.waves[wave].arguments) {
    const bool writes = argument.access != Access::read;
    const auto found =
        argument.kind == ProgramArgument::Kind::image ? touched_.find(argument.buffer) : touched_.end();
    if (found != touched_.end() && found->second.wave != wave && (writes || found->second.written)) {
      return fmt::format("it {} the image {}, which {} {}: {}", writes ? "writes" : "reads",
                         in_quotes(program_.buffers[argument.buffer].name),
                         program_.wave_text(found->second.wave), found->second.written ? "writes" : "reads",
                         arrival);
    }
  }
  return {};
}

std::string ImageConflicts::ends(std::string_view when) const {
  const auto found = std::ranges::find_if(touched_, [](const auto& image) { return image.second.written; });
  return found == touched_.end() ? std::string()
                                 : fmt::format("the image {} is written {}: {}",
                                               in_quotes(program_.buffers[found->first].name), when, arrival);
}

std::vector<KernelObject> ImageConflicts::with(std::uint32_t wave) const {
  std::vector<KernelObject> objects = objects_;
  for (const auto& storage : storage_) {
    add_objects(program_.waves[wave], storage, objects);
  }
  return objects;
}

std::string ImageConflicts::obstacle(std::uint32_t wave) const {
  const std::vector<KernelObject> objects = with(wave);
  const auto count = [&objects](auto matches) {
    return static_cast<std::uint32_t>(std::ranges::count_if(objects, matches));
  };
  struct Row {
    std::uint32_t used = 0;
    std::uint32_t limit = 0;
    std::string_view what;
  };
  const std::array<Row, 4> rows{
      {{count([](const KernelObject& o) { return !o.is_sampler && o.access == Access::read; }),
        limits_.read_images, "images to read"},
       {count([](const KernelObject& o) { return !o.is_sampler && o.access == Access::write; }),
        limits_.write_images, "images to write"},
       {count([](const KernelObject& o) { return !o.is_sampler && o.access == Access::read_write; }),
        limits_.read_write_images, "images to read and write"},
       {count([](const KernelObject& o) { return o.is_sampler; }), limits_.samplers, "samplers"}}};
  const auto over = std::ranges::find_if(rows, [](const Row& row) { return row.used > row.limit; });
  return over == rows.end()
             ? std::string()
             : fmt::format("with it the waves that share a kernel would have {} {}; the device takes {}",
                           over->used, over->what, over->limit);
}

void ImageConflicts::add(std::uint32_t wave) {
  objects_ = with(wave);
  for (const ProgramArgument& argument : program_.waves[wave].arguments) {
    if (argument.kind == ProgramArgument::Kind::image) {
      const bool writes = argument.access != Access::read;
      Touched& touched = touched_.try_emplace(argument.buffer, Touched{.wave = wave}).first->second;
      if (writes && !touched.written) {
        touched = {.wave = wave, .written = true};
      }
    }
  }
}

void ImageConflicts::next_launch() {
  touched_.clear();
}

} // namespace tidegate::engine
