// The policy library against the golden vectors: integers and errors exact, floats bit for bit.
#include "core/prelude.hpp"
#include <tidegate/policy/documents.hpp>
#include <tidegate/policy/launch_policy.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace tidegate::policy {
namespace {

using Json = nlohmann::json;

// The structs of the library in the format of the vectors, which is that of their descriptions.

template <class T>
T read_as(const Json& object) {
  static constexpr documents::Document document{
      .kind = "golden", .record = &documents::Description<T>::record, .has_kind = false};
  T value;
  const auto read = documents::decode(document, object.dump(), &value);
  REQUIRE_MESSAGE(read, object.dump());
  return value;
}

template <class T>
Json to_json(const T& object) {
  std::string json;
  documents::encode(documents::Description<T>::record, &object, documents::Style::compact, json);
  return Json::parse(json);
}

Json to_json(const Error& error) {
  if (error.code == ErrorCode::device_out_of_memory) {
    return {{"code", name(error.code)}, {"requested", *error.requested}, {"available", *error.available}};
  }
  return {{"code", name(error.code)}, {"field", *error.field}};
}

Json to_json(const Grid& grid) {
  return {{"geometry", to_json(grid.geometry)}, {"worker_groups", grid.worker_groups}};
}

// A request with the policy and the previous topology next to it, where there are any.
LaunchQuestion read_question(const Json& input) {
  Json question = input.at("request");
  for (const char* const key : {"policy", "previous_topology"}) {
    if (const auto given = input.find(key); given != input.end() && !given->is_null()) {
      question[key] = *given;
    }
  }
  return read_as<LaunchQuestion>(question);
}

template <class T = std::uint32_t>
T read(const Json& object, const char* key) {
  const Json& number = object.at(key);
  REQUIRE_MESSAGE(number.is_number_unsigned(), key);
  const auto wide = number.get<std::uint64_t>();
  REQUIRE_MESSAGE(static_cast<T>(wide) == wide, key);
  return static_cast<T>(wide);
}

std::vector<Json> vectors_of(const std::string& kind) {
  const std::string path = TIDEGATE_GOLDEN_DIR "/" + kind + ".jsonl";
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.is_open(), "cannot open " << path);
  std::vector<Json> vectors;
  for (std::string line; std::getline(file, line);) {
    vectors.push_back(Json::parse(line));
    REQUIRE_MESSAGE(vectors.back().at("kind") == kind, path << ":" << vectors.size());
  }
  REQUIRE_MESSAGE(!vectors.empty(), path << " holds no vectors");
  return vectors;
}

// `answer` maps an input to {"ok": …} or {"error": …}. Results are compared as text, so 1, 1.0 and true
// differ.
void check_vectors(const std::string& kind, const std::function<Json(const Json& input)>& answer) {
  for (const Json& vector : vectors_of(kind)) {
    INFO(kind, " ", vector.at("id").get<std::string>());
    CHECK(answer(vector.at("input")).dump() == vector.at("expect").dump());
  }
}

std::vector<double> doubles(const Json& array) {
  for (const Json& value : array) {
    REQUIRE(value.is_number_float()); // "-0" without a point would lose its sign
  }
  return array.get<std::vector<double>>();
}

void check_float_vectors(const std::string& kind,
                         const std::function<std::vector<double>(const Json& input)>& answer) {
  for (const Json& vector : vectors_of(kind)) {
    INFO(kind, " ", vector.at("id").get<std::string>());
    const Json& expected = vector.at("expect").at("ok").at("output");
    const std::vector<double> output = answer(vector.at("input"));
    CAPTURE(expected.dump());
    CAPTURE(Json(output).dump());
    CHECK(std::ranges::equal(output, doubles(expected), {}, std::bit_cast<std::uint64_t, double>,
                             std::bit_cast<std::uint64_t, double>));
  }
}

// {"ok": write(value)} or {"error": …}.
template <class T, class Write>
Json outcome(const Result<T>& result, const Write& write) {
  return result ? Json{{"ok", write(*result)}} : Json{{"error", to_json(result.error())}};
}

