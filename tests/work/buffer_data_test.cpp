// Buffer contents: by rule, read from files, and written to files.
#include "../npy_file.hpp"
#include "../temporary_folder.hpp"
#include "work/contents.hpp"
#include <tidegate/core/describe.hpp>

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using tidegate::test::npy_file;
using tidegate::test::TemporaryFolder;

namespace {

constexpr std::uint64_t operator""_u(unsigned long long value) {
  return value;
}

template <class T>
std::vector<T> values(const std::vector<std::byte>& bytes) {
  std::vector<T> result(bytes.size() / sizeof(T));
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(result)).begin());
  return result;
}

std::string not_stored(const Number& number, ElementType type) {
  std::array<std::byte, 8> place{};
  const auto result = store_number(number, type, place.data());
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::out_of_range);
  CHECK(place == std::array<std::byte, 8>{});
  return result.error().message + "; " + result.error().fix;
}

BufferSpec filled(ElementType type, std::uint64_t count, const Number& number) {
  return {.type = type, .count = count, .init = BufferInit{.fill = number}};
}

BufferSpec counted(ElementType type, std::uint64_t count, const Number& start, const Number& step) {
  return {.type = type, .count = count, .init = BufferInit{.iota = Iota{start, step}}};
}

BufferSpec drawn(ElementType type, std::uint64_t count, const Random& random) {
  return {.type = type, .count = count, .init = BufferInit{.random = random}};
}

BufferSpec loaded(ElementType type, std::uint64_t count, const std::string& file) {
  return {.type = type, .count = count, .init = BufferInit{.file = file}};
}

template <class T>
std::vector<T> contents(const BufferSpec& buffer, const std::string& folder = "") {
  const auto bytes = initial_contents(buffer, folder);
  REQUIRE_MESSAGE(bytes, bytes.error().message);
  REQUIRE(bytes->size() == buffer.count * sizeof(T));
  const std::uint64_t begin = buffer.count / 3 * sizeof(T);
  const std::uint64_t end = (buffer.count + 1) / 2 * sizeof(T);
  const auto part = initial_part(buffer, folder, begin, end - begin);
  REQUIRE_MESSAGE(part, part.error().message);
  CHECK(std::ranges::equal(*part, std::span(*bytes).subspan(begin, end - begin)));
  return values<T>(*bytes);
}

Error refused(const BufferSpec& buffer, const std::string& folder = "") {
  auto bytes = initial_contents(buffer, folder);
  REQUIRE_FALSE(bytes);
  return bytes.error();
}

std::string out_of_range(const BufferSpec& buffer) {
  const Error error = refused(buffer);
  CHECK(error.code == ErrorCode::out_of_range);
  return error.message;
}

// "FILE: error: MESSAGE [CODE]" without the folder.
std::string bad_file(const BufferSpec& buffer, const TemporaryFolder& folder) {
  const Error error = refused(buffer, folder.path());
  CHECK(error.code == ErrorCode::bad_array);
  return describe(error).substr(("tidegate: " + folder.path().string() + "/").size());
}

struct Made {
  std::string_view type;
  std::uint64_t count;
  std::string init, result; // the elements, of many the last; or the error
};

// Checks what a program's buffer holds at first.
void check_made(const std::vector<Made>& rows) {
  for (const Made& row : rows) {
    const auto& [type, count, init, result] = row;
    CAPTURE(row.init);
    const auto program = documents::decode<WaveProgram>(fmt::format(
        R"({{"buffers": {{"b": {{"type": "{}", "count": {}, "init": {{{}}}}}}}, "ops": {{}}, "waves": []}})",
        type, count, init));
    REQUIRE_MESSAGE(program, describe(program.error()));
    const BufferSpec& buffer = program->buffers[0].second;
    const auto bytes = initial_contents(buffer, "");
    std::string text;
    for (std::size_t i = count > 8 ? count - 1 : 0; bytes && i < count; ++i) {
      text += (text.empty() ? "" : " ") +
              element_text(buffer.type, bytes->data() + i * element_bytes(buffer.type));
    }
    CHECK((bytes ? text : bytes.error().message) == result);
    CHECK((bytes || (bytes.error().code == ErrorCode::out_of_range && !bytes.error().fix.empty())));
  }
}

} // namespace

