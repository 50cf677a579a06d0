// Strict decoding: what is refused, with which words, and where.
#include "app/catalogue.hpp"
#include "work/program.hpp"
#include <tidegate/core/describe.hpp>

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

TEST_CASE("an input may say its schema to editors, and outputs do not") {
  CHECK(request_refusal(with(R"("$schema":"launch_request.schema.json")")) == "accepted");
  CHECK(request_refusal(with(R"("$schema":3)")).find("at: /$schema") != std::string::npos);
  CHECK(refusal<TuningChoice>(R"({"kind":"tuning_choice","schema_version":1,"value":3,"$schema":"x"})")
            .find("[unknown_key]") != std::string::npos);
}

TEST_CASE("of many names the nearest is suggested, or the schema lists them") {
  const auto format = [](const std::string& value) {
    return refusal<engine::WaveProgram>(
        R"({"buffers":{},"ops":{},"waves":[],"images":{"a":{"size":[1],"format":)" + value + "}}}");
  };
  CHECK(format(R"("rgba8")") ==
        "tidegate: input:1:70: error: \"rgba8\" is not one of the 87 known names [unknown_name]\n"
        "  at: /images/a/format\n"
        "  fix: `tidegate schema wave_program` lists them");
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

TEST_CASE("another kind or version is refused") {
  for (const auto& [json, part] :
       {std::pair(
            R"({"kind":"tuning_choice"})",
            "tidegate: input:1:9: error: this is a \"tuning_choice\", not a launch_request [wrong_kind]\n"
            "  at: /kind\n"
            "  fix: give a document of kind \"launch_request\""),
        std::pair(R"({"schema_version":2})", "[unsupported_version]"),
        std::pair(R"({"schema_version":"1"})", "[wrong_type]"),
        std::pair(R"({"kind":[]})", "expected a string, got an array")}) {
    CHECK(request_refusal(json).find(part) != std::string::npos);
  }
  CHECK(request_refusal(with(R"("policy":{"kind":"launch_policy"})")).find("unknown key \"kind\"") !=
        std::string::npos);
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
  CHECK(app::head_of(objects).error().code == ErrorCode::too_deep);
}

TEST_CASE("floats are read exactly") {
  const auto decoded = decode<SiblingDiffusion>(
      R"({"priority_stalks":[0.1, -0, -0.0, 5e-324, 1e-400, 1.7976931348623157e308, 9007199254740993, -7,
          123456789012345678901234567890, 2.2250738585072011e-308],
          "restriction_diag":[], "damping":-1e0, "iterations":0})");
  REQUIRE(decoded);
  const std::array<double, 10> expected{0.1,
                                        -0.0,
                                        -0.0,
                                        5e-324,
                                        0.0,
                                        1.7976931348623157e308,
                                        9007199254740992.0,
                                        -7.0,
                                        123456789012345678901234567890.0,
                                        2.2250738585072011e-308};
  CHECK(std::ranges::equal(decoded->priority_stalks, expected, {}, std::bit_cast<std::uint64_t, double>,
                           std::bit_cast<std::uint64_t, double>));
  CHECK(decoded->damping == -1.0);
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
  for (const auto& [json, id] :
       {std::pair("7", Identifier(std::uint64_t{7})), std::pair("-0", Identifier(std::uint64_t{0})),
        std::pair("18446744073709551615", Identifier(~std::uint64_t{0})),
        std::pair(R"("7")", Identifier("7")), std::pair(R"("")", Identifier("")),
        std::pair(R"("a\u00fc")", Identifier("aü"))}) {
    CHECK(id_of(json) == id);
  }
  CHECK(refusal<BufferLifetimes>(with_id(R"("a\u0000\u00fc")")).find("has a NUL character") !=
        std::string::npos);
  CHECK_FALSE(id_of("7") == id_of(R"("7")"));
  CHECK_FALSE(id_of("0") == id_of(R"("")"));

  constexpr std::string_view place = "\n  at: /buffers/0/id\n";
  const std::string fix = "  fix: give an integer from 0 to 18446744073709551615 or a name";
  for (const auto& [id, message] :
       {std::pair("-1", "-1 is outside the range 0 to 18446744073709551615 [out_of_range]"),
        std::pair("18446744073709551616", "[out_of_range]"),
        std::pair("7.0", "7.0 is not written as an integer [not_an_integer]"),
        std::pair("true", "[wrong_type]"), std::pair("null", "[wrong_type]"),
        std::pair("[7]", "[wrong_type]"), std::pair(R"({"id":7})", "[wrong_type]")}) {
    CHECK(refusal<BufferLifetimes>(with_id(id)).find(fmt::format("{}{}{}", message, place, fix)) !=
          std::string::npos);
  }
  CHECK(refusal<BufferLifetimes>(R"({"buffers":[{"lower":0,"upper":1,"size":1}]})")
            .find("missing key \"id\"") != std::string::npos);
}

TEST_CASE("the kind of a document is found without decoding it") {
  for (const auto& [json, kind] :
       {std::pair(R"({"a":{"kind":"inner"},"kind":"outer","b":[]})", "outer"), std::pair(R"({"a":1})", ""),
        std::pair("[]", ""), std::pair(R"({"kind":3})", "")}) {
    CHECK(app::head_of(json)->kind == kind);
  }
  CHECK(app::head_of("{").error().code == ErrorCode::syntax_error);
}

namespace {

std::string program_with(std::string_view argument) {
  return R"({"buffers":{},"ops":{},"waves":[{"op":"k","global_size":[1],"args":[)" + std::string(argument) +
         "]}]}";
}

} // namespace

TEST_CASE("values of structures are numbers, names, arrays and objects, as deep as they come") {
  const std::string value = R"({"a":-1,"b":[1.5,[18446744073709551615]],"c":{"d":"RED","e":{}},"f":[]})";
  const auto decoded = decode<engine::WaveProgram>(program_with(fmt::format(R"({{"struct":{}}})", value)));
  REQUIRE(decoded);
  CHECK(encode(*decoded, Style::compact).find("\"struct\":" + value) != std::string::npos);
}

TEST_CASE("values of structures are refused at their place") {
  for (const auto& [value, part] :
       {std::pair(R"({"a":[1,true]})", "/waves/0/args/0/struct/a/1"),
        std::pair(R"({"a":1,"a":2})", "duplicate key \"a\""),
        std::pair(R"({"a":18446744073709551616})", "does not fit into 64 bits")}) {
    CHECK(refusal<engine::WaveProgram>(program_with(fmt::format(R"({{"struct":{}}})", value))).find(part) !=
          std::string::npos);
  }
}
