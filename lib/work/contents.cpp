// First contents of buffers and images, by rules or from files, and files of outputs.
#include "work/contents.hpp"

#include "core/files.hpp"

namespace tidegate::engine {
namespace {

using Contents = std::vector<std::byte>;

tl::unexpected<Error> bad_file(const std::string& path, std::string message, std::string fix) {
  return tl::unexpected(Error{
      .code = ErrorCode::bad_array, .message = std::move(message), .fix = std::move(fix), .source = path});
}

template <class T>
Result<T> in_file(const std::string& path, Result<T> result) {
  if (!result) {
    result.error().source = path;
  }
  return result;
}

bool is_npy(std::string_view path) {
  return path.ends_with(".npy");
}

// Finds the elements in a file: a tensor by its name, an array, or raw bytes, which have no type.
Result<Tensor> elements_in(const Descriptor& file, const std::string& path, const BufferInit& init) {
  if (init.tensor) {
    return find_tensor(file, path, *init.tensor);
  }
  std::error_code ignored;
  const std::uint64_t size = std::filesystem::file_size(path, ignored);
  if (!is_npy(path)) {
    return Tensor{.type = {}, .shape = {size}, .bytes = size};
  }
  constexpr std::uint64_t header_room = std::uint64_t{1} << 20U; // far more than numpy.save writes
  std::string begin(std::min(size, header_room), '\0');
  TIDEGATE_CHECK(read_tensor(file, path, {.bytes = begin.size()}, std::as_writable_bytes(std::span(begin))));
  TIDEGATE_TRY(NpyHead head, in_file(path, parse_npy_head(begin, size)));
  return Tensor{.type = std::string(name(head.type)),
                .shape = std::move(head.shape),
                .offset = head.offset,
                .bytes = head.bytes};
}

// Reads bytes of a buffer's contents from its file, from `begin` on. Type, count and shape must match, but for arrays and
// tensors that `convert` allows, and tensors for unsigned types, which are bytes as those of raw files are.
Result<void> load(const BufferSpec& buffer, const std::string& path, std::uint64_t begin,
                  std::span<std::byte> contents) {
  const BufferInit& init = *buffer.init;
  TIDEGATE_TRY(const Descriptor file, open_input(path, FileKinds::regular));
  TIDEGATE_TRY(const Tensor stored, elements_in(file, path, init));
  const bool raw = stored.type.empty();
  const bool same = type_of(stored) == buffer.type;
  const bool converts = !raw && !same && init.convert;
  const std::string_view what = raw ? "file" : init.tensor ? "tensor" : "array";
  const auto refused = [&](const std::string& has, const std::string& needed, std::string fix) {
    return bad_file(path, fmt::format("the {} {}, and {} needed", what, has, needed), std::move(fix));
  };
  if (!raw && !same && !converts &&
      (!init.tensor || is_signed_integer(buffer.type) || is_float(buffer.type))) {
    return refused("holds " + printable(stored.type), fmt::format("{} is", name(buffer.type)),
                   init.tensor
                       ? "give the buffer the tensor's type, say \"convert\": true, or give it an "
                         "unsigned type, which takes the bytes as they are"
                       : fmt::format("state a type or format of {}, or say \"convert\": true", stored.type));
  }
  NpyArray array; // what is converted is read as a whole
  if (converts) {
    TIDEGATE_TRY(array, read_array(file, path, stored));
  }
  const std::uint64_t unit = same ? element_bytes(buffer.type) : converts ? element_bytes(array.type) : 1;
  const std::uint64_t has = (converts ? array.bytes.size() : stored.bytes) / unit;
  const std::uint64_t needed = buffer.count * (same || converts ? 1 : element_bytes(buffer.type));
  const std::string shape = shortened(shape_text(stored.shape));
  if (has != needed) {
    return refused(fmt::format("{} {}", raw ? "holds" : fmt::format("of shape {} has", shape),
                               plural(has, same || converts ? "element" : "byte")),
                   fmt::format("{} are", needed),
                   has == 0 ? "name a file with elements"
                   : same || converts
                       ? fmt::format("state the count {} or its size, or name another file", has)
                       : "state the count or size of the file, or name another file");
  }
  if (is_npy(path) && buffer.shape && stored.shape.size() > 1 && stored.shape != *buffer.shape) {
    return refused("has the shape " + shape, shortened(shape_text(*buffer.shape)) + " is",
                   fmt::format("state the shape or size of the {}, or name another file", what));
  }
  if (!converts) {
    return read_tensor(file, path, {.offset = stored.offset + begin, .bytes = contents.size()}, contents);
  }
  TIDEGATE_TRY(array, in_file(path, converted(array, buffer.type)));
  std::ranges::copy(std::span(array.bytes).subspan(begin, contents.size()), contents.begin());
  return {};
}

} // namespace

Result<std::vector<std::uint64_t>> shape_in_file(const BufferSpec& buffer, const std::string& path) {
  TIDEGATE_TRY(const Descriptor file, open_input(path, FileKinds::regular));
  TIDEGATE_TRY(Tensor stored, elements_in(file, path, *buffer.init));
  const std::size_t size = element_bytes(buffer.type);
  if (is_npy(path) || type_of(stored) == buffer.type || (buffer.init->tensor && buffer.init->convert)) {
    return stored.shape.empty() ? std::vector{std::uint64_t{1}} : std::move(stored.shape);
  }
  if (stored.bytes % size != 0) {
    return bad_file(path,
                    fmt::format("the {} holds {}, and elements of {} have {}",
                                buffer.init->tensor ? "tensor" : "file", plural(stored.bytes, "byte"),
                                name(buffer.type), size),
                    "give the buffer another type, or name another file");
  }
  return std::vector{stored.bytes / size};
}

std::string buffer_file_head(ElementType type, const std::string& path,
                             std::span<const std::uint64_t> shape) {
  return is_npy(path) ? npy_header(type, shape) : std::string();
}

Result<void> write_buffer(ElementType type, std::span<const std::byte> contents, const std::string& path,
                          std::span<const std::uint64_t> shape) {
  TIDEGATE_TRY(auto file, Output::open(path, FileKinds::no_named_pipes));
  const std::string header = buffer_file_head(type, path, shape);
  const std::string_view data(reinterpret_cast<const char*>(contents.data()), contents.size());
  return file.write(header).and_then([&] { return file.write(data); }).and_then([&] {
    return file.commit();
  });
}

namespace {

__extension__ typedef unsigned __int128 UnsignedWide;

Error failed(std::string message, std::string fix) {
  return {.code = ErrorCode::out_of_range, .message = std::move(message), .fix = std::move(fix)};
}

// Elements of a buffer from the one with number `first` on, as many as there is room for.
struct Elements {
  Contents& contents;
  std::uint64_t first = 0;
};

// Sets element i to element(i). memcpy with a constant size compiles to a store.
template <class T>
void generate(const Elements& elements, const auto& element) {
  const std::uint64_t count = elements.contents.size() / sizeof(T);
  std::byte* const data = elements.contents.data();
  for (std::uint64_t i = 0; i < count; ++i) {
    const T value = element(elements.first + i);
    std::memcpy(data + i * sizeof(T), &value, sizeof(T));
  }
}

Result<void> fill_all(const Elements& elements, ElementType type, const Number& number) {
  std::array<std::byte, sizeof(std::uint64_t)> pattern{};
  TIDEGATE_CHECK(store_number(number, type, pattern.data()));
  with_type(type, [&]<class T>(T value) {
    std::memcpy(&value, pattern.data(), sizeof(T));
    generate<T>(elements, [value](std::uint64_t) { return value; });
  });
  return {};
}

// Floats are computed in double precision and rounded once.
template <class T>
Result<void> fill_iota(const Elements& elements, std::uint64_t count, ElementType type, const Iota& iota) {
  const auto start = as_integer(iota.start);
  const auto step = as_integer(iota.step);
  if (!converted<T>(iota.start)) {
    return tl::unexpected(does_not_fit(iota.start, type));
  }
  if (std::integral<T> ? !step : !converted<T>(iota.step)) {
    return tl::unexpected(does_not_fit(iota.step, type));
  }
  const double first = as_double(iota.start);
  const double by = as_double(iota.step);
  const auto element = [=](std::uint64_t i) {
    if constexpr (std::integral<T>) { // elements are equal modulo 2^64
      return static_cast<T>(static_cast<std::uint64_t>(*start) + i * static_cast<std::uint64_t>(*step));
    } else {
      return rounded<T>(first + static_cast<double>(i) * by);
    }
  };
  const auto leaves = [&](std::uint64_t i) {
    if constexpr (std::integral<T>) {
      WideInteger value = 0;
      return __builtin_mul_overflow(WideInteger{i}, *step, &value) ||
             __builtin_add_overflow(*start, value, &value) || !fits<T>(value);
    } else {
      return !std::isfinite(to_double(element(i)));
    }
  };
  if (count > 0 && leaves(count - 1)) {
    std::uint64_t inside = 0; // the progression is monotonic: bisect for the first element outside
    std::uint64_t outside = count - 1;
    while (outside - inside > 1) {
      const std::uint64_t middle = inside + (outside - inside) / 2;
      (leaves(middle) ? outside : inside) = middle;
    }
    return tl::unexpected(failed(fmt::format("the iota leaves the range of {}, {}, at element {}", name(type),
                                             range_text(type), outside),
                                 "lower the count or the step, or use a larger type"));
  }
  generate<T>(elements, element);
  return {};
}

Error empty_random_range(const std::string& low, const std::string& high, ElementType type) {
  return failed(fmt::format("no {} is in the random range from {} to below {}", name(type), low, high),
                "give a low below the high");
}

// A multiply and a shift map 64 random bits to the range. For w values the bias is at most w in 2^64 (Lemire,
// 2019, without rejection).
template <std::integral T>
Result<void> fill_random(const Elements& elements, ElementType type, const Random& random) {
  using Limits = std::numeric_limits<T>;
  const Number lowest = std::signed_integral<T> ? Number(static_cast<std::int64_t>(Limits::min())) : Number();
  const Number low_number = random.low.value_or(lowest);
  const auto low = as_integer(low_number);
  if (!low || !fits<T>(*low)) {
    return tl::unexpected(does_not_fit(low_number, type));
  }
  const auto high = random.high ? as_integer(*random.high) : WideInteger{Limits::max()} + 1;
  if (!high || *high > WideInteger{Limits::max()} + 1) { // `high` is exclusive
    return tl::unexpected(does_not_fit(*random.high, type));
  }
  if (*low >= *high) {
    return tl::unexpected(empty_random_range(number_text(low_number), fmt::format("{}", *high), type));
  }
  const auto width = static_cast<UnsignedWide>(*high - *low); // at most 2^64
  const auto low_bits = static_cast<std::uint64_t>(*low);
  const RandomNumbers numbers(random.seed);
  generate<T>(elements, [=](std::uint64_t i) {
    return static_cast<T>(low_bits + static_cast<std::uint64_t>((numbers.bits(i) * width) >> 64U));
  });
  return {};
}

// Rounding may leave [low, high) at either end; the nearest value of T inside replaces it.
template <class T>
Result<void> fill_random(const Elements& elements, ElementType type, const Random& random) {
  const Number low_number = random.low.value_or(std::uint64_t{0});
  const Number high_number = random.high.value_or(std::uint64_t{1});
  const auto first = converted<T>(low_number);
  const auto end = converted<T>(high_number);
  if (!first || !end) {
    return tl::unexpected(does_not_fit(first ? high_number : low_number, type));
  }
  const double low = as_double(low_number);
  const double high = as_double(high_number);
  const double least = to_double(to_double(*first) < low ? next_towards(INFINITY, *first) : *first);
  const double most = to_double(to_double(*end) >= high ? next_towards(-INFINITY, *end) : *end);
  if (least > most) {
    return tl::unexpected(empty_random_range(number_text(low_number), number_text(high_number), type));
  }
  const RandomNumbers numbers(random.seed);
  generate<T>(elements, [=](std::uint64_t i) {
    const double part = numbers.unit(i);
    return rounded<T>(std::min(std::max((1 - part) * low + part * high, least), most));
  });
  return {};
}

// With no room it only checks the rule.
Result<void> fill_by_rule(const Elements& elements, const BufferSpec& buffer) {
  const BufferInit& init = *buffer.init;
  if (init.fill) {
    return fill_all(elements, buffer.type, *init.fill);
  }
  return with_type(buffer.type, [&]<class T>(T) -> Result<void> {
    if (init.iota) {
      return fill_iota<T>(elements, buffer.count, buffer.type, *init.iota);
    }
    return init.random ? fill_random<T>(elements, buffer.type, *init.random) : Result<void>();
  });
}

} // namespace

Result<std::vector<std::byte>> initial_part(const BufferSpec& buffer, const std::string& folder,
                                            std::uint64_t begin, std::uint64_t bytes) {
  try {
    Contents contents(bytes);
    if (buffer.init && buffer.init->file) {
      TIDEGATE_CHECK(load(buffer, path_in(folder, *buffer.init->file), begin, contents));
    } else if (buffer.init) {
      TIDEGATE_CHECK(fill_by_rule({contents, begin / element_bytes(buffer.type)}, buffer));
    }
    return contents;
  } catch (const std::bad_alloc&) {
    return tl::unexpected(Error{
        .code = ErrorCode::host_out_of_memory,
        .message = fmt::format("the host has no memory left for {} elements of {}, {}",
                               bytes / element_bytes(buffer.type), name(buffer.type), bytes_text(bytes)),
        .fix = "give the buffer a lower count, or the process more memory",
        .requested = bytes});
  }
}

Result<void> check_rule(const BufferSpec& buffer) {
  Contents nothing;
  return buffer.init ? fill_by_rule({nothing}, buffer) : Result<void>();
}

Result<std::vector<std::byte>> initial_contents(const BufferSpec& buffer, const std::string& folder) {
  if (buffer.count > Contents().max_size() / element_bytes(buffer.type)) {
    return failure(ErrorCode::out_of_range,
                   fmt::format("{} elements of {} do not fit the memory", buffer.count, name(buffer.type)),
                   "give the buffer a lower count");
  }
  return initial_part(buffer, folder, 0, buffer.count * element_bytes(buffer.type));
}

// Images in PNG files, which need their bits and channels. Other files of images are those of buffers of the image's shape.

namespace {

// Returns a picture whose samples are the image's texels, still without them; nothing if no PNG can hold the image.
std::optional<Picture> picture_of(const ImageShape& shape) {
  const std::string_view order = channel_orders[static_cast<std::size_t>(order_of(shape.format))];
  const ChannelType type = type_of(shape.format);
  const bool samples = type == ChannelType::unorm8 || type == ChannelType::unorm16 ||
                       type == ChannelType::uint8 || type == ChannelType::uint16;
  constexpr std::uint64_t most = 1'000'000; // limit of libpng for width and height, in pixels
  if (!samples || order == "rg" || shape.kind != ImageKind::image2d || shape.width > most ||
      shape.height > most) {
    return std::nullopt;
  }
  return Picture{.width = static_cast<std::uint32_t>(shape.width),
                 .height = static_cast<std::uint32_t>(shape.height),
                 .channels = elements_per_texel(shape.format),
                 .bits = static_cast<std::uint32_t>(8 * element_bytes(element_type(shape.format))),
                 .blue_first = order.ends_with("bgra"),
                 .alpha_first = order == "argb"};
}

} // namespace

bool is_png(const std::string& path) {
  return lower_case(path).ends_with(".png");
}

Result<void> check_image_files(const ProgramBuffer& image, const BufferSpec& spec) {
  const std::optional<std::string>& input = spec.init ? spec.init->file : std::nullopt;
  for (const auto& [file, place] : {std::pair(input, "/init/file"), std::pair(spec.output, "/output")}) {
    if (file && is_png(*file) && !picture_of(*image.image)) {
      return invalid_program(
          fmt::format("a PNG cannot hold the image {}, {}", in_quotes(image.name), describe(*image.image)),
          "PNG files hold two dimensions of unsigned 8 or 16 bits, in one channel or four: name an .npy file",
          image.pointer + place);
    }
  }
  return {};
}

Result<std::vector<std::uint64_t>> size_in_file(const ImageSpec& image, const std::string& path) {
  if (is_png(path)) {
    TIDEGATE_TRY(const std::string file, read_all(path, documents::document_bytes_limit));
    TIDEGATE_TRY(const auto size, in_file(path, png_size(file)));
    return std::vector<std::uint64_t>(size.begin(), size.end());
  }
  if (!is_npy(path)) {
    return bad_file(path, "raw bytes state no size", "give the image a size, or name a .png or .npy file");
  }
  TIDEGATE_TRY(const auto shape, shape_in_file({.init = BufferInit{.file = path}}, path));
  // Without channels and layers. An array with others does not fit the image.
  std::vector<std::uint64_t> size(shape.rbegin(), shape.rend());
  size.erase(size.begin(), size.begin() + (elements_per_texel(image.format) > 1 ? 1 : 0));
  size.resize(size.size() - (image.layers && !size.empty() ? 1 : 0));
  return size;
}

Result<std::vector<std::byte>> read_png(const ImageShape& shape, const std::string& path) {
  // A PNG is smaller than its samples, apart from its metadata.
  constexpr std::size_t room = std::size_t{64} << 20U;
  const Picture form = *picture_of(shape);
  const std::size_t bytes = std::size_t{form.width} * form.height * form.channels * form.bits / 8;
  TIDEGATE_TRY(const std::string file, read_all(path, bytes * 2 + room));
  TIDEGATE_TRY(Picture picture, in_file(path, parse_png(file, form.width, form.height, form)));
  return std::move(picture.samples);
}

Result<void> write_png(const ImageShape& shape, std::span<const std::byte> contents,
                       const std::string& path) {
  Picture picture = *picture_of(shape);
  picture.samples.assign(contents.begin(), contents.end());
  TIDEGATE_TRY(const std::string png, png_file(std::move(picture)));
  TIDEGATE_TRY(Output file, Output::open(path, FileKinds::no_named_pipes));
  return file.write(png).and_then([&] { return file.commit(); });
}

} // namespace tidegate::engine
