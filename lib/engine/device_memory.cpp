#include "engine/device_memory.hpp"

namespace tidegate::engine {
Result<HostContents> first_contents(const device::Session& session, const Job& program,
                                    std::uint64_t most_pinned_bytes, const std::vector<bool>& passed_over) {
  BufferContents contents(program.buffers.size());
  ErrorList errors;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    if (!program.buffers[i].first || (!passed_over.empty() && passed_over[i])) {
      continue;
    }
    auto bytes = program.buffers[i].first();
    if (!bytes && !bytes.error().pointer) {
      bytes.error().pointer = program.buffers[i].pointer + "/init";
    }
    if (errors.check(bytes)) {
      contents[i] = std::move(*bytes);
    }
  }
  TIDEGATE_CHECK(errors.result());
  return HostContents(session, std::move(contents), most_pinned_bytes);
}

HostContents output_room(const device::Session& session, const Job& program,
                         std::uint64_t most_pinned_bytes) {
  std::vector<std::uint64_t> sizes;
  for (const ProgramBuffer& buffer : program.buffers) {
    sizes.push_back(buffer.is_read_back() ? buffer.bytes : 0);
  }
  return {session, sizes, most_pinned_bytes};
}

namespace {

using device::ImageUse;

std::string_view text(ImageUse use) {
  return use.both                  ? "read and write at once"
         : use.reads && use.writes ? "read and write"
         : use.writes              ? "write"
                                   : "read";
}

// Uses of an image by waves, including images that it is swapped with.
ImageUse use_of(const Job& program, std::uint32_t image) {
  ImageUse use{.reads = program.buffers[image].swapped, .writes = program.buffers[image].swapped};
  for (const ProgramWave& wave : program.waves) {
    for (const ProgramArgument& argument : wave.arguments) {
      if (argument.kind == ProgramArgument::Kind::image &&
          (argument.buffer == image || program.buffers[image].swapped)) {
        use.reads |= argument.buffer == image && argument.access != Access::write;
        use.writes |= argument.buffer == image && argument.access != Access::read;
        use.both |= argument.access == Access::read_write;
      }
    }
  }
  return use;
}

Error lacks_format(const device::Session& session, const ProgramBuffer& image, const ImageUse& use,
                   const std::vector<ImageFormat>& supported) {
  std::string others; // with the same number of elements
  for (const ImageFormat format : supported) {
    if (elements_per_texel(format) == elements_per_texel(image.image->format)) {
      others += fmt::format("{}{}", others.empty() ? "" : ", ", name(format));
    }
  }
  return {.code = ErrorCode::unsupported_kernel,
          .message = fmt::format("{} has no {} of format {} that kernels {}", session.device_name,
                                 type_name(*image.image), name(image.image->format), text(use)),
          .fix = others.empty() ? "use a buffer, or another device" : "give one of " + others,
          .pointer = "/images/" + pointer_token(image.name) + "/format"};
}

void check_size(const device::Session& session, const ProgramBuffer& image) {
  const ImageShape& shape = *image.image;
  ImageShape most = session.largest_image(shape.kind);
  most.format = shape.format;
  if (shape.width > most.width || shape.height > most.height || shape.depth > most.depth ||
      shape.layers > most.layers) {
    throw device::Refused{{.code = ErrorCode::unsupported_kernel,
                           .message = fmt::format("{} is {}; {} takes {} at most", in_quotes(image.name),
                                                  describe(shape), session.device_name, describe(most)),
                           .fix = "cut it into several images, or use a buffer",
                           .pointer = "/images/" + pointer_token(image.name)}};
  }
}

} // namespace

void check_images(const device::Session& session, const Job& program) {
  for (std::uint32_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& image = program.buffers[i];
    if (!image.image) {
      continue;
    }
    const ImageUse use = use_of(program, i);
    const auto supported = session.image_formats(image.image->kind, use);
    if (std::ranges::find(supported, image.image->format) == supported.end()) {
      throw device::Refused{lacks_format(session, image, use, supported)};
    }
    check_size(session, image);
  }
}

device::Image allocate_image(const device::Session& session, const Job& program, std::size_t index) {
  const ProgramBuffer& image = program.buffers[index];
  return image.image ? device::doing("allocating the image " + in_quotes(image.name),
                                     [&] {
                                       return session.make_image(
                                           *image.image, use_of(program, static_cast<std::uint32_t>(index)));
                                     })
                     : device::Image();
}

Arena allocate_apart(const device::Session& session, const Job& program) {
  Arena arena;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    arena.views.push_back(buffer.in_arena() ? session.allocate(buffer.bytes) : device::Buffer());
    arena.parts.push_back({.memory = arena.views.back(), .object = allocate_image(session, program, i)});
  }
  return arena;
}

