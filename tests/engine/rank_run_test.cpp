// Wave programs on several ranks, as threads with a stand-in for the device each, next to plain launches of the whole
// program, which know nothing of ranks.
#include "../stand_in.hpp"
#include "../temporary_folder.hpp"
#include "../test_scale.hpp"
#include "engine/compile.hpp"
#include "engine/proof.hpp"
#include "engine/rank_block.hpp"
#include "engine/rank_run.hpp"
#include "engine/rank_weights.hpp"
#include "program_support.hpp"
#include "work/compiler_macros.hpp"
#include "work/documents.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/decode.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace tidegate;
using namespace tidegate::engine;
using tidegate::engine::test::Numbers;

namespace {

constexpr const char* ranked_kernels = R"(
kernel void near(global const uint* a, global uint* b, uint n) {
  const uint i = get_global_id(0);
  b[i] = a[i] * 5u + (i >= 2 ? a[i - 2] : 1u) + (i + 1 < n ? a[i + 1] : 2u);
}
kernel void far(global const uint* a, global uint* b, uint n) {
  const uint i = get_global_id(0);
  b[i] = b[i] * 3u + a[(i * 7u + 3u) % n];
}
kernel void mirrored(global const uint* a, global uint* b, uint n) {
  const uint i = get_global_id(0);
  b[n - 1 - i] = a[i] + 1u;
}
kernel void counted(global const uint* a, global uint* sums, uint n) {
  const uint i = get_global_id(0);
  atomic_add(&sums[a[i] % 4], a[i]);
}
kernel void least(global const uint* a, global int* least, uint n) {
  const uint i = get_global_id(0);
  atomic_min(&least[i % 4], 50 - (int)a[i]);
}
kernel void claimed(global uint* a, global uint* b, global uint* next) {
  b[atomic_inc(next) % 64] = a[get_global_id(0)];
}
kernel void grid(global const uint* a, global uint* b, uint width, uint height) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height)
    b[y * width + x] = 3u * a[y * width + x] + (y > 0 ? a[(y - 1) * width + x] : 7u) +
                       (y + 1 < height ? a[(y + 1) * width + x] : 9u);
}
)";
constexpr const char* torus = R"(
uint same(uint i) { return i; } // what the analysis of accesses does not look into
kernel void hidden(global const uint* a, global uint* b, uint width, uint height) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height)
    b[same(y * width + x)] = 3u * a[same(y * width + x)] + (y > 0 ? a[same((y - 1) * width + x)] : 1u);
}
kernel void torus(global const uint* a, global uint* b, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  global const uint* north = a + (y + height - 1) % height * width;
  b[y * width + x] = a[y * width + (x + 1) % width] + 3u * north[x] + 5u * a[(y + 1) % height * width + x];
}
)";
constexpr const char* queue_ops = R"(
uint own(global const uint* a, global uint* b, uint i) { b[i] += a[i]; return TIDEGATE_DONE; }
uint twice(global const uint* a, global uint* b, uint i) { b[i] *= 2u; return TIDEGATE_DONE; }
uint next(global const uint* a, global uint* b, uint i) { b[i] = b[i + 1]; return TIDEGATE_DONE; }
uint any(global const uint* a, global uint* b, uint i) { b[a[i]] = 1u; return TIDEGATE_DONE; }
uint again(global const uint* a, global uint* b, uint i, tidegate_publisher publisher) {
  if (i > 0) TIDEGATE_PUBLISH(again, p, q, i - 1);
  return TIDEGATE_DONE;
}
)";
constexpr const char* grouped = R"(
kernel void grouped(global const uint* a, global uint* b, uint n) {
  const uint i = get_global_id(0);
  b[i] = a[i] + get_group_id(0);
}
)";

thread_local std::size_t claims_by =
    1; // the order in which work-items of `claimed` run; coprime to their number

// Elements of a buffer, in a part of its memory from some element on. An access outside of the part fails the test.
struct PartWords {
  std::span<std::uint32_t> part;
  std::uint64_t begin = 0;

  std::uint32_t& operator[](std::uint64_t i) const {
    thread_local std::uint32_t nowhere = 0;
    const bool inside = i >= begin && i - begin < part.size();
    if (!inside) {
      FAIL_CHECK("element " << i << " is not among " << part.size() << " from " << begin << " on");
    }
    return inside ? part[i - begin] : nowhere;
  }
};

using Moved = std::map<std::string, std::vector<std::uint32_t>>; // parameters by kernel

