// Checks sizes, contents and files of each buffer, image and list, then swaps and `until`.
#include "work/resolve.hpp"

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

// Memory of the document, and what its kind looks up and adds to.
struct MemoryInput {
  const ResolveInput& input;
  FileUses& files; // that memory names
  StorageKind kind;
  const std::string& name;
  const std::string pointer; // its place in the document
  const std::string text;    // "buffer "x""

  // A format that a file may have instead of .npy or raw bytes.
  [[nodiscard]] std::string_view ending() const { return kind == StorageKind::image ? ".png" : ""; }

  // The file at this place is in scope, and its name says what it holds, unless it may have any.
  [[nodiscard]] Result<void> allowed(const std::string& file, const std::string& place, bool any_name) const {
    TIDEGATE_CHECK(at_place(place, check_scope(path_in(input.folder, file), input.folder, input.scope)));
    if (!any_name && file.ends_with(".safetensors")) {
      return invalid_program("a .safetensors file holds many tensors", "name one of them as tensor", place);
    }
    return any_name ? Result<void>() : at_place(place, check_array_name(file, ending()));
  }

  // Likewise, and as far as `check` says it can be read as `contents` or, without them, written.
  [[nodiscard]] Result<void>
  checked(std::string_view role, const std::string& file, const std::string& place, bool any_name,
          FileCheck check, const std::function<Result<std::vector<std::byte>>()>& contents = {}) const {
    const std::string path = path_in(input.folder, file);
    (contents ? files.inputs : files.outputs)
        .push_back({path, fmt::format("the {} of {}", role, text), pointer + place});
    TIDEGATE_CHECK(allowed(file, pointer + place, any_name));
    Result<void> found;
    if (check != FileCheck::none && !contents) { // fails now instead of after the run
      found = Output::open(path, FileKinds::no_named_pipes).map([](const Output&) {});
    } else if (check != FileCheck::none) {
      found = check == FileCheck::reachable ? open_input(path, FileKinds::regular).map([](const auto&) {})
                                            : contents().map([](const auto&) {});
      if (!found && found.error().code == ErrorCode::cannot_read) {
        found.error().fix = fmt::format("name an .npy{}{} or raw file, relative to the program's folder",
                                        ending().empty() ? "" : ", ", ending());
      }
    }
    return at_place(pointer + place, std::move(found));
  }
};

} // namespace

Result<ImageShape> shape_of(const ImageSpec& spec, const std::string& pointer) {
  const std::size_t dimensions = spec.size.size();
  const bool no_layers = spec.layers == std::uint64_t{0};
  const bool is_depth = order_of(spec.format) == ChannelOrder::depth;
  const Refusal refusals[] = {
      {dimensions < 1 || dimensions > 3, "/size",
       dimensions == 0 ? "the image has no size" : fmt::format("a size of {} numbers", dimensions),
       "give width, height and depth, as many of them as the image has, or an init with a .png or .npy file"},
      {no_layers || std::ranges::find(spec.size, 0U) != spec.size.end(), no_layers ? "/layers" : "/size",
       "the image has no texels", "give a size and layers from 1 on"},
      {spec.layers && dimensions == 3, "/layers", "there are no arrays of three-dimensional images",
       "leave layers out, or give width and height alone"},
      {spec.texel_buffer && (dimensions != 1 || spec.layers), "/texel_buffer",
       "a texel buffer has a width and nothing else",
       "leave texel_buffer out, or give one size and no layers"},
      {is_depth && dimensions != 2, "/format",
       fmt::format("{} is a format of two-dimensional images", name(spec.format)),
       "give width and height, or another format"}};
  TIDEGATE_CHECK(first_of(refusals, pointer));
  ImageShape shape{.format = spec.format, .width = spec.size[0], .layers = spec.layers.value_or(1)};
  shape.height = dimensions > 1 ? spec.size[1] : 1;
  shape.depth = dimensions > 2 ? spec.size[2] : 1;
  shape.kind = dimensions == 3     ? ImageKind::image3d
               : dimensions == 2   ? (spec.layers ? ImageKind::image2d_array : ImageKind::image2d)
               : spec.layers       ? ImageKind::image1d_array
               : spec.texel_buffer ? ImageKind::image1d_buffer
                                   : ImageKind::image1d;
  return shape;
}

