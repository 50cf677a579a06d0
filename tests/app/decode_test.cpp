// Strict decoding: what is refused, with which words, and where.
#include "work/documents.hpp"
#include <tidegate/core/decode.hpp>
#include <tidegate/planning/documents.hpp>
#include <tidegate/policy/documents.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace tidegate;
using namespace tidegate::documents;

namespace {

constexpr std::string_view small = R"({"queue_len":7,"requested_worker_groups":3,"max_workgroup_size_x":9)";

std::string with(std::string_view rest) {
  return std::string(small) + "," + std::string(rest) + "}";
}

template <class T>
std::string refusal(std::string_view json) {
  const auto decoded = decode<T>(json);
  return decoded ? "accepted" : describe(decoded.error());
}

std::string request_refusal(std::string_view json) {
  return refusal<LaunchRequestDocument>(json);
}

} // namespace

TEST_CASE("a request takes its defaults, some from its other fields") {
  const auto decoded = decode<LaunchRequestDocument>(std::string(small) + "}");
  REQUIRE(decoded);
  CHECK(decoded->request.queue_len == 7);
  CHECK(decoded->request.max_compute_workgroups_per_dimension == 3);
  CHECK(decoded->request.max_compute_invocations_per_workgroup == 9);
  CHECK(decoded->request.expected_hits_per_item == 1);
  CHECK_FALSE(decoded->previous_topology);
  CHECK(decoded->policy == policy::LaunchPolicy{});
}

TEST_CASE("of many names those are told that begin alike") {
  const auto format = [](const std::string& value) {
    return refusal<engine::WaveProgram>(
        R"({"buffers":{},"ops":{},"waves":[],"images":{"a":{"size":[1],"format":)" + value + "}}}");
  };
  CHECK(format(R"("rgba8")") ==
        "tidegate: input:1:70: error: \"rgba8\" is not one of the 87 known names [unknown_name]\n"
        "  at: /images/a/format\n"
        "  fix: give one such as rgba_snorm8, rgba_snorm16, rgba_unorm8, rgba_unorm16, rgba_sint8, "
        "rgba_sint16, "
        "rgba_sint32, rgba_uint8, rgba_uint16, rgba_uint32, rgba_float16, rgba_float32; `tidegate schema "
        "wave_program` has all");
  CHECK(format(R"("float")").find("r_uint32, r_float16, r_float32, …; `tidegate") != std::string::npos);
  CHECK(format(R"("rgba_unorm_8")").find("fix: did you mean \"rgba_unorm8\"?") != std::string::npos);
  CHECK(format("7").find("expected one of 87 names, such as \"r_snorm8\", got") != std::string::npos);
}

TEST_CASE("a NUL in a name or a string is refused, because the system would take what is before it") {
  constexpr std::string_view rest = R"(,"ops":{},"waves":[]})";
  for (const std::string_view buffers : {R"({"a\u0000b":{"type":"f32","count":1}})",
                                         R"({"a":{"type":"f32","count":1,"output":"a.npy\u0000"}})",
                                         R"({"a":{"type":"f32","count":1,"init":{"file":"a\u0000.npy"}}})"}) {
    const std::string text = refusal<engine::WaveProgram>(fmt::format(R"({{"buffers":{}{})", buffers, rest));
    CAPTURE(text);
    CHECK(text.find("has a NUL character [unknown_name]") != std::string::npos);
    CHECK(text.find("fix: remove \\u0000") != std::string::npos);
    CHECK(text.find("at: /buffers/a") != std::string::npos);
  }
}

TEST_CASE("given fields stand, in any order, also with escapes in their names") {
  const auto decoded = decode<LaunchRequestDocument>(
      R"( {"policy":{"sizing":{"max_dispatch_workgroups":5},"saturated_waves":9}, "max_workgroup_size_x":9,
          "max_compute_workgroups_per_dimension":4294967295, "previous_topology":"dense_\u0066rontier",
          "resident_device_bytes":18446744073709551615, "requested_worker_groups":3, "queue\u005flen":7,
          "kind":"launch_request", "schema_version":1} )");
  REQUIRE(decoded);
  CHECK(decoded->request.queue_len == 7);
  CHECK(decoded->request.max_compute_workgroups_per_dimension == 4294967295);
  CHECK(decoded->request.resident_device_bytes == 18446744073709551615U);
  CHECK(decoded->previous_topology == policy::Topology::dense_frontier);
  CHECK(decoded->policy.saturated_waves == 9);
  CHECK(decoded->policy.sizing.max_dispatch_workgroups == 5);
  CHECK(decoded->policy.sizing.powerful_min_worker_groups == 64);
}

