// Programs checked against their kernels: every name, argument and size, and the place of each error.
#include "../temporary_folder.hpp"
#include "engine/job.hpp"
#include "work/resolve.hpp"
#include "work/run.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tidegate;
using namespace tidegate::engine;
using tidegate::test::TemporaryFolder;

namespace {

using Sizes = std::vector<std::uint64_t>;
using Range = std::array<std::uint32_t, 3>;

constexpr std::string_view source =
    "kernel void scale(global const float* in, global float* out, float factor) {}\n"
    "kernel void bump(global int* counts) {}\n"
    "kernel void tile(global float* data, local float* scratch) {}\n"
    "kernel __attribute__((reqd_work_group_size(16, 4, 1))) void fixed(global float* data) {}\n"
    "kernel void nothing() {}\n"
    "kernel void mix(global int* a) {}\n"
    "float helper(float x) { return x; }\n"
    "kernel void declared(global int* a);\n";

ArgumentSpec buffer(std::string name) {
  ArgumentSpec argument;
  argument.buffer = std::move(name);
  return argument;
}
ArgumentSpec buffer(std::string name, Access access) {
  ArgumentSpec argument = buffer(std::move(name));
  argument.access = access;
  return argument;
}
ArgumentSpec f32(std::vector<Number> numbers) {
  ArgumentSpec argument;
  argument.f32 = std::move(numbers);
  return argument;
}
ArgumentSpec u32(std::vector<Number> numbers) {
  ArgumentSpec argument;
  argument.u32 = std::move(numbers);
  return argument;
}
ArgumentSpec local_bytes(std::uint64_t bytes) {
  ArgumentSpec argument;
  argument.local_bytes = bytes;
  return argument;
}

WaveSpec wave(std::string op, std::vector<ArgumentSpec> arguments, Sizes global = {64}) {
  return {.name = {}, .op = std::move(op), .global_size = std::move(global), .args = std::move(arguments)};
}

// A program that resolves: x scaled into y.
WaveProgram sound() {
  WaveProgram program;
  program.buffers = {
      {"x", {.count = 64}}, {"y", {.count = 64}}, {"counts", {.type = ElementType::i32, .count = 8}}};
  for (const std::string_view op : {"scale", "bump", "tile", "fixed", "nothing"}) {
    program.ops.emplace_back(op, OpSpec{.source = "k.cl", .kernel = {}, .options = ""});
  }
  program.waves = {wave("scale", {buffer("x"), buffer("y"), f32({2.0})})};
  return program;
}

// A compiler that predefines these macros and no others.
AnswerMacros macros(std::map<std::string, std::string> defined) {
  return [defined = std::move(defined)](const opencl_c::CompilerOptions& /*options*/,
                                        opencl_c::PredefinedMacros& asked) -> Result<void> {
    for (const std::string& name : std::exchange(asked.unknown_names, {})) {
      const auto found = defined.find(name);
      asked.names[name] = found == defined.end() ? std::nullopt : std::optional(found->second);
    }
    CHECK(asked.unknown_conditions.empty());
    return {};
  };
}

Result<Job> resolved(const WaveProgram& program, std::string_view text = source) {
  const TemporaryFolder folder;
  folder.write("k.cl", std::string(text));
  return resolve(program, folder.path(), macros({{"__OPENCL_VERSION__", "120"}}));
}

Job expect(const WaveProgram& program, std::string_view text = source) {
  auto result = resolved(program, text);
  if (!result) {
    FAIL(describe(result.error()));
  }
  return std::move(*result);
}

// "CODE POINTER: MESSAGE".
std::string refusal(const Result<Job>& result) {
  if (result) {
    return "none";
  }
  CHECK_FALSE(result.error().fix.empty());
  return fmt::format("{} {}: {}", name(result.error().code), result.error().pointer.value_or("-"),
                     result.error().message);
}

std::string refused(auto&& change, std::string_view text = source) {
  WaveProgram program = sound();
  change(program);
  return refusal(resolved(program, text));
}

// One kernel "k" with these parameters, called with these arguments.
Result<Job> call(const std::string& parameters, std::vector<ArgumentSpec> arguments,
                 const std::string& before = "") {
  WaveProgram program;
  program.buffers = {
      {"x", {.count = 64}}, {"y", {.count = 64}}, {"n", {.type = ElementType::u32, .count = 1}}};
  program.ops = {{"k", {.source = "k.cl", .kernel = {}, .options = ""}}};
  program.waves = {wave("k", std::move(arguments))};
  return resolved(program, before + "kernel void k(" + parameters + ") {}");
}

ProgramArgument argument_of(const Result<Job>& result, std::size_t index = 0) {
  if (!result) {
    FAIL(describe(result.error()));
  }
  return result->waves.at(0).arguments.at(index);
}

template <class T>
std::vector<T> values(const ProgramArgument& argument) {
  REQUIRE(argument.kind == ProgramArgument::Kind::value);
  std::vector<T> found(argument.value.size() / sizeof(T));
  std::memcpy(found.data(), argument.value.data(), argument.value.size());
  return found;
}

} // namespace

