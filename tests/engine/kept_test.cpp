// What a stream keeps from run to run, with a stand-in for the device.
#include "../stand_in_run.hpp"
#include "engine/run_report.hpp"
#include "work/run.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

// Runs programs as a stream does. The kernel `copied` reads x, and `advance` changes it.
struct StreamRun : StandInRun {
  Kept kept;

  StreamRun() {
    settled("ops.cl");
    options.kept = &kept;
    options.open_session = [this, open = options.open_session](
                               const device::DeviceInfo& info,
                               device::Profiling profiling) -> Result<std::shared_ptr<device::Session>> {
      if (!kept.session) {
        TIDEGATE_TRY(kept.session, open(info, profiling));
      }
      return kept.session;
    };
  }

  Result<RunReport> request(const std::string& json) {
    ++kept.run;
    const auto program = documents::decode<WaveProgram>(json);
    REQUIRE(program);
    const std::string home = folder.path().string();
    options.kept_key = stream_key(*program, home);
    if (const auto prepared = find_prepared(options)) {
      return run_again(prepared, *program, home, device, options, monitor);
    }
    Lowering lowering(*program, home, &device, options);
    return run_program(lowering, options, monitor);
  }

  // Waits until the clock of the file system has ticked since the file was written: before, it is read for each request.
  void settled(const char* name) const {
    while (file_state((folder.path() / name).string()).empty()) {
    }
  }

  [[nodiscard]] int count(const std::string& call) const { return (*calls_of_sessions)[call]; }
};

std::string copying(const std::string& init, const std::string& output = "y.raw") {
  return R"({"buffers":{"x":{"type":"u32","count":64,"init":)" + init +
         R"(},"y":{"type":"u32","count":64,"output":")" + output +
         R"("}},"ops":{"copied":{"source":"ops.cl"}},"waves":[{"op":"copied","global_size":[64],)"
         R"("local_size":[8],"args":[{"buffer":"x"},{"buffer":"y"}]}]})";
}

constexpr auto hit = [](const RunReport& report) {
  return std::pair(report.telemetry.compiled_pipeline_cache_hit, report.telemetry.resident_input_cache_hit);
};

} // namespace

TEST_CASE("the second request uploads nothing, and its outputs are right") {
  StreamRun run;
  const auto first = run.request(copying(R"({"iota":{}})"));
  REQUIRE(first);
  CHECK(hit(*first) == std::pair(false, false));
  CHECK(first->telemetry.bytes_uploaded == 256);
  const std::string expected = run.output("y.raw");
  const int built = run.count("build");
  const int written = run.count("write");
  const auto second = run.request(copying(R"({"iota":{}})", "z.raw"));
  REQUIRE(second);
  CHECK(hit(*second) == std::pair(true, true));
  CHECK(second->telemetry.bytes_uploaded == 0);
  CHECK(second->build_ns == 0);
  CHECK(run.count("build") == built);
  CHECK(run.count("write") == written);
  CHECK(run.output("z.raw") == expected);
  CHECK(second->files_written.front().file.ends_with("z.raw"));
}

TEST_CASE("an input that waves change is restored from a copy on the device") {
  StreamRun run;
  std::string expected;
  for (int i = 0; i < 3; ++i) {
    const auto report = run.request(document(2));
    REQUIRE(report);
    CHECK(hit(*report) == std::pair(i > 0, i > 0));
    CHECK((i == 0 || run.output("x.raw") == expected));
    expected = run.output("x.raw");
  }
}