std::unique_ptr<device::test::StandIn> session(const Moved& moved = {}) {
  auto made = std::make_unique<device::test::StandIn>();
  const auto words = [moved](const char* kernel, std::uint32_t arguments, std::uint32_t argument,
                             const device::test::StandInLaunch& launch) {
    PartWords found{.part = launch.buffer<std::uint32_t>(argument)};
    const auto of = moved.find(kernel);
    for (std::uint32_t i = 0; of != moved.end() && i < of->second.size(); ++i) {
      if (of->second[i] == argument) {
        found.begin = launch.value<std::uint64_t>(arguments + i) / sizeof(std::uint32_t);
      }
    }
    return found;
  };
  // By kernel: an element of b from its index, a and b.
  const auto element_wise = [&](const char* name, const auto& value) {
    made->kernels[name] = [value, words, name](const device::test::StandInLaunch& launch) {
      const PartWords a = words(name, 3, 0, launch);
      const PartWords b = words(name, 3, 1, launch);
      const auto n = launch.value<std::uint32_t>(2);
      for (std::size_t k = 0; k < launch.range.global[0]; ++k) {
        value(launch.range.offset[0] + k, a, b, n, k / launch.range.local[0]);
      }
    };
  };
  element_wise("near", [](std::size_t i, PartWords a, PartWords b, std::uint32_t n, std::size_t) {
    b[i] = a[i] * 5U + (i >= 2 ? a[i - 2] : 1U) + (i + 1 < n ? a[i + 1] : 2U);
  });
  element_wise("far", [](std::size_t i, PartWords a, PartWords b, std::uint32_t n, std::size_t) {
    b[i] = b[i] * 3U + a[(i * 7 + 3) % n];
  });
  element_wise("counted", [](std::size_t i, PartWords a, PartWords sums, std::uint32_t, std::size_t) {
    sums[a[i] % 4] += a[i];
  });
  element_wise("least", [](std::size_t i, PartWords a, PartWords least, std::uint32_t, std::size_t) {
    const auto value = 50 - static_cast<std::int32_t>(a[i]);
    least[i % 4] = static_cast<std::uint32_t>(std::min(static_cast<std::int32_t>(least[i % 4]), value));
  });
  made->kernels["hidden"] = [words](const device::test::StandInLaunch& launch) {
    const PartWords a = words("hidden", 4, 0, launch);
    const PartWords b = words("hidden", 4, 1, launch);
    const auto width = launch.value<std::uint32_t>(2);
    const auto height = launch.value<std::uint32_t>(3);
    for (std::size_t k = 0; k < launch.range.global[1]; ++k) {
      const std::size_t y = launch.range.offset[1] + k;
      for (std::size_t x = 0; x < width && y < height; ++x) {
        const std::size_t i = y * width + x;
        b[i] = 3 * a[i] + (y > 0 ? a[i - width] : 1);
      }
    }
  };
  made->kernels["torus"] = [words](const device::test::StandInLaunch& launch) {
    const PartWords a = words("torus", 4, 0, launch);
    const PartWords b = words("torus", 4, 1, launch);
    const auto width = launch.value<std::uint32_t>(2);
    const auto height = launch.value<std::uint32_t>(3);
    for (std::size_t k = 0; k < launch.range.global[1]; ++k) {
      const std::size_t y = launch.range.offset[1] + k;
      for (std::size_t x = 0; x < width && y < height; ++x) {
        b[y * width + x] = a[y * width + (x + 1) % width] + 3 * a[(y + height - 1) % height * width + x] +
                           5 * a[(y + 1) % height * width + x];
      }
    }
  };
  element_wise("mirrored", [](std::size_t i, PartWords a, PartWords b, std::uint32_t n, std::size_t) {
    b[n - 1 - i] = a[i] + 1;
  });
  element_wise("grouped", [](std::size_t i, PartWords a, PartWords b, std::uint32_t, std::size_t group) {
    b[i] = a[i] + static_cast<std::uint32_t>(group);
  });
  made->kernels["claimed"] = [](const device::test::StandInLaunch& launch) {
    const auto a = launch.buffer<std::uint32_t>(0);
    const auto b = launch.buffer<std::uint32_t>(1);
    const auto next = launch.buffer<std::uint32_t>(2);
    for (std::size_t k = 0; k < launch.range.global[0]; ++k) { // in another order on each rank
      const std::size_t at = (launch.range.offset[0] + k * claims_by) % 64;
      b[next[0]++ % 64] = a[at];
    }
  };
  made->kernels["grid"] = [words](const device::test::StandInLaunch& launch) {
    const PartWords a = words("grid", 4, 0, launch);
    const PartWords b = words("grid", 4, 1, launch);
    const auto width = launch.value<std::uint32_t>(2);
    const auto height = launch.value<std::uint32_t>(3);
    for (std::size_t k = 0; k < launch.range.global[1]; ++k) {
      const std::size_t y = launch.range.offset[1] + k;
      for (std::size_t x = 0; x < width && y < height; ++x) {
        const std::size_t i = y * width + x;
        b[i] = 3 * a[i] + (y > 0 ? a[i - width] : 7) + (y + 1 < height ? a[i + width] : 9);
      }
    }
  };
  return made;
}

struct Compiled {
  tidegate::test::TemporaryFolder folder;
  std::optional<CompiledProgram> program;

  explicit Compiled(const std::string& json) {
    folder.write("ops.cl", ranked_kernels);
    folder.write("grouped.cl", grouped);
    folder.write("torus.cl", torus);
    folder.write("queue.cl", queue_ops);
    const auto document = documents::decode<WaveProgram>(json);
    REQUIRE(document);
    std::set<std::string> assumed;
    auto job = resolve(*document, folder.path().string(), assume_macros(assumed));
    REQUIRE_MESSAGE(job, (job ? "" : job.error().message));
    auto made = compile(std::move(*job), nullptr,
                        {.strategy = Strategy::plain, .promote = Promotion::none, .dry_run = true});
    REQUIRE(made);
    program.emplace(std::move(*made));
  }
};

// Stands in for the persistent kernel of a block: runs its iterations wave by wave.
void persistent(const device::test::StandIn& made, const CompiledProgram& block, const Moved& moved,
                const device::test::StandInLaunch& launch) {
  enum Argument : std::uint32_t { arena = 0, progress = 6, stage_end = 10, iterations = 17, iteration };
  const auto value = [&launch](Argument which) { return launch.value<std::uint32_t>(which); };
  const Job& program = block.program;
  for (std::uint32_t at = value(iteration); at < value(iterations); ++at) {
    const auto& storage = block.schedule.storage[at % block.schedule.phases()];
    for (const std::uint32_t wave : program_order(program)) {
      const ProgramWave& spec = program.waves[wave];
      std::map<std::uint32_t, device::test::StandInLaunch::Memory> arguments;
      std::vector<std::vector<std::byte>> values(2 * spec.arguments.size());
      const auto set = [&](std::size_t index, std::span<const std::byte> bytes) {
        values[index].assign(bytes.begin(), bytes.end());
        arguments[static_cast<std::uint32_t>(index)] = {nullptr, values[index]};
      };
      for (std::uint32_t i = 0; i < spec.arguments.size(); ++i) {
        const ProgramArgument& argument = spec.arguments[i];
        if (argument.is_memory()) {
          arguments[i] = {
              nullptr, launch.buffer<std::byte>(arena).subspan(block.memory.offsets[storage[argument.buffer]],
                                                               program.buffers[argument.buffer].bytes)};
        } else {
          set(i, argument.value);
        }
      }
      const std::string& name = program.function(spec.op).name;
      const std::vector<std::uint32_t>& parameters = moved.at(name);
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        set(spec.arguments.size() + i,
            std::as_bytes(std::span(&program.buffers[spec.arguments[parameters[i]].buffer].begin, 1)));
      }
      device::LaunchRange range{.dimensions = spec.range.dimensions};
      std::ranges::copy(spec.range.offset, range.offset.begin());
      std::ranges::copy(spec.range.global, range.global.begin());
      std::ranges::copy(spec.range.local, range.local.begin());
      made.kernels.at(name)(device::test::StandInLaunch(arguments, range));
    }
  }
  const auto words = launch.buffer<std::uint32_t>(progress); // of kernels/wave/progress_state.h
  words[0] = value(iterations);
  words[1] = value(stage_end);
}

struct Together {
  std::vector<RankRun> runs; // by rank
  JobSplit split;
};

constexpr std::chrono::hours never{1};

std::vector<std::uint32_t> equal(int size) {
  return std::vector<std::uint32_t>(static_cast<std::size_t>(size), 1);
}

enum class Memory : std::uint8_t { whole, in_parts };