TEST_CASE("a sound program") {
  WaveProgram program = sound();
  program.device_memory_budget_bytes = 1000;
  program.waves[0].name = "first";
  program.waves[0].rules = {0, 31, 0};
  const Job found = expect(program);
  REQUIRE(found.buffers.size() == 3);
  CHECK(found.buffers[0].name == "x");
  CHECK(found.buffers[0].bytes == 256);
  CHECK(found.buffers[2].bytes == 32);
  CHECK(found.buffers[0].transient());
  REQUIRE(found.ops.size() == 5);
  CHECK(found.units.size() == 1); // read once
  CHECK(found.function(1).name == "bump");
  REQUIRE(found.waves.size() == 1);
  CHECK(found.waves[0].op == 0);
  CHECK(found.waves[0].rules == ((1U << 31U) | 1U));
  CHECK(found.waves[0].bytes == planning::Wave{.frontier_bytes = 256, .output_bytes = 256});
  CHECK(found.wave_text(0) == "\"first\"");
  CHECK(found.derived);
  CHECK(found.iterations == 1);
  CHECK(found.budget_bytes == 1000);
  CHECK_FALSE(found.until);
  REQUIRE(found.waves[0].arguments.size() == 3);
  CHECK(found.waves[0].arguments[0].access == Access::read);
  CHECK(found.waves[0].arguments[1].access == Access::read_write);
  CHECK(values<float>(found.waves[0].arguments[2]) == std::vector<float>{2});
  program.waves[0].name.reset();
  CHECK(expect(program).wave_text(0) == "wave 0 (" + found.ops[found.waves[0].op].name + ")");
}

TEST_CASE("a stated envelope wins, and a buffer counts once") {
  WaveProgram program = sound();
  program.waves[0].bytes = planning::Wave{.frontier_bytes = 1, .scratch_bytes = 2, .output_bytes = 3};
  CHECK(expect(program).waves[0].bytes == *program.waves[0].bytes);
  program.waves[0].bytes.reset();
  program.waves[0].args[0] = buffer("y");
  CHECK(expect(program).waves[0].bytes == planning::Wave{.output_bytes = 256}); // read and written
}

TEST_CASE("default local sizes are the largest divisors up to 256 in x and 1 elsewhere") {
  const auto local_of = [](const Sizes& global) {
    WaveProgram program = sound();
    program.waves[0].global_size = global;
    return expect(program).waves[0].range.local;
  };
  CHECK(local_of({1}) == Range{1, 1, 1});
  CHECK(local_of({64}) == Range{64, 1, 1});
  CHECK(local_of({256}) == Range{256, 1, 1});
  CHECK(local_of({257}) == Range{1, 1, 1}); // a prime
  CHECK(local_of({258}) == Range{129, 1, 1});
  CHECK(local_of({1000}) == Range{250, 1, 1});
  CHECK(local_of({4294967295}) == Range{255, 1, 1});
  CHECK(local_of({512, 512}) == Range{256, 1, 1});
  CHECK(local_of({3, 256, 256}) == Range{3, 1, 1});
}

TEST_CASE("NDRanges") {
  WaveProgram program = sound();
  program.waves[0].global_size = {100, 30, 7};
  program.waves[0].local_size = Sizes{16, 4, 7};
  program.waves[0].global_offset = Sizes{1, 2, std::numeric_limits<std::uint64_t>::max()};
  const NdRange range = expect(program).waves[0].range;
  CHECK(range.dimensions == 3);
  CHECK(range.global == Range{100, 30, 7});
  CHECK(range.local == Range{16, 4, 7});
  CHECK(range.groups == Range{7, 8, 1});
  CHECK(range.offset == std::array<std::uint64_t, 3>{1, 2, std::numeric_limits<std::uint64_t>::max()});
  CHECK(range.tiles() == 56);
  CHECK(range.group_size() == 448);
  CHECK(range.ragged());
  program.waves[0].global_size = {4294967295};
  program.waves[0].local_size = Sizes{3};
  program.waves[0].global_offset.reset();
  CHECK(expect(program).waves[0].range.tiles() == 1431655765);
}

TEST_CASE("a work-group of more than 2^32 - 1 work-items is named for what it is") {
  const std::string text = refused([](WaveProgram& program) {
    program.waves[0].global_size = {65536, 65536};
    program.waves[0].local_size = Sizes{65536, 65536};
  });
  CHECK(text.starts_with("out_of_range /waves/0/local_size: "));
  CHECK(text.find("more than 2^31 - 1 work-groups") == std::string::npos); // there is one
}

