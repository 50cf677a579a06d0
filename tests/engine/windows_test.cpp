// Waves that continue with the same tiles become one: which, and in what order.
// A checker must find every way in which that can be wrong.
#include "../opencl_c/source_support.hpp"
#include "../program_support.hpp"
#include "engine/recommend.hpp"
#include "work/resolve.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

// Ops 0 to 4; each takes its input, then its output.
constexpr const char* windowed_kernels =
    "kernel void whole(global const float* a, global float* b) { b[get_global_id(0)] = a[get_global_id(0)]; }"
    "kernel void guarded(global const float* a, global float* b) {"
    "  if (get_global_id(0) < 9) b[get_global_id(0)] += a[get_global_id(0)]; }"
    "kernel void beside(global const float* a, global float* b) {"
    "  b[get_global_id(0)] = a[get_global_id(0) + 1]; }"
    "kernel void tiled(global const float* a, global float* b) {"
    "  b[get_global_id(0)] = a[get_group_id(0) * 64]; }"
    "kernel void turned(global const float* a, global float* b) { local float k[64];"
    "  k[get_local_id(0)] = a[get_global_id(0)]; barrier(1); b[get_global_id(0)] = k[63 - get_local_id(0)]; "
    "}";
enum Op : std::uint8_t { whole, guarded, beside, tiled, turned };

// Buffers of 256 floats; the first is an input, the last an output.
Job program_with(std::uint32_t buffers) {
  Job program = program_of(5, std::vector<std::uint64_t>(buffers, 1024));
  program.units[0].unit = opencl_c::test::parse(windowed_kernels);
  for (std::uint32_t op = 0; op < 5; ++op) {
    program.ops[op].function = op;
  }
  program.buffers.front().first = [] { return std::vector<std::byte>(); };
  program.buffers.back().output = "out";
  return program;
}

ProgramWave from_to(Op op, std::uint32_t from, std::uint32_t to, std::uint32_t size = 256) {
  return wave_of(op, {reads(from), updates(to)}, range_of(size, 64));
}

// Buffer 0 to 1, 1 to 2, … by these ops.
Job chain(const std::vector<Op>& ops) {
  Job program = program_with(static_cast<std::uint32_t>(ops.size() + 1));
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    program.waves.push_back(from_to(ops[i], i, i + 1));
  }
  return program;
}

struct Made {
  Job program;
  OutlinedOps ops;
  std::vector<Window> windows;
  FusedProgram fused;
};

Made windows_of(Job program, bool one_call = false, bool derives = true) {
  if (derives) {
    derive(program);
  }
  REQUIRE(derive_footprints(program));
  auto ops = outline_ops(program);
  REQUIRE(ops);
  const KernelLimits limits{.one_call_with_barriers = one_call};
  auto windows = find_windows(program, *ops, shared_launch(program, *ops, limits), limits);
  auto fused = fuse(program, *ops, windows);
  CHECK(window_violation(program, fused.program, fused.parts) == "");
  return {std::move(program), std::move(*ops), std::move(windows), std::move(fused)};
}

// "0+1|2": waves, a bar at a barrier.
std::string text(const std::vector<Window>& windows) {
  std::string text;
  for (const Window& window : windows) {
    text += text.empty() ? "" : " ";
    for (std::size_t i = 0; i < window.waves.size(); ++i) {
      text += (i == 0 ? "" : window.meets[i] ? "|" : "+") + std::to_string(window.waves[i]);
    }
  }
  return text;
}

std::string found(Job program, bool one_call = false) {
  return text(windows_of(std::move(program), one_call).windows);
}

} // namespace

