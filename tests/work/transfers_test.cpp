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

// Accesses of memory and numbers, then the size; or the error.
std::string told(const WaveSpec& spec) {
  const auto wave = resolved(spec);
  if (!wave) {
    return fmt::format("{} {}: {}", name(wave.error().code), *wave.error().pointer, wave.error().message);
  }
  std::string text;
  for (const ProgramArgument& argument : wave->arguments) {
    std::uint64_t word = 0;
    std::memcpy(&word, argument.value.data(), argument.value.size());
    text += argument.is_memory() ? fmt::format("{}{} ", argument.overwrites ? "over" : "",
                                               access_names[static_cast<std::size_t>(argument.access)])
                                 : fmt::format("{:#x} ", word);
  }
  const TransferCommand& command = *wave->command;
  return fmt::format("{}in {} tiles; {} bytes{}{}", text, wave->range.tiles(), command.bytes,
                     command.from ? " from " : "", command.from ? fmt::format("{}", *command.from) : "");
}

} // namespace

TEST_CASE("fills and copies, and those that are refused") {
  const auto part = FillSpec{.buffer = "shorts", .value = std::int64_t{-2}, .offset = 3, .count = 4};
  CHECK(resolved({.fill = part})->command->pattern == std::vector{std::byte{0xfe}, std::byte{0xff}});
  const std::string ten = ", \"shorts\" has 10";
  for (const auto& [spec, expected] : std::vector<std::pair<WaveSpec, std::string>>{
           {{.fill = part}, "write 0x6 0xe 0xfffefffefffefffe in 1 tiles; 8 bytes"}, // the rest is kept
           {{.fill = FillSpec{.buffer = "longs", .value = std::uint64_t{1}}},
            "overwrite 0x0 0x9c40 0x1 in 10 tiles; 40000 bytes"}, // of 4 KiB
           {{.copy = CopySpec{.from = "shorts", .to = "longs", .from_offset = 2, .to_offset = 1}},
            "read write 0x4 0x8 0x10 in 1 tiles; 16 bytes from 0"},
           {{.copy = CopySpec{.from = "shorts", .to = "shorts", .to_offset = 5, .count = 5}},
            "read write 0x0 0xa 0xa in 1 tiles; 10 bytes from 0"},
           {{.fill = FillSpec{.buffer = "shorts", .offset = 8, .count = 3}},
            "out_of_range /w/fill: 3 elements from element 8 on" + ten},
           {{.fill = FillSpec{.buffer = "shorts", .offset = 10}},
            "out_of_range /w/fill: 0 elements from element 10 on" + ten},
           {{.fill = FillSpec{.buffer = "shorts", .offset = ~std::uint64_t{0}, .count = 2}},
            "out_of_range /w/fill: 2 elements from element 18446744073709551615 on" + ten},
           {{.fill = FillSpec{.buffer = "shorts", .value = std::uint64_t{40000}}},
            "out_of_range /w/fill/value: 40000 is outside the range of i16, -32768 to 32767"},
           {{.copy = CopySpec{.from = "longs", .to = "shorts", .count = 3}},
            "out_of_range /w/copy: 24 bytes do not fit into \"shorts\" from element 0 on, which has 10"},
           {{.copy = CopySpec{.from = "shorts", .to = "shorts", .to_offset = 4, .count = 5}},
            "invalid_program /w/copy: the parts of \"shorts\" that are read and written overlap"}}) {
    CHECK(told(spec) == expected);
  }
}