TEST_CASE("reqd_work_group_size") {
  WaveProgram program = sound();
  program.waves = {wave("fixed", {buffer("x")}, {64, 8})};
  const NdRange range = expect(program).waves[0].range;
  CHECK(range.local == Range{16, 4, 1});
  CHECK(range.groups == Range{4, 2, 1});
  program.waves[0].local_size = Sizes{16, 4};
  CHECK(expect(program).waves[0].range.local == Range{16, 4, 1});
}

TEST_CASE("values become the bytes of the parameter's type") {
  CHECK(values<float>(argument_of(call("float a", {f32({1.5})}))) == std::vector<float>{1.5F});
  CHECK(values<float>(argument_of(call("const float4 a", {f32({1.0, 2.0, 3.0, 4.0})}))) ==
        std::vector<float>{1, 2, 3, 4});
  CHECK(values<std::uint32_t>(argument_of(call("unsigned int a", {u32({std::uint64_t{4294967295}})}))) ==
        std::vector<std::uint32_t>{4294967295});
  CHECK(values<float>(argument_of(call("real a", {f32({1.0})}, "typedef float real; "))) ==
        std::vector<float>{1});
  ArgumentSpec bytes;
  bytes.i8 = std::vector<Number>{std::int64_t{-1}, std::uint64_t{2}};
  CHECK(values<std::int8_t>(argument_of(call("char2 a", {bytes}))) == std::vector<std::int8_t>{-1, 2});
  ArgumentSpec wide;
  wide.i64 = std::vector<Number>{std::int64_t{-5}};
  CHECK(values<std::int64_t>(argument_of(call("long int a", {wide}))) == std::vector<std::int64_t>{-5});
}

TEST_CASE("a vector of 3 has the room of 4") {
  const auto three = values<std::uint32_t>(
      argument_of(call("uint3 a", {u32({std::uint64_t{7}, std::uint64_t{8}, std::uint64_t{9}})})));
  CHECK(three == std::vector<std::uint32_t>{7, 8, 9, 0});
}

TEST_CASE("what an error proposes") {
  const auto fix = [](const Result<Job>& result) {
    REQUIRE_FALSE(result);
    return result.error().fix;
  };
  CHECK(fix(call("bool a", {f32({1.0})})) ==
        "make the parameter an int or a uint: kernels of OpenCL C take none of type bool");
  CHECK(fix(call("size_t a", {f32({1.0})})) ==
        "make the parameter a uint or a ulong: kernels of OpenCL C take none of type size_t");
  CHECK(fix(call("enum e a", {f32({1.0})}, "enum e { A }; ")) == "give {\"enum\": …} or {\"u32\": …}");
  CHECK(fix(call("struct s a", {f32({1.0})}, "struct s { int x; }; ")) ==
        "give {\"struct\": {…}} or {\"bytes\": …}");
}

TEST_CASE("arguments that fit") {
  CHECK(argument_of(call("global float4* a", {buffer("x")})).buffer == 0);
  CHECK(argument_of(call("global void* a", {buffer("n")})).buffer == 2);
  CHECK(argument_of(call("global struct s* a", {buffer("y")}, "struct s { float x; }; ")).buffer == 1);
  CHECK(argument_of(call("reals a", {buffer("y")}, "typedef global float* reals; ")).buffer == 1);
  const ProgramArgument local = argument_of(call("local float* a", {local_bytes(48)}));
  CHECK(local.kind == ProgramArgument::Kind::local);
  CHECK(local.local_bytes == 48);
}

TEST_CASE("a kernel may take a buffer's elements for others") {
  const auto reinterpreted = [](const std::string& parameter, ArgumentSpec argument, bool meant = false) {
    argument.reinterpret = meant;
    return argument_of(call(parameter, {std::move(argument)})).reinterpreted;
  };
  CHECK(reinterpreted("global float4* a", buffer("x")).empty());
  CHECK(reinterpreted("global int* a", buffer("n")).empty()); // differs in sign only
  CHECK(reinterpreted("global int* a", buffer("x")) == "i32");
  CHECK(reinterpreted("global double* a", buffer("x")) == "f64");
  CHECK(reinterpreted("global uchar4* a", buffer("n")) == "u8");
  CHECK(reinterpreted("global uchar4* a", buffer("n"), true).empty());
}

TEST_CASE("null pointers") {
  ArgumentSpec null;
  null.null = true;
  CHECK(argument_of(call("global float* a", {null})).kind == ProgramArgument::Kind::null);
  CHECK(argument_of(call("constant struct s* a", {null}, "struct s { int x; }; ")).kind ==
        ProgramArgument::Kind::null);
  CHECK(refusal(call("local float* a", {null})) ==
        "argument_mismatch /waves/0/args/0: the argument is a null pointer, the kernel's parameter is "
        "\"local float* a\"");
}