TEST_CASE("waves that go on with the same tiles are one window") {
  const auto changed = [](const std::vector<Op>& ops, const std::function<void(Job&)>& change) {
    Job program = chain(ops);
    change(program);
    return program;
  };
  struct WindowCase {
    std::string name;
    Job program;
    std::string windows;
    bool one_call = false; // of a function with barriers in a kernel, as for PoCL
  };
  for (const WindowCase& expected : std::vector<WindowCase>{
           {"element-wise", chain({whole, whole, whole}), "0+1+2"},
           {"element-wise, under a condition", chain({whole, guarded, whole}), "0+1+2"},
           {"an element of another tile", chain({whole, beside, whole}), "1+2"},
           {"any element", chain({whole, tiled, whole}), "1+2"},
           {"a stated halo",
            changed({whole, tiled, whole},
                    [](Job& program) { program.waves[1].arguments[0].halo.emplace(); }),
            "0|1+2"},
           {"local memory", chain({whole, turned, whole}), "0+1+2"},
           {"local memory that is used again", chain({turned, whole, turned}), "0+1|2"},
           {"two calls with barriers", chain({turned, whole, turned}), "", true},
           {"one call with barriers", chain({whole, turned, whole}), "0+1+2", true},
           {"other tiles",
            changed({whole, whole, whole}, [](Job& program) { program.waves[2].range = range_of(192, 64); }),
            "0+1"},
           {"another phase",
            changed({whole, whole, whole}, [](Job& program) { program.waves[2].section = Section::after; }),
            "0+1"},
           {"a transfer",
            changed({whole, whole}, [](Job& program) { program.waves[1].users_kernel = false; }), ""},
           {"an output", changed({whole, whole}, [](Job& program) { program.buffers[1].output = "kept"; }),
            "0+1"},
           {"a swap", changed({whole, whole}, [](Job& program) { program.buffers[1].swapped = true; }),
            "0+1"},
           {"the end of the repetition",
            changed({whole, whole}, [](Job& program) { program.until = ResolvedUntil{.buffer = 1}; }), "0+1"},
           {"what the iteration before has left",
            changed({guarded, whole}, [](Job& program) { program.iterations = 3; }), "0+1"},
           {"elements that may stay unwritten",
            changed({guarded, whole},
                    [](Job& program) {
                      program.iterations = 3;
                      program.waves[0].arguments[1].access = Access::write;
                    }),
            "0+1"},
           {"what each iteration writes first",
            changed({whole, whole}, [](Job& program) { program.iterations = 3; }), "0+1"}}) {
    INFO(expected.name);
    CHECK(found(expected.program, expected.one_call) == expected.windows);
  }
}

TEST_CASE("a buffer is overwritten where every work-item assigns its element, and those are all") {
  const auto overwritten = [](Op op, NdRange range, std::uint32_t bytes = 1024) {
    Job program = program_with(2);
    program.buffers[1].bytes = bytes;
    program.waves = {wave_of(op, {reads(0), writes(1)}, range)};
    REQUIRE(derive_footprints(program));
    CHECK_FALSE(program.waves[0].arguments[0].overwrites);
    return program.waves[0].arguments[1].overwrites;
  };
  CHECK(overwritten(whole, range_of(256, 64)));
  CHECK_FALSE(overwritten(guarded, range_of(256, 64)));
  CHECK_FALSE(overwritten(whole, range_of(192, 64)));
  CHECK_FALSE(overwritten(whole, range_of(256, 64), 1028));
  NdRange moved = range_of(256, 64);
  moved.offset[0] = 1;
  CHECK_FALSE(overwritten(whole, moved));
}

TEST_CASE("no path leaves a window and comes back") {
  Job program = program_with(4);
  program.waves = {from_to(whole, 0, 1), from_to(beside, 1, 2), from_to(guarded, 1, 3),
                   from_to(guarded, 2, 3)};
  // 0 and 2 may be one; 1 reads beyond its tile of 0, so 3, after 1, cannot join them.
  CHECK(found(program) == "0+2 1+3");
}

TEST_CASE("a listed dependency that is not tile-local may be for what no argument shows") {
  Job program = chain({whole, whole});
  program.dependencies = {{.before = 0, .after = 1}};
  CHECK(text(windows_of(program, false, false).windows) == "");
  program.dependencies[0].halo.emplace();
  CHECK(text(windows_of(program, false, false).windows) == "0+1");
}

