// Programs lowered to jobs: bytes, ranges, accesses and dependencies. Texts of errors: tests/app/transcripts.
#include "../temporary_folder.hpp"
#include "engine/job.hpp"
#include "work/resolve.hpp"
#include "work/run.hpp"
#include <tidegate/core/describe.hpp>

using namespace tidegate;
using namespace tidegate::engine;
using tidegate::test::TemporaryFolder;

namespace {

using Range = std::array<std::uint32_t, 3>;

constexpr std::string_view source =
    "kernel void scale(global const float* in, global float* out, float factor) {}\n"
    "kernel void bump(global int* counts) {}\n"
    "kernel void tile(global float* data, local float* scratch) {}\n"
    "kernel __attribute__((reqd_work_group_size(16, 4, 1))) void fixed(global float* data) {}\n";

WaveProgram wave_program(const std::string& json) {
  auto program = documents::decode<WaveProgram>(json);
  if (!program) {
    FAIL(describe(program.error()));
  }
  return std::move(*program);
}

// x scaled into y by waves that differ in `wave`, and more keys of the program.
WaveProgram
scaled(const std::string& waves =
           R"({"op": "scale", "global_size": 64, "args": [{"buffer": "x"}, {"buffer": "y"}, {"f32": 2}]})",
       const std::string& more = "") {
  return wave_program(R"({"buffers": {"x": {"type": "f32", "count": 64}, "y": {"type": "f32", "count": 64},
      "counts": {"type": "i32", "count": 8}}, "ops": {"scale": {"source": "k.cl"}, "bump": {"source": "k.cl"},
      "tile": {"source": "k.cl"}, "fixed": {"source": "k.cl"}}, "waves": [)" +
                      waves + "]" + more + "}");
}

// Scales one buffer into another.
std::string scale(const std::string& from, const std::string& to, const std::string& more = "") {
  return R"({"op": "scale", "global_size": 64, "args": [{"buffer": ")" + from + R"("}, {"buffer": ")" + to +
         "\"" + more + R"(}, {"f32": 1}]})";
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
  return resolve({program, folder.path(), macros({{"__OPENCL_VERSION__", "120"}})});
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