TEST_CASE("access follows the signature and may be narrowed") {
  const auto access = [](const std::string& parameter, const ArgumentSpec& argument) {
    return argument_of(call(parameter, {argument})).access;
  };
  CHECK(access("global const float* a", buffer("x")) == Access::read);
  CHECK(access("constant float* a", buffer("x")) == Access::read);
  CHECK(access("global float* a", buffer("x")) == Access::read_write);
  CHECK(access("global float* a", buffer("x", Access::write)) == Access::write);
  CHECK(access("global float* a", buffer("x", Access::read)) == Access::read);
  CHECK(access("global const float* a", buffer("x", Access::read)) == Access::read);
}

TEST_CASE("members of a structure change as arguments do") {
  const std::string point = "typedef struct { char tag; int at[2]; float by; } point; ";
  const auto n = [](std::uint64_t number) { return Value{Number(number)}; };
  const auto changing = [](const char* type, const char* form, std::uint64_t by) {
    Value value{Value::Object{}};
    auto& object = std::get<Value::Object>(value.is);
    object.emplace_back(type, Value{Number(std::uint64_t{5})});
    object.emplace_back("iteration", Value{Value::Object{ValueMember(form, Value{Number(by)})}});
    return value;
  };
  const auto given = [&](Value second, Value by) {
    ArgumentSpec argument;
    argument.structure = Value{Value::Object{ValueMember("tag", n(1)),
                                             ValueMember("at", Value{Value::List{n(7), std::move(second)}}),
                                             ValueMember("by", std::move(by))}};
    return call("point p", {argument}, point);
  };
  const ProgramArgument found = argument_of(given(changing("i32", "add", 3), changing("f32", "add", 2)));
  REQUIRE(found.changes.size() == 2);
  CHECK(found.changes[0].offset == 8);
  CHECK(found.changes[1].offset == 12);
  struct Point { // as a C compiler lays it out
    char tag;
    std::int32_t at[2];
    float by;
  };
  for (std::uint32_t iteration = 0; iteration < 4; ++iteration) {
    Point point_now{};
    const auto bytes = value_in(found.value, found.changes, iteration);
    REQUIRE(bytes.size() == sizeof point_now);
    std::memcpy(&point_now, bytes.data(), sizeof point_now);
    CHECK(point_now.tag == 1);
    CHECK(point_now.at[0] == 7);
    CHECK(point_now.at[1] == 5 + 3 * static_cast<int>(iteration));
    CHECK(point_now.by == 5 + 2 * static_cast<float>(iteration));
  }
  CHECK(
      refusal(given(changing("u32", "add", 3), n(0))) ==
      "argument_mismatch /waves/0/args/0/struct/at/1: a member that changes takes one int and its iteration");
  CHECK(refusal(given(changing("i32", "ad", 3), n(0))) ==
        "unknown_key /waves/0/args/0/struct/at/1/iteration/ad: unknown key \"ad\"");
  CHECK(refusal(given(n(0), changing("f32", "multiply", 3))) ==
        "invalid_program /waves/0/args/0/struct/by/iteration: floats can only be changed by add");
  // All waves of an op share the code: a member that changes in one of them is a constant of the others.
  std::vector<ProgramWave> waves(2);
  waves[0].arguments = {found};
  waves[1].arguments = {argument_of(given(n(9), n(0)))};
  spread_progressions(waves);
  REQUIRE(waves[1].arguments[0].changes.size() == 2);
  CHECK(value_in(waves[1].arguments[0].value, waves[1].arguments[0].changes, 3) ==
        waves[1].arguments[0].value);
}

// One kernel "k" with these parameters, and a program with images of type image2d_t, "picture" and "other",
// an image3d_t "volume" and a buffer "x".
Result<Job> with_images(const std::string& parameters, std::vector<ArgumentSpec> arguments,
                        const auto& change) {
  WaveProgram program;
  program.buffers = {{"x", {.count = 64}}};
  program.images = {{"picture", {.format = ImageFormat{}, .size = {4, 3}}},
                    {"volume", {.format = ImageFormat{}, .size = {4, 3, 2}}},
                    {"other", {.format = ImageFormat{}, .size = {4, 3}}}};
  program.ops = {{"k", {.source = "k.cl", .kernel = {}, .options = ""}}};
  program.waves = {wave("k", std::move(arguments))};
  change(program);
  return resolved(program, "kernel void k(" + parameters + ") {}");
}

ArgumentSpec image(std::string name) {
  ArgumentSpec argument;
  argument.image = std::move(name);
  return argument;
}

ArgumentSpec sampler(SamplerSpec spec) {
  ArgumentSpec argument;
  argument.sampler = spec;
  return argument;
}

