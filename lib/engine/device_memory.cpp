#include "engine/device_memory.hpp"

#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

// Transfers are fastest for whole cache lines.
constexpr std::uint64_t line_bytes = 256;

std::uint64_t block_bytes(const std::vector<std::uint64_t>& sizes) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t size : sizes) {
    bytes += (size + line_bytes - 1) / line_bytes * line_bytes;
  }
  return bytes;
}

std::shared_ptr<std::byte> pin(const device::Session& session, std::uint64_t bytes,
                               std::uint64_t most_bytes) {
  return session.on_host || bytes == 0 || bytes > most_bytes ? nullptr : session.pin(bytes);
}

std::vector<std::span<std::byte>> parts_of(std::byte* block, const std::vector<std::uint64_t>& sizes) {
  std::vector<std::span<std::byte>> parts;
  std::uint64_t at = 0;
  for (const std::uint64_t size : sizes) {
    parts.emplace_back(block + at, size);
    at += (size + line_bytes - 1) / line_bytes * line_bytes;
  }
  return parts;
}

} // namespace

std::uint64_t checked_index(std::uint64_t index, std::uint64_t count, std::string_view what) {
  if (index >= count) {
    throw device::Refused{
        {.code = ErrorCode::opencl_failure,
         .message = fmt::format("the device reports {} {}, and there are {}", what, index, count),
         .fix = "a kernel may have written past the end of a buffer: --check bounds reports it"}};
  }
  return index;
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

HostContents::HostContents(BufferContents contents) : owned_(std::move(contents)) {
  of_.assign(owned_.begin(), owned_.end());
}

HostContents::HostContents(const device::Session& session, BufferContents contents,
                           std::uint64_t most_pinned_bytes)
    : HostContents(std::move(contents)) {
  std::vector<std::uint64_t> sizes;
  for (const auto& bytes : owned_) {
    sizes.push_back(bytes.size());
  }
  pinned_ = pin(session, block_bytes(sizes), most_pinned_bytes);
  if (pinned_) {
    of_ = parts_of(pinned_.get(), sizes);
    for (std::size_t i = 0; i < owned_.size(); ++i) {
      std::ranges::copy(owned_[i], of_[i].begin());
    }
    owned_ = {};
  }
}

HostContents::HostContents(const device::Session& session, const std::vector<std::uint64_t>& sizes,
                           std::uint64_t most_pinned_bytes) {
  const std::uint64_t bytes = block_bytes(sizes);
  pinned_ = pin(session, bytes, most_pinned_bytes);
  if (!pinned_) {
    block_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  }
  of_ = parts_of(pinned_ ? pinned_.get() : block_.get(), sizes);
}

bool operator==(const HostContents& a, const HostContents& b) {
  return std::ranges::equal(a.of_, b.of_, same_bytes);
}

namespace {

using device::require;

// Upper limit of one transfer: drivers take long for each, and a run can be interrupted only between them.
constexpr std::uint64_t transfer_bytes = std::uint64_t{256} << 20U;

} // namespace

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
  ImageShape most = require(session.largest_image(shape.kind), "asking for the largest image");
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
    const auto supported =
        require(session.image_formats(image.image->kind, use), "asking for the formats of images");
    if (std::ranges::find(supported, image.image->format) == supported.end()) {
      throw device::Refused{lacks_format(session, image, use, supported)};
    }
    check_size(session, image);
  }
}

device::Image allocate_image(const device::Session& session, const Job& program, std::size_t index) {
  const ProgramBuffer& image = program.buffers[index];
  return image.image
             ? require(session.make_image(*image.image, use_of(program, static_cast<std::uint32_t>(index))),
                       "allocating the image " + in_quotes(image.name))
             : device::Image();
}

device::Sampler make_sampler(const device::Session& session, const SamplerSpec& spec) {
  return require(session.make_sampler(spec), "making a sampler");
}

device::Buffer allocate(const device::Session& session, std::uint64_t bytes) {
  return require(session.allocate(std::max<std::uint64_t>(bytes, 1)),
                 fmt::format("allocating {} of device memory", bytes_text(bytes)));
}