template <class T>
Json outcome(const Result<T>& result) {
  return outcome(result, [](const T& value) { return to_json(value); });
}

Json ok(const char* key, Json value) {
  return {{"ok", {{key, std::move(value)}}}};
}

// Launch policy

TEST_CASE("golden vectors: recommend") {
  check_vectors("recommend", [](const Json& input) {
    const LaunchQuestion question = read_question(input);
    return outcome(recommend(question.policy, question.request, question.previous_topology));
  });
}

// `gather` computes the evidence of a policy and a decision.
template <class Gather>
void check_evidence(const std::string& kind, const Gather& gather) {
  check_vectors(kind, [&](const Json& input) {
    const LaunchQuestion question = read_question(input);
    return outcome(decide(question.policy, question.request), [&](const LaunchDecision& decision) {
      const auto evidence = gather(question.policy, decision);
      return Json{{"recommendation", to_json(decision.recommendation)},
                  {"evidence", to_json(evidence)},
                  {"is_complete", !incomplete_field(evidence)}};
    });
  });
}

TEST_CASE("golden vectors: topology_evidence") {
  check_evidence("topology_evidence", [](const LaunchPolicy&, const LaunchDecision& decision) {
    return topology_evidence(decision.effective, decision.recommendation);
  });
}

TEST_CASE("golden vectors: promotion_evidence") {
  check_evidence("promotion_evidence", [](const LaunchPolicy& policy, const LaunchDecision& decision) {
    return promotion_evidence(policy, decision.effective, decision.recommendation);
  });
}

TEST_CASE("golden vectors: grid") {
  check_vectors("grid",
                [](const Json& input) { return outcome(grid_for(read_as<LaunchQuestion>(input).request)); });
}

TEST_CASE("golden vectors: sizing_helper") {
  check_vectors("sizing_helper", [](const Json& input) {
    const auto number = [&](const char* key) { return read(input, key); };
    const auto function = input.at("function").get<std::string>();
    if (function == "worker_workgroup_size") {
      return ok("value", worker_workgroup_size(number("worker_count"), number("max_workgroup_size_x")));
    }
    if (function == "padded_slot_count") {
      return ok("value", padded_slot_count(number("slot_count"), number("workgroup_size_x")));
    }
    if (function == "dispatch_grid_for") {
      return ok("value", dispatch_grid_for(number("worker_count"), number("queue_len"),
                                           number("max_workgroup_size_x")));
    }
    if (function == "default_worker_groups_from_limits") {
      return ok("value", default_worker_groups_from_limits(number("max_compute_workgroups_per_dimension"),
                                                           number("max_compute_invocations_per_workgroup")));
    }
    REQUIRE(function == "geometry_from_item_count");
    return outcome(geometry_from_item_count(read<std::uint64_t>(input, "item_count"), number("worker_count"),
                                            number("max_workgroup_size_x")),
                   [](const LaunchGeometry& geometry) {
                     return Json{{"value", to_json(geometry)}};
                   });
  });
}

void run_cache_op(RecommendationCache& cache, const Json& op) {
  const auto operation = op.at("op").get<std::string>();
  const auto direct = [&](std::uint32_t queue_len) {
    return LaunchRequest::direct(queue_len, read(op, "requested_worker_groups"),
                                 read(op, "max_workgroup_size_x"));
  };
  if (operation == "reset") {
    cache.clear();
  } else if (operation == "recommend_direct") {
    for (std::uint32_t len = read(op, "first_queue_len"); len <= read(op, "last_queue_len"); ++len) {
      (void)cache.recommend({}, direct(len));
    }
  } else if (operation == "recommend_direct_with_previous_topology") {
    (void)recommend({}, direct(read(op, "queue_len")), Topology::sparse_frontier); // whichever it is
  } else if (operation == "recommend") {
    (void)cache.recommend({}, read_question(op).request);
  } else {
    REQUIRE((operation == "recommend_with_topology_evidence" ||
             operation == "recommend_with_promotion_evidence"));
    (void)cache.recommend({}, infer_missing_signals(read_question(op).request));
  }
}