namespace {

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

// Lets sized memory read its first contents and write its output, and checks the rule and all files. `errors` has those
// found so far.
Result<ProgramBuffer> with_contents(const MemoryInput& in, ProgramBuffer memory, const BufferSpec& spec,
                                    ErrorList errors) {
  const std::string& folder = in.input.folder;
  if (memory.bytes != 0) {
    errors.check(at_place(in.pointer + "/init", check_rule(spec)));
  }
  // Contents of files are compared only with valid memory.
  const FileCheck check = errors.result() ? in.input.files : std::min(in.input.files, FileCheck::reachable);
  if (spec.init) {
    memory.content = content_key(spec, memory.image, folder);
    memory.first = [spec, folder] { return initial_contents(spec, folder); };
    if (const auto& file = spec.init->file; file && memory.image && is_png(*file)) {
      memory.first = [shape = *memory.image, path = path_in(folder, *file)] { return read_png(shape, path); };
    } else {
      memory.first_part = [spec, folder](std::uint64_t begin, std::uint64_t bytes) {
        return initial_part(spec, folder, begin, bytes);
      };
    }
    if (spec.init->file) {
      errors.check(in.checked("input", *spec.init->file, "/init/file", spec.raw || spec.init->tensor, check,
                              memory.first));
    }
  }
  if (spec.output) {
    const std::string path = path_in(folder, *spec.output);
    memory.output = path;
    if (memory.image && is_png(path)) {
      memory.write = [shape = *memory.image, path](std::span<const std::byte> contents) {
        return write_png(shape, contents, path);
      };
    } else {
      const std::vector<std::uint64_t> shape = spec.shape.value_or(std::vector{spec.count});
      memory.output_head = buffer_file_head(spec.type, path, shape);
      memory.write = [type = spec.type, path, shape](std::span<const std::byte> contents) {
        return write_buffer(type, contents, path, shape);
      };
    }
    errors.check(in.checked("output", *spec.output, "/output", spec.raw, check));
  }
  if (spec.expect) {
    const auto& [file, rtol, atol, convert] = *spec.expect;
    BufferSpec reference = spec;
    reference.init = BufferInit{.file = file, .convert = convert};
    memory.expected = ExpectedOutput{path_in(folder, file), rtol, atol,
                                     [reference, folder] { return initial_contents(reference, folder); }};
    errors.check(rtol < 0 || atol < 0
                     ? failure(ErrorCode::out_of_range, "a tolerance is below 0",
                               "give rtol and atol from 0 on", in.pointer + "/expect")
                     : in.checked("reference", file, "/expect/file", spec.raw, check, memory.expected->read));
  }
  TIDEGATE_CHECK(errors.result());
  return memory;
}

Result<ProgramBuffer> resolve_image(const MemoryInput& in, const ImageSpec& stated) {
  ImageSpec sized = stated;
  if (sized.size.empty() && sized.init && sized.init->file) {
    const std::string place = in.pointer + "/init/file";
    TIDEGATE_CHECK(in.allowed(*sized.init->file, place, stated.raw || stated.init->tensor));
    TIDEGATE_TRY(sized.size,
                 at_place(place, size_in_file(sized, path_in(in.input.folder, *sized.init->file))));
  }
  TIDEGATE_TRY(const ImageShape shape, shape_of(sized, in.pointer));
  BufferSpec spec{.type = element_type(stated.format),
                  .init = stated.init,
                  .output = stated.output,
                  .shape = array_shape(shape),
                  .raw = stated.raw};
  ProgramBuffer image{.name = in.name, .pointer = in.pointer, .type = spec.type, .image = shape};
  const auto count = product(1, *spec.shape);
  if (!count || __builtin_mul_overflow(*count, element_bytes(spec.type), &image.bytes)) {
    return failure(ErrorCode::out_of_range, fmt::format("the {} has too many texels", in.text),
                   "give a size that the memory holds", in.pointer + "/size");
  }
  image.count = spec.count = *count;
  ErrorList errors;
  errors.check(check_image_files(image, spec));
  return with_contents(in, std::move(image), spec, std::move(errors));
}

// Gives the buffer the count that its shape or its file says.
Result<void> complete_count(const MemoryInput& in, BufferSpec& spec) {
  const bool by_file = spec.count == 0 && !spec.shape && spec.init && spec.init->file;
  const std::string place = in.pointer + (by_file ? "/init/file" : "/shape");
  if (by_file) {
    TIDEGATE_CHECK(in.allowed(*spec.init->file, place, spec.raw || spec.init->tensor));
    TIDEGATE_TRY(spec.shape,
                 at_place(place, shape_in_file(spec, path_in(in.input.folder, *spec.init->file))));
  }
  if (!spec.shape) {
    return {};
  }
  constexpr std::size_t most_dimensions = 64; // NumPy's limit
  const auto count =
      spec.shape->empty() || spec.shape->size() > most_dimensions ? std::nullopt : product(1, *spec.shape);
  const std::string of = fmt::format("the shape {}", shape_text(*spec.shape));
  const Refusal refusals[] = {
      {!count || *count == 0, "",
       fmt::format("{} of the {} has {} elements", of, in.text, count ? "no" : "too many"),
       "give 1 to 64 sizes from 1 on that the memory holds", ErrorCode::out_of_range},
      {spec.count != 0 && spec.count != count, "",
       fmt::format("the {} has {}, of {}, and the count {}", in.text, of,
                   plural(count.value_or(0), "element"), spec.count),
       "leave the count out", ErrorCode::out_of_range}};
  TIDEGATE_CHECK(first_of(refusals, place));
  spec.count = *count;
  return {};
}

Result<ProgramBuffer> resolve_buffer(const MemoryInput& in, const BufferSpec& stated) {
  BufferSpec spec = stated;
  TIDEGATE_CHECK(complete_count(in, spec));
  ErrorList errors;
  ProgramBuffer buffer{.name = in.name, .pointer = in.pointer, .type = spec.type, .count = spec.count};
  if (spec.count == 0 || __builtin_mul_overflow(spec.count, element_bytes(spec.type), &buffer.bytes)) {
    errors.add(failure(ErrorCode::out_of_range,
                       fmt::format("the {} has {} elements", in.text, spec.count == 0 ? "no" : "too many"),
                       "give a count from 1 on that the memory holds", in.pointer + "/count"));
    buffer.bytes = 0;
  }
  buffer.row_bytes = spec.shape ? buffer.bytes / spec.shape->front() : 0;
  return with_contents(in, std::move(buffer), spec, std::move(errors));
}

Result<ProgramBuffer> resolve_list(const MemoryInput& in, const HitsSpec& spec) {
  if (spec.output) {
    TIDEGATE_CHECK(in.checked("output", *spec.output, "/output", spec.raw, in.input.files));
  }
  return resolve_hits(in.name, spec, in.input.folder, in.pointer);
}

struct StorageWords {
  std::string_view key, noun, article, argument;
};
constexpr std::array<StorageWords, 3> storage_words{
    StorageWords{"buffers", "buffer", "a", "buffer"}, StorageWords{"images", "image", "an", "image"},
    StorageWords{"hits", "list of hits", "a", "hits"}}; // by StorageKind

const StorageWords& words(StorageKind kind) {
  return storage_words[static_cast<std::size_t>(kind)];
}

// Resolves all memory of a kind by `resolve`.
template <class Spec>
void add_all(const ResolveInput& input, StorageKind kind,
             const std::vector<std::pair<std::string, Spec>>& specs,
             Result<ProgramBuffer> (*resolve)(const MemoryInput&, const Spec&), ProgramMemory& memory,
             ErrorList& errors) {
  const StorageWords& of_kind = words(kind);
  for (const auto& [name, spec] : specs) {
    std::string pointer = fmt::format("/{}/{}", of_kind.key, pointer_token(name));
    const auto [known, is_new] = memory.names.try_emplace(name, ProgramMemory::Named{.kind = kind});
    if (!is_new) {
      known->second.index = invalid_index; // nothing that follows is reported
      const StorageWords& other = words(known->second.kind);
      errors.add(failure(ErrorCode::duplicate_name,
                         fmt::format("{} {} and {} {} are both called {}", other.article, other.noun,
                                     of_kind.article, of_kind.noun, in_quotes(name)),
                         "rename one of them", std::move(pointer)));
      continue;
    }
    auto made = resolve({input, memory.files, kind, name, std::move(pointer),
                         fmt::format("{} {}", of_kind.argument, in_quotes(name))},
                        spec);
    if (errors.check(made)) {
      known->second.index = static_cast<std::uint32_t>(memory.buffers.size());
      memory.buffers.push_back(std::move(*made));
    }
  }
}

Result<std::array<std::uint32_t, 2>> resolve_swap(const ProgramMemory& memory,
                                                  const std::array<std::string, 2>& names,
                                                  const std::string& pointer) {
  std::array<std::uint32_t, 2> pair{};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto known = memory.names.find(names[i]);
    const bool image = known != memory.names.end() && known->second.kind == StorageKind::image;
    TIDEGATE_TRY(pair[i], memory.find(image ? StorageKind::image : StorageKind::buffer, names[i],
                                      fmt::format("{}/{}", pointer, i)));
  }
  const ProgramBuffer& first = memory.buffers[pair[0]];
  const ProgramBuffer& second = memory.buffers[pair[1]];
  const std::string alike = first.image || second.image ? "swap two images of the same format and size"
                                                        : "swap two buffers of the same type and count";
  const auto text = [](const ProgramBuffer& buffer) {
    return buffer.image ? describe(*buffer.image)
                        : fmt::format("{} of {}", plural(buffer.count, "element"), name(buffer.type));
  };
  const Refusal refusals[] = {
      {&first == &second, "",
       fmt::format("the {} {} is swapped with itself", first.kind(), in_quotes(first.name)), alike},
      {first.image != second.image || first.type != second.type || first.count != second.count, "",
       fmt::format("cannot swap {} ({}) with {} ({})", in_quotes(first.name), text(first),
                   in_quotes(second.name), text(second)),
       alike}};
  TIDEGATE_CHECK(first_of(refusals, pointer));
  return pair;
}