device::Buffer sub_buffer(const device::Session& session, const device::Buffer& whole, std::uint64_t offset,
                          std::uint64_t bytes) {
  return require(session.part_of(whole, offset, bytes), "making a sub-buffer");
}

Arena allocate_apart(const device::Session& session, const Job& program) {
  Arena arena;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const ProgramBuffer& buffer = program.buffers[i];
    arena.views.push_back(buffer.in_arena() ? allocate(session, buffer.bytes) : device::Buffer());
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
    arena.whole = allocate(session, layout.arena_bytes);
  }
  for (std::size_t first = 0; first < order.size();) {
    // Buffers that overlap, directly or through others, are one block.
    const std::uint64_t begin = layout.offsets[order[first]];
    std::uint64_t end = begin;
    std::size_t last = first;
    for (; last < order.size() && (last == first || layout.offsets[order[last]] < end); ++last) {
      end = std::max(end, layout.offsets[order[last]] + program.buffers[order[last]].bytes);
    }
    const device::Buffer block = one_block ? arena.whole : allocate(session, end - begin);
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
                           : sub_buffer(session, part.memory, part.offset, program.buffers[i].bytes);
    }
  }
  return arena;
}

Arena::~Arena() {
  while (!views.empty()) {
    views.pop_back();
  }
}

void touch(const device::Session& session, const Arena& arena) {
  std::vector<device::Buffer> views;
  std::ranges::copy_if(arena.views, std::back_inserter(views), [](const auto& view) { return bool(view); });
  if (!views.empty() && !session.on_host) {
    require(session.migrate(views), "making sub-buffers known to the device");
  }
}

void fill(const device::Session& session, const device::Buffer& to, std::uint64_t offset, std::uint64_t bytes,
          std::span<const std::byte> pattern, device::Event* event) {
  require(session.fill(to, offset, bytes, pattern, event), "filling device memory");
}

void upload(const device::Session& session, const device::Buffer& to, std::uint64_t offset,
            std::span<const std::byte> bytes, Transferred when) {
  for (std::uint64_t at = 0; at < bytes.size(); at += transfer_bytes) {
    const std::uint64_t size = std::min<std::uint64_t>(transfer_bytes, bytes.size() - at);
    require(session.write(to, offset + at, bytes.subspan(at, size), when), "writing to device memory");
  }
}

void download(const device::Session& session, const device::Buffer& from, std::uint64_t offset,
              std::span<std::byte> bytes, Transferred when) {
  for (std::uint64_t at = 0; at < bytes.size(); at += transfer_bytes) {
    const std::uint64_t size = std::min<std::uint64_t>(transfer_bytes, bytes.size() - at);
    require(session.read(from, offset + at, bytes.subspan(at, size), when), "reading device memory back");
  }
}

void write_first(const device::Session& session, const ProgramBuffer& buffer,
                 std::span<const std::byte> first, const DevicePart& to, Transferred when) {
  if (first.empty()) {
    clear_contents(session, buffer, to);
  } else if (buffer.image) {
    require(session.write_image(to.object, *buffer.image, first), "writing an image");
  } else {
    upload(session, to.memory, to.offset, first, when);
  }
}

void clear_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& part) {
  constexpr std::byte zero{0};
  if (!buffer.image && buffer.bytes != 0) {
    fill(session, part.memory, part.offset, buffer.bytes, std::span(&zero, 1));
  } else if (buffer.image && !buffer.transient()) {
    require(session.write_image(part.object, *buffer.image, std::vector<std::byte>(buffer.bytes)),
            "clearing an image");
  }
}

void copy_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& from,
                   const DevicePart& to) {
  require(buffer.image ? session.copy_image(from.object, to.object, *buffer.image)
                       : session.copy(from.memory, from.offset, to.memory, to.offset, buffer.bytes, nullptr),
          buffer.image ? "copying an image" : "copying an input");
}