TEST_CASE("images and samplers") {
  const auto nothing = [](WaveProgram&) {};
  const auto found = with_images(
      "image2d_t a, __write_only image3d_t b, read_write image2d_t c, const sampler_t s",
      {image("picture"), image("volume"), image("other"), sampler({.filter = FilterMode::linear})}, nothing);
  CHECK(argument_of(found, 0).kind == ProgramArgument::Kind::image);
  CHECK(argument_of(found, 0).buffer == 1); // after the buffers
  CHECK(argument_of(found, 0).access == Access::read);
  CHECK(argument_of(found, 1).buffer == 2);
  CHECK(argument_of(found, 1).access == Access::write);
  CHECK(argument_of(found, 2).access == Access::read_write);
  CHECK(argument_of(found, 3).kind == ProgramArgument::Kind::sampler);
  CHECK(argument_of(found, 3).sampler.filter == FilterMode::linear);
  CHECK(found->buffers[2].bytes == 24);
  CHECK(found->buffers[2].transient());
  CHECK(found->waves[0].bytes == planning::Wave{.frontier_bytes = 12, .output_bytes = 36});

  const auto error = [&](const std::string& parameters, std::vector<ArgumentSpec> arguments) {
    return refusal(with_images(parameters, std::move(arguments), nothing));
  };
  CHECK(error("image2d_t a", {image("pictures")}) ==
        "unknown_name /waves/0/args/0/image: there is no image \"pictures\"");
  CHECK(error("image2d_t a", {image("volume")}) ==
        "argument_mismatch /waves/0/args/0: the argument is the image \"volume\", an image3d_t, the kernel's "
        "parameter is \"image2d_t a\"");
  CHECK(
      error("global float* a", {image("picture")}) ==
      "argument_mismatch /waves/0/args/0: the argument is the image \"picture\", an image2d_t, the kernel's "
      "parameter is \"global float* a\"");
  CHECK(error("image2d_t a", {buffer("x")}) == "argument_mismatch /waves/0/args/0: the argument is the "
                                               "buffer \"x\", the kernel's parameter is \"image2d_t "
                                               "a\"");
  CHECK(error("image2d_t a", {sampler({})}) == "argument_mismatch /waves/0/args/0: the argument is a "
                                               "sampler, the kernel's parameter is \"image2d_t a\"");
  CHECK(error("sampler_t s", {u32({std::uint64_t{1}})}) ==
        "argument_mismatch /waves/0/args/0: the argument is uint, the kernel's parameter is \"sampler_t s\"");
  CHECK(error("sampler_t s", {sampler({.address = AddressMode::repeat})}) ==
        "invalid_program /waves/0/args/0/sampler: the address mode repeat needs normalized coordinates");
  CHECK(error("image2d_t a", {image("x")}) ==
        "invalid_program /waves/0/args/0/image: \"x\" is a buffer, not an image");
  CHECK(error("global float* a", {buffer("picture")}) ==
        "invalid_program /waves/0/args/0/buffer: \"picture\" is an image, not a buffer");
  CHECK(error("write_only image2d_t a, image2d_t b", {image("picture"), image("picture")}) ==
        "invalid_program /waves/0/args/1: argument 1 reads the image \"picture\" and argument 0 writes it, "
        "which "
        "OpenCL leaves undefined");
  CHECK(error("image2d_t a, image2d_t b", {image("picture"), image("picture")}) == "none");
}

TEST_CASE("what is done with buffers alone") {
  const auto error = [](const auto& change) {
    const auto found = with_images("image2d_t a", {image("picture")}, change);
    return refusal(found) + (found ? "" : "; " + found.error().fix);
  };
  CHECK(
      error([](WaveProgram& program) { program.waves.push_back({.fill = FillSpec{.buffer = "picture"}}); }) ==
      "invalid_program /waves/1/fill/buffer: \"picture\" is an image, not a buffer; give the image an "
      "init, or write it in a kernel: `tidegate schema wave_program --format table` ends with what "
      "cannot be run");
  CHECK(error([](WaveProgram& program) {
          program.waves.push_back({.copy = CopySpec{.from = "x", .to = "picture"}});
        }).starts_with("invalid_program /waves/1/copy/to: \"picture\" is an image, not a buffer; give the"));
  CHECK(error([](WaveProgram& program) { program.until = Until{.buffer = "picture"}; }) ==
        "invalid_program /until/buffer: \"picture\" is an image, not a buffer; let a kernel write what ends "
        "the "
        "repetition into a buffer");
}

TEST_CASE("images have names and places like buffers") {
  const auto refused_with = [](const auto& change) {
    return refusal(with_images("image2d_t a", {image("picture")}, change));
  };
  CHECK(refused_with([](WaveProgram& program) { program.images[1].first = "x"; }) ==
        "duplicate_name /images/x: a buffer and an image are both called \"x\"");
  CHECK(
      refused_with([](WaveProgram& program) {
        program.swap = {{"picture", "volume"}};
      }) ==
      "invalid_program /swap/0: cannot swap \"picture\" (r_snorm8 of 4 x 3) with \"volume\" (r_snorm8 of 4 x 3 x 2)");
  CHECK(refused_with([](WaveProgram& program) {
          program.swap = {{"picture", "x"}};
        }) == "invalid_program /swap/0: cannot swap \"picture\" (r_snorm8 of 4 x 3) with \"x\" (a buffer)");
  CHECK(
      refused_with([](WaveProgram& program) { program.images[0].second.init = BufferInit{}; }) ==
      "invalid_program /images/picture/init: init needs exactly one of fill, iota, random and file, this one has 0");
  CHECK(refused_with([](WaveProgram& program) {
          program.images[0].second.size = {std::uint64_t{1} << 40U, std::uint64_t{1} << 40U};
        }) == "out_of_range /images/picture/size: the image \"picture\" has too many texels");
  CHECK(refused_with([](WaveProgram& program) {
          program.images[1].second.size = {4, 3};
          program.swap = {{"picture", "volume"}};
        }) == "none");
}

