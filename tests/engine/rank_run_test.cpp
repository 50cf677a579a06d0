// Wave programs on several ranks, as threads with a stand-in for the device each, next to plain launches of the whole
// program, which know nothing of ranks.
#include "../in_process_ranks.hpp"
#include "../stand_in.hpp"
#include "../temporary_folder.hpp"
#include "../test_scale.hpp"
#include "engine/rank_exchange.hpp"
#include "program_support.hpp"
#include "work/resolve.hpp"

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
constexpr const char* queue_op =
    "uint own(global const uint* a, global uint* b, uint i) { b[i] += a[i]; return TIDEGATE_DONE; }";
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
  // By kernel: element (x, y) of b from a.
  const auto grid_wise = [&](const char* name, const auto& value) {
    made->kernels[name] = [value, words, name](const device::test::StandInLaunch& launch) {
      const PartWords a = words(name, 4, 0, launch);
      const PartWords b = words(name, 4, 1, launch);
      const auto width = launch.value<std::uint32_t>(2);
      const auto height = launch.value<std::uint32_t>(3);
      for (std::size_t k = 0; k < launch.range.global[1]; ++k) {
        const std::size_t y = launch.range.offset[1] + k;
        for (std::size_t x = 0; x < width && y < height; ++x) {
          b[y * width + x] =
              value([&](std::size_t row, std::size_t column) { return a[row * width + column]; }, x, y, width,
                    height);
        }
      }
    };
  };
  grid_wise("hidden", [](const auto& a, std::size_t x, std::size_t y, std::size_t, std::size_t) {
    return 3 * a(y, x) + (y > 0 ? a(y - 1, x) : 1);
  });
  grid_wise("torus", [](const auto& a, std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
    return a(y, (x + 1) % width) + 3 * a((y + height - 1) % height, x) + 5 * a((y + 1) % height, x);
  });
  grid_wise("grid", [](const auto& a, std::size_t x, std::size_t y, std::size_t, std::size_t height) {
    return 3 * a(y, x) + (y > 0 ? a(y - 1, x) : 7) + (y + 1 < height ? a(y + 1, x) : 9);
  });
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
  return made;
}

struct Compiled {
  tidegate::test::TemporaryFolder folder;
  std::optional<CompiledProgram> program;

  explicit Compiled(const std::string& json) {
    folder.write("ops.cl", ranked_kernels);
    folder.write("grouped.cl", grouped);
    folder.write("torus.cl", torus);
    folder.write("queue.cl", queue_op);
    const auto document = documents::decode<WaveProgram>(json);
    REQUIRE(document);
    std::set<std::string> assumed;
    auto job = resolve({*document, folder.path().string(), assume_macros(assumed)});
    REQUIRE_MESSAGE(job, (job ? "" : job.error().message));
    auto made = compile(std::move(*job), nullptr,
                        {.strategy = Strategy::plain, .promote = Promotion::none, .dry_run = true});
    REQUIRE(made);
    program.emplace(std::move(*made));
  }
};

Moved moved_parameters(const Job& program, const JobSplit& split) {
  Moved moved;
  for (const auto& [unit, kernels] : moved_pointers(program, split)) {
    for (const auto& [kernel, parameters] : kernels) {
      moved[kernel] = {parameters.begin(), parameters.end()};
    }
  }
  return moved;
}

struct RankRun {
  HostContents outputs; // of rank 0
  ranks::Traffic traffic;
  std::vector<std::uint64_t> buffer_bytes;
  std::uint64_t device_bytes = 0;
};

struct Together {
  std::vector<RankRun> runs; // by rank
  JobSplit split;
};

constexpr std::chrono::hours never{1};

enum class Memory : std::uint8_t { whole, in_parts };