void read_contents(const device::Session& session, const ProgramBuffer& buffer, const DevicePart& from,
                   std::span<std::byte> bytes, Transferred when) {
  if (buffer.image) {
    require(session.read_image(from.object, *buffer.image, bytes), "reading an image back");
  } else {
    download(session, from.memory, from.offset, bytes, when);
  }
}

// Type names and size rules of OpenCL images.

namespace {

bool is_depth(const ImageShape& shape) {
  return row(shape.format).order == ChannelOrder::depth;
}

} // namespace

std::string_view type_name(const ImageShape& shape) {
  switch (shape.kind) {
  case ImageKind::image1d: return "image1d_t";
  case ImageKind::image1d_buffer: return "image1d_buffer_t";
  case ImageKind::image1d_array: return "image1d_array_t";
  case ImageKind::image2d: return is_depth(shape) ? "image2d_depth_t" : "image2d_t";
  case ImageKind::image2d_array: return is_depth(shape) ? "image2d_array_depth_t" : "image2d_array_t";
  case ImageKind::image3d: break;
  }
  return "image3d_t";
}

std::string describe(const ImageShape& shape) {
  std::string text = fmt::format("{} of {}", name(shape.format), shape.width);
  if (shape.kind == ImageKind::image2d || shape.kind == ImageKind::image2d_array ||
      shape.kind == ImageKind::image3d) {
    text += fmt::format(" x {}", shape.height);
  }
  if (shape.kind == ImageKind::image3d) {
    text += fmt::format(" x {}", shape.depth);
  }
  if (shape.kind == ImageKind::image1d_array || shape.kind == ImageKind::image2d_array) {
    text += fmt::format(" in {} layers", shape.layers);
  }
  return text;
}

std::vector<std::uint64_t> array_shape(const ImageShape& shape) {
  std::vector<std::uint64_t> dimensions;
  switch (shape.kind) {
  case ImageKind::image1d:
  case ImageKind::image1d_buffer: dimensions = {shape.width}; break;
  case ImageKind::image1d_array: dimensions = {shape.layers, shape.width}; break;
  case ImageKind::image2d: dimensions = {shape.height, shape.width}; break;
  case ImageKind::image2d_array: dimensions = {shape.layers, shape.height, shape.width}; break;
  case ImageKind::image3d: dimensions = {shape.depth, shape.height, shape.width}; break;
  }
  if (const std::uint32_t elements = elements_per_texel(shape.format); elements > 1) {
    dimensions.push_back(elements);
  }
  return dimensions;
}

void Kept::use(const std::shared_ptr<Holding>& holding) {
  holding->last_run = run;
  if (std::ranges::find(holdings, holding) == holdings.end()) {
    holdings.push_back(holding);
  }
}

std::optional<DevicePart> Kept::find(const std::string& content) {
  for (const auto& holding : holdings) {
    const auto at = std::ranges::find(holding->contents, content);
    if (!content.empty() && at != holding->contents.end()) {
      holding->last_run = run;
      return holding->arena.parts[static_cast<std::size_t>(at - holding->contents.begin())];
    }
  }
  return {};
}

bool Kept::make_room(std::uint64_t bytes, std::uint64_t budget_bytes) {
  std::uint64_t held = bytes;
  for (const auto& holding : holdings) {
    held += holding->bytes;
  }
  while (budget_bytes != 0 && held > budget_bytes) {
    const auto oldest = std::ranges::min_element(holdings, {}, &Holding::last_run);
    if (oldest == holdings.end() || (*oldest)->last_run == run) {
      return false;
    }
    held -= (*oldest)->bytes;
    holdings.erase(oldest);
  }
  return true;
}

void Kept::forget() {
  programs.clear();
  holdings.clear();
  session.reset();
}

void Kept::keep(const std::string& key, std::shared_ptr<Prepared> program) {
  programs.insert_or_assign(key, Program{std::move(program), run});
  if (programs.size() > most_programs) {
    programs.erase(
        std::ranges::min_element(programs, {}, [](const auto& entry) { return entry.second.last_run; }));
  }
}

} // namespace tidegate::engine
