// Values that change with each iteration, against the recurrence, and what is refused.
#include "../program_support.hpp"
#include "engine/job.hpp"
#include "work/resolve.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

using Form = Progression::Form;

template <class T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

Number number_of(auto value) {
  if constexpr (std::is_signed_v<decltype(value)> && !std::is_floating_point_v<decltype(value)>) {
    return std::int64_t{value};
  } else if constexpr (std::is_floating_point_v<decltype(value)>) {
    return double{value};
  } else {
    return std::uint64_t{value};
  }
}

// Compares `count` iterations with `next`, which makes each value from the one before.
template <class T>
void check(ElementType type, Form form, T first, T by, std::uint32_t count, auto next) {
  const auto made = progression_of({.step = IterationStep{form, number_of(by)}}, type, bytes_of(first), "/i");
  REQUIRE_MESSAGE(made, describe(made.error()));
  T value = first;
  for (std::uint32_t i = 0; i < count; ++i, value = next(value)) {
    CHECK_MESSAGE(value_in(*made, i) == bytes_of(value), first, " ", by, " ", i);
  }
}

template <class T>
void check_integers(ElementType type, T first, T by) {
  const auto wrapped = [](std::uint64_t value) { return static_cast<T>(value); };
  const auto wide = [](T value) { return static_cast<std::uint64_t>(value); };
  check(type, Form::add, first, by, 40, [&](T value) { return wrapped(wide(value) + wide(by)); });
  check(type, Form::multiply, first, by, 40, [&](T value) { return wrapped(wide(value) * wide(by)); });
  if (first >= 0 && by >= 2) {
    check(type, Form::divide, first, by, 70, [&](T value) { return static_cast<T>(value / by); });
  }
}

} // namespace

TEST_CASE("values equal the recurrence, and wrap in their type") {
  check_integers<std::uint32_t>(ElementType::u32, 0xfffffffe, 1);
  check_integers<std::uint32_t>(ElementType::u32, 3, 4); // as shifts by 2 bits
  check_integers<std::int32_t>(ElementType::i32, 3, -2);
  check_integers<std::int8_t>(ElementType::i8, 100, 100);
  Numbers random(7);
  for (int round = 0; round < 300; ++round) {
    check_integers<std::uint64_t>(
        ElementType::u64, std::uint64_t{random.below(1U << 30U)} << random.below(34), random.below(1000));
  }
}

TEST_CASE("floats are added in one rounding") {
  const auto made =
      progression_of({.step = IterationStep{Form::add, 0.1}}, ElementType::f32, bytes_of(1.0F), "/i");
  REQUIRE(made);
  CHECK(value_in(*made, 0) == bytes_of(1.0F));
  CHECK(value_in(*made, 999) == bytes_of(static_cast<float>(double{0.1F} * 999 + 1)));
  check(ElementType::f64, Form::add, -1.0, 0.25, 3, [](double value) { return value + 0.25; });
}

TEST_CASE("invalid progressions are refused") {
  for (const auto& [form, by, type, refusal] :
       std::vector<std::tuple<Form, Number, ElementType, std::string>>{
           {Form::multiply, 2.0, ElementType::f32, "invalid_program /i: floats can only be changed by add"},
           {Form::add, std::uint64_t{1}, ElementType::f16,
            "invalid_program /i: a half cannot change from iteration to iteration"},
           {Form::divide, std::uint64_t{1}, ElementType::u32,
            "invalid_program /i/divide: only numbers from 0 on are divided, by 2 or more"},
           {Form::divide, std::int64_t{-2}, ElementType::i32,
            "invalid_program /i/divide: only numbers from 0 on are divided, by 2 or more"},
           {Form::add, 0.5, ElementType::u32,
            "out_of_range /i/add: 0.5 is not an integer, and u32 takes those from 0 to 4294967295"}}) {
    const auto made = progression_of({.step = IterationStep{form, by}}, type,
                                     std::vector<std::byte>(element_bytes(type)), "/i");
    REQUIRE_FALSE(made);
    CHECK(fmt::format("{} {}: {}", name(made.error().code), *made.error().pointer, made.error().message) ==
          refusal);
  }
}

TEST_CASE("a constant does not change") {
  const Progression progression = constant_progression(ElementType::i16, bytes_of(std::int16_t{-7}));
  CHECK(value_in(progression, 0) == bytes_of(std::int16_t{-7}));
  CHECK(value_in(progression, 4000000000) == bytes_of(std::int16_t{-7}));
}