TEST_CASE("fields left out keep what the object has") {
  policy::LaunchPolicy policy{.min_hit_capacity = 11, .saturated_waves = 12};
  CHECK(Decoder().decode(DocumentOf<policy::LaunchPolicy>::document, R"({"saturated_waves":13})", &policy));
  CHECK(policy.min_hit_capacity == 11);
  CHECK(policy.saturated_waves == 13);
}

TEST_CASE("numbers must be integers in range, and exact") {
  CHECK(request_refusal(with(R"("hot_window_count":-1)")) ==
        "tidegate: input:1:88: error: -1 is outside the range 0 to 4294967295 [out_of_range]\n"
        "  at: /hot_window_count\n"
        "  fix: give an integer from 0 to 4294967295");
  CHECK(request_refusal(with(R"("frontier_density_bps":65536)")) ==
        "tidegate: input:1:92: error: 65536 is outside the range 0 to 65535 [out_of_range]\n"
        "  at: /frontier_density_bps\n"
        "  fix: give an integer from 0 to 65535");
  CHECK(request_refusal(with(R"("requeue_count":18446744073709551616)")) ==
        "tidegate: input:1:85: error: 18446744073709551616 is outside the range 0 to 18446744073709551615 "
        "[out_of_range]\n"
        "  at: /requeue_count\n"
        "  fix: give an integer from 0 to 18446744073709551615");
  CHECK(request_refusal(with(R"("requeue_count": 3.0)")) ==
        "tidegate: input:1:86: error: 3.0 is not written as an integer [not_an_integer]\n"
        "  at: /requeue_count\n"
        "  fix: give an integer from 0 to 18446744073709551615");
  CHECK(request_refusal(with(R"("requeue_count":1e3)")).find("1e3 is not written as an integer") !=
        std::string::npos);
  CHECK(request_refusal(with(R"("requeue_count":1e999)")) ==
        "tidegate: input:1:85: error: a number past the range of a double [out_of_range]\n"
        "  fix: give a number between -1.7976931348623157e308 and 1.7976931348623157e308");
  CHECK(request_refusal(with(R"("policy":{"sizing":{"occupancy_worker_divisor":0}})")) ==
        "tidegate: input:1:116: error: 0 is outside the range 1 to 4294967295 [out_of_range]\n"
        "  at: /policy/sizing/occupancy_worker_divisor\n"
        "  fix: give an integer from 1 to 4294967295");
}

