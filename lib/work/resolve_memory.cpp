// Checks sizes, contents and files of each buffer, image and list, then swaps and `until`.
#include "work/contents.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/encode.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

// Multiplies sizes; nothing beyond 64 bits.
std::optional<std::uint64_t> product(std::uint64_t first, std::span<const std::uint64_t> others) {
  for (const std::uint64_t size : others) {
    if (__builtin_mul_overflow(first, size, &first)) {
      return std::nullopt;
    }
  }
  return first;
}

// Checks a file with contents as far as `check` says. Errors: those of reading, with the place.
Result<void> check_input(const std::string& path,
                         const std::function<Result<std::vector<std::byte>>()>& contents, FileCheck check,
                         bool may_be_png, const std::string& pointer) {
  if (check == FileCheck::none) {
    return {};
  }
  std::error_code ignored;
  // Reading a pipe would consume its contents.
  auto checked =
      at_place(pointer, check == FileCheck::reachable || !std::filesystem::is_regular_file(path, ignored)
                            ? open_input(path).map([](const auto&) {})
                            : contents().map([](const auto&) {}));
  if (!checked && checked.error().code == ErrorCode::cannot_read) {
    checked.error().fix = fmt::format("name an .npy{} or raw file, relative to the program's folder",
                                      may_be_png ? ", .png" : "");
  }
  return checked;
}

// Checks the files of one buffer, image or list. Errors: cannot_read, cannot_write, bad_array.
Result<void> check_data_files(const ProgramBuffer& buffer, const std::optional<BufferInit>& init,
                              const std::string& folder, FileCheck check) {
  ErrorList errors;
  if (init && init->file) {
    errors.check(check_input(path_in(folder, *init->file), buffer.first, check, buffer.image.has_value(),
                             buffer.pointer + "/init/file"));
  }
  if (check != FileCheck::none && buffer.output) { // fails now instead of after the run
    errors.check(at_place(buffer.pointer + "/output",
                          Output::open(*buffer.output, FileKinds::no_named_pipes).map([](const Output&) {})));
  }
  return errors.result();
}

} // namespace

Result<ImageShape> shape_of(const ImageSpec& spec, const std::string& pointer) {
  const std::size_t dimensions = spec.size.size();
  if (dimensions < 1 || dimensions > 3) {
    return invalid_program(
        dimensions == 0 ? "the image has no size" : fmt::format("a size of {} numbers", dimensions),
        "give width, height and depth, as many of them as the image has, or an init with a .png or .npy file",
        pointer + "/size");
  }
  if (std::ranges::find(spec.size, 0U) != spec.size.end() || spec.layers == std::uint64_t{0}) {
    return invalid_program("the image has no texels", "give a size and layers from 1 on",
                           pointer + (spec.layers == std::uint64_t{0} ? "/layers" : "/size"));
  }
  if (spec.layers && dimensions == 3) {
    return invalid_program("there are no arrays of three-dimensional images",
                           "leave layers out, or give width and height alone", pointer + "/layers");
  }
  if (spec.texel_buffer && (dimensions != 1 || spec.layers)) {
    return invalid_program("a texel buffer has a width and nothing else",
                           "leave texel_buffer out, or give one size and no layers",
                           pointer + "/texel_buffer");
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
    return invalid_program(fmt::format("{} is a format of two-dimensional images", name(spec.format)),
                           "give width and height, or another format", pointer + "/format");
  }
  return shape;
}

namespace {

Result<void> check_tensor(const std::optional<BufferInit>& init, const std::string& pointer) {
  const bool tensors = init && init->file && init->file->ends_with(".safetensors");
  if (tensors && !init->tensor) {
    return invalid_program("a .safetensors file holds many tensors", "name one of them as tensor",
                           pointer + "/init/file");
  }
  if (init && init->tensor && !tensors) {
    return invalid_program("tensor names a part of a .safetensors file", "leave it out, or name such a file",
                           pointer + "/init/tensor");
  }
  return {};
}

// Checks contents that follow a rule; check_data_files() checks files.
Result<void> check_contents(const BufferSpec& spec, bool valid_count, const std::string& pointer) {
  TIDEGATE_CHECK(check_tensor(spec.init, pointer));
  return valid_count ? at_place(pointer + "/init", check_rule(spec)) : Result<void>();
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
    content = state.empty() ? std::string() : content + state;
  }
  return content;
}