// The blocks of a rank, for which `made` gets a kernel; `after` is what that does besides.
using After = std::function<void(const device::test::StandInLaunch&)>;
void add_blocks(device::test::StandIn& made, Job job, const Moved& moved, BlockUse use, const After& after,
                RankBlocks& blocks) {
  blocks.use = use;
  if (job.waves.empty()) {
    return;
  }
  auto block = compile(
      std::move(job), nullptr,
      {.strategy = Strategy::barrier, .promote = Promotion::none, .memory_apart = true, .dry_run = true});
  REQUIRE(block);
  made.kernels["tidegate_persistent"] = [&made, moved, after,
                                         &blocks](const device::test::StandInLaunch& launch) {
    persistent(made, blocks.block->compiled, moved, launch);
    if (after) {
      after(launch);
    }
  };
  BuiltProgram built{.kernel = BuiltKernel{.kernel = *made.make_kernel({}, "tidegate_persistent")}};
  blocks.block.emplace(RankBlock{.compiled = std::move(*block),
                                 .built = std::move(built),
                                 .limits = {.deadline = {}, .workers = 2, .arrivals_per_barrier = 2}});
}

Together run_together(const CompiledProgram& compiled, int size, std::uint32_t halo_depth = 1,
                      const std::vector<std::uint32_t>& weights = {}, std::optional<bool> overlap = {},
                      Memory memory = Memory::in_parts, BlockUse use = BlockUse::never,
                      const After& after = {}) {
  const Job& program = compiled.written;
  const auto all = ranks::in_process(size);
  const RankSettings settings{.halo_depth = halo_depth, .halo_overlap = overlap};
  Together together{.runs = std::vector<RankRun>(static_cast<std::size_t>(size)),
                    .split = split_job(program, weights.empty() ? equal(size) : weights)};
  if (memory == Memory::in_parts) {
    store_in_parts(program, compiled.schedule.storage, deepest_halo(program, settings), together.split);
  }
  Moved moved;
  const auto parameters = moved_parameters(program, together.split);
  for (std::size_t wave = 0; wave < parameters.size(); ++wave) {
    moved[program.function(program.waves[wave].op).name] = parameters[wave];
  }
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      claims_by = 2 * static_cast<std::size_t>(rank) + 1;
      const auto device = session(moved);
      const auto first =
          first_contents_of(*device, program, together.split, static_cast<std::uint32_t>(rank));
      Monitor monitor;
      RankBlocks blocks;
      RankSettings own = settings;
      if (use != BlockUse::never && block_obstacle(program, together.split).empty()) {
        own.blocks = &blocks;
        add_blocks(*device,
                   block_job(program, together.split, compiled.schedule.storage,
                             deepest_halo(program, settings), static_cast<std::uint32_t>(rank)),
                   moved, use, after, blocks);
      }
      auto run = run_on_ranks(*device, program, together.split, compiled.schedule.storage, *first,
                              *all[static_cast<std::size_t>(rank)], never, monitor, own);
      CHECK(run);
      together.runs[static_cast<std::size_t>(rank)] = run ? std::move(*run) : RankRun();
    });
  }
  threads.clear();
  return together;
}

HostContents run_alone(const CompiledProgram& compiled) {
  const auto device = session();
  const auto first = first_contents(*device, compiled.written, 0);
  REQUIRE(first);
  return Reference(*device, compiled.written, compiled.schedule.storage, *first)
      .run(std::chrono::steady_clock::now() + never)
      .outputs;
}

std::string buffer_text(const char* name, std::uint32_t height, std::uint32_t width, std::uint32_t seed) {
  return fmt::format(
      R"("{}":{{"type":"u32","shape":[{},{}],"init":{{"random":{{"seed":{},"low":0,"high":99}}}},"output":"{}.npy"}})",
      name, height, width, seed, name);
}

std::string wave_text(const std::string& op, const std::string& a, const std::string& b,
                      const std::string& sizes, const std::string& values, const std::string& phase = "each",
                      bool rows = false) {
  return fmt::format(R"({{"op":"{}","phase":"{}",{},"args":[{{"buffer":"{}"{}}},{{"buffer":"{}"{}}},{}]}})",
                     op, phase, sizes, a, rows ? R"(,"rows":1)" : "", b, rows ? R"(,"rows":0)" : "", values);
}

constexpr const char* ops =
    R"("ops":{"near":{"source":"ops.cl"},"far":{"source":"ops.cl"},"mirrored":{"source":"ops.cl"},)"
    R"("counted":{"source":"ops.cl"},"least":{"source":"ops.cl"},"claimed":{"source":"ops.cl"},)"
    R"("torus":{"source":"torus.cl"},"hidden":{"source":"torus.cl"},"grid":{"source":"ops.cl"},"grouped":{"source":"grouped.cl"}})";

// With `reaching`, all waves are cut, and rows that they read are known.
std::string random_document(Numbers& numbers, bool reaching = false) {
  const std::uint32_t height = 3 + numbers.below(30);
  const std::uint32_t width = 4 + numbers.below(5);
  const std::uint32_t n = height * width;
  const std::vector<std::string> names{"p", "q", "r", "s"};
  std::string buffers, waves;
  for (const std::string& name : names) {
    buffers += (buffers.empty() ? "" : ",") + buffer_text(name.c_str(), height, width, numbers.below(1000));
  }
  buffers += R"(,"sums":{"type":"u32","count":4,"init":{"fill":5},"output":"sums.npy"})";
  buffers += R"(,"least":{"type":"i32","count":4,"init":{"fill":1},"output":"least.npy"})";
  const std::uint32_t count = 1 + numbers.below(5);
  const bool flat = numbers.chance(30); // waves over elements and over rows cut a buffer at other rows
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t a = numbers.below(4);
    const std::uint32_t b = (a + 1 + numbers.below(3)) % 4;
    const std::string phase = i == 0 || numbers.chance(80) ? "each" : numbers.chance(50) ? "before" : "after";
    const std::uint32_t local = 1 + numbers.below(9);
    const std::string line = fmt::format(R"("global_size":[{}],"local_size":[{}])", n, local);
    const std::string value = fmt::format(R"({{"u32":{}}})", n);
    waves += waves.empty() ? "" : ",";
    if (numbers.chance(20)) { // another wave before it
      const std::uint32_t offset = numbers.chance(50) ? 0 : numbers.below(n);
      const std::uint32_t items = numbers.chance(50) ? n - offset : 1 + numbers.below(n - offset);
      waves +=
          numbers.chance(50)
              ? fmt::format(R"({{"phase":"{}","fill":{{"buffer":"{}","value":{},"offset":{},"count":{}}}}},)",
                            phase, names[b], numbers.below(99), offset, items)
              : fmt::format(
                    R"({{"phase":"{}","copy":{{"from":"{}","to":"{}","from_offset":{},"to_offset":{},"count":{}}}}},)",
                    phase, names[a], names[b], offset, offset, items);
    }
    const std::uint32_t known = numbers.below(4) == 0 ? 4 : flat ? 7 : 5;
    switch (reaching ? known : numbers.below(10)) {
    case 0: waves += wave_text("far", names[a], names[b], line, value, phase); break;
    case 1: waves += wave_text("mirrored", names[a], names[b], line, value, phase); break;
    case 2: waves += wave_text("grouped", names[a], names[b], line, value, phase); break;
    case 3:
      waves += fmt::format(R"({{"phase":"{}","copy":{{"from":"{}","to":"{}","count":{}}}}})", phase, names[a],
                           names[b], 1 + numbers.below(n));
      break;
    case 4: {
      const bool sum = numbers.chance(50);
      waves +=
          fmt::format(R"({{"op":"{}","phase":"{}",{},"args":[{{"buffer":"{}"}},{{"buffer":"{}"{}}},{}]}})",
                      sum ? "counted" : "least", phase, line, names[a], sum ? "sums" : "least",
                      numbers.chance(50) ? ""
                      : sum              ? R"(,"combine":"sum")"
                                         : R"(,"combine":"min")",
                      value);
      break;
    }
    case 5:
    case 6:
    case 8: {
      const bool hidden = numbers.chance(33);
      const std::uint32_t rows = 1 + numbers.below(4);
      waves += wave_text(hidden ? "hidden" : "grid", names[a], names[b],
                         fmt::format(R"("global_size":[{},{}],"local_size":[{},{}])", width,
                                     (height + rows - 1) / rows * rows, width, rows),
                         fmt::format(R"({{"u32":{}}},{{"u32":{}}})", width, height), phase,
                         hidden || numbers.chance(50)); // otherwise they are derived
      break;
    }
    case 9: {
      const std::uint32_t rows = 1 + numbers.below(4);
      waves += wave_text("torus", names[a], names[b],
                         fmt::format(R"("global_size":[{},{}],"local_size":[{},{}])", width + 2,
                                     (height + rows - 1) / rows * rows, width + 2, rows),
                         fmt::format(R"({{"i32":{}}},{{"i32":{}}})", width, height), phase);
      break;
    }
    default: waves += wave_text("near", names[a], names[b], line, value, phase); break;
    }
  }
  const std::string swap = numbers.chance(50) ? R"(,"swap":[["p","q"]])" : R"(,"swap":[["p","q"],["q","r"]])";
  return fmt::format(R"({{"buffers":{{{}}},{},"waves":[{}],"repeat":{}{}}})", buffers, ops, waves,
                     1 + numbers.below(reaching ? 14 : 4), numbers.chance(60) ? swap : "");
}