TEST_CASE("wrong types say what was expected and what was found") {
  CHECK(request_refusal(with(R"("policy":3)")) ==
        "tidegate: input:1:78: error: expected an object, got a number [wrong_type]\n"
        "  at: /policy\n"
        "  fix: give an object such as {\"min_hit_capacity\": …}");
  CHECK(request_refusal(with(R"("policy":[{}])")).find("expected an object, got an array") !=
        std::string::npos);
  CHECK(request_refusal(with(R"("requeue_count":"3")")).find("got a string") != std::string::npos);
  CHECK(request_refusal(with(R"("requeue_count":true)")).find("got true") != std::string::npos);
  CHECK(request_refusal(with(R"("requeue_count":null)")).find("got null") != std::string::npos);
  CHECK(request_refusal(with(R"("requeue_count":{})")).find("got an object") != std::string::npos);
  CHECK(request_refusal(with(R"("previous_topology":3)")).find("expected one of the names empty, sparse") !=
        std::string::npos);
  CHECK(request_refusal("[]") == "tidegate: input:1:1: error: expected an object, got an array [wrong_type]\n"
                                 "  fix: a launch_request is one JSON object");
  for (const std::string_view scalar : {"3", "-3", "3.5", "\"x\"", "true", "null"}) {
    CHECK(request_refusal(scalar).find("expected an object") != std::string::npos);
  }
  CHECK(refusal<MeasuredCosts>(R"({"candidates":[1,"2"],"costs":[],"current":1})") ==
        "tidegate: input:1:18: error: expected an integer from 0 to 4294967295, got a string [wrong_type]\n"
        "  at: /candidates/1\n"
        "  fix: give an integer from 0 to 4294967295");
  CHECK(refusal<engine::WaveProgram>(R"({"buffers":{},"ops":{},"waves":[{"fill":"a"}]})") ==
        "tidegate: input:1:41: error: expected an object, got a string [wrong_type]\n"
        "  at: /waves/0/fill\n"
        "  fix: give an object: {\"buffer\": …}");
  CHECK(refusal<engine::WaveProgram>(R"({"buffers":{},"ops":{},"waves":[],"dependencies":[[0,1]]})") ==
        "tidegate: input:1:51: error: expected an object, got an array [wrong_type]\n"
        "  at: /dependencies/0\n"
        "  fix: give an object: {\"before\": …, \"after\": …}");
  CHECK(refusal<MeasuredCosts>(R"({"candidates":[1,[2]],"costs":[],"current":1})").find("/candidates/1") !=
        std::string::npos);
}

TEST_CASE("unknown, duplicate and missing keys") {
  CHECK(request_refusal(with(R"("polici":{})")) ==
        "tidegate: input:1:69: error: unknown key \"polici\" [unknown_key]\n"
        "  at: /polici\n"
        "  fix: did you mean \"policy\"?");
  CHECK(request_refusal(with(R"("policy":{"a/b~c":1})")) ==
        "tidegate: input:1:79: error: unknown key \"a/b~c\" [unknown_key]\n"
        "  at: /policy/a~1b~0c\n"
        "  fix: remove it; `tidegate schema launch_request --format table` lists the known keys");
  CHECK(refusal<engine::WaveProgram>(
            R"({"buffers":{},"ops":{},"waves":[],"until":{"buffer":"a","reaches":0}})") ==
        "tidegate: input:1:57: error: unknown key \"reaches\" [unknown_key]\n"
        "  at: /until/reaches\n"
        "  fix: remove it, or give buffer or equals");
  CHECK(request_refusal(with(R"("queue_len":7)")) ==
        "tidegate: input:1:69: error: duplicate key \"queue_len\" [duplicate_key]\n"
        "  at: /queue_len\n"
        "  fix: keep one of the two values");
  CHECK(request_refusal(with(R"("kind":"launch_request","kind":"launch_request")"))
            .find("duplicate key \"kind\"") != std::string::npos);
  CHECK(request_refusal(R"({"requested_worker_groups":1})") ==
        "tidegate: input:1:29: error: missing keys \"queue_len\", \"max_workgroup_size_x\" [missing_key]\n"
        "  fix: add them");
  const auto missing = decode<policy::RequeueAccounting>(R"({"requeue_count":1,"aged_promotions":2})");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().field == "max_priority_age");
  CHECK(missing.error().message == "missing key \"max_priority_age\"");
}

TEST_CASE("unknown names have a nearest one") {
  const auto decoded = decode<LaunchRequestDocument>(with(R"("previous_topology":"sparse_fontier")"));
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().code == ErrorCode::unknown_name);
  CHECK(decoded.error().nearest == "sparse_frontier");
  CHECK(decoded.error().pointer == "/previous_topology");
}

TEST_CASE("another kind or version is refused") {
  CHECK(request_refusal(R"({"kind":"tuning_choice"})") ==
        "tidegate: input:1:9: error: this is a \"tuning_choice\", not a launch_request [wrong_kind]\n"
        "  at: /kind\n"
        "  fix: give a document of kind \"launch_request\"");
  CHECK(request_refusal(R"({"schema_version":2})").find("[unsupported_version]") != std::string::npos);
  CHECK(request_refusal(R"({"schema_version":"1"})").find("[wrong_type]") != std::string::npos);
  CHECK(request_refusal(R"({"kind":[]})").find("expected the string \"launch_request\", got an array") !=
        std::string::npos);
  CHECK(request_refusal(with(R"("policy":{"kind":"launch_policy"})")).find("unknown key \"kind\"") !=
        std::string::npos);
}