// Lets the buffer read its first contents and write its output. Paths of the spec are relative to the folder.
void set_contents(ProgramBuffer& buffer, const BufferSpec& spec, const std::string& folder) {
  if (spec.init) {
    buffer.content = content_key(spec, buffer.image, folder);
    if (spec.init->file && buffer.image) {
      buffer.first = [image = buffer, path = path_in(folder, *spec.init->file)] {
        return read_image(image, path);
      };
    } else {
      buffer.first = [spec, folder] { return initial_contents(spec, folder); };
      buffer.first_part = [spec, folder](std::uint64_t begin, std::uint64_t bytes) {
        return initial_part(spec, folder, begin, bytes);
      };
    }
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

// Checks that the file is in scope, and that its name says what it holds: unless `any_name`, .npy, what reads as raw
// bytes, or `other`.
Result<void> check_name(const ResolveInput& input, const std::optional<std::string>& file, bool any_name,
                        const std::string& pointer, std::string_view other = {}) {
  if (!file) {
    return {};
  }
  return at_place(pointer, check_scope(path_in(input.folder, *file), input.folder, input.scope).and_then([&] {
    return any_name ? Result<void>() : check_array_name(*file, other);
  }));
}

Result<void> check_names(const ResolveInput& input, const std::optional<BufferInit>& init,
                         const std::optional<std::string>& output, bool raw, const std::string& pointer,
                         std::string_view other = {}) {
  ErrorList errors;
  if (init) {
    errors.check(check_name(input, init->file, raw || init->tensor, pointer + "/init/file", other));
  }
  errors.check(check_name(input, output, raw, pointer + "/output", other));
  return errors.result();
}

// Checks what the user expects of the output, and its file as far as `files` says.
Result<void> check_expected(const ResolveInput& input, const ProgramBuffer& buffer, const BufferSpec& spec,
                            FileCheck files) {
  if (!spec.expect) {
    return {};
  }
  const std::string pointer = buffer.pointer + "/expect";
  if (spec.expect->rtol < 0 || spec.expect->atol < 0) {
    return failure(ErrorCode::out_of_range, "a tolerance is below 0", "give rtol and atol from 0 on",
                   pointer);
  }
  TIDEGATE_CHECK(check_name(input, spec.expect->file, spec.raw, pointer + "/file"));
  return check_input(buffer.expected->file, buffer.expected->read, files, false, pointer + "/file");
}

Result<ProgramBuffer> resolve_image(const ResolveInput& input, const std::string& name,
                                    const ImageSpec& stated, const std::string& pointer) {
  TIDEGATE_CHECK(check_names(input, stated.init, stated.output, stated.raw, pointer, ".png"));
  ImageSpec sized = stated;
  if (sized.size.empty() && sized.init && sized.init->file) {
    TIDEGATE_TRY(sized.size, at_place(pointer + "/init/file",
                                      size_in_file(sized, path_in(input.folder, *sized.init->file))));
  }
  TIDEGATE_TRY(const ImageShape shape, shape_of(sized, pointer));
  BufferSpec spec{.type = element_type(stated.format), .init = stated.init, .output = stated.output};
  const auto count = product(elements_per_texel(stated.format),
                             std::array{shape.width, shape.height, shape.depth, shape.layers});
  const auto bytes = count ? product(*count, std::array<std::uint64_t, 1>{element_bytes(spec.type)}) : count;
  if (!bytes) {
    return failure(ErrorCode::out_of_range, fmt::format("the image {} has too many texels", in_quotes(name)),
                   "give a size that the memory holds", pointer + "/size");
  }
  spec.count = *count;
  ProgramBuffer image{.name = name,
                      .pointer = pointer,
                      .type = spec.type,
                      .count = spec.count,
                      .bytes = *bytes,
                      .image = shape};
  ErrorList errors;
  errors.check(check_contents(spec, true, pointer));
  errors.check(check_image_files(image, spec));
  TIDEGATE_CHECK(errors.result());
  set_contents(image, spec, input.folder);
  TIDEGATE_CHECK(check_data_files(image, spec.init, input.folder, input.files));
  return image;
}

// Gives the buffer the count that its shape or its file says.
Result<void> complete_count(const ResolveInput& input, const std::string& name, BufferSpec& spec,
                            const std::string& pointer) {
  const bool by_file = spec.count == 0 && !spec.shape && spec.init && spec.init->file;
  if (by_file) {
    TIDEGATE_CHECK(check_tensor(spec.init, pointer));
    TIDEGATE_CHECK(check_names(input, spec.init, {}, spec.raw, pointer));
    TIDEGATE_TRY(spec.shape, at_place(pointer + "/init/file",
                                      shape_in_file(spec, path_in(input.folder, *spec.init->file))));
  }
  if (!spec.shape) {
    return {};
  }
  constexpr std::size_t most_dimensions = 64; // NumPy's limit
  const auto count =
      spec.shape->empty() || spec.shape->size() > most_dimensions ? std::nullopt : product(1, *spec.shape);
  const std::string place = pointer + (by_file ? "/init/file" : "/shape");
  if (!count || *count == 0) {
    return failure(ErrorCode::out_of_range,
                   fmt::format("the shape {} of the buffer {} has {} elements", shape_text(*spec.shape),
                               in_quotes(name), count ? "no" : "too many"),
                   "give 1 to 64 sizes from 1 on that the memory holds", place);
  }
  if (spec.count != 0 && spec.count != *count) {
    return failure(ErrorCode::out_of_range,
                   fmt::format("the buffer {} has the shape {}, of {}, and the count {}", in_quotes(name),
                               shape_text(*spec.shape), plural(*count, "element"), spec.count),
                   "leave the count out", place);
  }
  spec.count = *count;
  return {};
}

Result<ProgramBuffer> resolve_buffer(const ResolveInput& input, const std::string& name,
                                     const BufferSpec& stated, const std::string& pointer) {
  BufferSpec spec = stated;
  TIDEGATE_CHECK(complete_count(input, name, spec, pointer));
  ErrorList errors;
  ProgramBuffer buffer{.name = name, .pointer = pointer, .type = spec.type, .count = spec.count};
  const bool sized =
      spec.count != 0 && !__builtin_mul_overflow(spec.count, element_bytes(spec.type), &buffer.bytes);
  if (!sized) {
    errors.add(failure(
        ErrorCode::out_of_range,
        fmt::format("the buffer {} has {} elements", in_quotes(name), spec.count == 0 ? "no" : "too many"),
        "give a count from 1 on that the memory holds", pointer + "/count"));
  }
  buffer.row_bytes = spec.shape ? buffer.bytes / spec.shape->front() : 0;
  errors.check(check_contents(spec, sized, pointer));
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

Result<ProgramBuffer> resolve_list(const ResolveInput& input, const std::string& name, const HitsSpec& spec,
                                   const std::string& pointer) {
  TIDEGATE_CHECK(check_names(input, {}, spec.output, spec.raw, pointer));
  ProgramBuffer list = resolve_hits(name, spec, input.folder, pointer);
  TIDEGATE_CHECK(check_data_files(list, {}, input.folder, input.files));
  return list;
}

struct KindWords {
  std::string_view key, noun, article;
};
constexpr std::array<KindWords, 3> kind_words{KindWords{"buffers", "buffer", "a"},
                                              KindWords{"images", "image", "an"},
                                              KindWords{"hits", "list of hits", "a"}}; // by StorageKind

const KindWords& words(StorageKind kind) {
  return kind_words[static_cast<std::size_t>(kind)];
}

// Resolves all memory of a kind by `resolve`.
template <class Spec>
void add_all(const ResolveInput& input, StorageKind kind,
             const std::vector<std::pair<std::string, Spec>>& specs,
             Result<ProgramBuffer> (*resolve)(const ResolveInput&, const std::string&, const Spec&,
                                              const std::string&),
             ProgramMemory& memory, ErrorList& errors) {
  for (const auto& [name, spec] : specs) {
    const std::string pointer = fmt::format("/{}/{}", words(kind).key, pointer_token(name));
    const auto known = memory.names.find(name);
    if (known != memory.names.end()) {
      known->second.index = invalid_index; // nothing that follows is reported
      const KindWords& other = words(known->second.kind);
      errors.add(failure(ErrorCode::duplicate_name,
                         fmt::format("{} {} and {} {} are both called {}", other.article, other.noun,
                                     words(kind).article, words(kind).noun, in_quotes(name)),
                         "rename one of them", pointer));
      continue;
    }
    auto made = resolve(input, name, spec, pointer);
    auto& named = memory.names[name] = {.kind = kind};
    if (errors.check(made)) {
      named.index = static_cast<std::uint32_t>(memory.buffers.size());
      memory.buffers.push_back(std::move(*made));
    }
  }
}

Result<std::array<std::uint32_t, 2>> resolve_swap(const ProgramMemory& memory,
                                                  const std::array<std::string, 2>& names,
                                                  const std::string& pointer) {
  ErrorList errors;
  std::array<std::uint32_t, 2> pair{};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto known = memory.names.find(names[i]);
    const bool image = known != memory.names.end() && known->second.kind == StorageKind::image;
    const auto found = memory.find(image ? StorageKind::image : StorageKind::buffer, names[i],
                                   fmt::format("{}/{}", pointer, i));
    errors.check(found);
    pair[i] = found.value_or(invalid_index);
  }
  TIDEGATE_CHECK(errors.result());
  const ProgramBuffer& first = memory.buffers[pair[0]];
  const ProgramBuffer& second = memory.buffers[pair[1]];
  const bool images = first.image || second.image;
  if (&first == &second) {
    return invalid_program(
        fmt::format("the {} {} is swapped with itself", first.kind(), in_quotes(first.name)),
        fmt::format("swap two {}s of the same {}", first.kind(),
                    images ? "format and size" : "type and count"),
        pointer);
  }
  if (first.image != second.image || first.type != second.type || first.count != second.count) {
    const auto text = [&](const ProgramBuffer& buffer) {
      return buffer.image ? describe(*buffer.image)
             : images     ? "a buffer"
                          : fmt::format("{} of {}", plural(buffer.count, "element"), name(buffer.type));
    };
    return invalid_program(fmt::format("cannot swap {} ({}) with {} ({})", in_quotes(first.name), text(first),
                                       in_quotes(second.name), text(second)),
                           images ? "swap two images of the same format and size"
                                  : "swap two buffers of the same type and count",
                           pointer);
  }
  return pair;
}

} // namespace

ProgramMemory resolve_memory(const ResolveInput& input, ErrorList& errors) {
  ProgramMemory memory;
  add_all(input, StorageKind::buffer, input.program.buffers, resolve_buffer, memory, errors);
  add_all(input, StorageKind::image, input.program.images, resolve_image, memory, errors);
  add_all(input, StorageKind::list, input.program.hits, resolve_list, memory, errors);
  return memory;
}

std::vector<std::array<std::uint32_t, 2>> resolve_swaps(const ResolveInput& input,
                                                        const ProgramMemory& memory, ErrorList& errors) {
  std::vector<std::array<std::uint32_t, 2>> swaps;
  for (std::size_t i = 0; i < input.program.swap.size(); ++i) {
    const auto swap = resolve_swap(memory, input.program.swap[i], fmt::format("/swap/{}", i));
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
               memory.find(StorageKind::buffer, input.program.until->buffer, "/until/buffer",
                           "let a kernel write what ends the repetition into a buffer"));
  const ElementType type = memory.buffers[found].type;
  ResolvedUntil until{.buffer = found, .value = std::vector<std::byte>(element_bytes(type))};
  TIDEGATE_CHECK(
      at_place("/until/equals", store_number(input.program.until->equals, type, until.value.data())));
  return until;
}

Result<std::uint32_t> ProgramMemory::find(StorageKind kind, const std::string& name,
                                          const std::string& pointer, std::string instead) const {
  const auto found = names.find(name);
  if (found == names.end()) {
    NameIndex known;
    for (const auto& [each, named] : names) {
      if (named.kind == kind) {
        known[each] = named.index;
      }
    }
    return tl::unexpected(unknown_name(words(kind).noun, name, known, pointer));
  }
  if (found->second.index == invalid_index) {
    return tl::unexpected(already_reported());
  }
  const StorageKind is = found->second.kind;
  if (is != kind) {
    return invalid_program(
        fmt::format("{} is {} {}, not {} {}", in_quotes(name), words(is).article, words(is).noun,
                    words(kind).article, words(kind).noun),
        is == StorageKind::list      ? fmt::format("kernels append to it: {{\"hits\": {}}}", in_quotes(name))
        : kind == StorageKind::image ? "give the name of an image, or let the kernel take a pointer"
        : kind == StorageKind::list && is == StorageKind::buffer
            ? fmt::format("give {{\"buffer\": {}}}, or make it one of the program's hits", in_quotes(name))
        : instead.empty()
            ? fmt::format("for a parameter of an image type give {{\"image\": {}}}", in_quotes(name))
            : std::move(instead),
        pointer);
  }
  return found->second.index;
}

} // namespace tidegate::engine