// A wave of 256 work-items that repeats, from one buffer to the other.
std::string repeated_wave(const std::string& op, int repeat) {
  return fmt::format(R"({{"buffers":{{{},{}}},{},"waves":[{}],"repeat":{},"swap":[["p","q"]]}})",
                     buffer_text("p", 256, 1, 1), buffer_text("q", 256, 1, 2), ops,
                     wave_text(op, "p", "q", R"("global_size":[256],"local_size":[8])", R"({"u32":256})"),
                     repeat);
}

} // namespace

TEST_CASE("random programs make the same bytes on any number of ranks") {
  const std::uint64_t seed = engine::test::seed();
  std::size_t cut = 0;
  std::size_t in_parts = 0;
  std::uint64_t sent = 0;
  for (std::uint64_t i = 0; i < 300 / tidegate::test::scale; ++i) {
    Numbers numbers(seed + i);
    const std::string json = random_document(numbers);
    CAPTURE(seed + i);
    CAPTURE(json);
    const Compiled compiled(json);
    const int size = 1 + static_cast<int>(numbers.below(6));
    CAPTURE(size);
    std::vector<std::uint32_t> weights;
    for (int rank = 0; rank < size; ++rank) {
      weights.push_back(1 + (i % 2 == 0 ? 0 : numbers.below(9)));
    }
    const Together together = run_together(*compiled.program, size, 1, weights);
    const OutputParity parity = compare_outputs(compiled.program->written, run_alone(*compiled.program),
                                                together.runs.front().outputs);
    REQUIRE(parity.equal);
    std::uint64_t by_rank = 0;
    std::uint64_t by_buffer = 0;
    for (const RankRun& run : together.runs) {
      by_rank += run.times.traffic.bytes_sent;
      CHECK(run.buffer_bytes == together.runs.front().buffer_bytes);
    }
    for (const std::uint64_t bytes : together.runs.front().buffer_bytes) {
      by_buffer += bytes;
    }
    REQUIRE(by_rank >= by_buffer); // combining sends more
    sent += by_rank;
    cut += static_cast<std::size_t>(std::ranges::count_if(together.split.waves, &WaveCut::cut));
    for (std::uint32_t buffer = 0; buffer < compiled.program->written.buffers.size(); ++buffer) {
      in_parts += together.split.in_parts(buffer) ? 1 : 0;
    }
  }
  CHECK(in_parts > 100 / tidegate::test::scale);
  CHECK(cut > 300 / tidegate::test::scale); // otherwise the test shows little
  CHECK(sent > 10'000 / tidegate::test::scale);
}

TEST_CASE("ranks have parts by the time that they took") {
  CHECK(parts_by_time(std::vector<std::uint64_t>{30, 10, 10}) ==
        std::vector<std::uint32_t>{1428, 4285, 4285});
  CHECK(parts_by_time(std::vector<std::uint64_t>{109, 100}) == std::vector<std::uint32_t>{5000, 5000});
  CHECK(parts_by_time(std::vector<std::uint64_t>{0, 0}) == std::vector<std::uint32_t>{5000, 5000});
  CHECK(parts_by_time(std::vector<std::uint64_t>{1, 1'000'000}) == std::vector<std::uint32_t>{9999, 1});
}

TEST_CASE("a rank with a slow device gets the smaller part, where devices differ or on demand") {
  const Compiled compiled(repeated_wave("near", 100));
  const auto weigh = [&compiled](bool names_differ, AskedWeights asked) {
    const auto all = ranks::in_process(2);
    std::vector<Result<RankWeights>> weights(2);
    {
      std::vector<std::jthread> threads;
      for (const std::size_t rank : {0U, 1U}) {
        threads.emplace_back([&, rank] {
          const auto device = session({{"near", {0, 1}}});
          if (rank == 1) {
            device->kernels["near"] = [near = device->kernels["near"]](const auto& launch) {
              std::this_thread::sleep_for(std::chrono::milliseconds(20));
              near(launch);
            };
          }
          RunOptions options;
          options.ranks = all[rank].get();
          options.rank_weights = asked;
          device::DeviceInfo info;
          info.name = names_differ ? std::to_string(rank) : "one";
          info.index = static_cast<std::uint32_t>(rank);
          Monitor monitor;
          weights[rank] = weigh_ranks(*device, info, compiled.program->written,
                                      compiled.program->schedule.storage, options, monitor);
        });
      }
    }
    REQUIRE(weights[0]);
    REQUIRE(weights[1]);
    CHECK(weights[0]->parts == weights[1]->parts);
    return *weights[0];
  };
  const RankWeights alike = weigh(false, {});
  CHECK(alike.source == WeightSource::equal);
  CHECK(alike.parts == std::vector<std::uint32_t>{5000, 5000});
  const RankWeights differ = weigh(true, {});
  CHECK(differ.source == WeightSource::measured);
  CHECK(differ.parts[0] > differ.parts[1]);
  const RankWeights on_demand = weigh(false, {.source = WeightSource::measured, .parts = {}});
  CHECK(on_demand.parts[0] > on_demand.parts[1]);
  const RankWeights stated = weigh(true, {.source = WeightSource::stated, .parts = {1, 3}});
  CHECK(stated.parts == std::vector<std::uint32_t>{2500, 7500});
}

TEST_CASE("deep halos make the same bytes with fewer messages") {
  const std::uint64_t seed = engine::test::seed();
  std::size_t deep = 0, overlapped = 0;
  std::uint64_t messages = 0, messages_of_1 = 0;
  for (std::uint64_t i = 0; i < 160 / tidegate::test::scale; ++i) {
    Numbers numbers(seed + i);
    const std::string json = random_document(numbers, true);
    CAPTURE(seed + i);
    CAPTURE(json);
    const Compiled compiled(json);
    const HostContents alone = run_alone(*compiled.program);
    const int size = 2 + static_cast<int>(numbers.below(4));
    CAPTURE(size);
    for (const std::uint32_t depth : {1U, 2U, 3U, 5U}) {
      CAPTURE(depth);
      const Together together = run_together(*compiled.program, size, depth, {}, numbers.chance(50));
      overlapped += together.runs.front().halo_overlap ? 1 : 0;
      REQUIRE(compare_outputs(compiled.program->written, alone, together.runs.front().outputs).equal);
      deep += together.runs.front().halo_depth == 5 ? 1 : 0;
      for (const RankRun& run : together.runs) {
        CHECK(run.halo_depth == together.runs.front().halo_depth);
        messages += depth == 5 ? run.times.traffic.messages : 0;
        messages_of_1 += depth == 1 ? run.times.traffic.messages : 0;
      }
    }
  }
  CHECK(deep > 50 / tidegate::test::scale); // otherwise the test shows little
  CHECK(overlapped > 50 / tidegate::test::scale);
  CHECK(messages < messages_of_1);
}

TEST_CASE("iterations between two exchanges make the same bytes in one persistent launch") {
  const std::uint64_t seed = engine::test::seed();
  std::size_t in_blocks = 0;
  for (std::uint64_t i = 0; i < 160 / tidegate::test::scale; ++i) {
    Numbers numbers(seed + i);
    const std::string json = random_document(numbers, true);
    const Compiled compiled(json);
    const int size = 1 + static_cast<int>(numbers.below(5));
    const std::uint32_t depth = 1 + numbers.below(6);
    const bool overlap = numbers.chance(50);
    const Memory memory = numbers.chance(70) ? Memory::in_parts : Memory::whole;
    CAPTURE(seed + i);
    CAPTURE(json);
    CAPTURE(size);
    CAPTURE(depth);
    CAPTURE(overlap);
    std::vector<std::uint32_t> weights = equal(size);
    for (std::uint32_t& weight : weights) {
      weight = numbers.chance(50) ? 1 : 1 + numbers.below(9);
    }
    const Together plain = run_together(*compiled.program, size, depth, weights, overlap, memory);
    const Together together =
        run_together(*compiled.program, size, depth, weights, overlap, memory, BlockUse::always);
    REQUIRE(compare_outputs(compiled.program->written, run_alone(*compiled.program),
                            together.runs.front().outputs)
                .equal);
    for (std::size_t rank = 0; rank < together.runs.size(); ++rank) {
      CHECK(together.runs[rank].times.traffic.messages == plain.runs[rank].times.traffic.messages);
      CHECK(together.runs[rank].times.traffic.bytes_sent == plain.runs[rank].times.traffic.bytes_sent);
    }
    in_blocks += together.runs.front().block_iterations;
  }
  CHECK(in_blocks > 100 / tidegate::test::scale); // otherwise the test shows little
}

TEST_CASE(
    "a rank runs all iterations between two exchanges in a launch, and without overlap the first one, too") {
  const Compiled compiled(repeated_wave("near", 24));
  for (const bool overlap : {false, true}) {
    const Together together =
        run_together(*compiled.program, 3, 8, {}, overlap, Memory::in_parts, BlockUse::always);
    for (const RankRun& run : together.runs) { // nothing is awaited before the first exchange
      CHECK(run.block_iterations == (overlap ? 8 + 7 + 7 : 24));
      CHECK(run.blocks);
    }
  }
}

TEST_CASE("blocks are measured, and all ranks decide alike") {
  const Compiled compiled(repeated_wave("near", 500));
  const HostContents alone = run_alone(*compiled.program);
  for (const std::uint32_t depth : {0U, 5U}) {
    const Together together =
        run_together(*compiled.program, 3, depth, {}, {}, Memory::in_parts, BlockUse::measured);
    CHECK(compare_outputs(compiled.program->written, alone, together.runs.front().outputs).equal);
    for (const RankRun& run : together.runs) {
      CHECK(run.block_times.starts_with("measured: "));
      CHECK(run.block_times == together.runs.front().block_times);
      CHECK(run.blocks == together.runs.front().blocks);
      CHECK(run.block_iterations >= 14);
    }
  }
}

TEST_CASE("a wait in a block that runs out ends the rank as a hang") {
  const Compiled compiled(repeated_wave("near", 24));
  for (const int last : {1, 2}) { // the first launch is waited for, the second one not at once
    int launches = 0;
    const auto stuck = [&](const device::test::StandInLaunch& launch) {
      if (++launches == last) {
        launch.buffer<std::uint32_t>(6)[4] = 1;
        launch.buffer<std::uint32_t>(6)[16] = 1; // the report of the first work-group
      }
    };
    const RankRun run =
        std::move(run_together(*compiled.program, 1, 8, {}, {}, Memory::in_parts, BlockUse::always, stuck)
                      .runs.front());
    CHECK(run.outcome.status == RunStatus::hang);
    CHECK(run.outcome.stuck_groups.size() == 1);
    CHECK(launches == last);
  }
}

TEST_CASE("blocks whose bytes are not those of plain launches are never taken") {
  const Compiled compiled(repeated_wave("near", 500));
  const Job& program = compiled.program->written;
  const auto& storage = compiled.program->schedule.storage;
  for (const bool wrong : {false, true}) {
    const auto all = ranks::in_process(2);
    std::vector<RankBlocks> blocks(2);
    {
      std::vector<std::jthread> threads;
      for (const std::uint32_t rank : {0U, 1U}) {
        threads.emplace_back([&, rank] {
          const Moved moved{{"near", {0, 1}}};
          const auto device = session(moved);
          JobSplit split = split_job(program, equal(2));
          RankSettings settings{.halo_depth = 0, .blocks = &blocks[rank]};
          const std::uint32_t depth = deepest_halo(program, settings);
          store_in_parts(program, storage, depth, split);
          add_blocks(
              *device, block_job(program, split, storage, depth, rank), moved, BlockUse::measured,
              [&](const device::test::StandInLaunch& launch) {
                launch.buffer<std::uint32_t>(0)[64] ^= wrong && rank == 1 ? 1U : 0U;
              },
              blocks[rank]);
          const auto first = first_contents_of(*device, program, split, rank);
          RunOptions options;
          options.ranks = all[rank].get();
          Monitor monitor;
          CHECK(prove_blocks(*device, program, split, storage, *first, settings, options, monitor));
        });
      }
    }
    for (const RankBlocks& of : blocks) {
      CHECK(of.use == (wrong ? BlockUse::never : BlockUse::measured));
      CHECK(of.reason.empty() != wrong);
    }
  }
}

TEST_CASE("dependencies of a block pass through waves without tiles on a rank") {
  const auto wave = [](const std::string& from, const std::string& to, int size, int local) {
    return wave_text("near", from, to, fmt::format(R"("global_size":[{}],"local_size":[{}])", size, local),
                     R"({"u32":96})");
  };
  const Compiled compiled(fmt::format(
      R"({{"buffers":{{{},{},{}}},{},"waves":[{},{},{},{}],"repeat":3,"dependencies":[{{"before":0,"after":1}},{{"before":1,"after":2}},{{"before":2,"after":3}}]}})",
      buffer_text("p", 96, 1, 1), buffer_text("q", 96, 1, 2), buffer_text("r", 96, 1, 3), ops,
      wave("p", "r", 96, 16), wave("p", "r", 64, 32), wave("p", "r", 64, 32), wave("r", "q", 96, 16)));
  const Job& program = compiled.program->written;
  const JobSplit split = split_job(program, equal(3));
  const Job last = block_job(program, split, compiled.program->schedule.storage, 1, 2);
  REQUIRE(last.waves.size() == 2);
  REQUIRE(last.dependencies.size() == 1);
  CHECK(last.dependencies[0].before == 0);
  CHECK(last.dependencies[0].after == 1);
}

TEST_CASE("only kernels that each rank runs by itself share a launch") {
  const std::string sizes = R"("global_size":[256],"local_size":[8])";
  const auto obstacle_of = [&](const std::string& wave) {
    const Compiled compiled(fmt::format(
        R"({{"buffers":{{{},{},"sums":{{"type":"u32","count":4,"init":{{"fill":0}}}}}},{},"waves":[{}],"repeat":3}})",
        buffer_text("p", 256, 1, 1), buffer_text("q", 256, 1, 2), ops, wave));
    return block_obstacle(compiled.program->written, split_job(compiled.program->written, equal(2)));
  };
  CHECK(obstacle_of(wave_text("near", "p", "q", sizes, R"({"u32":256})")).empty());
  CHECK(obstacle_of(R"({"copy":{"from":"p","to":"q"}})") == "wave 0 (copy_bytes) is a fill or a copy");
  CHECK(obstacle_of(wave_text("counted", "p", "sums", sizes, R"({"u32":256})")) ==
        "wave 0 (counted) combines a buffer in each iteration");
}

TEST_CASE("without a depth the run measures which is fastest, and all ranks take that") {
  const Compiled compiled(repeated_wave("near", 400));
  const HostContents alone = run_alone(*compiled.program);
  const Together together = run_together(*compiled.program, 3, 0);
  CHECK(compare_outputs(compiled.program->written, alone, together.runs.front().outputs).equal);
  std::uint64_t messages = 0;
  for (const RankRun& run : together.runs) {
    CHECK(run.halo_depth == together.runs.front().halo_depth);
    CHECK(run.halo_depth <= 8);
    messages += run.times.traffic.messages;
  }
  CHECK(messages < 4 * 399); // of a depth of 1 alone: stretches of 2, 4 and 8 took fewer
}

TEST_CASE("a depth of K exchanges halos once in K iterations") {
  const Compiled compiled(repeated_wave("near", 12));
  const HostContents alone = run_alone(*compiled.program);
  for (const auto& expected : {std::pair{1U, 11U}, {2U, 5U}, {3U, 3U}, {5U, 2U}, {20U, 0U}}) {
    const std::uint32_t depth = expected.first;
    const std::uint32_t exchanges = expected.second;
    CAPTURE(depth);
    const Together together = run_together(*compiled.program, 4, depth);
    CHECK(compare_outputs(compiled.program->written, alone, together.runs.front().outputs).equal);
    std::uint64_t messages = 0;
    for (const RankRun& run : together.runs) {
      messages += run.times.traffic.messages;
    }
    CHECK(messages == exchanges * 3 * 2); // over three borders, in both directions
  }
  const Compiled far(repeated_wave("far", 3));
  const RankRun shallow = std::move(run_together(*far.program, 2, 4).runs.front());
  CHECK(shallow.halo_depth == 1);
  CHECK(shallow.halo_reason == "which rows of \"p\" wave 0 (far) reads is not known");
}

TEST_CASE("halos alone are sent, and only where a later wave reads them") {
  constexpr std::uint64_t n = 256;
  constexpr std::uint64_t repeat = 10;
  const std::string sizes = R"("global_size":[256],"local_size":[8])";
  const Compiled compiled(fmt::format(
      R"({{"buffers":{{{},{}}},{},"waves":[{}],"repeat":{},"swap":[["p","q"]]}})", buffer_text("p", n, 1, 1),
      buffer_text("q", n, 1, 2), ops, wave_text("near", "p", "q", sizes, R"({"u32":256})"), repeat));
  constexpr int size = 4;
  const Together together = run_together(*compiled.program, size);
  CHECK(
      compare_outputs(compiled.program->written, run_alone(*compiled.program), together.runs.front().outputs)
          .equal);
  // Two elements over each of three borders, in both directions, before all iterations but the first.
  CHECK(together.runs.front().buffer_bytes == std::vector<std::uint64_t>{(repeat - 1) * 2 * 4 * 3 * 2, 0});
  std::uint64_t messages = 0;
  for (const RankRun& run : together.runs) {
    messages += run.times.traffic.messages;
  }
  CHECK(messages == (repeat - 1) * 3 * 2);
}

TEST_CASE("a rank has memory for what it owns and reads, and sends as much as with memory for all") {
  constexpr std::uint32_t n = 65536;
  const Compiled compiled(fmt::format(
      R"({{"buffers":{{{},{}}},{},"waves":[{}],"repeat":13,"swap":[["p","q"]]}})", buffer_text("p", n, 1, 1),
      buffer_text("q", n, 1, 2), ops,
      wave_text("near", "p", "q", R"("global_size":[65536],"local_size":[64])", R"({"u32":65536})")));
  const HostContents alone = run_alone(*compiled.program);
  for (const std::uint32_t depth : {1U, 3U, 8U}) {
    for (const int size : {1, 2, 5}) {
      CAPTURE(depth);
      CAPTURE(size);
      const Together together = run_together(*compiled.program, size, depth);
      const Together whole = run_together(*compiled.program, size, depth, {}, {}, Memory::whole);
      CHECK(compare_outputs(compiled.program->written, alone, together.runs.front().outputs).equal);
      for (int rank = 0; rank < size; ++rank) {
        const auto r = static_cast<std::uint32_t>(rank);
        const RankRun& run = together.runs[r];
        CHECK(run.times.traffic.bytes_sent == whole.runs[r].times.traffic.bytes_sent);
        CHECK(run.times.traffic.messages == whole.runs[r].times.traffic.messages);
        CHECK(whole.runs[r].device_bytes == 2 * 4 * n);
        std::uint64_t bytes = 0;
        for (std::uint32_t buffer = 0; buffer < 2; ++buffer) {
          const ByteRange owned = together.split.owned[buffer][r];
          const ByteRange part = together.split.parts[buffer][r];
          const std::uint64_t halo = 4 * 2 * depth;       // two elements to each side in an iteration
          const std::uint64_t most = halo + 4 * 64 + 128; // for whole tiles, and its alignment
          CHECK(part.begin <= owned.begin - std::min(owned.begin, halo));
          CHECK(part.end >= std::min<std::uint64_t>(owned.end + halo, 4 * n));
          CHECK(part.begin + most > owned.begin);
          CHECK(part.end < owned.end + most);
          bytes += part.size();
        }
        CHECK(run.device_bytes == bytes);
      }
    }
  }
}

TEST_CASE("a split buffer is in parts, or the reason says why not") {
  const std::string sizes = R"("global_size":[64],"local_size":[8])";
  const auto whole = [&](const std::string& waves) {
    const Compiled compiled(fmt::format(R"({{"buffers":{{{},{}}},{},"waves":[{}]}})",
                                        buffer_text("p", 64, 1, 1), buffer_text("q", 64, 1, 2), ops, waves));
    JobSplit split = split_job(compiled.program->written, equal(3));
    store_in_parts(compiled.program->written, compiled.program->schedule.storage, 1, split);
    CHECK(split.in_parts(1) == split.whole[1].reason.empty());
    CHECK(!split.in_parts(0)); // nothing writes it
    return split.whole[1].reason + "; " + split.whole[1].fix;
  };
  const std::string near = wave_text("near", "p", "q", sizes, R"({"u32":64})");
  CHECK(whole(near) == "; ");
  for (const char* const local :
       {R"({"fill":{"buffer":"q","offset":3}})", R"({"copy":{"from":"p","to":"q","from_offset":5}})"}) {
    CHECK(whole(near + "," + local) == "; ");
  }
  CHECK(whole(near + "," + wave_text("mirrored", "p", "q", sizes, R"({"u32":64})"))
            .starts_with("every rank runs all of wave 1 (mirrored), which uses \"q\"; give \"q\" a shape"));
  CHECK(whole(near + R"(,{"copy":{"from":"q","to":"p","from_offset":5}})") ==
        "every rank runs all of wave 1 (copy_bytes), which uses \"q\"; write it as a kernel whose work-items "
        "write only their own rows, if its time matters");
}

TEST_CASE("a wave is cut, or the reason says what to declare") {
  const std::string sizes = R"("global_size":[64],"local_size":[8])";
  const auto split = [&](const std::string& wave, bool has_command = true) {
    const Compiled compiled(fmt::format(R"({{"buffers":{{{},{}}},{},"waves":[{}]}})",
                                        buffer_text("p", 64, 1, 1), buffer_text("q", 64, 1, 2), ops, wave));
    Job job = compiled.program->written;
    if (!has_command) {
      job.waves.front().command.reset();
    }
    return split_job(job, equal(3)).waves.front();
  };
  const WaveCut near = split(wave_text("near", "p", "q", sizes, R"({"u32":64})"));
  CHECK(near.begin == std::vector<std::uint32_t>{0, 3, 6, 8});
  CHECK(split(wave_text("mirrored", "p", "q", sizes, R"({"u32":64})")).reason ==
        "which elements of \"q\" a work-item writes is not known");
  CHECK(split(wave_text("grouped", "p", "q", sizes, R"({"u32":64})")).reason ==
        "its source calls get_group_id, which is another number in a part of the range");
  CHECK(
      split(wave_text("near", "p", "q", R"("global_size":[64],"local_size":[64])", R"({"u32":64})")).reason ==
      "its outermost dimension has one work-group");
  CHECK(split(R"({"fill":{"buffer":"p"}})").reason == "it is a fill or a copy");
  CHECK(split(R"({"fill":{"buffer":"p"}})", false).reason ==
        "its kernel is built in"); // a kind without a command
}

TEST_CASE("rows are derived in two dimensions and of a torus, and not from a stated halo") {
  constexpr std::uint32_t width = 6, height = 12;
  const auto reaches = [&](const std::string& wave) {
    const Compiled compiled(fmt::format(R"({{"buffers":{{{},{}}},{},"waves":[{}]}})",
                                        buffer_text("p", height, width, 1),
                                        buffer_text("q", height, width, 2), ops, wave));
    std::string text;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& rows = compiled.program->written.waves[0].arguments[i].rows;
      text +=
          rows ? fmt::format("{} {} {} {} ", rows->row_bytes, rows->reach, rows->beyond, rows->wraps) : "- ";
    }
    return text + (split_job(compiled.program->written, equal(3)).waves[0].cut() ? "cut" : "whole");
  };
  const std::string grid = R"("global_size":[6,12],"local_size":[6,2])";
  const std::string ragged = R"("global_size":[8,12],"local_size":[8,2])";
  CHECK(reaches(wave_text("grid", "p", "q", grid, R"({"u32":6},{"u32":12})")) == "24 1 0 0 24 0 0 0 cut");
  CHECK(reaches(wave_text("grid", "p", "q", ragged, R"({"u32":6},{"u32":12})")) == "24 1 0 0 24 0 0 0 cut");
  CHECK(reaches(wave_text("grid", "p", "q", grid, R"({"u32":5},{"u32":12})")) == "20 1 0 0 20 0 0 0 cut");
  CHECK(reaches(wave_text("torus", "p", "q", ragged, R"({"i32":6},{"i32":12})")) == "24 1 0 12 24 0 0 0 cut");
  const std::string hidden = R"({"op":"hidden",)" + grid + R"(,"args":[{"buffer":"p")";
  CHECK(reaches(hidden + R"(,"halo":[0,1]},{"buffer":"q","halo":[0,0]},{"u32":6},{"u32":12}]})") ==
        "- - whole");
  CHECK(reaches(hidden + R"(},{"buffer":"q"},{"u32":6},{"u32":12}]})") == "- - whole");
  CHECK(reaches(wave_text("hidden", "p", "q", grid, R"({"u32":6},{"u32":12})", "each", true)) ==
        "24 1 0 0 24 0 0 0 cut");
}