Arena allocate_arena(const device::Session& session, const Job& program, const MemoryLayout& layout,
                     ArenaUse use) {
  std::vector<std::size_t> order; // by offset
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].in_arena()) {
      order.push_back(i);
    }
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return layout.offsets[i]; });
  const bool one_block = use != ArenaUse::plain_launches || session.on_host;
  Arena arena;
  arena.parts.resize(program.buffers.size());
  arena.views.resize(program.buffers.size());
  if (one_block) {
    arena.whole = session.allocate(layout.arena_bytes);
  }
  for (std::size_t first = 0; first < order.size();) {
    // Buffers that overlap, directly or through others, are one block.
    const std::uint64_t begin = layout.offsets[order[first]];
    std::uint64_t end = begin;
    std::size_t last = first;
    for (; last < order.size() && (last == first || layout.offsets[order[last]] < end); ++last) {
      end = std::max(end, layout.offsets[order[last]] + program.buffers[order[last]].bytes);
    }
    const device::Buffer block = one_block ? arena.whole : session.allocate(end - begin);
    for (; first < last; ++first) {
      const std::size_t i = order[first];
      arena.parts[i] = {.memory = block, .offset = one_block ? layout.offsets[i] : layout.offsets[i] - begin};
    }
  }
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const DevicePart& part = arena.parts[i];
    arena.parts[i].object = allocate_image(session, program, i);
    if (program.buffers[i].in_arena() && use != ArenaUse::generated_kernel) {
      arena.views[i] = !one_block && part.offset == 0
                           ? part.memory
                           : session.part_of(part.memory, part.offset, program.buffers[i].bytes);
    }
  }
  return arena;
}

void write_first(const device::Session& session, const ProgramBuffer& buffer,
                 std::span<const std::byte> first, const DevicePart& to, Transferred when) {
  if (first.empty()) {
    clear_contents(session, buffer, to);
  } else if (buffer.image) {
    session.write_image(to.object, *buffer.image, first);
  } else {
    session.write(to.memory, to.offset, first, when);
  }
}

void clear_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& part) {
  constexpr std::byte zero{0};
  if (!buffer.image && buffer.bytes != 0) {
    session.fill(part.memory, part.offset, buffer.bytes, std::span(&zero, 1));
  } else if (buffer.image && !buffer.transient()) {
    session.write_image(part.object, *buffer.image, std::vector<std::byte>(buffer.bytes));
  }
}

void copy_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& from,
                   const DevicePart& to) {
  buffer.image ? session.copy_image(from.object, to.object, *buffer.image)
               : session.copy(from.memory, from.offset, to.memory, to.offset, buffer.bytes);
}

void read_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& from,
                   std::span<std::byte> bytes, Transferred when) {
  if (buffer.image) {
    session.read_image(from.object, *buffer.image, bytes);
  } else {
    session.read(from.memory, from.offset, bytes, when);
  }
}

// Type names and size rules of OpenCL images.

namespace {

struct KindRow {
  std::string_view type, depth_type; // of images of colours, and of depths if there are such
  bool height, depth, layers;        // besides the width
};
constexpr std::array<KindRow, 6> kind_rows{{{"image1d_t", "", false, false, false},
                                            {"image1d_buffer_t", "", false, false, false},
                                            {"image1d_array_t", "", false, false, true},
                                            {"image2d_t", "image2d_depth_t", true, false, false},
                                            {"image2d_array_t", "image2d_array_depth_t", true, false, true},
                                            {"image3d_t", "", true, true, false}}};

const KindRow& kind_row(const ImageShape& shape) {
  return kind_rows[static_cast<std::size_t>(shape.kind)];
}

} // namespace

std::string_view type_name(const ImageShape& shape) {
  const KindRow& kind = kind_row(shape);
  const bool depth = order_of(shape.format) == ChannelOrder::depth && !kind.depth_type.empty();
  return depth ? kind.depth_type : kind.type;
}

std::string describe(const ImageShape& shape) {
  const KindRow& kind = kind_row(shape);
  return fmt::format("{} of {}{}{}{}", name(shape.format), shape.width,
                     kind.height ? fmt::format(" x {}", shape.height) : "",
                     kind.depth ? fmt::format(" x {}", shape.depth) : "",
                     kind.layers ? fmt::format(" in {} layers", shape.layers) : "");
}

std::vector<std::uint64_t> array_shape(const ImageShape& shape) {
  const KindRow& kind = kind_row(shape);
  const std::uint32_t elements = elements_per_texel(shape.format);
  std::vector<std::uint64_t> dimensions;
  for (const auto& [counts, size] : {std::pair(kind.layers, shape.layers), std::pair(kind.depth, shape.depth),
                                     std::pair(kind.height, shape.height), std::pair(true, shape.width),
                                     std::pair(elements > 1, std::uint64_t{elements})}) {
    if (counts) {
      dimensions.push_back(size);
    }
  }
  return dimensions;
}

} // namespace tidegate::engine