TEST_CASE("numbers are stored exactly or rounded to the nearest, up to the ends of their type") {
  check_made(
      {{"i8", 2, R"("fill": 127)", "127 127"},
       {"i8", 1, R"("fill": -128)", "-128"},
       {"u8", 1, R"("fill": 255)", "255"},
       {"i16", 3, R"("fill": -32768)", "-32768 -32768 -32768"},
       {"u16", 1, R"("fill": 65535)", "65535"},
       {"i32", 1, R"("fill": -2147483648)", "-2147483648"},
       {"u32", 1, R"("fill": 4294967295)", "4294967295"},
       {"u32", 1, R"("fill": 1e3)", "1000"},
       {"i64", 1, R"("fill": -9223372036854775808)", "-9223372036854775808"},
       {"i64", 1, R"("fill": 9223372036854775807)", "9223372036854775807"},
       {"u64", 1, R"("fill": 18446744073709551615)", "18446744073709551615"},
       {"u64", 1, R"("fill": 9223372036854775808.0)", "9223372036854775808"},
       {"f32", 1, R"("fill": 0.1)", "0.1"},
       {"f32", 1, R"("fill": 16777217)", "16777216"},
       {"f32", 1, R"("fill": -3)", "-3"},
       {"f32", 1, R"("fill": 18446744073709551615)", "1.8446744e+19"},
       {"f32", 1, R"("fill": 3.4028235516e+38)", "3.4028235e+38"},
       {"f32", 1, R"("fill": -0.0)", "-0"},
       {"f64", 2, R"("fill": 9007199254740993)", "9007199254740992 9007199254740992"},
       {"f16", 2, R"("fill": 1)", "0x3c00 0x3c00"},
       {"i8", 1, R"("fill": 300)", "300 is outside the range of i8, -128 to 127"},
       {"u8", 0, R"("fill": 256)", "256 is outside the range of u8, 0 to 255"},
       {"u8", 1, R"("fill": -1)", "-1 is outside the range of u8, 0 to 255"},
       {"i16", 1, R"("fill": 0.5)", "0.5 is not an integer, and i16 takes those from -32768 to 32767"},
       {"i64", 1, R"("fill": 9223372036854775808)",
        "9223372036854775808 is outside the range of i64, -9223372036854775808 to 9223372036854775807"},
       {"u64", 1, R"("fill": 1e300)", "1e+300 is outside the range of u64, 0 to 18446744073709551615"},
       {"u64", 1, R"("fill": 18446744073709551616.0)",
        "1.8446744073709552e+19 is outside the range of u64, 0 to 18446744073709551615"},
       {"f32", 1, R"("fill": 1e39)", "1e+39 is outside the range of f32, -3.4028235e+38 to 3.4028235e+38"},
       {"f32", 1, R"("fill": 3.4028235677973366e+38)",
        "3.4028235677973366e+38 is outside the range of f32, -3.4028235e+38 to 3.4028235e+38"},
       {"f16", 1, R"("fill": 65520)", "65520 is outside the range of f16, -65504 to 65504"}});
  CHECK(not_stored(0.5, ElementType::i16).ends_with("32767; give an integer from -32768 to 32767"));
  CHECK(not_stored(NAN, ElementType::f64).starts_with("nan is outside the range of f64"));
}

TEST_CASE(
    "all halves become doubles and come back; what is between two becomes the nearer, or the even one") {
  double last = -INFINITY;
  for (std::uint32_t bits = 0xfc00; bits >= 0x8000; --bits) { // -infinity to -0
    const Half half{static_cast<std::uint16_t>(bits)};
    CHECK(half_from(to_double(half)).bits == bits);
    CHECK((to_double(half) > last || bits == 0xfc00));
    last = to_double(half);
  }
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    CHECK(half_from(to_double(half)).bits == bits);
    CHECK(to_double(next_towards(INFINITY, half)) > to_double(half));
    CHECK(to_double(next_towards(-INFINITY, half)) < to_double(half));
    CHECK(next_towards(-INFINITY, next_towards(INFINITY, half)).bits == (bits == 0 ? 0x8000 : bits) % 0x8000);
    // Beyond the last half, 65504, as if there were one for 65536.
    const double above = bits == 0x7bff ? 65536 : to_double(next_towards(INFINITY, half));
    const double middle = (to_double(half) + above) / 2;
    CHECK(half_from(middle).bits == bits + bits % 2);
    CHECK(half_from(-middle).bits == 0x8000 + bits + bits % 2);
    CHECK(half_from(std::nextafter(middle, 0)).bits == bits);
    CHECK(half_from(std::nextafter(middle, INFINITY)).bits == bits + 1);
  }
  CHECK(to_double(Half{0x3c00}) == 1);
  CHECK(to_double(Half{0x0001}) == 0x1p-24);
  CHECK(std::isnan(to_double(Half{0x7e00})));
  CHECK(half_from(NAN).bits == 0x7e00);
}