TEST_CASE("the fused program") {
  Job program = chain({whole, guarded, whole, beside});
  program.waves[1].rules = 2;
  program.waves[2].rules = 8;
  program.waves[3].name = "last";
  const Made made = windows_of(std::move(program));
  const Job& fused = made.fused.program;
  REQUIRE(fused.waves.size() == 2);
  CHECK(fused.wave_text(0) == "wave 0 (op0), wave 1 (op1), wave 2 (op0)");
  CHECK(fused.wave_text(1) == "\"last\"");
  CHECK(fused.waves[0].rules == 10);
  CHECK(fused.waves[0].arguments.size() == 6);
  CHECK(fused.waves[0].bytes.frontier_bytes == 1024);
  CHECK(fused.waves[0].bytes.output_bytes == 3072);
  CHECK(fused.function(fused.waves[0].op).parameters.size() == 6);
  CHECK(fused.dependencies.size() == 1);
}

TEST_CASE("the checker names what is wrong") {
  Made made = windows_of(chain({whole, whole, beside}));
  REQUIRE(text(made.windows) == "0+1");
  using Parts = std::vector<std::vector<std::uint32_t>>;
  for (const auto& [parts, named] : std::vector<std::pair<Parts, std::string>>{
           {{{1, 0}, {2}}, "wave 1 (op0) does not come after wave 0 (op0)"},
           {{{0, 1}, {1}}, "wave 2 (op2) runs a wave that another one runs, too"},
           {{{0, 3}, {2}}, "wave 0 (op0), wave 1 (op0) runs a wave that another one runs, too"},
           {{{0, 1, 0}, {2}}, "wave 0 (op0), wave 1 (op0) stands for other waves"},
           {{{0, 1}, {}}, "wave 2 (op2) stands for other waves"}}) {
    CHECK(window_violation(made.program, made.fused.program, parts) == named);
  }
  using Change = std::function<void(Job & program, Job & fused)>;
  for (const auto& [change, named] : std::vector<std::pair<Change, std::string>>{
           {[](Job&, Job&fused) { fused.waves.pop_back(); }, "wave 2 (op2) is nowhere"},
           {[](Job&, Job&fused) { fused.waves.push_back(fused.waves[1]); },
            "wave 2 (op2) stands for other waves"},
           {[](Job&, Job&fused) { fused.dependencies.clear(); },
            "wave 2 (op2) does not come after wave 1 (op0)"},
           {[](Job&program, Job&) { program.waves[1].range.global[0] = 255; },
            "wave 1 (op0) has other tiles than its window"},
           {[](Job&program, Job&) {
              program.waves[1].arguments[0].halo = Tiles{1, 0, 0};
            },
            "wave 0 (op0) and wave 1 (op0) share \"b1\" beyond their tiles"},
           {[](Job&program, Job&) { program.derived = false; },
            "wave 0 (op0) and wave 1 (op0) share a dependency that is not tile-local beyond their tiles"}}) {
    Job program = made.program;
    Job fused = made.fused.program;
    change(program, fused);
    CHECK(window_violation(program, fused, made.fused.parts) == named);
  }
}

TEST_CASE("a stated halo, or rows, are not smaller than what the kernels need") {
  const auto refused = [](Job program) {
    const auto derived = derive_footprints(program);
    return derived ? std::string() : derived.error().message + " at " + derived.error().pointer.value_or("");
  };
  Job program = chain({whole, beside, whole});
  program.dependencies = {{.before = 0, .after = 1, .halo = {{2, 0, 0}}}, {.before = 1, .after = 2}};
  CHECK(refused(program) == "");
  program.dependencies[0].halo = {{0, 0, 0}};
  CHECK(refused(program) ==
        "a halo of 0 work-groups in dimension 0, and through \"b1\" the kernels reach 1 at "
        "/dependencies/0/halo");
  program.dependencies = {};
  program.waves[1].arguments[0].halo = {0, 0, 0};
  CHECK(
      refused(program) ==
      "a halo of 0 work-groups in dimension 0 for \"b1\", and the kernel reaches 1 at /waves/1/args/0/halo");
  program.waves[1].arguments[0].halo = {1, 0, 0};
  CHECK(refused(program) == "");
  // Rows of two elements, of which a work-item reads the first of the next row, too.
  program = program_with(2);
  program.units[0].unit = opencl_c::test::parse(
      "kernel void k(global const float* a, global float* b) { int i = get_global_id(0); b[i] = a[2 * i + 2]; }");
  program.waves = {from_to(Op{0}, 0, 1, 64)};
  program.waves[0].arguments[0].rows = RowReach{.row_bytes = 8, .reach = 1};
  CHECK(refused(program) == "");
  program.waves[0].arguments[0].rows->reach = 0;
  CHECK(refused(program) ==
        "rows is 0, and the kernel touches 1 row of \"b0\" to one side of a work-item's own "
        "at /waves/0/args/0/rows");
}

