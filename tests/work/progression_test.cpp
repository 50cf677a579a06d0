// Values that change with each iteration, checked by example and against the recurrence.
#include "../program_support.hpp"
#include "engine/job.hpp"
#include "work/resolve.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

template <class T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <class T>
Progression progression_of(const IterationSpec& spec, ElementType type, T first) {
  const auto result = progression_of(spec, type, bytes_of(first), "/i");
  REQUIRE_MESSAGE(result, describe(result.error()));
  return *result;
}

template <class T>
std::vector<T> values(const IterationSpec& spec, ElementType type, T first, std::uint32_t count) {
  const Progression progression = progression_of(spec, type, first);
  std::vector<T> found(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto value = value_in(progression, i);
    REQUIRE(value.size() == sizeof(T));
    std::memcpy(&found[i], value.data(), sizeof(T));
  }
  return found;
}

Number n(std::int64_t value) {
  return value < 0 ? Number(value) : Number(static_cast<std::uint64_t>(value));
}

using Step = IterationStep;
using Form = Progression::Form;
Step add(Number by) {
  return {Form::add, by};
}
Step multiply(Number by) {
  return {Form::multiply, by};
}
Step shift_left(Number by) {
  return {Form::shift_left, by};
}
Step shift_right(Number by) {
  return {Form::shift_right, by};
}

std::string refusal(const IterationSpec& spec, ElementType type) {
  const auto result = progression_of(spec, type, std::vector<std::byte>(element_bytes(type)), "/i");
  return result ? "none"
                : fmt::format("{} {}: {}", name(result.error().code), *result.error().pointer,
                              result.error().message);
}

} // namespace

TEST_CASE("each operation gives its sequence") {
  using U = std::vector<std::uint32_t>;
  using I = std::vector<std::int32_t>;
  CHECK(values<std::uint32_t>({.step = add(n(3))}, ElementType::u32, 5, 4) == U{5, 8, 11, 14});
  CHECK(values<std::int32_t>({.step = add(n(-3))}, ElementType::i32, 4, 4) == I{4, 1, -2, -5});
  CHECK(values<std::uint32_t>({.step = add(n(1))}, ElementType::u32, 0xfffffffe, 3) ==
        U{0xfffffffe, 0xffffffff, 0});
  CHECK(values<std::int32_t>({.step = multiply(n(-2))}, ElementType::i32, 3, 5) == I{3, -6, 12, -24, 48});
  CHECK(values<std::uint32_t>({.step = shift_left(n(2))}, ElementType::u32, 3, 18).back() == 0);
  CHECK(values<std::uint32_t>({.step = shift_left(n(2))}, ElementType::u32, 3, 3) == U{3, 12, 48});
  CHECK(values<std::uint32_t>({.step = shift_left(n(2)), .modulo = 32767}, ElementType::u32, 1, 45) ==
        values<std::uint32_t>({.step = multiply(n(4)), .modulo = 32767}, ElementType::u32, 1, 45));
  CHECK(values<std::int32_t>({.step = shift_right(n(1))}, ElementType::i32, -8, 6) ==
        I{-8, -4, -2, -1, -1, -1});
  CHECK(values<std::uint64_t>({.step = shift_right(n(40))}, ElementType::u64, ~std::uint64_t{0}, 3) ==
        std::vector<std::uint64_t>{~std::uint64_t{0}, 0xffffff, 0});
  CHECK(values<std::int8_t>({.step = add(n(100))}, ElementType::i8, 100, 2) ==
        std::vector<std::int8_t>{100, -56});
}

TEST_CASE("every, cycle and modulo") {
  using U = std::vector<std::uint32_t>;
  CHECK(values<std::uint32_t>({.step = add(n(1)), .every = 3}, ElementType::u32, 0, 7) ==
        U{0, 0, 0, 1, 1, 1, 2});
  CHECK(values<std::uint32_t>({.step = shift_left(n(1)), .cycle = 3}, ElementType::u32, 1, 7) ==
        U{1, 2, 4, 1, 2, 4, 1});
  CHECK(values<std::uint32_t>({.step = add(n(1)), .modulo = 3}, ElementType::u32, 1, 5) == U{1, 2, 0, 1, 2});
  CHECK(values<std::int32_t>({.step = add(n(-1)), .modulo = 3}, ElementType::i32, 1, 5) ==
        std::vector<std::int32_t>{1, 0, 2, 1, 0});
  CHECK(values<std::uint32_t>({.step = multiply(n(3)), .every = 2, .cycle = 2, .modulo = 5}, ElementType::u32,
                              2, 6) == U{2, 2, 1, 1, 2, 2});
}