TEST_CASE("pointers escape what RFC 6901 escapes") {
  CHECK(refused([](WaveProgram& program) {
          program.buffers.emplace_back("a/b~c", BufferSpec{});
        }).starts_with("out_of_range /buffers/a~1b~0c/count: "));
  CHECK(refused([](WaveProgram& program) {
          program.ops[0].first = "a/b";
        }).starts_with("unknown_name /ops/a~1b: "));
}

TEST_CASE("swaps and until") {
  WaveProgram program = sound();
  program.swap = {{"x", "y"}};
  program.until = Until{.buffer = "counts", .equals = std::int64_t{-3}};
  const Job found = expect(program);
  CHECK(found.swaps == std::vector<std::array<std::uint32_t, 2>>{{0, 1}});
  CHECK(found.buffers[0].swapped);
  CHECK_FALSE(found.buffers[0].transient());
  CHECK_FALSE(found.buffers[2].swapped);
  REQUIRE(found.until);
  CHECK(found.until->buffer == 2);
  std::int32_t value = 0;
  REQUIRE(found.until->value.size() == sizeof(value));
  std::memcpy(&value, found.until->value.data(), sizeof(value));
  CHECK(value == -3);
  CHECK(found.iterations == std::numeric_limits<std::uint32_t>::max()); // unlimited
  program.repeat = 5;
  CHECK(expect(program).iterations == 5);
}

TEST_CASE("waves and their names") {
  CHECK(refused([](WaveProgram& program) { program.waves.clear(); }) ==
        "invalid_program /waves: the program has no waves");
  CHECK(refused([](WaveProgram& program) { program.waves[0].name = ""; }) ==
        "invalid_program /waves/0/name: the name of wave 0 is empty");
}

namespace {

// "before>after", with a star for tile-local ones.
std::string dependencies(const Job& program) {
  std::string text;
  for (const ResolvedDependency& dependency : program.dependencies) {
    text += fmt::format("{}{}>{}{}", text.empty() ? "" : " ", dependency.before, dependency.after,
                        dependency.tile_local() ? "*" : "");
  }
  return text;
}

} // namespace

TEST_CASE("dependencies follow from what waves read and write") {
  WaveProgram program = sound();
  const auto scale = [](const std::string& from, const ArgumentSpec& to) {
    return wave("scale", {buffer(from), to, f32({1.0})});
  };
  program.waves = {scale("x", buffer("y")), scale("y", buffer("x"))};
  CHECK(dependencies(expect(program)) == "0>1"); // a read after a write, and a write after a read
  program.waves = {scale("x", buffer("y")), scale("x", buffer("y"))};
  CHECK(dependencies(expect(program)) == "0>1"); // a write after a write
  program.waves = {scale("x", buffer("y", Access::read)), scale("x", buffer("y", Access::read))};
  CHECK(dependencies(expect(program)).empty()); // narrowed to reads
  program.waves = {wave("bump", {buffer("counts")}), scale("x", buffer("y"))};
  CHECK(dependencies(expect(program)).empty());
}

TEST_CASE("stated dependencies are taken as they are") {
  WaveProgram program = sound();
  program.waves.push_back(program.waves[0]);
  program.waves[1].name = "last";
  program.dependencies = std::vector<ProgramDependency>{};
  Job found = expect(program);
  CHECK(dependencies(found).empty());
  CHECK_FALSE(found.derived);
  program.dependencies = {{.before = Identifier(0), .after = Identifier("last"), .tile_local = true}};
  CHECK(dependencies(expect(program)) == "0>1*");
  program.waves[1].global_size = {128};
  program.waves[1].local_size = Sizes{64};
  program.dependencies = {{.before = Identifier(0), .after = Identifier(1), .tile_local = true}};
  CHECK(refusal(resolved(program)) ==
        "invalid_program /dependencies/0: a tile_local dependency between wave 0 (scale) with 1 tile "
        "and \"last\" with 2 tiles");
}