TEST_CASE("random programs: what is found is sound") {
  std::size_t windows = 0;
  Numbers random(seed());
  for (std::uint64_t round = 0; round < 300; ++round) {
    INFO("round ", round);
    Job program = program_with(3 + random.below(5));
    const auto buffers = static_cast<std::uint32_t>(program.buffers.size());
    for (std::uint32_t i = 0, count = 2 + random.below(12); i < count; ++i) {
      const std::uint32_t to = 1 + random.below(buffers - 1);
      program.waves.push_back(from_to(static_cast<Op>(random.below(5)),
                                      (to + 1 + random.below(buffers - 1)) % buffers, to,
                                      random.chance(80) ? 256 : 192));
      program.waves.back().section = random.chance(80) ? Section::each : Section::after;
      program.waves.back().arguments[1].access = random.chance(30) ? Access::write : Access::read_write;
    }
    program.iterations = 1 + random.below(3);
    const Made made = windows_of(std::move(program), random.chance(50));
    windows += made.windows.size();
    // Every order that the fused program allows, the program itself allows: they are graphs without a cycle.
    CHECK(program_order(made.fused.program).size() == made.fused.program.waves.size());
  }
  CHECK(windows > 300);
}

TEST_CASE("a kernel reads before its wait what no wave writes any more, and nothing else") {
  // Op `turned` reads buffer 1 in wave 1, after buffer 0 was copied there or elsewhere by wave 0.
  const auto begins_early = [](std::uint32_t to, Section section, bool swapped = false,
                               Section own = Section::each) {
    Job program = program_with(4);
    program.waves = {from_to(whole, 0, to), from_to(turned, 1, 3)};
    program.waves[0].section = section;
    program.waves[1].section = own;
    program.buffers[1].swapped = swapped;
    const auto ops = outline_ops(program);
    REQUIRE(ops);
    CHECK(ops->kernels[turned].waits);
    CHECK_FALSE(ops->kernels[whole].waits);
    return ops->texts[0].find("TG_PASS(tg_self) tg_barrier(") != std::string::npos;
  };
  CHECK(begins_early(2, Section::each));   // nobody writes buffer 1
  CHECK(begins_early(1, Section::before)); // it is complete before the repetition
  CHECK_FALSE(begins_early(1, Section::each));
  CHECK_FALSE(begins_early(1, Section::after));
  CHECK_FALSE(begins_early(1, Section::before, false, Section::before));
  CHECK_FALSE(begins_early(2, Section::each, true)); // it may be in memory that is written
}

TEST_CASE("sources that enable doubles come last, for some old compilers take 1.0 for a double after them") {
  Job program = program_of(2, {1024, 1024});
  for (const char* const pragma : {"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n", "#pragma unroll\n"}) {
    CAPTURE(pragma);
    program.units.resize(2);
    const std::string kernel = "kernel void k(global float* a, global float* b) { b[0] = a[0] + 1.0; }\n";
    program.units[0].unit = opencl_c::test::parse(pragma + kernel);
    program.units[1].unit = opencl_c::test::parse(kernel);
    program.ops[1].unit = 1;
    program.waves = {from_to(Op{0}, 0, 1), from_to(Op{1}, 0, 1)};
    const auto ops = outline_ops(program);
    REQUIRE(ops);
    CHECK(ops->order.front() == (pragma[8] == 'O' ? 1 : 0));
  }
}
