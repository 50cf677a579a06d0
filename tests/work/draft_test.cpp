// Drafted programs: they resolve unchanged (tests/app/transcripts/init.txt has one as it is written).
#include "../temporary_folder.hpp"
#include "engine/job.hpp"
#include "work/draft.hpp"
#include "work/resolve.hpp"

using namespace tidegate;
using namespace tidegate::engine;

namespace {

Result<WaveProgram> try_draft(const std::vector<std::string>& texts) {
  const test::TemporaryFolder folder;
  DraftRequest request{.sources = {}, .folder = folder.path().string(), .options = ""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    request.sources.push_back(fmt::format("k{}.cl", i));
    folder.write(request.sources.back(), texts[i]);
  }
  std::set<std::string> assumed;
  auto drafted = draft_program(request, assume_macros(assumed));
  if (drafted) { // unchanged
    const auto resolved = resolve({*drafted, request.folder, assume_macros(assumed)});
    CHECK_MESSAGE(resolved, (resolved ? "" : describe(resolved.error())));
  }
  return drafted;
}

WaveProgram draft(const std::vector<std::string>& texts) {
  auto drafted = try_draft(texts);
  if (!drafted) {
    FAIL(describe(drafted.error()));
  }
  return std::move(*drafted);
}

const BufferSpec& buffer(const WaveProgram& program, std::string_view name) {
  const auto found =
      std::ranges::find(program.buffers, name, [](const auto& pair) { return std::string_view(pair.first); });
  REQUIRE(found != program.buffers.end());
  return found->second;
}

using Sizes = std::vector<std::uint64_t>;

} // namespace

TEST_CASE("a kernel that never asks for an id has one work-item") {
  const WaveProgram program = draft(
      {"uint at() { return get_global_id(0); }\n#define HERE get_local_id(0)\n"
       "kernel void sum(global const uint* a, global uint* s, uint n) {\n"
       "  for (uint i = 0; i < n; ++i) *s += a[i];\n}\n"
       "kernel void by_call(global uint* a) { a[at()] = 1; }\n"
       "kernel void by_macro(global uint* a) { a[HERE] = 1; }\n"
       "kernel void in_group(global uint* a) { *a = work_group_all(1); }\n"
       "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void eight(global uint* a) { *a = 1; }\n"});
  CHECK(std::ranges::equal(program.waves, std::vector<Sizes>{{1}, {64}, {64}, {64}, {8}}, {},
                           &WaveSpec::global_size));
}

TEST_CASE("ranges have the dimensions that a kernel asks for") {
  const auto range = [](const std::string& index) {
    return draft({"kernel void k(global float* a, int width) { a[" + index + "] = 1; }"})
        .waves[0]
        .global_size;
  };
  CHECK(range("get_global_id(0)") == Sizes{64});
  CHECK(range("get_global_id(1) * width + get_global_id(0)") == Sizes{64, 64});
  CHECK(range("get_global_id(2)") == Sizes{16, 16, 16});
}

TEST_CASE("work-groups have the size that the kernel requires") {
  CHECK(draft({"kernel __attribute__((reqd_work_group_size(8, 4, 1))) void k(global int* a) {\n"
               "  a[get_global_id(1) * 8 + get_global_id(0)] = 1; }"})
            .waves[0]
            .local_size == Sizes{8, 4});
  const WaveProgram local =
      draft({"kernel void k(global float* a, local float2* t) { t[get_local_id(0)] = a[0]; }"});
  CHECK(local.waves[0].local_size == Sizes{64});
  CHECK(local.waves[0].args.at(1).local_bytes == 64 * 8);
}

TEST_CASE("pointers of one name and type are one buffer") {
  const WaveProgram program =
      draft({"kernel void first(global const int* in, global int* mid) { mid[0] = in[0]; }",
             "kernel void second(global const int* mid, global float* in) { in[0] = mid[0]; }"
             "kernel void first(global int* mid) { mid[0] = 1; }"});
  CHECK(program.buffers.size() == 3);
  CHECK(program.waves.at(0).args.at(1).buffer == "mid");
  CHECK(program.waves.at(1).args.at(0).buffer == "mid");
  CHECK(program.waves.at(1).args.at(1).buffer == "in_2"); // of another type
  CHECK(buffer(program, "mid").output == "mid.npy");
  CHECK(buffer(program, "in").init->iota);
  CHECK(program.ops.at(2).first == "first_2");
  CHECK(program.ops.at(2).second.kernel == "first");
}

TEST_CASE("structures, enumerations, vectors, images and samplers") {
  const WaveProgram program = draft(
      {"typedef enum { RED = 3, BLUE } Colour;\n"
       "struct Point { float2 at; int tags[2]; Colour colour; };\n"
       "kernel void k(struct Point p, Colour c, uint3 v, global struct Point* out,\n"
       "              read_only image2d_t picture, sampler_t s, write_only image1d_array_t rows, uchar n) {\n"
       "  out[0] = p;\n"
       "  write_imageui(rows, (int2)(0), (uint4)(0));\n"
       "}\n"});
  const auto& args = program.waves[0].args;
  CHECK(args.at(0).structure);
  CHECK(std::get<std::string>(args.at(1).enumeration->is) == "RED");
  CHECK(args.at(2).numbers->numbers.size() == 3);
  CHECK(buffer(program, "out").type == ElementType::u8);
  CHECK(buffer(program, "out").count == 4096 * 24);
  CHECK(buffer(program, "out").note == "placeholder: count, init; u8 for struct Point, 24 bytes each");
  CHECK(args.at(4).image == "picture");
  CHECK(args.at(5).sampler);
  CHECK(program.images.at(1).second.layers == 4);
  CHECK(program.images.at(1).second.output == "rows.npy");
  CHECK_FALSE(program.images.at(0).second.output);
  CHECK(args.at(7).numbers->type == ElementType::u8);
  CHECK(args.at(7).numbers->numbers == std::vector<Number>{std::uint64_t{64}});
}

TEST_CASE("elements without a type of buffers") {
  const WaveProgram program =
      draft({"struct Bits { int a : 3; };\n"
             "kernel void k(global struct Bits* bits, global const void* raw) { bits[0].a = 1; }\n"});
  CHECK(buffer(program, "bits").note ==
        "placeholder: count, init; u8 for struct Bits, 64 bytes each at a guess");
  CHECK(buffer(program, "raw").note == "placeholder: count, init; u8 for void, 64 bytes each");
}