TEST_CASE("golden vectors: launch_cache") {
  check_vectors("launch_cache", [](const Json& input) {
    RecommendationCache cache;
    Json statistics = Json::array();
    for (const Json& op : input.at("ops")) {
      run_cache_op(cache, op);
      const CacheStatistics now = cache.statistics();
      statistics.push_back({{"entries", now.entries}, {"hits", now.hits}, {"misses", now.misses}});
    }
    return ok("stats", statistics);
  });
}

// Priority accounting and tuning mathematics

TEST_CASE("golden vectors: priority_accounting") {
  const auto run = [](RequeueAccounting& accounting, const Json& op) -> Result<void> {
    const auto operation = op.at("op").get<std::string>();
    const std::uint32_t age_ticks = read(op, "age_ticks");
    if (operation == "try_record_requeue") {
      return accounting.try_record_requeue(age_ticks);
    }
    if (operation == "try_record_aged_promotion") {
      return accounting.try_record_aged_promotion(age_ticks);
    }
    if (operation == "record_requeue") {
      accounting.record_requeue(age_ticks);
    } else {
      REQUIRE(operation == "record_aged_promotion");
      accounting.record_aged_promotion(age_ticks);
    }
    return {};
  };
  check_vectors("priority_accounting", [&](const Json& input) {
    RequeueAccounting accounting = read_as<RequeueAccounting>(input.at("accounting"));
    Json steps = Json::array();
    for (const Json& op : input.at("ops")) {
      const Result<void> result = run(accounting, op);
      steps.push_back(to_json(accounting));
      if (!result) {
        steps.back()["error"] = to_json(result.error());
      }
    }
    return ok("steps", steps);
  });
}

TEST_CASE("golden vectors: priority_drain") {
  check_vectors("priority_drain", [](const Json& input) {
    Json answer = to_json(drain_recommendation(read_as<RequeueAccounting>(input)));
    const auto reason = answer.at("reason").get<std::string>();
    const auto fix = answer.at("fix").get<std::string>();
    CHECK(fix.starts_with("nothing") == (reason == "none"));
    CHECK(reason.starts_with("requeue_counter") == (fix.find("requeue_count") != std::string::npos));
    CHECK(reason.starts_with("aged_promotion_counter") == (fix.find("aged_promotions") != std::string::npos));
    answer.erase("fix");
    return Json{{"ok", answer}};
  });
}

TEST_CASE("golden vectors: diffuse_priority") {
  check_float_vectors("diffuse_priority", [](const Json& input) {
    return diffuse_priorities(doubles(input.at("priority_stalks")), doubles(input.at("restriction_diag")),
                              input.at("damping").get<double>(), read(input, "iterations"));
  });
  // What is not a number stays so, and stops changing too.
  CHECK(std::isnan(diffuse_priorities(std::vector{std::nan("")}, std::vector{1.0}, 0.5, ~0U).front()));
}

void check_choices(const std::string& kind, const char* candidates,
                   const std::function<std::uint32_t(const Json& input)>& current) {
  check_vectors(kind, [&](const Json& input) {
    return ok("value", *choose_cheapest(input.at(candidates).get<std::vector<std::uint32_t>>(),
                                        doubles(input.at("costs")), current(input)));
  });
}

TEST_CASE("golden vectors: autotune_hit_capacity_multiplier") {
  check_choices("autotune_hit_capacity_multiplier", "candidate_multipliers", [](const Json& input) {
    const Json& policy = input.at("policy");
    return (policy.is_null() ? LaunchPolicy() : read_as<LaunchPolicy>(policy)).hit_capacity_multiplier;
  });
}

TEST_CASE("golden vectors: autotune_workgroup_size") {
  check_choices("autotune_workgroup_size", "candidate_sizes",
                [](const Json& input) { return read(input, "current_size"); });
}

TEST_CASE("golden vectors: natural_gradient_step") {
  check_float_vectors("natural_gradient_step", [](const Json& input) {
    return natural_gradient_step(doubles(input.at("m_inv_sqrt")), doubles(input.at("grad")), read(input, "n"),
                                 input.at("learning_rate").get<double>());
  });
}

} // namespace
} // namespace tidegate::policy
