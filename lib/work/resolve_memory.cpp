// Checks sizes, contents and files of each buffer and image, then swaps and `until`.
#include "work/buffers.hpp"
#include "work/image_files.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tidegate::engine {
namespace {

Result<void> check_init(const BufferInit& init, const std::string& pointer) {
  const int said = int{init.fill.has_value()} + int{init.iota.has_value()} + int{init.random.has_value()} +
                   int{init.file.has_value()};
  if (said != 1) {
    return tl::unexpected(invalid_program(
        fmt::format("init needs exactly one of fill, iota, random and file, this one has {}", said),
        "give one of them, or leave init out", pointer + "/init"));
  }
  return {};
}

// Checks contents that follow a rule; check_data_files() checks files.
Result<void> check_contents(const BufferSpec& spec, bool sound_count, const std::string& pointer) {
  if (!spec.init) {
    return {};
  }
  TIDEGATE_CHECK(check_init(*spec.init, pointer));
  auto checked = sound_count ? check_rule(spec) : Result<void>();
  if (!checked) {
    checked.error().pointer = pointer + "/init";
  }
  return checked;
}

Result<ProgramBuffer> resolve_image(const std::string& name, const ImageSpec& spec,
                                    const std::string& pointer) {
  TIDEGATE_TRY(const ImageShape shape, shape_of(spec, pointer));
  ProgramBuffer image{.name = name,
                      .spec = {.type = element_type(spec.format),
                               .count = elements_per_texel(spec.format),
                               .init = spec.init,
                               .output = spec.output},
                      .image = shape};
  bool overflow = false;
  for (const std::uint64_t size : {shape.width, shape.height, shape.depth, shape.layers}) {
    overflow |= __builtin_mul_overflow(image.spec.count, size, &image.spec.count);
  }
  overflow |= __builtin_mul_overflow(image.spec.count, element_bytes(image.spec.type), &image.bytes);
  if (overflow) {
    return tl::unexpected(Error{.code = ErrorCode::out_of_range,
                                .message = fmt::format("the image {} has too many texels", in_quotes(name)),
                                .fix = "give a size that the memory holds",
                                .pointer = pointer + "/size"});
  }
  ErrorList errors;
  errors.check(check_contents(image.spec, true, pointer));
  errors.check(check_image_files(image, pointer));
  TIDEGATE_CHECK(errors.result());
  return image;
}

Result<void> check_image_swap(const ProgramBuffer& first, const ProgramBuffer& second,
                              const std::string& pointer) {
  if (first.image == second.image) {
    return {};
  }
  const auto text = [](const ProgramBuffer& buffer) {
    return buffer.image ? describe(*buffer.image) : "a buffer";
  };
  return tl::unexpected(invalid_program(fmt::format("{} is {}, {} is {}", in_quotes(first.name), text(first),
                                                    in_quotes(second.name), text(second)),
                                        "swap two images of the same format and size", pointer));
}

Error other_memory(const std::string& name, std::string_view what, std::string fix, std::string pointer) {
  return invalid_program(fmt::format("{} is {}", in_quotes(name), what), std::move(fix), std::move(pointer));
}

Result<void> files_in_scope(const ResolveInput& input, const BufferSpec& spec, const std::string& pointer) {
  ErrorList errors;
  const auto check = [&](const std::optional<std::string>& file, const std::string& at) {
    auto allowed =
        file ? check_scope(path_in(input.folder, *file), input.folder, input.scope) : Result<void>();
    if (!allowed) {
      allowed.error().pointer = at;
    }
    errors.check(allowed);
  };
  check(spec.init ? spec.init->file : std::nullopt, pointer + "/init/file");
  check(spec.output, pointer + "/output");
  return errors.result();
}

Result<ProgramBuffer> resolve_buffer(const ResolveInput& input, const std::string& name,
                                     const BufferSpec& spec, const std::string& pointer) {
  ErrorList errors;
  ProgramBuffer buffer{.name = name, .spec = spec};
  if (spec.count == 0 || __builtin_mul_overflow(spec.count, element_bytes(spec.type), &buffer.bytes)) {
    errors.add({.code = ErrorCode::out_of_range,
                .message = fmt::format("the buffer {} has {} elements", in_quotes(name),
                                       spec.count == 0 ? "no" : "too many"),
                .fix = "give a count from 1 on that the memory holds",
                .pointer = pointer + "/count"});
  }
  errors.check(input.wholly_read(pointer));
  errors.check(check_contents(spec, errors.result().has_value(), pointer));
  // File contents are compared only with a valid buffer, and files outside the scope stay untouched.
  const FileCheck files = errors.result() ? input.files : std::min(input.files, FileCheck::reachable);
  if (errors.check(files_in_scope(input, spec, pointer))) {
    errors.check(check_data_files(buffer, input.folder, pointer, files));
  }
  TIDEGATE_CHECK(errors.result());
  return buffer;
}

Result<ProgramBuffer> resolve_named_image(const ResolveInput& input, const NameIndex& buffers,
                                          const std::string& name, const ImageSpec& spec,
                                          const std::string& pointer) {
  if (buffers.contains(name)) {
    return tl::unexpected(
        Error{.code = ErrorCode::duplicate_name,
              .message = fmt::format("a buffer and an image are both called {}", in_quotes(name)),
              .fix = "rename one of them",
              .pointer = pointer});
  }
  TIDEGATE_CHECK(input.wholly_read(pointer));
  TIDEGATE_TRY(ProgramBuffer image, resolve_image(name, spec, pointer));
  TIDEGATE_CHECK(files_in_scope(input, image.spec, pointer));
  TIDEGATE_CHECK(check_data_files(image, input.folder, pointer, input.files));
  return image;
}

void add_memory(const std::string& name, Result<ProgramBuffer> made, std::vector<ProgramBuffer>& memory,
                NameIndex& index, ErrorList& errors) {
  const bool sound = errors.check(made);
  index[name] = sound ? static_cast<std::uint32_t>(memory.size()) : unsound;
  if (sound) {
    memory.push_back(std::move(*made));
  }
}

// Finds a name in `swap`: a buffer or an image.
Result<std::uint32_t> find_swapped(const ResolveInput& input, const ProgramMemory& memory,
                                   const std::string& name, const std::string& pointer) {
  return memory.image_index.contains(name) ? find_image(input, memory, name, pointer)
                                           : find_buffer(input, memory, name, pointer, "");
}

Result<std::array<std::uint32_t, 2>> resolve_swap(const ResolveInput& input, const ProgramMemory& memory,
                                                  const std::array<std::string, 2>& names,
                                                  const std::string& pointer) {
  ErrorList errors;
  const auto a = find_swapped(input, memory, names[0], pointer + "/0");
  const auto b = find_swapped(input, memory, names[1], pointer + "/1");
  errors.check(a);
  errors.check(b);
  TIDEGATE_CHECK(errors.result());
  const ProgramBuffer& first = memory.buffers[*a];
  const ProgramBuffer& second = memory.buffers[*b];
  if (*a != *b && (first.image || second.image)) {
    TIDEGATE_CHECK(check_image_swap(first, second, pointer));
  } else if (*a == *b || first.spec.type != second.spec.type || first.spec.count != second.spec.count) {
    return tl::unexpected(
        invalid_program(*a == *b ? fmt::format("the buffer {} is swapped with itself", in_quotes(first.name))
                                 : fmt::format("{} has {} of {}, {} has {} of {}", in_quotes(first.name),
                                               plural(first.spec.count, "element"), name(first.spec.type),
                                               in_quotes(second.name), plural(second.spec.count, "element"),
                                               name(second.spec.type)),
                        "swap two buffers of the same type and count", pointer));
  }
  return std::array{*a, *b};
}

} // namespace