TEST_CASE("a buffer without init is zeros") {
  CHECK(contents<float>({.type = ElementType::f32, .count = 3}) == std::vector<float>{0, 0, 0});
  CHECK(contents<float>({.type = ElementType::f32, .count = 0}).empty());
}

TEST_CASE("iota counts in steps, and is refused with the element that leaves its type") {
  check_made(
      {{"u32", 4, R"("iota": {"start": 5, "step": 3})", "5 8 11 14"},
       {"i8", 4, R"("iota": {"start": 1, "step": -43})", "1 -42 -85 -128"},
       {"i64", 4, R"("iota": {"start": -9223372036854775808, "step": 4611686018427387904})",
        "-9223372036854775808 -4611686018427387904 0 4611686018427387904"},
       {"f32", 3, R"("iota": {"start": 0.5, "step": -1})", "0.5 -0.5 -1.5"},
       {"f16", 3, R"("iota": {"step": 0.5})", "0x0000 0x3800 0x3c00"},
       {"i8", 128, R"("iota": {})", "127"},
       {"i8", 129, R"("iota": {})", "the iota leaves the range of i8, -128 to 127, at element 128"},
       {"u8", 9, R"("iota": {"start": 20, "step": -10})",
        "the iota leaves the range of u8, 0 to 255, at element 3"},
       {"u64", 2, R"("iota": {"step": 18446744073709551615})", "0 18446744073709551615"},
       {"u64", 3, R"("iota": {"step": 18446744073709551615})",
        "the iota leaves the range of u64, 0 to 18446744073709551615, at element 2"},
       {"u8", 1, R"("iota": {"start": 3, "step": 1000})", "3"},
       {"f16", 65520, R"("iota": {})", "0x7bff"},
       {"f16", 70000, R"("iota": {})", "the iota leaves the range of f16, -65504 to 65504, at element 65520"},
       {"i32", 3, R"("iota": {"step": 0.5})",
        "0.5 is not an integer, and i32 takes those from -2147483648 to 2147483647"},
       {"u8", 3, R"("iota": {"start": -1})", "-1 is outside the range of u8, 0 to 255"}});
}

TEST_CASE("random numbers are those of SplitMix64, and stay what they are") {
  const RandomNumbers numbers(42);
  const std::vector<std::uint64_t> all = contents<std::uint64_t>(drawn(ElementType::u64, 1000, {.seed = 42}));
  for (std::uint64_t i = 0; i < all.size(); ++i) {
    CHECK(all[i] == numbers.bits(i));
  }
  // Computed from the paper's definition with Python's integers.
  CHECK(contents<std::uint64_t>(drawn(ElementType::u64, 2, {.seed = 5})) ==
        std::vector<std::uint64_t>{18074882946671919669U, 1952936728445087881U});
  CHECK(contents<std::int32_t>(
            drawn(ElementType::i32, 6, {.seed = 7, .low = std::int64_t{-10}, .high = 11_u})) ==
        std::vector<std::int32_t>{5, 3, 1, 2, -3, -7});
  CHECK(contents<double>(drawn(ElementType::f64, 2, {.seed = 7})) ==
        std::vector<double>{0x1.7169852efd579p-1, 0x1.4ca60bfa671d9p-1});
}

TEST_CASE("element i of a random buffer depends on the seed and not on the count") {
  const auto few = contents<float>(drawn(ElementType::f32, 10, {.seed = 1}));
  auto many = contents<float>(drawn(ElementType::f32, 1000, {.seed = 1}));
  many.resize(10);
  CHECK(few == many);
  CHECK(few != contents<float>(drawn(ElementType::f32, 10, {.seed = 2})));
}

