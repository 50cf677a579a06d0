// JSON Schema and reference text follow from the description.
#include "app/schema.hpp"
#include "core/catalogue.hpp"
#include <tidegate/policy/documents.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

using namespace tidegate::documents;
using Json = nlohmann::json;

TEST_CASE("a schema has an identity, ranges, defaults and nothing open") {
  const Json schema = Json::parse(json_schema(DocumentOf<LaunchRequestDocument>::document));
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema["$id"] == "urn:tidegate:schema:launch_request:1");
  CHECK(schema["additionalProperties"] == false);
  CHECK(schema["required"] == Json{"queue_len", "requested_worker_groups", "max_workgroup_size_x"});
  const Json& properties = schema["properties"];
  CHECK(properties["kind"]["const"] == "launch_request");
  CHECK(properties["requeue_count"]["maximum"] == 18446744073709551615U);
  CHECK(properties["expected_hits_per_item"]["default"] == 1);
  CHECK(properties["frontier_density_bps"]["maximum"] == 65535);
  CHECK(properties["previous_topology"]["enum"].size() == 6);
  CHECK_FALSE(properties["max_compute_workgroups_per_dimension"].contains("default"));
  CHECK(properties["max_compute_workgroups_per_dimension"]["description"] ==
        "adapter limit: work-groups in one dimension; left out, it is the value of requested_worker_groups");
  CHECK(properties["policy"]["properties"]["sizing"]["properties"]["occupancy_worker_divisor"]["minimum"] ==
        1);
}

TEST_CASE("outputs require their kind, have lists of fixed length and may hold null for a number") {
  const Json recommendation = Json::parse(json_schema(DocumentOf<LaunchRecommendationDocument>::document));
  CHECK(recommendation["required"] == Json{"kind", "schema_version", "recommendation"});
  const Json& grid =
      recommendation["properties"]["recommendation"]["properties"]["geometry"]["properties"]["dispatch_grid"];
  CHECK(grid["minItems"] == 3);
  CHECK(grid["maxItems"] == 3);
  const Json diffused = Json::parse(json_schema(DocumentOf<DiffusedPriorities>::document));
  CHECK(diffused["properties"]["output"]["items"]["type"] == Json{"number", "null"});
  const Json diffusion = Json::parse(json_schema(DocumentOf<SiblingDiffusion>::document));
  CHECK(diffusion["properties"]["priority_stalks"]["items"]["type"] == "number");
}

TEST_CASE("the committed schemas are those of the descriptions") {
  for (const auto& [document, command] : catalogue()) {
    const std::string path =
        std::string(TIDEGATE_SOURCE_DIR "/schemas/") + std::string(document->kind) + ".schema.json";
    std::ostringstream committed;
    committed << std::ifstream(path).rdbuf();
    CHECK_MESSAGE(committed.str() == json_schema(*document), path << " is stale: run scripts/update-schemas");
  }
}

TEST_CASE("reference text is a table for people") {
  CHECK(reference_text(DocumentOf<MeasuredCosts>::document) ==
        "measured_costs (input): Candidates and their costs\n"
        "\n"
        "key             type    default   meaning\n"
        "kind            string  optional  \"measured_costs\"\n"
        "schema_version  u32     optional  1\n"
        "candidates      u32[]   required  values that were tried\n"
        "costs           f64[]   required  cost of each, in any single unit; surplus values are ignored\n"
        "current         u32     required  the value in use; kept if there are no measurements\n");
}