TEST_CASE("atomics that ranks can combine are derived, and others run on one rank") {
  const auto split = [&](const std::string& kernel, const std::string& type, const std::string& stated = "") {
    const std::string buffer = R"({"type":"u32","count":64,"init":{"fill":1},"output":"p.npy"})";
    return std::make_unique<Compiled>(fmt::format(
        R"({{"buffers":{{"p":{},"h":{{"type":"{}","count":4,"init":{{"fill":0}}}}}},)"
        R"("ops":{{"op":{{"source":"ops.cl","kernel":"{}"}}}},"waves":[{{"op":"op",)"
        R"("global_size":[64],"local_size":[8],"args":[{{"buffer":"p"}},{{"buffer":"h"{}}},{{"u32":64}}]}}]}})",
        buffer, type, kernel, stated));
  };
  const auto derived = [&](const std::string& kernel, const std::string& type) {
    const auto compiled = split(kernel, type);
    const Job& job = compiled->program->written;
    const JobSplit cut = split_job(job, equal(3));
    const auto& combine = job.waves[0].arguments[1].combine;
    CHECK(cut.waves[0].cut() == combine.has_value());
    CHECK(!cut.waves[0].on_one_rank); // equal on all ranks in any order
    return combine ? std::string(combine_names[static_cast<std::size_t>(*combine)]) : cut.waves[0].reason;
  };
  CHECK(derived("counted", "u32") == "sum");
  CHECK(derived("counted", "i32") == "sum"); // the same bits
  CHECK(derived("least", "i32") == "min");
  const std::string unknown = R"(which elements of "h" a work-item writes is not known)";
  CHECK(derived("least", "u32") == unknown); // another order
}

