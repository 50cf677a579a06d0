// Converts half floats, and parses and writes NumPy's array files.
#include "core/npy.hpp"

#include <tidegate/core/describe.hpp>

namespace tidegate {
namespace {

constexpr std::uint16_t half_sign = 0x8000;

} // namespace

// A half counts steps of 2^(exponent - 10), where the least exponent is that of the subnormal numbers, too. A carry of the
// rounding into the next exponent is right as it is.
Half half_from(double value) {
  constexpr double first_too_large = 65520; // half-way between the largest half and 2^16
  constexpr int least_exponent = -14;
  const double magnitude = std::fabs(value);
  unsigned bits = std::isnan(value) ? 0x7e00 : 0x7c00; // NaN, infinity
  if (magnitude < first_too_large) {
    const int exponent = magnitude == 0 ? least_exponent : std::max(std::ilogb(magnitude), least_exponent);
    bits = static_cast<unsigned>((exponent - least_exponent) * 1024 +
                                 static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent))));
  }
  return {static_cast<std::uint16_t>((std::signbit(value) ? half_sign : 0U) | bits)};
}

double to_double(Half value) {
  const unsigned exponent = (value.bits >> 10U) & 31U;
  const double fraction = value.bits & 1023U;
  const double magnitude = exponent == 0    ? fraction * 0x1p-24
                           : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                            : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
  return (value.bits & half_sign) != 0 ? -magnitude : magnitude;
}

Half next_towards(float infinity, Half value) {
  if ((value.bits & ~half_sign) == 0) {
    return {static_cast<std::uint16_t>(infinity < 0 ? half_sign | 1U : 1U)};
  }
  const bool grows = (infinity < 0) == ((value.bits & half_sign) != 0);
  return {static_cast<std::uint16_t>(grows ? value.bits + 1 : value.bits - 1)};
}

std::string element_text(ElementType type, const std::byte* at) {
  return with_type(type, [at]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    if constexpr (std::same_as<T, Half>) {
      return fmt::format("0x{:04x}", value.bits);
    } else if constexpr (sizeof(T) == 1) {
      return fmt::format("{}", static_cast<int>(value));
    } else {
      return fmt::format("{}", value);
    }
  });
}

// A header's dictionary.
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

namespace documents {

constexpr Field npy_header_fields[] = {required<&NpyHeader::descr>(""),
                                       required<&NpyHeader::fortran_order>(""),
                                       required<&NpyHeader::shape>("")};
TIDEGATE_RECORD(NpyHeader, npy_header_fields);

} // namespace documents

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::array<std::string_view, 11> npy_types{"|i1", "|u1", "<i2", "<u2", "<i4", "<u4",
                                                     "<i8", "<u8", "<f2", "<f4", "<f8"}; // by ElementType

Error bad_array(std::string message, std::string fix = "write the file again with numpy.save") {
  return {.code = ErrorCode::bad_array, .message = std::move(message), .fix = std::move(fix)};
}

// Turns a header's Python into JSON: strings without escapes, True and False, and tuples of integers, which Python 2 wrote
// with an L.
std::string json_of(std::string_view python) {
  std::string json;
  char quote = '\0'; // of the string that is open
  for (const char c : python) {
    if (quote == '\0' ? c == '\'' || c == '"' : c == quote) {
      quote = quote == '\0' ? c : '\0';
      json += '"';
    } else if (quote != '\0') {
      json += c;
    } else if (c == ')' || c == '}') {
      const std::size_t last = json.find_last_not_of(' ');
      json.erase(last != std::string::npos && json[last] == ',' ? last : json.size());
      json += c == ')' ? ']' : c;
    } else if (c != 'L') {
      json += c == '('                                                         ? '['
              : c == 'T'                                                       ? 't'
              : c == 'F'                                                       ? 'f'
              : std::string_view("\t\n\r\f").find(c) != std::string_view::npos ? ' '
                                                                               : c;
    }
  }
  return json;
}

Result<NpyHeader> read_npy_header(std::string_view text) {
  static constexpr documents::Document document{
      .kind = "npy_header", .record = &documents::Description<NpyHeader>::record, .has_kind = false};
  NpyHeader header;
  const auto read = documents::decode(document, json_of(text), &header);
  if (read) {
    return header;
  }
  const Error& error = read.error();
  if (error.code == ErrorCode::wrong_type && error.pointer == "/descr") {
    return tl::unexpected(
        bad_array("an array of structures cannot be read", "save each of its fields as an array"));
  }
  const bool is_syntax = error.code == ErrorCode::syntax_error || error.code == ErrorCode::empty_input;
  const std::string place = error.pointer.value_or("");
  return tl::unexpected(
      bad_array(fmt::format("the header of the array is damaged{}{}{}", is_syntax ? "" : ": ",
                            is_syntax ? "" : error.message, place.empty() ? "" : " at " + place)));
}