Together run_together(const CompiledProgram& compiled, std::uint32_t size, Memory memory = Memory::in_parts) {
  const Job& program = compiled.written;
  const auto all = ranks::in_process(static_cast<int>(size));
  Together together{.runs = std::vector<RankRun>(size), .split = split_job(program, size)};
  for (std::uint32_t i = 0; i < program.buffers.size() && memory == Memory::whole; ++i) {
    together.split.room[i].assign(size, {0, program.buffers[i].bytes});
    together.split.whole[i] = {"asked for", ""};
  }
  const Moved moved = moved_parameters(program, together.split);
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      claims_by = 2 * std::size_t{rank} + 1;
      const auto device = session(moved);
      const CompiledProgram part = part_of(compiled, together.split, rank);
      const auto first = first_contents(*device, part.program, 0);
      Monitor monitor;
      const device::DeviceInfo info;
      RunOptions options;
      options.ranks = all[rank].get();
      options.verify = true; // rank 0 gets all outputs
      BuiltProgram built = build(*device, info, part, {});
      RankExchange exchange(*device, compiled, together.split, options, monitor);
      ArenaRun run = run_in_arena({*device, info, part, built, monitor, options, &exchange}, *first,
                                  {.deadline = std::chrono::steady_clock::now() + never});
      CHECK(run.outcome.status == RunStatus::done);
      together.runs[rank] = {std::move(run.outputs), run.outcome.traffic, exchange.buffer_bytes(),
                             exchange.device_bytes()};
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
    R"("torus":{"source":"torus.cl"},"hidden":{"source":"torus.cl"},"grid":{"source":"ops.cl"},"grouped":{"source":"grouped.cl"},)"
    R"("own":{"source":"queue.cl","queue":true}})";

std::string random_document(Numbers& numbers) {
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
    switch (flat ? numbers.below(5) : numbers.below(10)) {
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
                     1 + numbers.below(4), numbers.chance(60) ? swap : "");
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
    CAPTURE(i);
    CAPTURE(json);
    const Compiled compiled(json);
    const std::uint32_t size = 1 + numbers.below(6);
    CAPTURE(size);
    const Together together =
        run_together(*compiled.program, size, numbers.chance(80) ? Memory::in_parts : Memory::whole);
    const OutputParity parity = compare_outputs(compiled.program->written, run_alone(*compiled.program),
                                                together.runs.front().outputs);
    REQUIRE(parity.equal);
    std::uint64_t by_rank = 0;
    std::uint64_t by_buffer = 0;
    for (const RankRun& run : together.runs) {
      by_rank += run.traffic.bytes_sent;
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
  CHECK(in_parts > 60 / tidegate::test::scale);
  CHECK(cut > 300 / tidegate::test::scale); // otherwise the test shows little
  CHECK(sent > 10'000 / tidegate::test::scale);
}

TEST_CASE("halos alone are sent, and only where a later wave reads them") {
  constexpr std::uint64_t n = 256;
  constexpr std::uint64_t repeat = 10;
  const std::string sizes = R"("global_size":[256],"local_size":[8])";
  const Compiled compiled(fmt::format(
      R"({{"buffers":{{{},{}}},{},"waves":[{}],"repeat":{},"swap":[["p","q"]]}})", buffer_text("p", n, 1, 1),
      buffer_text("q", n, 1, 2), ops, wave_text("near", "p", "q", sizes, R"({"u32":256})"), repeat));
  constexpr std::uint32_t size = 4;
  const Together together = run_together(*compiled.program, size);
  CHECK(
      compare_outputs(compiled.program->written, run_alone(*compiled.program), together.runs.front().outputs)
          .equal);
  // Two elements over each of three borders, in both directions, before all iterations but the first.
  CHECK(together.runs.front().buffer_bytes == std::vector<std::uint64_t>{(repeat - 1) * 2 * 4 * 3 * 2, 0});
  std::uint64_t messages = 0;
  for (const RankRun& run : together.runs) {
    messages += run.traffic.messages;
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
  for (const std::uint32_t size : {1U, 2U, 5U}) {
    CAPTURE(size);
    const Together together = run_together(*compiled.program, size);
    const Together whole = run_together(*compiled.program, size, Memory::whole);
    CHECK(compare_outputs(compiled.program->written, alone, together.runs.front().outputs).equal);
    for (std::uint32_t r = 0; r < size; ++r) {
      const RankRun& run = together.runs[r];
      CHECK(run.traffic.bytes_sent == whole.runs[r].traffic.bytes_sent);
      CHECK(run.traffic.messages == whole.runs[r].traffic.messages);
      CHECK(whole.runs[r].device_bytes == 2 * 4 * n);
      std::uint64_t bytes = 0;
      for (std::uint32_t buffer = 0; buffer < 2; ++buffer) {
        const ByteRange owned = together.split.owned[buffer][r];
        const ByteRange part = together.split.room[buffer][r];
        const std::uint64_t halo = 4 * 2;               // two elements to each side
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

TEST_CASE("a split buffer is in parts, or the reason says why not") {
  const std::string sizes = R"("global_size":[64],"local_size":[8])";
  const auto whole = [&](const std::string& waves) {
    const Compiled compiled(fmt::format(R"({{"buffers":{{{},{}}},{},"waves":[{}]}})",
                                        buffer_text("p", 64, 1, 1), buffer_text("q", 64, 1, 2), ops, waves));
    const JobSplit split = split_job(compiled.program->written, 3);
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
            .starts_with("rank 0 runs all of wave 1 (mirrored), which uses \"q\"; give \"q\" a shape"));
  CHECK(whole(near + R"(,{"copy":{"from":"q","to":"p","from_offset":5}})") ==
        "rank 0 runs all of wave 1 (copy_bytes), which uses \"q\"; write it as a kernel whose work-items "
        "write only their own rows, if its time matters");
}

TEST_CASE("a wave is cut, or the reason says what to declare") {
  const std::string sizes = R"("global_size":[64],"local_size":[8])";
  const auto split = [&](const std::string& wave) {
    const Compiled compiled(fmt::format(R"({{"buffers":{{{},{}}},{},"waves":[{}]}})",
                                        buffer_text("p", 64, 1, 1), buffer_text("q", 64, 1, 2), ops, wave));
    return split_job(compiled.program->written, 3).waves.front();
  };
  const WaveCut near = split(wave_text("near", "p", "q", sizes, R"({"u32":64})"));
  CHECK(near.rows == std::vector<TileRows>{{0, 3}, {3, 6}, {6, 8}});
  CHECK(split(wave_text("mirrored", "p", "q", sizes, R"({"u32":64})"))
            .whole.reason.starts_with("which elements of \"q\" a work-item writes is not known"));
  CHECK(split(wave_text("grouped", "p", "q", sizes, R"({"u32":64})")).whole.reason ==
        "its source calls get_group_id, which is another number in a part of the range");
  CHECK(split(wave_text("near", "p", "q", R"("global_size":[64],"local_size":[64])", R"({"u32":64})"))
            .whole.reason == "its outermost dimension has one work-group");
  CHECK(split(R"({"fill":{"buffer":"p"}})").local);
  const std::string item = R"({"op_handle":0,"input_handle":0,"output_handle":1,"param":3})";
  CHECK(split(R"({"queue":{"ops":["own"],"buffers":["p","q"],"items":[)" + item + "]}}").whole.reason ==
        "it is a queue, whose items run in any order");
}

TEST_CASE("rows are derived in two dimensions and of a torus, also where a halo is stated") {
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
    return text + (split_job(compiled.program->written, 3).waves[0].cut() ? "cut" : "whole");
  };
  const std::string grid = R"("global_size":[6,12],"local_size":[6,2])";
  const std::string ragged = R"("global_size":[8,12],"local_size":[8,2])";
  CHECK(reaches(wave_text("grid", "p", "q", grid, R"({"u32":6},{"u32":12})")) == "24 1 0 0 24 0 0 0 cut");
  CHECK(reaches(wave_text("grid", "p", "q", ragged, R"({"u32":6},{"u32":12})")) == "24 1 0 0 24 0 0 0 cut");
  CHECK(reaches(wave_text("grid", "p", "q", grid, R"({"u32":5},{"u32":12})")) == "20 1 0 0 20 0 0 0 cut");
  CHECK(reaches(wave_text("torus", "p", "q", ragged, R"({"i32":6},{"i32":12})")) == "24 1 0 12 24 0 0 0 cut");
  const std::string hidden =
      R"({"op":"hidden",)" + grid + R"(,"args":[{"buffer":"p")"; // through a helper function
  CHECK(reaches(hidden + R"(,"halo":[0,1]},{"buffer":"q","halo":[0,0]},{"u32":6},{"u32":12}]})") ==
        "24 1 0 0 24 0 0 0 cut");
  CHECK(reaches(hidden + R"(},{"buffer":"q"},{"u32":6},{"u32":12}]})") == "24 1 0 0 24 0 0 0 cut");
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
    const JobSplit cut = split_job(job, 3);
    const auto& combine = job.waves[0].arguments[1].combine;
    CHECK(cut.waves[0].cut() == combine.has_value());
    return combine ? std::string(combine_names[static_cast<std::size_t>(*combine)])
                   : cut.waves[0].whole.reason;
  };
  CHECK(derived("counted", "u32") == "sum");
  CHECK(derived("counted", "i32") == "sum"); // the same bits
  CHECK(derived("least", "i32") == "min");
  const std::string unknown = R"(which elements of "h" a work-item writes is not known)";
  CHECK(derived("least", "u32").starts_with(unknown)); // another order
}

TEST_CASE("a wave that is not cut runs on one rank, which all others follow") {
  const Compiled compiled(fmt::format(
      R"({{"buffers":{{{},{},"h":{{"type":"u32","count":1,"init":{{"fill":0}},"output":"h.npy"}}}},{},"waves":[)"
      R"({{"op":"claimed","global_size":[64],"local_size":[8],"args":[{{"buffer":"p"}},{{"buffer":"q"}},{{"buffer":"h"}}]}},{}],"repeat":3}})",
      buffer_text("p", 64, 1, 1), buffer_text("q", 64, 1, 2), ops,
      wave_text("near", "q", "p", R"("global_size":[64],"local_size":[8])", R"({"u32":64})")));
  const HostContents alone = run_alone(*compiled.program);
  for (const std::uint32_t size : {1U, 2U, 3U, 4U}) {
    const Together together = run_together(*compiled.program, size);
    CHECK(together.split.waves[0].on_one_rank());
    CHECK(together.split.waves[1].cut());
    CHECK(compare_outputs(compiled.program->written, alone, together.runs.front().outputs).equal);
  }
}

TEST_CASE("a message for memory that a rank does not have is a fault of the tool, and no status of OpenCL") {
  const Compiled compiled(
      fmt::format(R"({{"buffers":{{{},{}}},{},"waves":[{}],"repeat":2,"swap":[["p","q"]]}})",
                  buffer_text("p", 64, 1, 1), buffer_text("q", 64, 1, 2), ops,
                  wave_text("near", "p", "q", R"("global_size":[64],"local_size":[8])", R"({"u32":64})")));
  const JobSplit split = split_job(compiled.program->written, 2);
  JobSplit wrong = split; // no rank has room for anything
  for (auto& room : wrong.room) {
    room.assign(2, {});
  }
  std::atomic<int> faults = 0;
  ranks::on_ranks(2, [&](ranks::Ranks& rank) {
    const auto device = session(moved_parameters(compiled.program->written, split));
    const CompiledProgram part = part_of(*compiled.program, split, static_cast<std::uint32_t>(rank.rank()));
    const auto first = first_contents(*device, part.program, 0);
    Monitor monitor;
    const device::DeviceInfo info;
    RunOptions options;
    options.ranks = &rank;
    BuiltProgram built = build(*device, info, part, {});
    RankExchange exchange(*device, *compiled.program, wrong, options, monitor);
    try {
      (void)run_in_arena({*device, info, part, built, monitor, options, &exchange}, *first,
                         {.deadline = std::chrono::steady_clock::now() + never});
    } catch (const std::logic_error& fault) {
      faults +=
          fault.what() == std::string("bytes of a buffer that are not in this rank's part of it") ? 1 : 0;
    }
  });
  CHECK(faults == 2);
}