Result<ResolvedUntil> resolve_until(const Until& until, const ProgramMemory& memory) {
  TIDEGATE_TRY(const std::uint32_t found,
               memory.find(StorageKind::buffer, until.buffer, "/until/buffer",
                           "let a kernel write what ends the repetition into a buffer"));
  const ElementType type = memory.buffers[found].type;
  ResolvedUntil resolved{.buffer = found, .value = std::vector<std::byte>(element_bytes(type))};
  TIDEGATE_CHECK(at_place("/until/equals", store_number(until.equals, type, resolved.value.data())));
  return resolved;
}

} // namespace

ProgramMemory resolve_memory(const ResolveInput& input, ErrorList& errors) {
  const WaveProgram& program = input.program;
  ProgramMemory memory;
  add_all(input, StorageKind::buffer, program.buffers, resolve_buffer, memory, errors);
  add_all(input, StorageKind::image, program.images, resolve_image, memory, errors);
  add_all(input, StorageKind::list, program.hits, resolve_list, memory, errors);
  for (std::size_t i = 0; i < program.swap.size(); ++i) {
    const auto swap = resolve_swap(memory, program.swap[i], fmt::format("/swap/{}", i));
    if (errors.check(swap)) {
      memory.swaps.push_back(*swap);
      memory.buffers[(*swap)[0]].swapped = memory.buffers[(*swap)[1]].swapped = true;
    }
  }
  if (program.until) {
    auto until = resolve_until(*program.until, memory);
    memory.until = errors.check(until) ? std::optional(std::move(*until)) : std::nullopt;
  }
  return memory;
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
        is == StorageKind::image && !instead.empty()
            ? std::move(instead)
            : fmt::format("for a parameter give {{\"{}\": {}}}", words(is).argument, in_quotes(name)),
        pointer);
  }
  return found->second.index;
}

} // namespace tidegate::engine