TEST_CASE("a wave whose results may depend on an order runs on one rank, which all others follow") {
  const Compiled compiled(fmt::format(
      R"({{"buffers":{{{},{},"h":{{"type":"u32","count":1,"init":{{"fill":0}},"output":"h.npy"}}}},{},"waves":[)"
      R"({{"op":"claimed","global_size":[64],"local_size":[8],"args":[{{"buffer":"p"}},{{"buffer":"q"}},{{"buffer":"h"}}]}},{}],"repeat":3}})",
      buffer_text("p", 64, 1, 1), buffer_text("q", 64, 1, 2), ops,
      wave_text("near", "q", "p", R"("global_size":[64],"local_size":[8])", R"({"u32":64})")));
  const HostContents alone = run_alone(*compiled.program);
  for (const int size : {1, 2, 3, 4}) {
    const Together together = run_together(*compiled.program, size);
    CHECK(together.split.waves[0].on_one_rank);
    CHECK(together.split.waves[1].cut());
    CHECK(compare_outputs(compiled.program->written, alone, together.runs.front().outputs).equal);
  }
}

TEST_CASE("a queue is cut by the params of its items, or the reason says why not") {
  // Items of an op from p to q, with these params.
  const auto queue = [](const std::string& op, const std::vector<std::uint32_t>& params,
                        std::uint32_t output = 1) {
    std::string items;
    for (const std::uint32_t param : params) {
      items += fmt::format(R"({}{{"op_handle":0,"input_handle":0,"output_handle":{},"param":{}}})",
                           items.empty() ? "" : ",", output, param);
    }
    return fmt::format(R"({{"queue":{{"ops":["{}"],"buffers":["p","q"],"items":[{}]}}}})", op, items);
  };
  const auto split = [&](const std::string& waves, std::uint32_t width = 1) {
    std::string queue_op;
    for (const std::string op : {"own", "twice", "next", "any", "again", "row"}) {
      // Under sanitizers, an op that no wave uses takes a second to look at.
      if (waves.find("\"" + op + "\"") != std::string::npos) {
        queue_op += fmt::format(R"("{}":{{"source":"queue.cl","queue":true{}}},)", op,
                                op == "row" ? R"(,"kernel":"any","own_row":true)" : "");
      }
    }
    std::string all = ops;
    all.insert(std::string(R"("ops":{)").size(), queue_op);
    const Compiled compiled(fmt::format(R"({{"buffers":{{{},{}}},{},"waves":[{}]}})",
                                        buffer_text("p", 64, 1, 1), buffer_text("q", 64, width, 2), all,
                                        waves));
    return split_job(compiled.program->written, equal(3));
  };
  using Begin = std::vector<std::uint32_t>;
  CHECK(split(queue("own", {9, 4, 60, 2, 3, 1})).waves[0].begin == Begin{0, 3, 9, 61}); // two items each
  CHECK(split(queue("own", {5})).waves[0].begin == Begin{0, 5, 5, 6});
  CHECK(split(queue("twice", {1, 1, 1, 1, 2, 1})).waves[0].begin ==
        Begin{0, 1, 1, 3}); // equal ones on one rank
  const JobSplit after =
      split(queue("own", {9, 4, 60, 2, 3, 1}) + "," +
            wave_text("near", "p", "q", R"("global_size":[64],"local_size":[8])", R"({"u32":64})"));
  CHECK(after.waves[0].begin == Begin{0, 24, 48, 61}); // as the kernel
  CHECK(after.owned[1] == std::vector<ByteRange>{{0, 96}, {96, 192}, {192, 256}});
  CHECK(split(queue("own", {1, 2}, 0)).waves[0].cut());
  CHECK(split(queue("next", {1, 2})).waves[0].reason == "an item writes or reads \"q\" beyond its own row");
  const WaveCut any = split(queue("any", {1, 2})).waves[0];
  CHECK(any.reason == "which elements of \"q\" an item writes is not known");
  CHECK(any.fix ==
        "use \"q\" only at the element of the item's param, in the op itself, or state \"own_row\": true "
        "for an op that touches only the param's row of its output");
  CHECK(split(queue("row", {9, 4, 60, 2, 3, 1}), 5).owned[1] ==
        std::vector<ByteRange>{{0, 60}, {60, 180}, {180, 1280}}); // rows of 20 bytes
  CHECK(split(queue("own", {1, 0x80000000U})).waves[0].reason == "an item has a param of 2^31 or more");
  CHECK(split(queue("again", {1, 2})).waves[0].reason == "its ops publish items");
}