TEST_CASE("a document of another type that says no kind is told from one with mistakes") {
  const std::string dag = R"({"waves":[],"dependencies":[],"budget_bytes":4})";
  CHECK(request_refusal(dag) ==
        "tidegate: input:1:1: error: this has the keys of wave_dag, not of launch_request [wrong_kind]\n"
        "  fix: `tidegate plan` takes it");
  const auto as_program = [](std::string_view json) { return refusal<engine::WaveProgram>(json); };
  CHECK(as_program(dag).find("this has the keys of wave_dag, not of wave_program") != std::string::npos);
  CHECK(as_program(R"({"graph":{},"algorithm":"bfs"})").find("keys of frontier_program") !=
        std::string::npos);
  CHECK(as_program(R"({"queue_len":1})").find("`tidegate recommend` takes it") != std::string::npos);
  CHECK(refusal<FrontierMemoryPlan>(R"({"candidates":[],"costs":[],"current":0})")
            .find("`tidegate tune choose` takes it") != std::string::npos);
  CHECK(request_refusal(R"({"strategy":"layered","barriers":{},"peak_frontier_bytes":0})")
            .find("`tidegate run --set plan=FILE` takes it") != std::string::npos);
  CHECK(request_refusal(R"({"should_drain":true,"reason":"none"})")
            .find("give a document of kind \"launch_request\"") != std::string::npos);
  // It is of the type that is wanted, as far as it goes.
  CHECK(as_program(R"({"waves":[]})").find("missing key") != std::string::npos);
  CHECK(as_program(R"({"waves":[],"opps":{},"buffer":{}})").find("unknown key \"opps\"") !=
        std::string::npos);
  CHECK(request_refusal(R"({"nothing":1,"known":2})").find("unknown key") != std::string::npos);
  // What it says counts.
  CHECK(request_refusal(R"({"kind":"wave_dag"})").find("`tidegate plan` takes it") != std::string::npos);
  CHECK(request_refusal(R"({"kind":"launch_request","waves":[],"budget_bytes":4})")
            .find("unknown key \"waves\"") != std::string::npos);
}

TEST_CASE("a range of one dimension needs no brackets") {
  const auto program = decode<engine::WaveProgram>(
      R"({"buffers":{},"ops":{},"waves":[{"global_size":64,"local_size":8,"global_offset":[1]}]})");
  REQUIRE(program);
  CHECK(program->waves[0].global_size == std::vector<std::uint64_t>{64});
  CHECK(program->waves[0].local_size == std::vector<std::uint64_t>{8});
  CHECK(program->waves[0].global_offset == std::vector<std::uint64_t>{1});
}

TEST_CASE("outputs must say their kind") {
  CHECK(refusal<TuningChoice>(R"({"kind":"tuning_choice","schema_version":1,"value":3})") == "accepted");
  CHECK(refusal<TuningChoice>(R"({"value":3})").find("missing key \"kind\" or \"schema_version\"") !=
        std::string::npos);
}

TEST_CASE("broken JSON has a line and a column") {
  CHECK(request_refusal("{\n  \"queue_len\": 3,\n}") ==
        "tidegate: input:3:1: error: not JSON: expected string literal at \"}\" [syntax_error]\n"
        "  fix: remove a trailing comma, or put the key in double quotes");
  CHECK(request_refusal("{") ==
        "tidegate: input:1:2: error: not JSON: expected string literal at the end of the input "
        "[syntax_error]\n"
        "  fix: close the open brackets and quotes; with --stream, each document is on one line");
  CHECK(request_refusal("").find("the input is empty [empty_input]") != std::string::npos);
  CHECK(request_refusal(" \n ").find("[empty_input]") != std::string::npos);
  CHECK(request_refusal(std::string(small) + "} 3").find("[syntax_error]") != std::string::npos);
  CHECK(request_refusal(std::string(small) + "}" + std::string(1, '\0')).find("[syntax_error]") !=
        std::string::npos);
  CHECK(request_refusal(with(R"("requeue_count":NaN)")).find("JSON has no NaN and no infinity") !=
        std::string::npos);
  CHECK(request_refusal(with(R"("requeue_count":-Infinity)")).find("JSON has no NaN and no infinity") !=
        std::string::npos);
  CHECK(request_refusal(with("\"\xff\":1")).find("save the file as UTF-8") != std::string::npos);
}