TEST_CASE("floats are added in one rounding") {
  const auto found = values<float>({.step = add(Number(0.1))}, ElementType::f32, 1.0F, 1000);
  CHECK(found[0] == 1.0F);
  CHECK(found[999] == static_cast<float>(double{0.1F} * 999 + 1));
  CHECK(values<double>({.step = add(Number(0.25))}, ElementType::f64, -1.0, 3) ==
        std::vector<double>{-1, -0.75, -0.5});
}

TEST_CASE("sums and products with a modulo do not wrap before it") {
  __extension__ typedef unsigned __int128 Wide;
  const std::uint64_t modulo = 0xffffffff00000001;
  Wide sum = 0xfffffffe00000000;
  Wide product = sum;
  const std::uint64_t by = 0xfedcba9876543210;
  const Progression adds = progression_of<std::uint64_t>({.step = add(Number(by)), .modulo = modulo},
                                                         ElementType::u64, static_cast<std::uint64_t>(sum));
  const Progression multiplies =
      progression_of<std::uint64_t>({.step = multiply(Number(by)), .modulo = modulo}, ElementType::u64,
                                    static_cast<std::uint64_t>(product));
  for (std::uint32_t i = 0; i < 20; ++i) {
    CHECK(value_in(adds, i) == bytes_of(static_cast<std::uint64_t>(sum % modulo)));
    CHECK(value_in(multiplies, i) == bytes_of(static_cast<std::uint64_t>(product % modulo)));
    sum = (sum + by) % modulo;
    product = product % modulo * by % modulo;
  }
  CHECK(values<std::int32_t>({.step = multiply(n(-2)), .modulo = 7}, ElementType::i32, 3, 100).back() == 4);
}

TEST_CASE("values equal the recurrence") {
  Numbers random(7);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t by = random.below(1000);
    const auto first = static_cast<std::uint64_t>(random.below(1U << 30U)) << random.below(34);
    std::uint64_t sum = first;
    std::uint64_t product = first;
    const Progression adds =
        progression_of<std::uint64_t>({.step = add(Number(by))}, ElementType::u64, first);
    const Progression multiplies =
        progression_of<std::uint64_t>({.step = multiply(Number(by))}, ElementType::u64, first);
    for (std::uint32_t i = 0; i < 20; ++i, sum += by, product *= by) {
      CHECK(value_in(adds, i) == bytes_of(sum));
      CHECK(value_in(multiplies, i) == bytes_of(product));
    }
  }
}

TEST_CASE("invalid progressions are refused") {
  const std::string floats = "invalid_program /i: floats can only be changed by add";
  const std::string shift = ": a shift by more than 64 bits, or by less than 0";
  CHECK(refusal({.step = multiply(Number(2.0))}, ElementType::f32) == floats);
  CHECK(refusal({.step = add(n(1)), .modulo = 2}, ElementType::f64) == floats);
  CHECK(refusal({.step = add(n(1))}, ElementType::f16) ==
        "invalid_program /i: a half cannot change from iteration to iteration");
  CHECK(refusal({.step = shift_left(n(65))}, ElementType::u32) == "out_of_range /i/shift_left" + shift);
  CHECK(refusal({.step = shift_right(n(-1))}, ElementType::i32) == "out_of_range /i/shift_right" + shift);
  CHECK(refusal({.step = add(n(1)), .modulo = std::uint64_t{1} << 63U}, ElementType::i32) ==
        "out_of_range /i/modulo: the modulo of a signed value is above 2^63 - 1");
  CHECK(refusal({.step = add(Number(0.5))}, ElementType::u32).starts_with("out_of_range /i/add: "));
}

TEST_CASE("a constant does not change") {
  const Progression progression = constant_progression(ElementType::i16, bytes_of(std::int16_t{-7}));
  CHECK(value_in(progression, 0) == bytes_of(std::int16_t{-7}));
  CHECK(value_in(progression, 4000000000) == bytes_of(std::int16_t{-7}));
}
