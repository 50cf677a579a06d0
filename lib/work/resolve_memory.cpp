// Checks sizes, contents and files of each buffer and image, then swaps and `until`.
#include "work/contents.hpp"
#include "work/documents.hpp"
#include "work/hits.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/encode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

namespace tidegate::engine {

namespace {

Result<void> check_input(const std::string& path,
                         const std::function<Result<std::vector<std::byte>>()>& contents, FileCheck check) {
  std::error_code ignored;
  // Reading a pipe would consume its contents.
  auto checked = check == FileCheck::reachable || !std::filesystem::is_regular_file(path, ignored)
                     ? open_input(path).map([](const auto&) {})
                     : contents().map([](const auto&) {});
  return checked;
}

} // namespace

Result<void> check_data_files(const ProgramBuffer& buffer, const std::optional<BufferInit>& init,
                              const std::string& folder, FileCheck check) {
  ErrorList errors;
  const auto at = [&](Result<void> checked, std::string_view key) {
    if (!checked) {
      checked.error().pointer = buffer.pointer + std::string(key);
    }
    errors.check(checked);
  };
  if (check != FileCheck::none && init && init->file) {
    auto checked = check_input(path_in(folder, *init->file), buffer.first, check);
    if (!checked && checked.error().code == ErrorCode::cannot_read) {
      checked.error().fix = fmt::format("name an .npy{} or raw file, relative to the program's folder",
                                        buffer.image ? ", .png" : "");
    }
    at(std::move(checked), "/init/file");
  }
  if (check != FileCheck::none && buffer.output) { // fails now instead of after the run
    at(Output::open(*buffer.output, FileKinds::no_named_pipes).map([](const Output&) {}), "/output");
  }
  return errors.result();
}

Result<ImageShape> shape_of(const ImageSpec& spec, const std::string& pointer) {
  const std::size_t dimensions = spec.size.size();
  if (dimensions < 1 || dimensions > 3) {
    return tl::unexpected(invalid_program(
        dimensions == 0 ? "the image has no size" : fmt::format("a size of {} numbers", dimensions),
        "give width, height and depth, as many of them as the image has, or an init with a .png or .npy file",
        pointer + "/size"));
  }
  if (std::ranges::find(spec.size, 0U) != spec.size.end() || spec.layers == std::uint64_t{0}) {
    return tl::unexpected(invalid_program("the image has no texels", "give a size and layers from 1 on",
                                          pointer + (spec.layers == std::uint64_t{0} ? "/layers" : "/size")));
  }
  if (spec.layers && dimensions == 3) {
    return tl::unexpected(invalid_program("there are no arrays of three-dimensional images",
                                          "leave layers out, or give width and height alone",
                                          pointer + "/layers"));
  }
  if (spec.texel_buffer && (dimensions != 1 || spec.layers)) {
    return tl::unexpected(invalid_program("a texel buffer has a width and nothing else",
                                          "leave texel_buffer out, or give one size and no layers",
                                          pointer + "/texel_buffer"));
  }
  ImageShape shape{.format = spec.format, .width = spec.size[0], .layers = spec.layers.value_or(1)};
  shape.height = dimensions > 1 ? spec.size[1] : 1;
  shape.depth = dimensions > 2 ? spec.size[2] : 1;
  shape.kind = dimensions == 3     ? ImageKind::image3d
               : dimensions == 2   ? (spec.layers ? ImageKind::image2d_array : ImageKind::image2d)
               : spec.layers       ? ImageKind::image1d_array
               : spec.texel_buffer ? ImageKind::image1d_buffer
                                   : ImageKind::image1d;
  if (row(shape.format).order == ChannelOrder::depth && dimensions != 2) {
    return tl::unexpected(
        invalid_program(fmt::format("{} is a format of two-dimensional images", name(spec.format)),
                        "give width and height, or another format", pointer + "/format"));
  }
  return shape;
}

namespace {

Result<void> check_init(const BufferInit& init, const std::string& pointer) {
  const int stated = int{init.fill.has_value()} + int{init.iota.has_value()} + int{init.random.has_value()} +
                     int{init.file.has_value()};
  if (stated != 1) {
    return tl::unexpected(invalid_program(
        fmt::format("init needs exactly one of fill, iota, random and file, this one has {}", stated),
        "give one of them, or leave init out", pointer + "/init"));
  }
  const bool tensors = init.file && init.file->ends_with(".safetensors");
  if (tensors && !init.tensor) {
    return tl::unexpected(invalid_program("a .safetensors file holds many tensors",
                                          "name one of them as tensor", pointer + "/init/file"));
  }
  if (init.tensor && !tensors) {
    return tl::unexpected(invalid_program("tensor names a part of a .safetensors file",
                                          "leave it out, or name such a file", pointer + "/init/tensor"));
  }
  return {};
}

// Checks contents that follow a rule; check_data_files() checks files.
Result<void> check_contents(const BufferSpec& spec, bool valid_count, const std::string& pointer) {
  if (!spec.init) {
    return {};
  }
  TIDEGATE_CHECK(check_init(*spec.init, pointer));
  auto checked = valid_count ? check_rule(spec) : Result<void>();
  if (!checked) {
    checked.error().pointer = pointer + "/init";
  }
  return checked;
}

// Returns a key of the first contents of a buffer or image, from their rule or the state of their file: equal keys,
// equal contents. It is empty if the state is unknown.
std::string content_key(const BufferSpec& spec, const std::optional<ImageShape>& image,
                        const std::string& folder) {
  std::string content = fmt::format("{} {} ", name(spec.type), spec.count);
  if (image) {
    content += fmt::format("{} {} ", type_name(*image), describe(*image));
  }
  documents::encode(documents::Description<BufferInit>::record, &*spec.init, documents::Style::compact,
                    content);
  if (spec.init->file) {
    const std::string state = file_state(path_in(folder, *spec.init->file));
    if (state.empty()) {
      return {};
    }
    content += state;
  }
  return content;
}

// Lets the buffer read its first contents and write its output. Paths of the spec are relative to the folder.
void set_contents(ProgramBuffer& buffer, const BufferSpec& spec, const std::string& folder) {
  if (spec.init && spec.init->file && buffer.image) {
    buffer.first = [image = buffer, path = path_in(folder, *spec.init->file)] {
      return read_image(image, path);
    };
    buffer.content = content_key(spec, buffer.image, folder);
  } else if (spec.init) {
    buffer.first = [spec, folder] { return initial_contents(spec, folder); };
    buffer.first_part = [spec, folder](std::uint64_t begin, std::uint64_t bytes) {
      return initial_part(spec, folder, begin, bytes);
    };
    buffer.content = content_key(spec, buffer.image, folder);
  }
  if (spec.output) {
    const std::string path = path_in(folder, *spec.output);
    if (buffer.image) {
      buffer.write = [image = buffer, path](std::span<const std::byte> contents) {
        return write_image(image, contents, path);
      };
    } else {
      const std::vector<std::uint64_t> shape = spec.shape.value_or(std::vector{buffer.count});
      buffer.output_head = buffer_file_head(spec.type, path, shape);
      buffer.write = [type = spec.type, path, shape](std::span<const std::byte> contents) {
        return write_buffer(type, contents, path, shape);
      };
    }
    buffer.output = path;
  }
  if (spec.expect) {
    BufferSpec reference = spec;
    reference.init = BufferInit{.file = spec.expect->file, .convert = spec.expect->convert};
    buffer.expected =
        ExpectedOutput{.file = path_in(folder, spec.expect->file),
                       .rtol = spec.expect->rtol,
                       .atol = spec.expect->atol,
                       .read = [reference, folder] { return initial_contents(reference, folder); }};
  }
}

// Checks what the user expects of the output, and its file as far as `files` says.
Result<void> check_expected(const ResolveInput& input, const ProgramBuffer& buffer, const BufferSpec& spec,
                            FileCheck files) {
  if (!spec.expect) {
    return {};
  }
  const std::string pointer = buffer.pointer + "/expect";
  if (!spec.output) {
    return tl::unexpected(invalid_program(
        fmt::format("the buffer {} has no output that could be compared", in_quotes(buffer.name)),
        "give it an output, or leave expect out", pointer));
  }
  if (spec.expect->rtol < 0 || spec.expect->atol < 0) {
    return failure(ErrorCode::out_of_range, "a tolerance is below 0", "give rtol and atol from 0 on",
                   pointer);
  }
  const std::string path = path_in(input.folder, spec.expect->file);
  auto checked = check_scope(path, input.folder, input.scope);
  if (checked && !spec.raw && input.wholly_read(buffer.pointer)) {
    checked = check_array_name(spec.expect->file);
  }
  if (checked && files != FileCheck::none) {
    checked = check_input(path, buffer.expected->read, files);
  }
  if (!checked) {
    checked.error().pointer = pointer + "/file";
    if (checked.error().code == ErrorCode::cannot_read) {
      checked.error().fix = "name an .npy or raw file, relative to the program's folder";
    }
  }
  return checked;
}

Result<ProgramBuffer> resolve_image(const std::string& name, const ImageSpec& stated,
                                    const std::string& folder, const std::string& pointer) {
  TIDEGATE_TRY(const ImageShape shape, shape_of(stated, pointer));
  BufferSpec spec{.type = element_type(stated.format),
                  .count = elements_per_texel(stated.format),
                  .init = stated.init,
                  .output = stated.output};
  std::uint64_t bytes = 0;
  bool overflow = false;
  for (const std::uint64_t size : {shape.width, shape.height, shape.depth, shape.layers}) {
    overflow |= __builtin_mul_overflow(spec.count, size, &spec.count);
  }
  overflow |= __builtin_mul_overflow(spec.count, element_bytes(spec.type), &bytes);
  if (overflow) {
    return failure(ErrorCode::out_of_range, fmt::format("the image {} has too many texels", in_quotes(name)),
                   "give a size that the memory holds", pointer + "/size");
  }
  ProgramBuffer image{.name = name,
                      .pointer = pointer,
                      .type = spec.type,
                      .count = spec.count,
                      .bytes = bytes,
                      .image = shape};
  ErrorList errors;
  errors.check(check_contents(spec, true, pointer));
  errors.check(check_image_files(image, spec));
  TIDEGATE_CHECK(errors.result());
  set_contents(image, spec, folder);
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
  return tl::unexpected(invalid_program(fmt::format("cannot swap {} ({}) with {} ({})", in_quotes(first.name),
                                                    text(first), in_quotes(second.name), text(second)),
                                        "swap two images of the same format and size", pointer));
}

Error wrong_kind(const std::string& name, std::string_view what, std::string fix, std::string pointer) {
  return invalid_program(fmt::format("{} is {}", in_quotes(name), what), std::move(fix), std::move(pointer));
}

// Checks that the files are in scope, and that their names say what they hold: unless `raw`, .npy, what reads as raw
// bytes, or `other`.
Result<void> check_names(const ResolveInput& input, const std::optional<BufferInit>& init,
                         const std::optional<std::string>& output, bool raw, const std::string& pointer,
                         std::string_view other = {}) {
  ErrorList errors;
  const auto check = [&](const std::optional<std::string>& file, bool allows_any, const std::string& at) {
    auto allowed =
        file ? check_scope(path_in(input.folder, *file), input.folder, input.scope) : Result<void>();
    if (allowed && file && !allows_any) {
      allowed = check_array_name(*file, other);
    }
    if (!allowed) {
      allowed.error().pointer = at;
    }
    errors.check(allowed);
  };
  const bool any_name = raw || !input.wholly_read(pointer); // "raw" may be what could not be read
  const bool tensors = init && init->file && init->file->ends_with(".safetensors");
  check(init ? init->file : std::nullopt, any_name || tensors, pointer + "/init/file");
  check(output, any_name, pointer + "/output");
  return errors.result();
}

// Gives the buffer the count that its shape or its file says.
Result<void> complete_count(const ResolveInput& input, const std::string& name, BufferSpec& spec,
                            const std::string& pointer) {
  TIDEGATE_CHECK(input.wholly_read(pointer + "/shape"));
  const bool by_file = spec.count == 0 && !spec.shape && spec.init && spec.init->file;
  if (by_file) {
    TIDEGATE_CHECK(input.wholly_read(pointer));
    TIDEGATE_CHECK(check_init(*spec.init, pointer));
    TIDEGATE_CHECK(check_names(input, spec.init, {}, spec.raw, pointer));
    auto shape = shape_in_file(spec, path_in(input.folder, *spec.init->file));
    if (!shape) {
      shape.error().pointer = pointer + "/init/file";
      return tl::unexpected(std::move(shape.error()));
    }
    spec.shape = std::move(*shape);
  }
  if (!spec.shape) {
    return {};
  }
  std::uint64_t count = 1;
  bool overflow = spec.shape->empty() || spec.shape->size() > 64; // NumPy's limit
  for (const std::uint64_t size : *spec.shape) {
    overflow |= __builtin_mul_overflow(count, size, &count);
  }
  if (overflow || count == 0 || (spec.count != 0 && spec.count != count)) {
    return tl::unexpected(Error{
        .code = ErrorCode::out_of_range,
        .message =
            overflow || count == 0
                ? fmt::format("the shape {} of the buffer {} has {} elements", shape_text(*spec.shape),
                              in_quotes(name), overflow ? "too many" : "no")
                : fmt::format("the buffer {} has the shape {}, of {}, and the count {}", in_quotes(name),
                              shape_text(*spec.shape), plural(count, "element"), spec.count),
        .fix = overflow || count == 0 ? "give 1 to 64 sizes from 1 on that the memory holds"
                                      : "leave the count out",
        .pointer = pointer + (by_file ? "/init/file" : "/shape")});
  }
  spec.count = count;
  return {};
}

Result<ProgramBuffer> resolve_buffer(const ResolveInput& input, const std::string& name,
                                     const BufferSpec& stated, const std::string& pointer) {
  BufferSpec spec = stated;
  TIDEGATE_CHECK(complete_count(input, name, spec, pointer));
  ErrorList errors;
  ProgramBuffer buffer{.name = name, .pointer = pointer, .type = spec.type, .count = spec.count};
  if (spec.count == 0 || __builtin_mul_overflow(spec.count, element_bytes(spec.type), &buffer.bytes)) {
    errors.add({.code = ErrorCode::out_of_range,
                .message = fmt::format("the buffer {} has {} elements", in_quotes(name),
                                       spec.count == 0 ? "no" : "too many"),
                .fix = "give a count from 1 on that the memory holds",
                .pointer = pointer + "/count"});
  }
  buffer.row_bytes = spec.shape ? buffer.bytes / spec.shape->front() : 0;
  errors.check(input.wholly_read(pointer));
  errors.check(check_contents(spec, errors.result().has_value(), pointer));
  // File contents are compared only with a valid buffer, and files outside the scope stay untouched.
  const FileCheck files = errors.result() ? input.files : std::min(input.files, FileCheck::reachable);
  set_contents(buffer, spec, input.folder);
  if (errors.check(check_names(input, spec.init, spec.output, spec.raw, pointer))) {
    errors.check(check_data_files(buffer, spec.init, input.folder, files));
  }
  errors.check(check_expected(input, buffer, spec, files));
  TIDEGATE_CHECK(errors.result());
  return buffer;
}

// `kinds` names both kinds, such as "a buffer and an image".
Error both_called(std::string_view kinds, const std::string& name, const std::string& pointer) {
  return {.code = ErrorCode::duplicate_name,
          .message = fmt::format("{} are both called {}", kinds, in_quotes(name)),
          .fix = "rename one of them",
          .pointer = pointer};
}

Result<ProgramBuffer> resolve_named_image(const ResolveInput& input, const NameIndex& buffers,
                                          const std::string& name, const ImageSpec& stated,
                                          const std::string& pointer) {
  if (buffers.contains(name)) {
    return tl::unexpected(both_called("a buffer and an image", name, pointer));
  }
  TIDEGATE_CHECK(input.wholly_read(pointer));
  TIDEGATE_CHECK(check_names(input, stated.init, stated.output, stated.raw, pointer, ".png"));
  ImageSpec spec = stated;
  if (spec.size.empty() && spec.init && spec.init->file) {
    auto size = size_in_file(spec, path_in(input.folder, *spec.init->file));
    if (!size) {
      size.error().pointer = pointer + "/init/file";
      return tl::unexpected(std::move(size.error()));
    }
    spec.size = std::move(*size);
  }
  TIDEGATE_TRY(ProgramBuffer image, resolve_image(name, spec, input.folder, pointer));
  TIDEGATE_CHECK(check_data_files(image, spec.init, input.folder, input.files));
  return image;
}

Result<ProgramBuffer> resolve_list(const ResolveInput& input, const ProgramMemory& memory,
                                   const std::string& name, const HitsSpec& spec,
                                   const std::string& pointer) {
  const bool buffer = memory.buffer_index.contains(name);
  if (buffer || memory.image_index.contains(name)) {
    return tl::unexpected(
        both_called(buffer ? "a buffer and a list of hits" : "an image and a list of hits", name, pointer));
  }
  TIDEGATE_CHECK(input.wholly_read(pointer));
  TIDEGATE_CHECK(check_names(input, {}, spec.output, spec.raw, pointer));
  ProgramBuffer list = resolve_hits(name, spec, input.folder, pointer);
  TIDEGATE_CHECK(check_data_files(list, {}, input.folder, input.files));
  return list;
}

void add_memory(const std::string& name, Result<ProgramBuffer> made, std::vector<ProgramBuffer>& memory,
                NameIndex& index, ErrorList& errors) {
  const bool valid = errors.check(made);
  index[name] = valid ? static_cast<std::uint32_t>(memory.size()) : invalid_index;
  if (valid) {
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
  } else if (*a == *b || first.type != second.type || first.count != second.count) {
    return tl::unexpected(invalid_program(
        *a == *b ? fmt::format("the buffer {} is swapped with itself", in_quotes(first.name))
                 : fmt::format("cannot swap {} ({} of {}) with {} ({} of {})", in_quotes(first.name),
                               plural(first.count, "element"), name(first.type), in_quotes(second.name),
                               plural(second.count, "element"), name(second.type)),
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
  for (const auto& [name, spec] : input.program.hits) {
    add_memory(name, resolve_list(input, memory, name, spec, "/hits/" + pointer_token(name)), memory.buffers,
               memory.hits_index, errors);
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
  const ElementType type = memory.buffers[found].type;
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
    return tl::unexpected(wrong_kind(name, "a buffer, not an image",
                                     "give the name of an image, or let the kernel take a pointer", pointer));
  }
  return input.find_in("/images", "image", name, memory.image_index, pointer);
}

Result<std::uint32_t> find_buffer(const ResolveInput& input, const ProgramMemory& memory,
                                  const std::string& name, const std::string& pointer,
                                  const std::string& instead) {
  if (!memory.buffer_index.contains(name) && memory.image_index.contains(name) &&
      !input.unread.cover("/buffers")) {
    return tl::unexpected(wrong_kind(name, "an image, not a buffer", instead, pointer));
  }
  if (!memory.buffer_index.contains(name) && memory.hits_index.contains(name) &&
      !input.unread.cover("/buffers")) {
    return tl::unexpected(wrong_kind(name, "a list of hits, not a buffer",
                                     fmt::format("kernels append to it: {{\"hits\": {}}}", in_quotes(name)),
                                     pointer));
  }
  return input.find_in("/buffers", "buffer", name, memory.buffer_index, pointer);
}

Result<std::uint32_t> find_hits(const ResolveInput& input, const ProgramMemory& memory,
                                const std::string& name, const std::string& pointer) {
  if (!memory.hits_index.contains(name) && memory.buffer_index.contains(name) &&
      !input.unread.cover("/hits")) {
    return tl::unexpected(wrong_kind(
        name, "a buffer, not a list of hits",
        fmt::format("give {{\"buffer\": {}}}, or make it one of the program's hits", in_quotes(name)),
        pointer));
  }
  return input.find_in("/hits", "list of hits", name, memory.hits_index, pointer);
}

Result<std::uint32_t> find_argument_buffer(const ResolveInput& input, const ProgramMemory& memory,
                                           const std::string& name, const std::string& pointer) {
  return find_buffer(input, memory, name, pointer,
                     fmt::format("for a parameter of an image type give {{\"image\": {}}}", in_quotes(name)));
}

} // namespace tidegate::engine