TEST_CASE("broken JSON outranks what is wrong with its content") {
  CHECK(request_refusal(R"({"queue_len":"x",)").find("[syntax_error]") != std::string::npos);
  CHECK(request_refusal(R"({"unknown":[1,2})").find("[syntax_error]") != std::string::npos);
}

TEST_CASE("nesting is limited before anything recurses") {
  const std::size_t depth = 1'000'000;
  CHECK(request_refusal(std::string(depth, '[')).find("nesting deeper than 64 levels [too_deep]") !=
        std::string::npos);
  std::string objects;
  for (std::size_t i = 0; i < depth; ++i) {
    objects += "{\"a\":";
  }
  CHECK(request_refusal(objects).find("[too_deep]") != std::string::npos);
  CHECK(kind_of(objects).error().code == ErrorCode::too_deep);
}

TEST_CASE("columns count characters") {
  CHECK(request_refusal("{\"größe\": 1}").starts_with("tidegate: input:1:2: error: unknown key \"größe\""));
  CHECK(
      request_refusal("{\"previous_topology\": \"größe\", \"x\": 1}").starts_with("tidegate: input:1:23: "));
}

TEST_CASE("floats are read exactly") {
  const auto decoded = decode<SiblingDiffusion>(
      R"({"priority_stalks":[0.1, -0, -0.0, 5e-324, 1e-400, 1.7976931348623157e308, 9007199254740993, -7,
          123456789012345678901234567890, 2.2250738585072011e-308],
          "restriction_diag":[], "damping":-1e0, "iterations":0})");
  REQUIRE(decoded);
  const auto& values = decoded->priority_stalks;
  const auto bits = [&values](std::size_t i) { return std::bit_cast<std::uint64_t>(values[i]); };
  CHECK(values[0] == 0.1);
  CHECK(bits(1) == std::bit_cast<std::uint64_t>(-0.0));
  CHECK(bits(2) == std::bit_cast<std::uint64_t>(-0.0));
  CHECK(bits(3) == 1);
  CHECK(bits(4) == 0);
  CHECK(values[5] == 1.7976931348623157e308);
  CHECK(values[6] == 9007199254740992.0);
  CHECK(values[7] == -7.0);
  CHECK(values[8] == 123456789012345678901234567890.0);
  CHECK(values[9] == 2.2250738585072011e-308);
  CHECK(decoded->damping == -1.0);
}

TEST_CASE("only outputs hold null for a number that is not finite") {
  CHECK(decode<DiffusedPriorities>(R"({"kind":"diffused_priorities","schema_version":1,"output":[null]})"));
  CHECK(refusal<SiblingDiffusion>(R"({"priority_stalks":[null]})").find("expected a number, got null") !=
        std::string::npos);
}

TEST_CASE("lists of fixed length have that length") {
  const auto geometry = [](std::string_view grid) {
    return R"({"kind":"launch_recommendation","schema_version":1,"recommendation":{"geometry":{"workgroup_size_x":1,)"
           R"("slot_count":1,"dispatch_grid":)" +
           std::string(grid) + "}}}";
  };
  const auto at_grid = [&](std::string_view grid) {
    return refusal<LaunchRecommendationDocument>(geometry(grid));
  };
  CHECK(at_grid("[1,1]").find("expected an array of 3 items, got 2 [wrong_length]\n"
                              "  at: /recommendation/geometry/dispatch_grid\n") != std::string::npos);
  CHECK(at_grid("[1,1,1,1]")
            .find("expected an array of 3 items, got more [wrong_length]\n"
                  "  at: /recommendation/geometry/dispatch_grid/3\n") != std::string::npos);
  CHECK(at_grid("[1,1,1]").find("[missing_key]") != std::string::npos);
}