// One kernel "k" with these parameters, called with these arguments. There are buffers x and y, a number n, images of
// type image2d_t, "picture" and "other", and an image3d_t "volume".
Result<Job> call(const std::string& parameters, const std::string& arguments,
                 const std::string& before = "") {
  return resolved(
      wave_program(R"({"buffers": {"x": {"type": "f32", "count": 64}, "y": {"type": "f32", "count": 64},
      "n": {"type": "u32", "count": 1}}, "images": {"picture": {"format": "r_snorm8", "size": [4, 3]},
      "volume": {"format": "r_snorm8", "size": [4, 3, 2]}, "other": {"format": "r_snorm8", "size": [4, 3]}},
      "ops": {"k": {"source": "k.cl"}}, "waves": [{"op": "k", "global_size": 64, "args": [)" +
                   arguments + "]}]}"),
      before + "kernel void k(" + parameters + ") {}");
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
  WaveProgram program = scaled();
  program.device_memory_budget_bytes = 1000;
  program.waves[0].name = "first";
  program.waves[0].rules = {0, 31, 0};
  const Job found = expect(program);
  std::string buffers;
  for (const ProgramBuffer& buffer : found.buffers) {
    buffers += fmt::format("{} {} {} ", buffer.name, buffer.bytes, buffer.transient());
  }
  CHECK(buffers == "x 256 true y 256 true counts 32 true ");
  REQUIRE(found.ops.size() == 4);
  CHECK(found.units.size() == 1); // read once
  CHECK(found.function(1).name == "bump");
  REQUIRE(found.waves.size() == 1);
  CHECK(found.waves[0].op == 0);
  CHECK(found.waves[0].rules == ((1U << 31U) | 1U));
  CHECK(found.waves[0].bytes == planning::Wave{.frontier_bytes = 256, .output_bytes = 256});
  CHECK(found.wave_text(0) == "\"first\"");
  CHECK((found.derived && !found.until && found.iterations == 1 && found.budget_bytes == 1000));
  const auto& arguments = found.waves[0].arguments;
  REQUIRE(arguments.size() == 3);
  CHECK((arguments[0].access == Access::read && arguments[1].access == Access::read_write));
  CHECK(values<float>(arguments[2]) == std::vector<float>{2});
  program.waves[0].name.reset();
  CHECK(expect(program).wave_text(0) == "wave 0 (scale)");
  // A stated envelope wins, and a buffer counts once.
  program.waves[0].bytes = planning::Wave{.frontier_bytes = 1, .scratch_bytes = 2, .output_bytes = 3};
  CHECK(expect(program).waves[0].bytes == *program.waves[0].bytes);
  CHECK(expect(scaled(scale("y", "y"))).waves[0].bytes == planning::Wave{.output_bytes = 256});
}

TEST_CASE("NDRanges") {
  const auto range_of = [](const std::string& keys, const std::string& op = "tile",
                           const std::string& more = R"(, {"local_bytes": 4})") {
    return expect(scaled(R"({"op": ")" + op + R"(", "args": [{"buffer": "x"})" + more + "], " + keys + "}"))
        .waves[0]
        .range;
  };
  // Default local sizes are the largest divisors up to 256 in x, and 1 elsewhere.
  std::string locals; // 257 is a prime
  for (const std::string size :
       {"1", "64", "256", "257", "258", "1000", "4294967295", "[512, 512]", "[3, 256, 256]"}) {
    locals += fmt::format("{} ", fmt::join(range_of("\"global_size\": " + size).local, "x"));
  }
  CHECK(locals == "1x1x1 64x1x1 256x1x1 1x1x1 129x1x1 250x1x1 255x1x1 256x1x1 3x1x1 ");
  const NdRange range = range_of(
      R"("global_size": [100, 30, 7], "local_size": [16, 4, 7], "global_offset": [1, 2, 18446744073709551615])");
  CHECK(range.dimensions == 3);
  CHECK(range.global == Range{100, 30, 7});
  CHECK(range.local == Range{16, 4, 7});
  CHECK(range.groups == Range{7, 8, 1});
  CHECK(range.offset == std::array<std::uint64_t, 3>{1, 2, std::numeric_limits<std::uint64_t>::max()});
  CHECK(range.tiles() == 56);
  CHECK(range.group_size() == 448);
  CHECK(range.ragged());
  CHECK(range_of(R"("global_size": 4294967295, "local_size": 3)").tiles() == 1431655765);
  // reqd_work_group_size
  const NdRange fixed = range_of(R"("global_size": [64, 8])", "fixed", "");
  CHECK(fixed.local == Range{16, 4, 1});
  CHECK(fixed.groups == Range{4, 2, 1});
  CHECK(range_of(R"("global_size": [64, 8], "local_size": [16, 4])", "fixed", "").local == Range{16, 4, 1});
  // One group of too many work-items is not too many groups.
  CHECK(refusal(resolved(scaled(R"({"op": "tile", "args": [{"buffer": "x"}, {"local_bytes": 4}],
      "global_size": [65536, 65536], "local_size": [65536, 65536]})"))) ==
        "out_of_range /waves/0/local_size: a work-group of more than 2^32 - 1 work-items");
}

namespace {

// What an argument became: its bytes, or its place and access; or the error.
std::string told(const Result<Job>& result) {
  if (!result) {
    return refusal(result);
  }
  const ProgramArgument& argument = result->waves.at(0).arguments.at(0);
  const std::string_view access = access_names[static_cast<std::size_t>(argument.access)];
  using Kind = ProgramArgument::Kind;
  std::string text;
  for (const std::byte byte : argument.value) {
    text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  }
  return argument.kind == Kind::value   ? text
         : argument.kind == Kind::null  ? "null"
         : argument.kind == Kind::local ? fmt::format("local {}", argument.local_bytes)
         : argument.kind == Kind::sampler
             ? fmt::format("sampler {}", static_cast<int>(argument.sampler.filter))
         : argument.kind == Kind::image
             ? fmt::format("image {} {}", argument.buffer, access)
             : fmt::format("buffer {} {}{}{}", argument.buffer, access,
                           argument.reinterpreted.empty() ? "" : ", as ", argument.reinterpreted);
}

} // namespace

TEST_CASE("arguments by their parameters, and those that are refused") {
  const std::string before =
      "typedef float real; typedef global float* reals; struct s { float x; }; enum e { A }; ";
  const std::string mismatch = "argument_mismatch /waves/0/args/0: the argument is ";
  for (const auto& [parameter, argument, expected] : std::vector<std::array<std::string, 3>>{
           {"float a", R"({"f32": 1.5})", "0000c03f"},
           {"const float4 a", R"({"f32": [1, 2, 3, 4]})", "0000803f000000400000404000008040"},
           {"unsigned int a", R"({"u32": 4294967295})", "ffffffff"},
           {"real a", R"({"f32": 1})", "0000803f"},
           {"char2 a", R"({"i8": [-1, 2]})", "ff02"},
           {"long int a", R"({"i64": -5})", "fbffffffffffffff"},
           {"uint3 a", R"({"u32": [7, 8, 9]})", "07000000080000000900000000000000"}, // has the room of 4
           {"global float4* a", R"({"buffer": "x"})", "buffer 0 read_write"},
           {"global void* a", R"({"buffer": "n"})", "buffer 2 read_write"},
           {"global struct s* a", R"({"buffer": "y"})", "buffer 1 read_write"},
           {"reals a", R"({"buffer": "y"})", "buffer 1 read_write"},
           {"global const float* a", R"({"buffer": "x"})", "buffer 0 read"},
           {"constant float* a", R"({"buffer": "x"})", "buffer 0 read"},
           {"global float* a", R"({"buffer": "x", "access": "write"})", "buffer 0 write"},
           {"global float* a", R"({"buffer": "x", "access": "read"})", "buffer 0 read"},
           {"global const float* a", R"({"buffer": "x", "access": "read"})", "buffer 0 read"},
           {"global int* a", R"({"buffer": "n"})", "buffer 2 read_write"}, // differs in sign only
           {"global int* a", R"({"buffer": "x"})", "buffer 0 read_write, as i32"},
           {"global double* a", R"({"buffer": "x"})", "buffer 0 read_write, as f64"},
           {"global uchar4* a", R"({"buffer": "n"})", "buffer 2 read_write, as u8"},
           {"global uchar4* a", R"({"buffer": "n", "reinterpret": true})", "buffer 2 read_write"},
           {"local float* a", R"({"local_bytes": 48})", "local 48"},
           {"global float* a", R"({"null": true})", "null"},
           {"constant struct s* a", R"({"null": true})", "null"},
           {"image2d_t a", R"({"image": "picture"})", "image 3 read"}, // after the buffers
           {"__write_only image3d_t a", R"({"image": "volume"})", "image 4 write"},
           {"read_write image2d_t a", R"({"image": "other"})", "image 5 read_write"},
           {"const sampler_t a", R"({"sampler": {"filter": "linear"}})", "sampler 1"},
           {"local float* a", R"({"null": true})",
            mismatch + "a null pointer, the kernel's parameter is \"local float* a\""},
           {"image2d_t a", R"({"image": "pictures"})",
            "unknown_name /waves/0/args/0/image: there is no image \"pictures\""},
           {"image2d_t a", R"({"image": "volume"})",
            mismatch + "the image \"volume\", an image3d_t, the kernel's parameter is \"image2d_t a\""},
           {"global float* a", R"({"image": "picture"})",
            mismatch + "the image \"picture\", an image2d_t, the kernel's parameter is \"global float* a\""},
           {"image2d_t a", R"({"buffer": "x"})",
            mismatch + "the buffer \"x\", the kernel's parameter is \"image2d_t a\""},
           {"image2d_t a", R"({"sampler": {}})",
            mismatch + "a sampler, the kernel's parameter is \"image2d_t a\""},
           {"sampler_t s", R"({"u32": 1})", mismatch + "uint, the kernel's parameter is \"sampler_t s\""},
           {"sampler_t s", R"({"sampler": {"address": "repeat"}})",
            "invalid_program /waves/0/args/0/sampler: the address mode repeat needs normalized coordinates"},
           {"image2d_t a", R"({"image": "x"})",
            "invalid_program /waves/0/args/0/image: \"x\" is a buffer, not an image"},
           {"global float* a", R"({"buffer": "picture"})",
            "invalid_program /waves/0/args/0/buffer: \"picture\" is an image, not a buffer"}}) {
    CHECK(parameter + ": " + told(call(parameter, argument, before)) == parameter + ": " + expected);
  }
  const std::string twice = R"({"image": "picture"}, {"image": "picture"})";
  CHECK(refusal(call("image2d_t a, image2d_t b", twice)) == "none");
  CHECK(
      refusal(call("write_only image2d_t a, image2d_t b", twice)) ==
      "invalid_program /waves/0/args/1: argument 1 reads the image \"picture\" and argument 0 writes it, which "
      "OpenCL leaves undefined");
  const auto found = call("image2d_t a, write_only image3d_t b, read_write image2d_t c",
                          R"({"image": "picture"}, {"image": "volume"}, {"image": "other"})");
  REQUIRE(found);
  CHECK(found->buffers[4].bytes == 24);
  CHECK(found->buffers[4].transient());
  CHECK(found->waves[0].bytes == planning::Wave{.frontier_bytes = 12, .output_bytes = 36});
  for (const auto& [parameter, fix] : std::vector<std::array<std::string, 2>>{
           {"bool a", "make the parameter an int or a uint: kernels of OpenCL C take none of type bool"},
           {"size_t a", "make the parameter a uint or a ulong: kernels of OpenCL C take none of type size_t"},
           {"enum e a", "give {\"enum\": …} or {\"u32\": …}"},
           {"struct s a", "give {\"struct\": {…}} or {\"bytes\": …}"}}) {
    const auto refused = call(parameter, R"({"f32": 1})", before);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().fix == fix);
  }
}

TEST_CASE("members of a structure change as arguments do") {
  const auto given = [](const std::string& second, const std::string& by) {
    return call("point p", R"({"struct": {"tag": 1, "at": [7, )" + second + R"(], "by": )" + by + "}}",
                "typedef struct { char tag; int at[2]; float by; } point; ");
  };
  const std::string adds_3 = R"({"i32": 5, "iteration": {"add": 3}})";
  const ProgramArgument found = argument_of(given(adds_3, R"({"f32": 5, "iteration": {"add": 2}})"));
  REQUIRE(found.changes.size() == 2);
  CHECK(found.changes[0].offset == 8);
  CHECK(found.changes[1].offset == 12);
  struct Point { // as a C compiler lays it out
    char tag;
    std::int32_t at[2];
    float by;
  };
  for (std::uint32_t iteration = 0; iteration < 4; ++iteration) {
    const auto bytes = value_in(found.value, found.changes, iteration);
    Point now{};
    REQUIRE(bytes.size() == sizeof now);
    std::memcpy(&now, bytes.data(), sizeof now);
    const auto i = static_cast<int>(iteration);
    CHECK(std::tuple(now.tag, now.at[0], now.at[1], now.by) ==
          std::tuple(1, 7, 5 + 3 * i, static_cast<float>(5 + 2 * i)));
  }
  CHECK(
      refusal(given(R"({"u32": 5, "iteration": {"add": 3}})", "0")) ==
      "argument_mismatch /waves/0/args/0/struct/at/1: a member that changes takes one int and its iteration");
  CHECK(refusal(given(R"({"i32": 5, "iteration": {"ad": 3}})", "0")) ==
        "unknown_key /waves/0/args/0/struct/at/1/iteration/ad: unknown key \"ad\"");
  CHECK(refusal(given("0", R"({"f32": 5, "iteration": {"multiply": 3}})")) ==
        "invalid_program /waves/0/args/0/struct/by/iteration: floats can only be changed by add");
  // All waves of an op share the code: a member that changes in one of them is a constant of the others.
  std::vector<ProgramWave> waves(2);
  waves[0].arguments = {found};
  waves[1].arguments = {argument_of(given("9", "0"))};
  spread_progressions(waves);
  REQUIRE(waves[1].arguments[0].changes.size() == 2);
  CHECK(value_in(waves[1].arguments[0].value, waves[1].arguments[0].changes, 3) ==
        waves[1].arguments[0].value);
}

TEST_CASE("halos are whole tiles, and a wave with active tiles overwrites nothing") {
  const std::string wave = R"({"op": "next", "global_size": 64, "local_size": 16,
      "args": [{"buffer": "x"}, {"buffer": "y", "access": "write"}])";
  const auto found = resolved(
      wave_program(R"({"buffers": {"x": {"type": "f32", "count": 64}, "y": {"type": "f32", "count": 64},
      "flags": {"type": "u8", "count": 4}}, "ops": {"next": {"source": "k.cl"}}, "waves": [)" +
                   wave + "}, " + wave + R"(, "active": {"buffer": "flags"}}]})"),
      "kernel void next(global const float* in, global float* out) {\n"
      "  const uint i = get_global_id(0);\n  if (i < 63) out[i] = in[i + 1];\n}\n");
  CHECK(argument_of(found, 0).halo == std::optional(Range{1, 0, 0}));
  CHECK(argument_of(found, 1).halo == std::optional(Range{0, 0, 0}));
  CHECK(argument_of(found, 1).access == Access::write);
  CHECK(found->waves.at(1).arguments.at(1).access == Access::read_write);
}

