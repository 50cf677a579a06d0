// Encoding: exact bytes, and everything that is encoded decodes to the same.
#include "../random.hpp"
#include "app/documents.hpp"
#include "work/program.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/device/device_list.hpp>

using namespace tidegate;
using namespace tidegate::documents;

TEST_CASE("optional members are left out, empty lists are not") {
  CHECK(encode(CheckReport{}, Style::compact) ==
        R"({"kind":"check_report","schema_version":1,"checked":0,"valid":0,"failed":0,"documents":[]})");
  const CheckReport report{.documents = {{.file = "b", .line = 3, .document = "x"}}};
  const std::string json = encode(report);
  CHECK(json.substr(json.find("  \"documents\"")) == "  \"documents\": [\n"
                                                     "    {\n"
                                                     "      \"file\": \"b\",\n"
                                                     "      \"line\": 3,\n"
                                                     "      \"document\": \"x\",\n"
                                                     "      \"verdict\": \"valid\"\n"
                                                     "    }\n"
                                                     "  ]\n"
                                                     "}");
}

TEST_CASE("identifiers are numbers or strings, as they came") {
  const std::string json =
      R"({"kind":"arena_plan","schema_version":1,"height_bytes":0,"lower_bound_bytes":0,)"
      R"("optimal":true,"proof":"meets_bound","gave_up":false,"search_nodes":0,"buffers":[)"
      R"({"id":7,"offset":0},{"id":"7","offset":0},{"id":18446744073709551615,"offset":0},)"
      R"({"id":"","offset":0},{"id":"größe \"x\" \\ \n","offset":0}]})";
  const auto plan = decode<ArenaPlanDocument>(json);
  REQUIRE(plan);
  CHECK(encode(*plan, Style::compact) == json);
  CHECK(describe(plan->buffers.at(0).id) == "7");
  CHECK(describe(plan->buffers.at(1).id) == "\"7\"");
  Identifier copy = plan->buffers.at(4).id;
  CHECK(copy == plan->buffers.at(4).id);
  copy = plan->buffers.at(0).id;
  CHECK(copy == Identifier(std::uint64_t{7}));
  CHECK(copy.name() == nullptr);
}

TEST_CASE("numbers that are not finite are null beside a diagnostic") {
  DiffusedPriorities priorities{.output = {1, std::numeric_limits<double>::infinity()}, .diagnostics = {}};
  priorities.diagnostics = non_finite_diagnostics("/output", priorities.output);
  CHECK(
      encode(priorities, Style::compact) ==
      R"({"kind":"diffused_priorities","schema_version":1,"output":[1.0,null],"diagnostics":[{"code":"non_finite",)"
      R"("pointer":"/output/1","message":"the value is +infinity, which JSON cannot hold"}]})");
  CHECK_FALSE(non_finite_diagnostics("/output", std::vector<double>{1, 2}));
}

TEST_CASE("random documents survive encoding and decoding") {
  std::mt19937_64 random(tidegate::test::seed());
  const auto u32 = [&random] { return static_cast<std::uint32_t>(random() >> (random() % 64)); };
  const auto u16 = [&random] { return static_cast<std::uint16_t>(random()); };
  for (int round = 0; round < 5000; ++round) {
    LaunchRequestDocument document;
    document.request = {.queue_len = u32(),
                        .requested_worker_groups = u32(),
                        .max_workgroup_size_x = u32(),
                        .max_compute_workgroups_per_dimension = u32(),
                        .max_compute_invocations_per_workgroup = u32(),
                        .hot_opcode_count = u32(),
                        .requeue_count = random(),
                        .frontier_density_bps = u16(),
                        .memory_pressure_bps = u16(),
                        .resident_device_bytes = random() >> (random() % 64)};
    if (random() % 2 == 0) {
      document.previous_topology = static_cast<policy::Topology>(random() % policy::topology_names.size());
    }
    document.policy.saturated_waves = u32();
    document.policy.sizing.max_dispatch_workgroups = std::max(u32(), 1U);
    for (const Style style : {Style::compact, Style::pretty}) {
      const std::string json = encode(document, style);
      const auto decoded = decode<LaunchRequestDocument>(json);
      REQUIRE_MESSAGE(decoded, json);
      REQUIRE_MESSAGE(decoded->request == document.request, json);
      REQUIRE_MESSAGE(decoded->policy == document.policy, json);
      REQUIRE_MESSAGE(decoded->previous_topology == document.previous_topology, json);
    }

    SiblingDiffusion floats;
    for (int i = 0; i < 4; ++i) {
      const double value = std::bit_cast<double>(random());
      floats.priority_stalks.push_back(value - value == 0 ? value : -0.0); // finite ones only
    }
    const auto decoded = decode<SiblingDiffusion>(encode(floats));
    REQUIRE(decoded);
    for (std::size_t i = 0; i < floats.priority_stalks.size(); ++i) {
      REQUIRE(std::bit_cast<std::uint64_t>(decoded->priority_stalks[i]) ==
              std::bit_cast<std::uint64_t>(floats.priority_stalks[i]));
    }
  }
}

TEST_CASE("brief leaves defaults out, and breaks only lines that are too long") {
  engine::WaveProgram program;
  program.buffers.emplace_back("x", engine::BufferSpec{.count = 4});
  program.ops.emplace_back("k", engine::OpSpec{.source = "k.cl", .kernel = {}, .options = ""});
  engine::ArgumentSpec argument;
  argument.numbers = {ElementType::f32, {std::uint64_t{3}}};
  program.waves.push_back({.op = "k", .global_size = {1}, .args = {argument}});
  CHECK(encode(program, Style::brief) ==
        R"({
  "kind": "wave_program",
  "schema_version": 1,
  "buffers": {"x": {"type": "f32", "count": 4}},
  "ops": {"k": {"source": "k.cl"}},
  "waves": [{"op": "k", "global_size": 1, "args": [{"f32": 3}]}]
})");
  argument.numbers->numbers.assign(3, Number(1.5));
  program.waves[0].args.assign(3, argument);
  CHECK(encode(program, Style::brief).find(R"(
  "waves": [
    {
      "op": "k",
      "global_size": 1,
      "args": [{"f32": [1.5, 1.5, 1.5]}, {"f32": [1.5, 1.5, 1.5]}, {"f32": [1.5, 1.5, 1.5]}]
    }
  ]
})") != std::string::npos);
  const auto back = decode<engine::WaveProgram>(encode(program, Style::brief));
  REQUIRE(back);
  CHECK(back->waves[0].args[2].numbers->numbers.size() == 3);
}