TEST_CASE("errors inside a list of objects point into it") {
  CHECK(refusal<LaunchRecommendationDocument>(
            R"({"kind":"launch_recommendation","schema_version":1,"explanation":[{"step":"a","outcome":"b",)"
            R"("rule":"c","because":"d","numbers":[]},{"step":3}]})")
            .find("at: /explanation/1/step") != std::string::npos);
}

TEST_CASE("an identifier is a whole number or a name") {
  const auto with_id = [](std::string_view id) {
    return R"({"buffers":[{"lower":0,"upper":1,"size":1,"id":)" + std::string(id) + "}]}";
  };
  const auto id_of = [&](std::string_view id) {
    auto decoded = decode<BufferLifetimes>(with_id(id));
    REQUIRE(decoded);
    return std::move(decoded->buffers.at(0).id);
  };
  CHECK(id_of("7") == Identifier(std::uint64_t{7}));
  CHECK(id_of("-0") == Identifier(std::uint64_t{0}));
  CHECK(id_of("18446744073709551615") == Identifier(std::numeric_limits<std::uint64_t>::max()));
  CHECK(id_of(R"("7")") == Identifier("7"));
  CHECK(id_of(R"("")") == Identifier(""));
  CHECK(id_of(R"("a\u00fc")") == Identifier("aü"));
  CHECK(refusal<BufferLifetimes>(with_id(R"("a\u0000\u00fc")")).find("has a NUL character") !=
        std::string::npos);
  CHECK_FALSE(id_of("7") == id_of(R"("7")"));
  CHECK_FALSE(id_of("0") == id_of(R"("")"));

  CHECK(refusal<BufferLifetimes>(with_id("-1")) ==
        "tidegate: input:1:48: error: -1 is outside the range 0 to 18446744073709551615 [out_of_range]\n"
        "  at: /buffers/0/id\n"
        "  fix: give an integer from 0 to 18446744073709551615 or a name");
  CHECK(refusal<BufferLifetimes>(with_id("18446744073709551616")).find("[out_of_range]") !=
        std::string::npos);
  CHECK(refusal<BufferLifetimes>(with_id("7.0")) ==
        "tidegate: input:1:48: error: 7.0 is not written as an integer [not_an_integer]\n"
        "  at: /buffers/0/id\n"
        "  fix: give an integer from 0 to 18446744073709551615 or a name");
  for (const std::string_view other : {"true", "null", "[7]", R"({"id":7})"}) {
    CHECK(refusal<BufferLifetimes>(with_id(other)).find("[wrong_type]\n  at: /buffers/0/id\n") !=
          std::string::npos);
  }
  CHECK(refusal<BufferLifetimes>(R"({"buffers":[{"lower":0,"upper":1,"size":1}]})")
            .find("missing key \"id\"") != std::string::npos);
}