TEST_CASE("images have names and places like buffers") {
  const auto with = [](const std::string& images, const std::string& more = "") {
    const auto found = resolved(
        scaled(scale("x", "y"),
               R"(, "images": {"picture": {"format": "r_snorm8", "size": [4, 3]}, )" + images + "}" + more));
    return refusal(found);
  };
  const std::string volume = R"("volume": {"format": "r_snorm8", "size": [4, 3, 2]})";
  CHECK(with(R"("x": {"format": "r_snorm8", "size": [4, 3]})") ==
        "duplicate_name /images/x: a buffer and an image are both called \"x\"");
  CHECK(
      with(volume, R"(, "swap": [["picture", "volume"]])") ==
      "invalid_program /swap/0: cannot swap \"picture\" (r_snorm8 of 4 x 3) with \"volume\" (r_snorm8 of 4 x 3 x 2)");
  CHECK(
      with(volume, R"(, "swap": [["picture", "x"]])") ==
      "invalid_program /swap/0: cannot swap \"picture\" (r_snorm8 of 4 x 3) with \"x\" (64 elements of f32)");
  CHECK(with(volume, R"(, "until": {"buffer": "picture"})") ==
        "invalid_program /until/buffer: \"picture\" is an image, not a buffer");
  CHECK(with(R"("large": {"format": "r_snorm8", "size": [1099511627776, 1099511627776]})") ==
        "out_of_range /images/large/size: the image \"large\" has too many texels");
  CHECK(with(R"("volume": {"format": "r_snorm8", "size": [4, 3]})", R"(, "swap": [["picture", "volume"]])") ==
        "none");
}