ProgramMemory resolve_memory(const ResolveInput& input, ErrorList& errors) {
  ProgramMemory memory;
  for (const auto& [name, spec] : input.program.buffers) {
    add_memory(name, resolve_buffer(input, name, spec, "/buffers/" + pointer_token(name)), memory.buffers,
               memory.buffer_index, errors);
  }
  for (const auto& [name, spec] : input.program.images) {
    add_memory(name,
               resolve_named_image(input, memory.buffer_index, name, spec, "/images/" + pointer_token(name)),
               memory.buffers, memory.image_index, errors);
  }
  return memory;
}

std::vector<std::array<std::uint32_t, 2>> resolve_swaps(const ResolveInput& input,
                                                        const ProgramMemory& memory, ErrorList& errors) {
  std::vector<std::array<std::uint32_t, 2>> swaps;
  for (std::size_t i = 0; i < input.program.swap.size(); ++i) {
    const auto swap = resolve_swap(input, memory, input.program.swap[i], fmt::format("/swap/{}", i));
    if (errors.check(swap)) {
      swaps.push_back(*swap);
    }
  }
  return swaps;
}

Result<std::optional<ResolvedUntil>> resolve_until(const ResolveInput& input, const ProgramMemory& memory) {
  if (!input.program.until) {
    return std::nullopt;
  }
  TIDEGATE_TRY(const std::uint32_t found,
               find_buffer(input, memory, input.program.until->buffer, "/until/buffer",
                           "let a kernel write what ends the repetition into a buffer"));
  const ElementType type = memory.buffers[found].spec.type;
  ResolvedUntil until{.buffer = found, .value = std::vector<std::byte>(element_bytes(type))};
  if (auto stored = store_number(input.program.until->equals, type, until.value.data()); !stored) {
    stored.error().pointer = "/until/equals";
    return tl::unexpected(std::move(stored.error()));
  }
  return until;
}

Result<std::uint32_t> find_image(const ResolveInput& input, const ProgramMemory& memory,
                                 const std::string& name, const std::string& pointer) {
  if (!memory.image_index.contains(name) && memory.buffer_index.contains(name) &&
      !input.unread.cover("/images")) {
    return tl::unexpected(other_memory(name, "a buffer, and no image",
                                       "give the name of an image, or let the kernel take a pointer",
                                       pointer));
  }
  return input.find_in("/images", "image", name, memory.image_index, pointer);
}

Result<std::uint32_t> find_buffer(const ResolveInput& input, const ProgramMemory& memory,
                                  const std::string& name, const std::string& pointer,
                                  const std::string& instead) {
  if (!memory.buffer_index.contains(name) && memory.image_index.contains(name) &&
      !input.unread.cover("/buffers")) {
    return tl::unexpected(other_memory(name, "an image, and no buffer", instead, pointer));
  }
  return input.find_in("/buffers", "buffer", name, memory.buffer_index, pointer);
}

Result<std::uint32_t> find_argument_buffer(const ResolveInput& input, const ProgramMemory& memory,
                                           const std::string& name, const std::string& pointer) {
  return find_buffer(input, memory, name, pointer,
                     fmt::format("for a parameter of an image type give {{\"image\": {}}}", in_quotes(name)));
}

} // namespace tidegate::engine