TEST_CASE("random integers fill their range evenly and keep inside it") {
  std::array<int, 21> seen{};
  for (const std::int8_t value : contents<std::int8_t>(
           drawn(ElementType::i8, 210000, {.seed = 3, .low = std::int64_t{-10}, .high = 11_u}))) {
    REQUIRE(std::abs(value) <= 10);
    ++seen[static_cast<std::size_t>(value + 10)];
  }
  for (const int count : seen) {
    CHECK(std::abs(count - 10000) < 500); // five standard deviations
  }
  std::array<int, 256> whole{};
  for (const std::int8_t value : contents<std::int8_t>(drawn(ElementType::i8, 256000, {.seed = 3}))) {
    ++whole[static_cast<std::size_t>(value + 128)];
  }
  for (const int count : whole) {
    CHECK(std::abs(count - 1000) < 160);
  }
  check_made(
      {{"u8", 3, R"("random": {"seed": 0, "low": 255, "high": 256})", "255 255 255"},
       {"u64", 1, R"("random": {"seed": 0, "low": 18446744073709551615, "high": 18446744073709551616.0})",
        "18446744073709551615"},
       {"i64", 1, R"("random": {"seed": 0, "low": -9223372036854775808, "high": -9223372036854775807})",
        "-9223372036854775808"}});
}

TEST_CASE("random floats are at least low and below high, also when rounded") {
  double sum = 0;
  for (const float value : contents<float>(drawn(ElementType::f32, 100000, {.seed = 9}))) {
    REQUIRE(value >= 0);
    REQUIRE(value < 1);
    sum += value;
  }
  CHECK(std::abs(sum / 100000 - 0.5) < 0.005);
  for (const std::uint16_t bits :
       contents<std::uint16_t>(drawn(ElementType::f16, 100000, {.low = 0.1, .high = 0.1005}))) {
    const double value = to_double(Half{bits}); // the neighbours of both ends are outside
    REQUIRE(value >= 0.1);
    REQUIRE(value < 0.1005);
  }
  const auto widest = contents<double>(drawn(ElementType::f64, 1000, {.low = -1.7e308, .high = 1.7e308}));
  for (const double value : widest) {
    REQUIRE(std::isfinite(value));
  }
  CHECK(contents<float>(drawn(ElementType::f32, 1, {.low = 1_u, .high = 1.00000001}))[0] == 1);
}

TEST_CASE("random ranges that hold nothing or leave the type are refused") {
  check_made(
      {{"f32", 5, R"("random": {"seed": 0, "low": 3, "high": 3})",
        "no f32 is in the random range from 3 to below 3"},
       {"f32", 5, R"("random": {"seed": 0, "low": 2})", "no f32 is in the random range from 2 to below 1"},
       {"f16", 5, R"("random": {"seed": 0, "low": 1.0001, "high": 1.0002})",
        "no f16 is in the random range from 1.0001 to below 1.0002"},
       {"i32", 5, R"("random": {"seed": 0, "low": 3, "high": -3})",
        "no i32 is in the random range from 3 to below -3"},
       {"u8", 5, R"("random": {"seed": 0, "high": 257})", "257 is outside the range of u8, 0 to 255"},
       {"i8", 5, R"("random": {"seed": 0, "low": -129})", "-129 is outside the range of i8, -128 to 127"},
       {"i8", 5, R"("random": {"seed": 0, "high": 1.5})",
        "1.5 is not an integer, and i8 takes those from -128 to 127"},
       {"f16", 5, R"("random": {"seed": 0, "high": 70000})",
        "70000 is outside the range of f16, -65504 to 65504"}});
}

TEST_CASE("a buffer larger than the memory is refused") {
  CHECK(out_of_range({.type = ElementType::f64, .count = 0x2000000000000000}) ==
        "2305843009213693952 elements of f64 do not fit the memory");
  CHECK(out_of_range({.type = ElementType::u8, .count = 0x8000000000000000}) ==
        "9223372036854775808 elements of u8 do not fit the memory");
#ifndef TIDEGATE_SANITIZE // it ends the process
  const auto made = initial_contents({.type = ElementType::u16, .count = std::uint64_t{1} << 60U}, ".");
  REQUIRE(!made);
  CHECK(made.error().code == ErrorCode::host_out_of_memory);
  CHECK(made.error().message == "the host has no memory left for 1152921504606846976 elements of u16, 2 EiB");
  CHECK(made.error().requested == std::uint64_t{1} << 61U);
#endif
}