TEST_CASE("pointers escape what RFC 6901 escapes") {
  WaveProgram program = scaled();
  program.buffers.emplace_back("a/b~c", BufferSpec{});
  CHECK(refusal(resolved(program)).starts_with("out_of_range /buffers/a~1b~0c/count: "));
}

TEST_CASE("swaps and until") {
  WaveProgram program =
      scaled(scale("x", "y"), R"(, "swap": [["x", "y"]], "until": {"buffer": "counts", "equals": -3})");
  const Job found = expect(program);
  CHECK(found.swaps == std::vector<std::array<std::uint32_t, 2>>{{0, 1}});
  CHECK((found.buffers[0].swapped && !found.buffers[0].transient() && !found.buffers[2].swapped));
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

TEST_CASE("dependencies follow from what waves read and write, unless they are stated") {
  const std::string reads = R"(, "access": "read")";
  const std::string other = R"({"op": "bump", "global_size": 8, "args": [{"buffer": "counts"}]}, )";
  const std::string two = scale("x", "y") + ", " + scale("x", "y");
  for (const auto& each : std::vector<std::array<std::string, 3>>{
           {scale("x", "y") + ", " + scale("y", "x"), "",
            "0>1"},          // a read after a write, and a write after a read
           {two, "", "0>1"}, // a write after a write
           {scale("x", "y", reads) + ", " + scale("x", "y", reads), "", ""}, // narrowed to reads
           {other + scale("x", "y"), "", ""},
           {two, R"(, "dependencies": [])", ""},
           {two, R"(, "dependencies": [{"before": 0, "after": 1, "tile_local": true}])", "0>1*"}}) {
    const Job found = expect(scaled(each[0], each[1]));
    CHECK_MESSAGE(dependencies(found) == each[2], each[0], each[1]);
    CHECK(found.derived == each[1].empty());
  }
  CHECK(refusal(resolved(
            scaled(scale("x", "y") + R"(, {"name": "last", "op": "bump", "global_size": 128, "local_size": 64,
                                    "args": [{"buffer": "counts"}]})",
                   R"(, "dependencies": [{"before": 0, "after": "last", "tile_local": true}])"))) ==
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
  WaveProgram program = wave_program(R"({"buffers": {}, "ops": {
      "narrow": {"source": "ops/k.cl", "kernel": "k", "options": "-I include -DVERSION=120"},
      "wide": {"source": "ops/k.cl", "kernel": "k",
               "options": "-Iinclude -D WIDE -DVERSION=200 -cl-std=CL2.0 -cl-mad-enable"},
      "again": {"source": "ops/k.cl", "kernel": "k", "options": "-I include -DVERSION=120"}},
      "waves": [{"op": "narrow", "global_size": 1, "args": [{"f32": 1}]},
                {"op": "wide", "global_size": 1, "args": [{"f32": [1, 2, 3, 4]}]},
                {"op": "again", "global_size": 1, "args": [{"f32": 1}]}]})");
  const auto found = resolve({program, folder.path(), assume_macros(assumed)});
  REQUIRE_MESSAGE(found, describe(found.error()));
  CHECK(found->units.size() == 2);
  CHECK(found->ops[0].unit == found->ops[2].unit);
  CHECK(found->units[1].parsed_options.others == std::vector<std::string>{"-cl-mad-enable"});
  CHECK(found->folder == folder.path());
}