TEST_CASE("images stay as buffers do") {
  StreamRun run;
  run.folder.write("shade.cl", "kernel void shaded(read_only image2d_t from, write_only image2d_t to) {\n"
                               "  int2 at = (int2)(get_global_id(0), 0);\n"
                               "  write_imageui(to, at, read_imageui(from, at));\n"
                               "}\n");
  run.settled("shade.cl");
  run.device.images = true;
  run.with_session([](device::test::StandIn& session) { session.kernels["shaded"] = [](const auto&) {}; });
  const auto shading = [](const std::string& init, const char* both = "") {
    return R"({"buffers":{},"images":{"from":{"format":"rgba_uint8","size":[64,1],"init":)" + init +
           R"(},"to":{"format":"rgba_uint8","size":[64,1])" + both +
           R"(}},"ops":{"shaded":{"source":"shade.cl"}},"waves":[{"op":"shaded","global_size":[64],)"
           R"("local_size":[8],"args":[{"image":"from"},{"image":"to"}]}]})";
  };
  const auto moves = [&run] { return std::pair(run.count("write_image"), run.count("copy_image")); };

  REQUIRE(run.request(shading(R"({"fill":1})")));
  const int written = moves().first; // one is cleared by each run
  for (int i = 0; i < 2; ++i) {
    const auto again = run.request(shading(R"({"fill":1})"));
    REQUIRE(again);
    CHECK(hit(*again) == std::pair(true, true));
  }
  CHECK(moves() == std::pair(written + 2 * (written - 1), 0));
  REQUIRE(run.kept.holdings.size() == 1);
  CHECK(run.kept.holdings.front()->bytes >= 2 * 64 * 4);

  // Other contents: those before are kept, and come back by a copy on the device.
  CHECK(!run.request(shading(R"({"fill":2})"))->telemetry.resident_input_cache_hit);
  CHECK(moves().second == 1);
  CHECK(run.request(shading(R"({"fill":1})"))->telemetry.resident_input_cache_hit);

  // An image that waves write: each request gets its first contents from a copy.
  const std::string both = shading(R"({"fill":3})", R"(,"init":{"fill":4})");
  CHECK(!run.request(both)->telemetry.resident_input_cache_hit);
  const auto before = moves();
  CHECK(run.request(both)->telemetry.resident_input_cache_hit);
  CHECK(moves() == std::pair(before.first, before.second + 1));
}

TEST_CASE("other contents replace those in memory, and come back") {
  StreamRun run;
  std::map<std::string, std::string> outputs;
  for (const std::string init : {R"({"fill":1})", R"({"fill":2})", R"({"fill":2})", R"({"fill":1})"}) {
    const auto report = run.request(copying(init));
    REQUIRE(report);
    CHECK(report->telemetry.compiled_pipeline_cache_hit == !outputs.empty());
    const std::string output = run.output("y.raw");
    CHECK(output[0] == (init == R"({"fill":1})" ? 1 : 2));
    CHECK(outputs.try_emplace(init, output).first->second == output);
  }
}

TEST_CASE("a file that was written again is read again") {
  StreamRun run;
  std::string bytes(256, 'a');
  run.folder.write("x.raw", bytes);
  const std::filesystem::path file = run.folder.path() / "x.raw";
  std::filesystem::last_write_time(file,
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  const std::string json = copying(R"({"file":"x.raw"})");
  for (int request = 0; request < 2; ++request) { // the file may change again within a tick of that time
    CHECK(!run.request(json)->telemetry.resident_input_cache_hit);
    CHECK(run.output("y.raw") == bytes);
  }
  std::filesystem::last_write_time(file,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  run.settled("x.raw");
  CHECK(!run.request(json)->telemetry.resident_input_cache_hit);
  CHECK(run.request(json)->telemetry.resident_input_cache_hit);
  bytes.assign(256, 'b');
  run.folder.write("x.raw", bytes);
  CHECK(!run.request(json)->telemetry.resident_input_cache_hit);
  CHECK(run.output("y.raw") == bytes);
  run.settled("x.raw");
  run.folder.write("ops.cl", "kernel void copied(global const uint* x, global uint* y) { y[0] = x[0]; }\n");
  CHECK(!run.request(json)->telemetry.compiled_pipeline_cache_hit);
}

TEST_CASE("within a budget the least recently used memory goes first") {
  StreamRun run;
  constexpr std::uint64_t budget = 300'000; // two programs of 128 KiB have room, with their tables
  std::vector<std::string> programs;
  for (const char* const note : {"a", "b", "c"}) {
    std::string program = copying(R"({"fill":1})");
    for (std::size_t at = 0; (at = program.find(R"("count":64)", at)) != std::string::npos;) {
      program.replace(at, 10, R"("count":16384)");
    }
    programs.push_back(
        program.insert(1, fmt::format(R"("note":"{}","device_memory_budget_bytes":{},)", note, budget)));
  }
  for (const std::string& program : programs) {
    REQUIRE(run.request(program));
  }
  CHECK(run.kept.holdings.size() == 2);
  std::uint64_t bytes = 0;
  for (const auto& holding : run.kept.holdings) {
    bytes += holding->bytes;
    CHECK(holding->last_run > 1);
  }
  CHECK(bytes <= budget);
  const auto again = run.request(programs[0]); // compiled before, and its input is in another program's arena
  REQUIRE(again);
  CHECK(hit(*again) == std::pair(true, true));
}