// Parses "<f4", "|u1" or "=f8".
Result<ElementType> parse_npy_type(std::string_view descr) {
  const bool ordered = !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
  const std::string_view code = descr.substr(ordered ? 1 : 0);
  const auto known = std::ranges::find(npy_types, code, [](std::string_view type) { return type.substr(1); });
  if (code == "b1" || code == "?") {
    return ElementType::u8;
  }
  if (known == npy_types.end()) {
    return tl::unexpected(bad_array(fmt::format("an array of type {} cannot be read", in_quotes(descr)),
                                    "save it as bool, int8 to int64, uint8 to uint64 or float16 to float64"));
  }
  if (descr[0] == '>' && !known->starts_with('|')) {
    return tl::unexpected(
        bad_array(fmt::format("an array of big-endian numbers ({}) cannot be read", in_quotes(descr)),
                  "save array.astype(array.dtype.newbyteorder('<'))"));
  }
  return static_cast<ElementType>(known - npy_types.begin());
}

// Returns the size of the data in bytes, or nothing beyond 64 bits. Any dimension of size 0 makes it 0.
std::optional<std::uint64_t> data_bytes(std::span<const std::uint64_t> shape, ElementType type) {
  if (std::ranges::count(shape, 0U) != 0) {
    return 0;
  }
  std::uint64_t bytes = element_bytes(type);
  for (const std::uint64_t size : shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

// Returns true if row-major and column-major order are the same.
bool one_order(std::span<const std::uint64_t> shape) {
  return std::ranges::count(shape, 0U) != 0 ||
         std::ranges::count_if(shape, [](std::uint64_t size) { return size > 1; }) <= 1;
}

// Returns the header's text and leaves the data in `file`.
Result<std::string_view> take_header(std::string_view& file) {
  const std::size_t version_at = npy_magic.size();
  if (!file.starts_with(npy_magic)) {
    return tl::unexpected(
        bad_array("not a NumPy array: the file does not begin with \\x93NUMPY",
                  "write it with numpy.save, or name a raw file by another ending than .npy"));
  }
  const bool versioned = file.size() >= version_at + 2;
  const auto byte = [file](std::size_t i) { return static_cast<unsigned char>(file[i]); };
  if (versioned && (byte(version_at) < 1 || byte(version_at) > 3 || byte(version_at + 1) != 0)) {
    return tl::unexpected(bad_array(
        fmt::format("version {}.{} of NumPy's format is not known", byte(version_at), byte(version_at + 1)),
        "write version 1.0, 2.0 or 3.0"));
  }
  const std::size_t length_at = version_at + 2;
  const std::size_t length_size = versioned && byte(version_at) == 1 ? 2 : 4;
  if (file.size() < length_at + length_size) {
    return tl::unexpected(bad_array("the file ends before its header"));
  }
  std::uint32_t length = 0;
  std::memcpy(&length, &file[length_at], length_size);
  file.remove_prefix(length_at + length_size);
  if (file.size() < length) {
    return tl::unexpected(
        bad_array(fmt::format("the file ends within its header, after {} of {} bytes", file.size(), length)));
  }
  const std::string_view header = file.substr(0, length);
  file.remove_prefix(length);
  return header;
}

} // namespace

std::string shape_text(std::span<const std::uint64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

Result<NpyHead> parse_npy_head(std::string_view file_begin, std::uint64_t file_bytes) {
  std::string_view data = file_begin;
  TIDEGATE_TRY(const auto text, take_header(data));
  TIDEGATE_TRY(auto header, read_npy_header(text));
  TIDEGATE_TRY(const auto type, parse_npy_type(header.descr));
  const auto bytes = data_bytes(header.shape, type);
  if (!bytes) {
    return tl::unexpected(bad_array(fmt::format("an array of shape {} does not fit 64 bits of address space",
                                                shortened(shape_text(header.shape)))));
  }
  if (header.fortran_order && !one_order(header.shape)) {
    return tl::unexpected(bad_array(
        fmt::format("the array of shape {} is stored by columns", shortened(shape_text(header.shape))),
        "save it by rows: numpy.save(file, numpy.ascontiguousarray(array))"));
  }
  const std::uint64_t offset = file_begin.size() - data.size();
  if (file_bytes - offset != *bytes) {
    return tl::unexpected(bad_array(fmt::format("the file holds {} of data, and {} of shape {} are {}",
                                                plural(file_bytes - offset, "byte"), name(type),
                                                shortened(shape_text(header.shape)), *bytes)));
  }
  return NpyHead{.type = type, .shape = std::move(header.shape), .offset = offset, .bytes = *bytes};
}

Result<NpyArray> parse_npy(std::string_view file_bytes) {
  TIDEGATE_TRY(NpyHead head, parse_npy_head(file_bytes, file_bytes.size()));
  const auto data = std::as_bytes(std::span(file_bytes.substr(head.offset)));
  return NpyArray{.type = head.type, .shape = std::move(head.shape), .bytes = {data.begin(), data.end()}};
}

Result<void> check_array_name(const std::string& path, std::string_view other) {
  const std::string ending = std::filesystem::path(path).extension().string();
  constexpr std::array<std::string_view, 5> known{"", ".npy", ".raw", ".bin", ".dat"};
  if (std::ranges::find(known, ending) != known.end() || other == lower_case(ending) ||
      std::ranges::find(element_type_names, std::string_view(ending).substr(1)) != element_type_names.end()) {
    return {};
  }
  return failure(ErrorCode::invalid_program,
                 fmt::format("{} would hold raw bytes, not what its ending says", in_quotes(path)),
                 fmt::format("name it .npy{}{}, or .raw for raw bytes; or say \"raw\": true",
                             other.empty() ? "" : " or ", other));
}

std::string npy_header(ElementType type, std::span<const std::uint64_t> shape) {
  constexpr std::size_t prefix_bytes = 10; // magic, version, length
  constexpr std::size_t alignment = 64;
  constexpr std::size_t longest_size = 21; // NumPy reserves room for the first dimension to grow
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                       npy_types[static_cast<std::size_t>(type)], shape_text(shape));
  if (!shape.empty()) {
    dictionary.append(longest_size - fmt::formatted_size("{}", shape[0]), ' ');
  }
  // As in NumPy, a header that is already aligned gets another 64 bytes.
  dictionary.append(alignment - (prefix_bytes + dictionary.size() + 1) % alignment, ' ');
  dictionary += '\n';
  std::string header(npy_magic);
  header +=
      {'\1', '\0', static_cast<char>(dictionary.size() & 0xffU), static_cast<char>(dictionary.size() >> 8U)};
  return header + dictionary;
}

std::optional<ElementType> element_type_of(std::string_view scalar) {
  const auto found = std::ranges::find(scalar_names, scalar);
  if (found == scalar_names.end()) {
    return {};
  }
  return static_cast<ElementType>(found - scalar_names.begin());
}

// Numbers of documents as elements.

namespace {

bool is_whole(double value) {
  return std::trunc(value) == value;
}

// An element as a number.
template <class T>
Number number_at(const std::byte* at) {
  T value{};
  std::memcpy(&value, at, sizeof(T));
  if constexpr (!std::integral<T>) {
    return to_double(value);
  } else if constexpr (std::signed_integral<T>) {
    return std::int64_t{value};
  } else {
    return std::uint64_t{value};
  }
}

} // namespace

std::optional<WideInteger> as_integer(const Number& number) {
  constexpr double limit = 0x1p65;
  const double* const value = std::get_if<double>(&number);
  if (value == nullptr) {
    return std::visit([](auto stated) { return static_cast<WideInteger>(stated); }, number);
  }
  return is_whole(*value) && std::fabs(*value) < limit ? std::optional(static_cast<WideInteger>(*value))
                                                       : std::nullopt;
}

double as_double(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

std::string number_text(const Number& number) {
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

std::string range_text(ElementType type) {
  return with_type(type, []<class T>(T) {
    if constexpr (std::integral<T>) {
      return fmt::format("{} to {}", std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    } else if constexpr (std::same_as<T, Half>) {
      return std::string("-65504 to 65504");
    } else {
      return fmt::format("{} to {}", std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
    }
  });
}

Error does_not_fit(const Number& number, ElementType type) {
  const bool fraction = !is_float(type) && !is_whole(as_double(number));
  return {.code = ErrorCode::out_of_range,
          .message = fraction ? fmt::format("{} is not an integer, and {} takes those from {}",
                                            number_text(number), name(type), range_text(type))
                              : fmt::format("{} is outside the range of {}, {}", number_text(number),
                                            name(type), range_text(type)),
          .fix =
              fmt::format("give {} from {}", is_float(type) ? "a number" : "an integer", range_text(type))};
}

Result<void> store_number(const Number& number, ElementType type, std::byte* at) {
  return with_type(type, [&]<class T>(T) -> Result<void> {
    const auto value = converted<T>(number);
    if (!value) {
      return tl::unexpected(does_not_fit(number, type));
    }
    std::memcpy(at, &*value, sizeof(T));
    return {};
  });
}

Result<NpyArray> converted(const NpyArray& array, ElementType type) {
  const std::size_t from_bytes = element_bytes(array.type);
  const std::size_t to_bytes = element_bytes(type);
  const std::size_t count = array.bytes.size() / from_bytes;
  NpyArray result{.type = type, .shape = array.shape, .bytes = std::vector<std::byte>(count * to_bytes)};
  return with_type(array.type, [&]<class T>(T) -> Result<NpyArray> {
    for (std::size_t i = 0; i < count; ++i) {
      const Number number = number_at<T>(&array.bytes[i * from_bytes]);
      std::byte* const at = &result.bytes[i * to_bytes];
      const double* const real = std::get_if<double>(&number);
      if (real != nullptr && !std::isfinite(*real) &&
          is_float(type)) { // which a document's number may not be
        with_type(type, [&]<class U>(U) {
          if constexpr (!std::integral<U>) {
            const U value = rounded<U>(*real);
            std::memcpy(at, &value, sizeof(U));
          }
        });
      } else if (auto stored = store_number(number, type, at); !stored) {
        return tl::unexpected(
            bad_array(fmt::format("element {}: {}", i, stored.error().message), stored.error().fix));
      }
    }
    return std::move(result);
  });
}

} // namespace tidegate