TEST_CASE("the macros of the device's compiler are there, and options may change them") {
  const TemporaryFolder folder;
  folder.write("k.cl",
               "#if LEVEL == 2\nkernel void k(float a) {}\n#else\nkernel void k(uint a) {}\n#endif\n");
  WaveProgram program = wave_program(R"({"buffers": {}, "ops": {"k": {"source": "k.cl"}},
      "waves": [{"op": "k", "global_size": 1, "args": [{"f32": 1}]}]})");
  CHECK(refusal(resolve({program, folder.path(), macros({{"LEVEL", "2"}})})) == "none");
  CHECK(
      refusal(resolve({program, folder.path(), macros({{"LEVEL", "1"}})})).starts_with("argument_mismatch"));
  program.ops[0].second.options = "-DLEVEL=2";
  CHECK(refusal(resolve({program, folder.path(), macros({{"LEVEL", "1"}})})) == "none");
}

TEST_CASE("settings that lower a program alike share a job, and others lower it anew") {
  const TemporaryFolder folder;
  folder.write("k.cl", std::string(source));
  Lowering lowering(scaled(), folder.path().string(), nullptr, {});
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
    CHECK_FALSE(Lowering(lowering).job(tuning));
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
  lowering.replace(scaled());
  CHECK_FALSE(lowering.job({}));

  folder.write("k.cl", std::string(source));
  const auto anew = lowering.job({.open_workgroup_size = 16});
  REQUIRE(anew);
  CHECK((*anew)->waves.front().range.local[0] == 16);
}