TEST_CASE("a part of a buffer needs memory for no more") {
  constexpr std::uint64_t count = 1_u << 40U;
  const auto part = [](const BufferSpec& buffer, const std::string& folder = "") {
    const auto bytes = initial_part(buffer, folder, (count - 2) * sizeof(float), 2 * sizeof(float));
    REQUIRE_MESSAGE(bytes, bytes.error().message);
    return values<float>(*bytes);
  };
  CHECK(part(filled(ElementType::f32, count, 2.5)) == std::vector{2.5F, 2.5F});
  CHECK(part(counted(ElementType::f32, count, -1099511627774.0, 1.0)) == std::vector{0.0F, 1.0F});
  const auto random = part(drawn(ElementType::f32, count, {.seed = 3}));
  CHECK(random[0] == static_cast<float>(RandomNumbers(3).unit(count - 2)));
  const TemporaryFolder folder;
  folder.write("raw.bin", "1234");
  std::filesystem::resize_file(folder.path() / "raw.bin",
                               count * sizeof(float)); // without blocks on the disk
  CHECK(part(loaded(ElementType::f32, count, "raw.bin"), folder.path()) == std::vector{0.0F, 0.0F});
  folder.write("array.npy", npy_header(ElementType::f32, std::array{count}));
  std::filesystem::resize_file(folder.path() / "array.npy",
                               npy_header(ElementType::f32, std::array{count}).size() +
                                   count * sizeof(float));
  CHECK(part(loaded(ElementType::f32, count, "array.npy"), folder.path()) == std::vector{0.0F, 0.0F});
}

TEST_CASE("files are read by their ending, relative to the folder or absolute") {
  const TemporaryFolder folder;
  const std::array data{1.0F, -2.0F};
  const std::string raw(reinterpret_cast<const char*>(data.data()), sizeof data);
  folder.write("x.bin", raw);
  folder.write("x.npy", npy_file(ElementType::f32, std::array<std::uint64_t, 2>{2, 1},
                                 std::as_bytes(std::span(data))));
  for (const std::string& name : {std::string("x.bin"), std::string("x.npy"), folder.file("x.npy")}) {
    CHECK(contents<float>(loaded(ElementType::f32, 2, name), folder.path()) == std::vector<float>{1, -2});
  }
  folder.write("empty", "");
  CHECK(contents<float>(loaded(ElementType::f32, 0, "empty"), folder.path()).empty());
  folder.write("-", raw); // a file, not standard input
  CHECK(contents<float>(loaded(ElementType::f32, 2, "-"), folder.path()).size() == 2);
}

TEST_CASE("files of another type or count are refused with both") {
  const TemporaryFolder folder;
  const std::array<std::byte, 24> data{};
  folder.write("x.npy", npy_file(ElementType::f32, std::array<std::uint64_t, 2>{2, 3}, data));
  folder.write("x.bin", std::string(24, '\0'));
  folder.write("large.npy", std::string(2000000, '\0'));
  const std::string state = " [bad_array]\n  fix: state ";
  const std::string of_file = state + "the count or size of the file, or name another file";
  for (const auto& [type, count, file, error] :
       std::vector<std::tuple<ElementType, std::uint64_t, std::string, std::string>>{
           {ElementType::i32, 6, "x.npy",
            "the array holds f32, and i32 is needed" + state +
                "a type or format of f32, or say \"convert\": true"},
           {ElementType::f32, 5, "x.npy",
            "the array of shape (2, 3) has 6 elements, and 5 are needed" + state +
                "the count 6 or its size, or name another file"},
           {ElementType::f32, 5, "x.bin", "the file holds 24 bytes, and 20 are needed" + of_file}}) {
    CHECK(bad_file(loaded(type, count, file), folder) == file + ": error: " + error);
  }
  CHECK(bad_file(loaded(ElementType::f32, 5, "large.npy"), folder)
            .starts_with("large.npy: error: not a NumPy array: the file does not begin with \\x93NUMPY"));
}

