// Fill and copy waves: the bytes that they access, and the place of each error.
#include "work/resolve.hpp"

using namespace tidegate;
using namespace tidegate::engine;

namespace {

Result<ProgramWave> resolved(const WaveSpec& spec) {
  static const WaveProgram program;
  static const std::string none;
  static const std::string pointer = "/w";
  static const AnswerMacros answer;
  static const device::Tuning tuning;
  ProgramMemory memory{
      .buffers = {{.name = "shorts", .type = ElementType::i16, .count = 10, .bytes = 20},
                  {.name = "longs", .type = ElementType::u64, .count = 5000, .bytes = 40000}},
      .names = {{"shorts", {StorageKind::buffer, 0}}, {"longs", {StorageKind::buffer, 1}}}};
  ProgramOps ops;
  const ResolveInput input{program, none, answer, PathScope::folder, FileCheck::none, tuning, nullptr};
  const WaveInput in{input, memory, ops, spec, 0, pointer};
  return spec.fill ? fill_wave(in) : copy_wave(in);
}

std::uint64_t word(const ProgramWave& wave, std::size_t argument) {
  std::uint64_t value = 0;
  std::memcpy(&value, wave.arguments.at(argument).value.data(), sizeof value);
  return value;
}

std::string refusal(const WaveSpec& spec) {
  const auto result = resolved(spec);
  return result ? "none"
                : fmt::format("{} {}: {}", name(result.error().code), *result.error().pointer,
                              result.error().message);
}

} // namespace

TEST_CASE("a fill") {
  const auto part =
      resolved({.fill = FillSpec{.buffer = "shorts", .value = std::int64_t{-2}, .offset = 3, .count = 4}});
  REQUIRE(part);
  CHECK(part->arguments[0].access == Access::write);
  CHECK_FALSE(part->arguments[0].overwrites); // the rest is kept
  CHECK(word(*part, 1) == 6);
  CHECK(word(*part, 2) == 14);
  CHECK(word(*part, 3) == 0xfffefffefffefffe);
  CHECK(part->command->bytes == 8);
  CHECK(part->command->pattern == std::vector<std::byte>{std::byte{0xfe}, std::byte{0xff}});
  CHECK(part->range.tiles() == 1);
  const auto whole = resolved({.fill = FillSpec{.buffer = "longs", .value = std::uint64_t{1}}});
  REQUIRE(whole);
  CHECK(whole->arguments[0].overwrites);
  CHECK(whole->range.tiles() == 10); // of 4 KiB
}

TEST_CASE("a copy") {
  const auto copy =
      resolved({.copy = CopySpec{.from = "shorts", .to = "longs", .from_offset = 2, .to_offset = 1}});
  REQUIRE(copy);
  CHECK(copy->arguments[0].access == Access::read);
  CHECK(copy->arguments[1].access == Access::write);
  CHECK_FALSE(copy->arguments[1].overwrites);
  CHECK(word(*copy, 2) == 4);
  CHECK(word(*copy, 3) == 8);
  CHECK(word(*copy, 4) == 16);
  CHECK(copy->command->from == 0U);
  const auto inside = resolved(
      {.copy = CopySpec{.from = "shorts", .to = "shorts", .from_offset = 0, .to_offset = 5, .count = 5}});
  CHECK(inside);
}

TEST_CASE("transfers that are refused") {
  CHECK(refusal({.fill = FillSpec{.buffer = "shorts", .offset = 8, .count = 3}}) ==
        "out_of_range /w/fill: 3 elements from element 8 on, \"shorts\" has 10");
  CHECK(refusal({.fill = FillSpec{.buffer = "shorts", .offset = 10}}) ==
        "out_of_range /w/fill: 0 elements from element 10 on, \"shorts\" has 10");
  CHECK(refusal({.fill = FillSpec{.buffer = "shorts", .offset = ~std::uint64_t{0}, .count = 2}}) ==
        "out_of_range /w/fill: 2 elements from element 18446744073709551615 on, \"shorts\" has 10");
  CHECK(refusal({.fill = FillSpec{.buffer = "shorts", .value = std::uint64_t{40000}}})
            .starts_with("out_of_range /w/fill/value: "));
  CHECK(refusal({.copy = CopySpec{.from = "longs", .to = "shorts", .count = 3}}) ==
        "out_of_range /w/copy: 24 bytes do not fit into \"shorts\" from element 0 on, which has 10");
  CHECK(refusal({.copy = CopySpec{.from = "shorts", .to = "shorts", .to_offset = 4, .count = 5}}) ==
        "invalid_program /w/copy: the parts of \"shorts\" that are read and written overlap");
}

TEST_CASE("their kernels are in our own source") {
  ProgramOps ops;
  for (const std::string_view kernel : {"copy_bytes", "fill_bytes"}) {
    const auto op = built_in_op(ops, "wave/transfers.cl", kernel);
    REQUIRE_MESSAGE(op, describe(op.error()));
    CHECK(ops.ops[*op].name == kernel);
    CHECK(ops.function(*op).name == kernel);
    CHECK_FALSE(ops.unit(*op).built_in.empty());
  }
  CHECK(ops.units.size() == 1);
}
