// The strategy `layered` and the barrier plan, compared with the golden vectors: order of groups and waves,
// errors with their fields. Then `compact` on real workflows.
#include "../skipped.hpp"
#include <tidegate/planning/wave_dag.hpp>

#include <nlohmann/json.hpp>

namespace tidegate::planning {
namespace {

using Json = nlohmann::json;

void check_vectors(const std::string& kind, const std::function<Json(const Json& input)>& answer) {
  const std::string path = TIDEGATE_GOLDEN_DIR "/" + kind + ".jsonl";
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.is_open(), "cannot open " << path);
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const Json vector = Json::parse(line);
    INFO(kind, " ", vector.at("id").get<std::string>());
    CHECK(vector.at("kind") == kind);
    CHECK(answer(vector.at("input")).dump() == vector.at("expect").dump());
  }
  CHECK(count > 100);
}

Json to_json(const Error& error) {
  Json fields{{"code", name(error.code)}};
  switch (error.code) {
  case ErrorCode::invalid_wave:
    fields["wave_count"] = *error.wave_count;
    fields["before"] = *error.before;
    fields["after"] = *error.after;
    break;
  case ErrorCode::self_dependency: fields["wave"] = *error.wave; break;
  case ErrorCode::cycle: fields["unscheduled_waves"] = *error.unscheduled_waves; break;
  case ErrorCode::group_over_budget:
    fields["required_bytes"] = *error.required_bytes;
    fields["budget_bytes"] = *error.budget_bytes;
    fields["field"] = *error.field;
    break;
  default: fields["field"] = *error.field; break; // byte_count_overflow
  }
  return {{"error", fields}};
}

Json to_json(const BarrierGroups& groups) {
  Json list = Json::array();
  for (std::size_t i = 0; i < groups.group_count(); ++i) {
    list.push_back({{"waves", std::vector<std::uint32_t>(groups.group(i).begin(), groups.group(i).end())}});
  }
  return {{"groups", list}, {"global_barriers", groups.global_barriers()}};
}

// Indices may exceed 32 bits: then the earlier dependencies are checked first, as document readers do.
Result<std::vector<Dependency>> read_dependencies(const Json& input, std::uint64_t wave_count) {
  std::vector<Dependency> dependencies;
  for (const Json& item : input.at("dependencies")) {
    const auto before = item.at("before").get<std::uint64_t>();
    const auto after = item.at("after").get<std::uint64_t>();
    if (std::max(before, after) > std::numeric_limits<std::uint32_t>::max()) {
      const auto earlier = plan_barriers(static_cast<std::uint32_t>(wave_count), dependencies);
      const bool is_first = earlier || earlier.error().code == ErrorCode::cycle; // cycles are checked later
      return tl::unexpected(is_first ? Error{.code = ErrorCode::invalid_wave,
                                             .wave_count = wave_count,
                                             .before = before,
                                             .after = after}
                                     : earlier.error());
    }
    dependencies.push_back({static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(after)});
  }
  return dependencies;
}

Result<BarrierGroups> barrier_plan(const Json& input) {
  const auto wave_count = input.at("wave_count").get<std::uint32_t>();
  return read_dependencies(input, wave_count).and_then([&](const std::vector<Dependency>& dependencies) {
    return plan_barriers(wave_count, dependencies);
  });
}

Result<WaveDag> read_dag(const Json& input) {
  WaveDag dag;
  for (const Json& wave : input.at("waves")) {
    dag.waves.push_back({.frontier_bytes = wave.at("frontier_bytes").get<std::uint64_t>(),
                         .scratch_bytes = wave.at("scratch_bytes").get<std::uint64_t>(),
                         .output_bytes = wave.at("output_bytes").get<std::uint64_t>()});
  }
  dag.resident_graph_bytes = input.value("resident_graph_bytes", std::uint64_t{0});
  dag.budget_bytes = input.at("budget_bytes").get<std::uint64_t>();
  dag.readback_bytes = input.value("readback_bytes", std::uint64_t{0});
  return read_dependencies(input, dag.waves.size()).map([&](std::vector<Dependency>&& dependencies) {
    dag.dependencies = std::move(dependencies);
    return dag;
  });
}

TEST_CASE("barrier_plan") {
  check_vectors("barrier_plan", [](const Json& input) {
    const Result<BarrierGroups> groups = barrier_plan(input);
    return groups ? Json{{"ok", to_json(*groups)}} : to_json(groups.error());
  });
}

TEST_CASE("frontier_memory_plan") {
  check_vectors("frontier_memory_plan", [](const Json& input) {
    const Result<WaveDag> dag = read_dag(input);
    if (!dag) {
      return to_json(dag.error());
    }
    const Result<MemoryPlan> plan = plan_layered(*dag);
    if (!plan) {
      return to_json(plan.error());
    }
    CHECK(first_violation(*dag, *plan) == std::nullopt);
    return Json{{"ok",
                 {{"barriers", to_json(*plan)},
                  {"peak_frontier_bytes", plan->peak_frontier_bytes},
                  {"peak_scratch_bytes", plan->peak_scratch_bytes},
                  {"peak_output_bytes", plan->peak_output_bytes},
                  {"amortized_readback_bytes", plan->amortized_readback_bytes},
                  {"max_group_width", plan->max_group_width}}}};
  });
}

TEST_CASE("real workflows") {
  const auto workflows = tidegate::test::shared_folder("workflows");
  if (!workflows) {
    return;
  }
  int files = 0;
  int proved = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*workflows)) {
    INFO(entry.path().string());
    const WaveDag dag = read_dag(Json::parse(std::ifstream(entry.path()))).value();
    const MemoryPlan layered = plan_layered(dag).value();
    const MemoryPlan plan = plan_compact(dag, {.effort = 3'000'000}).value();
    CHECK(first_violation(dag, layered).value_or("none") == "none");
    CHECK(first_violation(dag, plan).value_or("none") == "none");
    CHECK(plan.group_count() <= layered.group_count());
    ++files;
    proved += plan.optimal ? 1 : 0;
  }
  MESSAGE(proved << " of " << files << " proved optimal");
  CHECK(proved * 10 >= files * 8);
}

} // namespace
} // namespace tidegate::planning