namespace {

// "LINE:COLUMN CODE POINTER" of every error, in their order.
template <class T>
std::vector<std::string> refusals(std::string_view json) {
  const auto decoded = decode<T>(json);
  REQUIRE_FALSE(decoded);
  std::vector<std::string> found;
  const auto add = [&](const Error& error) {
    found.push_back(fmt::format("{}:{} {} {}", *error.line, *error.column, name(error.code),
                                error.pointer.value_or("-")));
  };
  add(decoded.error());
  std::ranges::for_each(decoded.error().others, add);
  return found;
}

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("all that is wrong is reported at once, in the order of the document") {
  CHECK(refusals<engine::WaveProgram>(
            "{\"buffers\": {\"x\": {\"type\": \"f31\", \"count\": -4},\n"
            " \"y\": 3, \"z\": {\"count\": 1234}},\n"
            " \"ops\": [], \"wave\": [{\"op\": [1, {\"a\": 2}]}],\n"
            " \"repeat\": 0, \"swap\": [[\"x\"], [\"x\", \"y\", \"z\"], [1, \"y\"]],\n"
            " \"repeat\": 5, \"until\": {\"bufer\": \"x\"}}") ==
        Lines{"1:28 unknown_name /buffers/x/type", "1:44 out_of_range /buffers/x/count",
              "2:7 wrong_type /buffers/y", "2:29 missing_key /buffers/z", "3:9 wrong_type /ops",
              "3:13 unknown_key /wave", "4:12 out_of_range /repeat", "4:28 wrong_length /swap/0",
              "4:42 wrong_length /swap/1/2", "4:49 wrong_type /swap/2/0", "5:2 duplicate_key /repeat",
              "5:25 unknown_key /until/bufer"});
  CHECK(refusals<MeasuredCosts>(R"({"candidates":["a",[[]],{},3],"costs":["b"],"current":"x"})") ==
        Lines{"1:16 wrong_type /candidates/0", "1:20 wrong_type /candidates/1",
              "1:25 wrong_type /candidates/2", "1:40 wrong_type /costs/0", "1:55 wrong_type /current"});
}

TEST_CASE("what follows from an error is not told") {
  // A key that is misspelt is not missing too, and what is behind an unknown key is nobody's.
  CHECK(refusals<LaunchRequestDocument>(
            R"({"quue_len":1,"requested_worker_groups":1,"max_workgroup_size_x":1,"x":[{"y":[1,2]},{}]})") ==
        Lines{"1:2 unknown_key /quue_len", "1:68 unknown_key /x"});
  // A document of another kind has other keys.
  CHECK(refusals<LaunchRequestDocument>(R"({"a":1,"kind":"wave_dag","b":2})") ==
        Lines{"1:15 wrong_kind /kind"});
  CHECK(refusals<LaunchRequestDocument>(R"([{"a":1},2])") == Lines{"1:1 wrong_type "});
  CHECK(refusals<LaunchRequestDocument>(R"({"a":1,)").front().find("syntax_error") != std::string::npos);
}

TEST_CASE("an endless list of errors ends") {
  std::string json = R"({"candidates":[)";
  for (int i = 0; i < 1000; ++i) {
    json += "null,";
  }
  CHECK(refusals<MeasuredCosts>(json + R"(1],"costs":[],"current":1})").size() == 100);
}

TEST_CASE("values that are passed over nest as deep as others") {
  const std::string deep = std::string(62, '[') + std::string(62, ']');
  const std::string deeper = std::string(64, '[') + std::string(64, ']');
  CHECK(request_refusal(with("\"x\":" + deep)).find("unknown key") != std::string::npos);
  CHECK(request_refusal(with("\"x\":" + deeper)).find("[too_deep]") != std::string::npos);
  CHECK(request_refusal(with("\"queue_len\":" + deep)).find("duplicate key") != std::string::npos);
  CHECK(request_refusal(with("\"previous_topology\":" + deeper)).find("[too_deep]") != std::string::npos);
}

TEST_CASE("the kind of a document is found without decoding it") {
  CHECK(kind_of(R"({"a":{"kind":"inner"},"kind":"outer","b":[]})") == "outer");
  CHECK(kind_of(R"({"a":1})") == "");
  CHECK(kind_of("[]") == "");
  CHECK(kind_of(R"({"kind":3})") == "");
  CHECK(kind_of("{").error().code == ErrorCode::syntax_error);
}

namespace {

std::string program_with(std::string_view argument) {
  return R"({"buffers":{},"ops":{},"waves":[{"op":"k","global_size":[1],"args":[)" + std::string(argument) +
         "]}]}";
}

} // namespace

TEST_CASE("values of structures are numbers, names, arrays and objects, as deep as they come") {
  const auto decoded = decode<engine::WaveProgram>(
      program_with(R"({"struct":{"a":-1,"b":[1.5,[18446744073709551615]],"c":{"d":"RED","e":{}},"f":[]}})"));
  REQUIRE(decoded);
  const auto& members = std::get<Value::Object>(decoded->waves[0].args[0].structure->is);
  REQUIRE(members.size() == 4);
  CHECK(std::get<Number>(members[0].second.is) == Number(std::int64_t{-1}));
  const auto& b = std::get<Value::List>(members[1].second.is);
  CHECK(std::get<Number>(b[0].is) == Number(1.5));
  CHECK(std::get<Number>(std::get<Value::List>(b[1].is)[0].is) ==
        Number(std::uint64_t{18446744073709551615U}));
  const auto& c = std::get<Value::Object>(members[2].second.is);
  CHECK(std::get<std::string>(c[0].second.is) == "RED");
  CHECK(std::get<Value::Object>(c[1].second.is).empty());
  CHECK(std::get<Value::List>(members[3].second.is).empty());
}

TEST_CASE("values of structures are refused at their place") {
  const auto refused = [](std::string_view argument) {
    return refusal<engine::WaveProgram>(program_with(argument));
  };
  CHECK(refused(R"({"struct":{"a":[1,true]}})").find("/waves/0/args/0/struct/a/1") != std::string::npos);
  CHECK(refused(R"({"struct":{"a":1,"a":2}})").find("duplicate key \"a\"") != std::string::npos);
  CHECK(refused(R"({"struct":{"a":18446744073709551616}})").find("does not fit into 64 bits") !=
        std::string::npos);
  const std::string deep(100, '[');
  CHECK(refused(R"({"struct":)" + deep + std::string(100, ']') + "}").find("nesting deeper than 64 levels") !=
        std::string::npos);
}

namespace {

// Of each of these places of a program with errors of form, whether it was "read", "part" of it, or "no".
std::vector<std::string> reading(std::string_view json, const std::vector<std::string>& pointers,
                                 engine::WaveProgram* program = nullptr) {
  engine::WaveProgram own;
  UnreadLocations unread;
  CHECK_FALSE(Decoder().decode(DocumentOf<engine::WaveProgram>::document, json,
                               program != nullptr ? program : &own, {}, &unread));
  std::vector<std::string> told;
  for (const std::string& pointer : pointers) {
    told.emplace_back(unread.intact(pointer) ? "read" : unread.cover(pointer) ? "no" : "part");
  }
  return told;
}

using Told = std::vector<std::string>;

} // namespace

TEST_CASE("after errors of form it is known what could not be read") {
  engine::WaveProgram program;
  CHECK(reading(R"({"buffers":{"a":{"type":"f33","count":4},"b":7,"b":8},"ops":{},
                    "waves":[5,{"op":"k","gobal_size":[1],"args":[{"buffer":"a"},{"bufer":"b"}]}]})",
                {"/buffers", "/buffers/a", "/buffers/a/type", "/buffers/a/count", "/buffers/b", "/ops",
                 "/waves/0/op", "/waves/1", "/waves/1/op", "/waves/1/global_size", "/waves/1/args",
                 "/waves/1/args/0/buffer", "/waves/1/args/1/buffer", "/waves/10"},
                &program) == Told{"part", "part", "no", "read", "no", "read", "no", "part", "read", "no",
                                  "part", "read", "no", "read"});
  // Wrong items have a place, so that the others keep theirs.
  REQUIRE(program.buffers.size() == 2);
  CHECK(program.buffers[1].first == "b");
  REQUIRE(program.waves.size() == 2);
  CHECK(program.waves[1].op == "k");
  CHECK(program.waves[1].args.size() == 2);
}

TEST_CASE("a key that is missing, or may stand for any, leaves its place unread") {
  CHECK(reading(R"({"ops":{},"waves":[{"op":"k","zzz":1,"args":[]}]})",
                {"/buffers", "/images", "/waves", "/waves/0/op", "/waves/0/name", "/waves/0/args"}) ==
        Told{"no", "read", "part", "read", "no", "read"});
  CHECK(reading(R"({"buffers":{},"ops":{},"waves":[],"swap":[["a"],["b","c"]]})",
                {"/swap/0/0", "/swap/0/1", "/swap/1/0"}) == Told{"no", "no", "read"});
}

TEST_CASE("of a text that is not JSON, and of another document, nothing is read") {
  CHECK(reading(R"({"buffers":{},"ops":{},"waves":[)", {"", "/buffers"}) == Told{"no", "no"});
  CHECK(reading(R"({"buffers":{},"kind":"wave_dag","ops":{},"waves":[]})", {"", "/buffers"}) ==
        Told{"no", "no"});
}