TEST_CASE("sources and options") {
  const TemporaryFolder folder;
  folder.write(
      "ops/k.cl",
      "#include \"n.h\"\n#ifdef WIDE\nkernel void k(float4 a) {}\n#else\nkernel void k(float a) {}\n#endif\n"
      "#if __OPENCL_C_VERSION__ != VERSION\n#error version\n#endif\n");
  folder.write("include/n.h", "// nothing\n");
  std::set<std::string> assumed; // the version follows from the options
  WaveProgram program;
  const auto op = [](const std::string& options) {
    return OpSpec{.source = "ops/k.cl", .kernel = "k", .options = options};
  };
  program.ops = {{"narrow", op("-I include -DVERSION=120")},
                 {"wide", op("-Iinclude -D WIDE -DVERSION=200 -cl-std=CL2.0 -cl-mad-enable")},
                 {"again", op("-I include -DVERSION=120")}};
  program.waves = {wave("narrow", {f32({1.0})}), wave("wide", {f32({1.0, 2.0, 3.0, 4.0})}),
                   wave("again", {f32({1.0})})};
  const auto found = resolve(program, folder.path(), assume_macros(assumed));
  REQUIRE_MESSAGE(found, describe(found.error()));
  CHECK(found->units.size() == 2);
  CHECK(found->ops[0].unit == found->ops[2].unit);
  CHECK(found->units[1].parsed_options.others == std::vector<std::string>{"-cl-mad-enable"});
  CHECK(found->folder == folder.path());

  const auto error = [&](const std::string& source_path, const std::string& options) {
    program.ops[0].second = {.source = source_path, .kernel = "k", .options = options};
    const auto result = resolve(program, folder.path(), assume_macros(assumed));
    REQUIRE_FALSE(result);
    return result.error();
  };
  const Error version = error("ops/k.cl", "-I include -DVERSION=300");
  CHECK(version.code == ErrorCode::kernel_source);
  CHECK(version.line == 8);
  CHECK_FALSE(version.pointer);
  const Error missing = error("ops/missing.cl", "");
  CHECK(missing.code == ErrorCode::cannot_read);
  CHECK(missing.pointer == "/ops/narrow/source");
  const Error options = error("ops/k.cl", "-o out");
  CHECK(options.code == ErrorCode::kernel_options);
  CHECK(options.pointer == "/ops/narrow/options");
}

TEST_CASE("the macros of the device's compiler are there, and options may change them") {
  const TemporaryFolder folder;
  folder.write("k.cl",
               "#if LEVEL == 2\nkernel void k(float a) {}\n#else\nkernel void k(uint a) {}\n#endif\n");
  WaveProgram program;
  program.ops = {{"k", {.source = "k.cl", .kernel = {}, .options = ""}}};
  program.waves = {wave("k", {f32({1.0})})};
  CHECK(refusal(resolve(program, folder.path(), macros({{"LEVEL", "2"}}))) == "none");
  CHECK(refusal(resolve(program, folder.path(), macros({{"LEVEL", "1"}}))).starts_with("argument_mismatch"));
  program.ops[0].second.options = "-DLEVEL=2";
  CHECK(refusal(resolve(program, folder.path(), macros({{"LEVEL", "1"}}))) == "none");
}

TEST_CASE("an error in a source has its place there, whichever op names it") {
  const auto result = resolved(sound(), "kernel void scale(global float* x) {\n\n");
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kernel_source);
  CHECK(result.error().line == 1);
  REQUIRE(result.error().source);
  CHECK(result.error().source->ends_with("k.cl"));
  CHECK_FALSE(result.error().pointer);
  CHECK(refusal(resolved(sound(), "int counter;")).starts_with("unsupported_kernel -: "));
}

namespace {

// "CODE POINTER" of every error.
std::vector<std::string> refusals(const Result<Job>& result) {
  REQUIRE_FALSE(result);
  std::vector<std::string> found;
  const auto add = [&](const Error& error) {
    CHECK_FALSE(error.message.empty());
    found.push_back(fmt::format("{} {}", name(error.code), error.pointer.value_or("-")));
  };
  add(result.error());
  for (const Error& other : result.error().others) {
    add(other);
  }
  return found;
}

} // namespace