TEST_CASE("arrays of another type are converted on request") {
  const TemporaryFolder folder;
  const auto converted = [&](ElementType type, const std::vector<double>& numbers) {
    folder.write("x.npy",
                 npy_file(ElementType::f64, std::array{numbers.size()}, std::as_bytes(std::span(numbers))));
    return initial_contents(
        {.type = type, .count = numbers.size(), .init = BufferInit{.file = "x.npy", .convert = true}},
        folder.path());
  };
  CHECK(values<float>(*converted(ElementType::f32, {0.1, -2.5, INFINITY})) ==
        std::vector{0.1F, -2.5F, INFINITY});
  CHECK(converted(ElementType::i32, {0.1}).error().message.starts_with("element 0: 0.1 is not an integer"));
  const std::vector<double> many(300'000, 1); // more than the header's room larger than what they become
  CHECK(values<std::uint8_t>(*converted(ElementType::u8, many)) == std::vector<std::uint8_t>(many.size(), 1));
}

TEST_CASE("tensors of another type are converted on request") {
  const TemporaryFolder folder;
  const std::string header =
      R"({"wide":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},"brain":{"dtype":"BF16","shape":[2],)"
      R"("data_offsets":[16,20]},"eight":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[20,22]},)"
      R"("huge":{"dtype":"F64","shape":[8589934592,8589934592,2],"data_offsets":[22,38]},)"
      R"("short":{"dtype":"BF16","shape":[2,3],"data_offsets":[38,42]}})";
  const std::array<double, 2> wide{0.1, -2.5};
  const std::array<std::uint16_t, 2> brain{0x3fc0, 0xc120}; // 1.5 and -10
  const std::uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof length);
  file += header;
  file.append(reinterpret_cast<const char*>(wide.data()), sizeof wide);
  file.append(reinterpret_cast<const char*>(brain.data()), sizeof brain);
  folder.write("x.safetensors", file + "12" + std::string(20, ' '));
  const auto converted = [&](const char* tensor, ElementType type, bool convert = true) {
    return initial_contents(
        {.type = type,
         .count = 2,
         .init = BufferInit{.file = "x.safetensors", .tensor = tensor, .convert = convert},
         .output = {}},
        folder.path());
  };
  CHECK(values<float>(*converted("wide", ElementType::f32)) == std::vector<float>{0.1F, -2.5F});
  CHECK(values<float>(*converted("brain", ElementType::f32)) == std::vector<float>{1.5F, -10});
  CHECK(values<double>(*converted("brain", ElementType::f64)) == std::vector<double>{1.5, -10});
  CHECK(values<double>(*converted("wide", ElementType::f64)) == std::vector<double>{0.1, -2.5});
  CHECK(values<std::uint16_t>(*converted("brain", ElementType::u16, false)) ==
        std::vector<std::uint16_t>{0x3fc0, 0xc120});
  CHECK(converted("wide", ElementType::i32).error().message.starts_with("element 0: 0.1 is not an integer"));
  for (const std::string& tensor : {std::string("huge"), std::string("short")}) {
    CHECK(converted(tensor.c_str(), ElementType::u16, false)
              .error()
              .message.starts_with("no .safetensors file: \"" + tensor + "\" has "));
  }
  CHECK(converted("eight", ElementType::f32).error().message == "elements of F8_E4M3 cannot be converted");
  CHECK(
      converted("wide", ElementType::f32, false).error().fix ==
      "give the buffer the tensor's type, say \"convert\": true, or give it an unsigned type, which takes the "
      "bytes as they are");
}

TEST_CASE("in a .safetensors file each tensor is there once and each byte belongs to one") {
  const TemporaryFolder folder;
  const auto entry = [](std::string_view name, int begin, int end) {
    return fmt::format(R"("{}":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}})", name, end - begin,
                       begin, end);
  };
  const auto read = [&](const std::string& tensors) {
    const std::string header = "{" + tensors + "}";
    const std::uint64_t length = header.size();
    folder.write("x.safetensors",
                 std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + "0123");
    const auto contents = initial_contents({.type = ElementType::u8,
                                            .count = 2,
                                            .init = BufferInit{.file = "x.safetensors", .tensor = "a"},
                                            .output = {}},
                                           folder.path());
    return contents ? "read" : contents.error().message;
  };
  const std::string a = entry("a", 0, 2) + ",";
  const std::string none = "no .safetensors file: ";
  for (const auto& [tensors, told] : std::vector<std::array<std::string, 2>>{
           {entry("b", 2, 4) + "," + entry("a", 0, 2), "read"},
           {a + entry("none", 2, 2) + "," + entry("b", 2, 4), "read"},
           {a + entry("a", 2, 4), none + "it has \"a\" twice"},
           {a + entry("b", 1, 4), none + "byte 1 of its data belongs to two tensors"},
           {a + entry("b", 3, 4), none + "byte 2 of its data belongs to no tensor"},
           {entry("a", 0, 2), none + "byte 2 of its data belongs to no tensor"},
           {a + entry("b", 2, 5), none + "\"b\" lies outside of it"},
           {a + R"("b":{"dtype":"U8"})", none + "\"b\" has no dtype, shape and data_offsets"}}) {
    CHECK(read(tensors) == told);
  }
}