TEST_CASE("all errors are reported at once, without their consequences") {
  WaveProgram program = sound();
  program.buffers.emplace_back("none", BufferSpec{.count = 0, .init = BufferInit{}, .output = "../x"});
  program.buffers.emplace_back(
      "bytes", BufferSpec{.type = ElementType::u8, .count = 300, .init = BufferInit{.iota = Iota{}}});
  program.ops.emplace_back("lost", OpSpec{.source = "lost.cl", .kernel = {}, .options = ""});
  program.ops.emplace_back("lost too", OpSpec{.source = "lost.cl", .kernel = {}, .options = ""});
  program.ops.emplace_back("scael", OpSpec{.source = "k.cl", .kernel = {}, .options = ""});
  program.waves = {
      wave("lost", {buffer("x"), buffer("z")}),               // the op is already reported; z is unknown
      wave("scale", {buffer("none"), buffer("y"), u32({2})}), // none is already reported
      wave("scale", {buffer("x")}, {}),
      wave("scael", {buffer("bytes")}),
      wave("bump", {buffer("w")}, {0}),
      wave("bunp", {}),
  };
  program.waves[1].name = program.waves[2].name = "same";
  program.waves[5].rules = {1, 40, 50};
  program.swap = {{"none", "x"}, {"x", "a"}, {"x", "counts"}};
  program.until = Until{.buffer = "b"};
  program.dependencies = std::vector<ProgramDependency>{
      {.before = Identifier(std::uint64_t{0}), .after = Identifier(std::uint64_t{9})},
      {.before = Identifier(std::string("same")),
       .after = Identifier(std::string("sane")),
       .tile_local = true},
      {.before = Identifier(std::uint64_t{1}), .after = Identifier(std::uint64_t{2}), .tile_local = true},
      {.before = Identifier(std::uint64_t{1}), .after = Identifier(std::string("same"))}};
  CHECK(refusals(resolved(program)) == std::vector<std::string>{"out_of_range /buffers/none/count",
                                                                "invalid_program /buffers/none/init",
                                                                "outside_folder /buffers/none/output",
                                                                "out_of_range /buffers/bytes/init",
                                                                "unknown_name /swap/1/1",
                                                                "invalid_program /swap/2",
                                                                "unknown_name /until/buffer",
                                                                "cannot_read /ops/lost/source",
                                                                "unknown_name /ops/scael",
                                                                "unknown_name /waves/0/args/1/buffer",
                                                                "argument_mismatch /waves/1/args/2",
                                                                "invalid_program /waves/2/global_size",
                                                                "argument_mismatch /waves/2/args",
                                                                "duplicate_name /waves/2/name",
                                                                "out_of_range /waves/4/global_size",
                                                                "unknown_name /waves/4/args/0/buffer",
                                                                "unknown_name /waves/5/op",
                                                                "out_of_range /waves/5/rules/1",
                                                                "out_of_range /waves/5/rules/2",
                                                                "invalid_wave /dependencies/0/after",
                                                                "invalid_wave /dependencies/1/after",
                                                                "self_dependency /dependencies/3"});
}

TEST_CASE("files are checked on request") {
  const TemporaryFolder folder;
  folder.write("k.cl", std::string(source));
  folder.write("short.bin", "12");
  WaveProgram program = sound();
  program.buffers[0].second.init = BufferInit{.file = "none.bin"};
  program.buffers[1].second.init = BufferInit{.file = "short.bin"};
  program.buffers[1].second.output = "no/folder.npy";
  const AnswerMacros answer = macros({{"__OPENCL_VERSION__", "120"}});
  CHECK(resolve(program, folder.path(), answer));
  CHECK(refusals(resolve(program, folder.path(), answer, PathScope::folder, FileCheck::reachable)) ==
        std::vector<std::string>{"cannot_read /buffers/x/init/file", "cannot_write /buffers/y/output"});
  CHECK(refusals(resolve(program, folder.path(), answer, PathScope::folder, FileCheck::contents)) ==
        std::vector<std::string>{"cannot_read /buffers/x/init/file", "bad_array /buffers/y/init/file",
                                 "cannot_write /buffers/y/output"});
}

TEST_CASE("settings that lower a program alike share a job, and others lower it anew") {
  const TemporaryFolder folder;
  folder.write("k.cl", std::string(source));
  Lowering lowering(sound(), folder.path().string(), nullptr, {});
  REQUIRE(lowering.job({}));
  std::filesystem::remove(folder.path() / "k.cl"); // so that lowering again fails

  policy::LaunchPolicy policy;
  policy.hot_opcode_threshold = policy.hot_window_threshold = policy.jit_queue_len_threshold = 7;
  lowering.set_policy(policy);
  const auto same = lowering.job({.strategy = device::Strategy::plain, .workers = 3, .slice_ns = 1});
  REQUIRE(same);
  CHECK((*same)->policy == policy);
  CHECK((*same)->waves.front().range.local[0] == 64);

  for (const device::Tuning& tuning : std::vector<device::Tuning>{{.open_workgroup_size = 16},
                                                                  {.queue_lanes = 1},
                                                                  {.queue_items_per_lane = 1},
                                                                  {.queue_many_items = 1}}) {
    Lowering other = lowering;
    CHECK_FALSE(other.job(tuning));
  }
  for (const auto& change : {+[](policy::LaunchPolicy& of) { ++of.hit_capacity_multiplier; },
                             +[](policy::LaunchPolicy& of) { ++of.priority_age_threshold; },
                             +[](policy::LaunchPolicy& of) { ++of.sparse_frontier_threshold_bps; }}) {
    Lowering other = lowering;
    policy::LaunchPolicy changed = policy;
    change(changed);
    other.set_policy(changed);
    CHECK_FALSE(other.job({}));
  }
  lowering.replace(sound());
  CHECK_FALSE(lowering.job({}));

  folder.write("k.cl", std::string(source));
  const auto anew = lowering.job({.open_workgroup_size = 16});
  REQUIRE(anew);
  CHECK((*anew)->waves.front().range.local[0] == 16);
}
