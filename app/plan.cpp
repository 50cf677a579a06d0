// `tidegate plan` and `tidegate arena`.
#include "app/run.hpp"
#include "core/json.hpp"
#include "work/resolve.hpp"

namespace tidegate::app {
namespace {

using documents::Planner;
using documents::PlanObjective;

using WaveNames = std::unordered_map<std::string_view, std::uint32_t>;

// Moves the waves to `named`, and returns the index of each name. Adds errors for empty and duplicate names.
WaveNames take_waves(std::vector<documents::NamedWave>& waves, NamedDag& named, ErrorList& errors) {
  WaveNames names;
  named.dag.waves.reserve(waves.size());
  if (std::ranges::any_of(waves, [](const auto& wave) { return wave.name.has_value(); })) {
    named.names.resize(waves.size());
  }
  for (std::size_t i = 0; i < waves.size(); ++i) {
    named.dag.waves.push_back(waves[i].bytes);
    if (!waves[i].name) {
      continue;
    }
    const std::string& name = named.names[i] = *std::move(waves[i].name);
    const auto [earlier, is_new] = names.emplace(name, static_cast<std::uint32_t>(i));
    if (name.empty()) {
      errors.add({.code = ErrorCode::out_of_range,
                  .message = fmt::format("the name of wave {} is empty", i),
                  .fix = "give it a name, or leave the key out",
                  .pointer = fmt::format("/waves/{}/name", i)});
    } else if (!is_new) {
      errors.add(
          {.code = ErrorCode::duplicate_name,
           .message = fmt::format("waves {} and {} are both called {}", earlier->second, i, in_quotes(name)),
           .fix = "rename one of them",
           .pointer = fmt::format("/waves/{}/name", i)});
    }
  }
  names.erase("");
  return names;
}

constexpr std::size_t most_names = 6;

std::string wave_list(const NamedDag& named, std::span<const std::uint32_t> waves) {
  std::string text;
  const std::size_t shown = waves.size() <= most_names + 1 ? waves.size() : most_names;
  for (const std::uint32_t wave : waves.first(shown)) {
    text += (text.empty() ? "" : ", ") + named.wave_label(wave);
  }
  return shown == waves.size() ? text : fmt::format("{} and {} more", text, waves.size() - shown);
}

struct PlanSettings {
  Route route;
  PlanOptions plan;
  std::optional<Planner> planner;
  std::optional<PlanObjective> objective;
};

Result<ExitCode> run_plan(PlanSettings& settings) {
  auto& [route, plan, planner, objective] = settings;
  if (objective && planner == Planner::layered) {
    return misuse("--objective is for --planner compact", "leave it out, or plan with --planner compact");
  }
  plan.planner = planner.value_or(objective ? Planner::compact : plan.planner);
  plan.objective = objective.value_or(plan.objective);
  plan.folder = program_folder(route.input);
  plan.files = route.files();
  plan.parameters = route.parameters;
  return serve(
      route, [&settings](std::string_view json, AnswerStyle style, std::string& text) -> Result<void> {
        TIDEGATE_TRY(auto planned, plan_document(json, settings.plan));
        if (settings.route.format == "json") {
          planned.named = {}; // the answer takes room too
          append(documents::plan_to_document(planned.plan, settings.plan.planner, settings.plan.objective),
                 style, text);
        } else {
          text += settings.route.format == "svg"
                      ? plan_svg(planned, settings.plan)
                      : plan_table(planned, settings.plan, use_colour(settings.route.output));
        }
        return {};
      });
}

// The planner's error with the id of the buffer.
Error with_id(Error error, const documents::BufferLifetimes& lifetimes) {
  constexpr std::string_view buffers = "/buffers/";
  if (error.pointer->starts_with(buffers)) {
    const std::size_t index = std::stoull(error.pointer->substr(buffers.size()));
    error.message += fmt::format(" (id {})", describe(lifetimes.buffers[index].id));
  }
  return error;
}

// "arena of 3.9 KiB (4003 bytes) for 8 buffers, which is the least possible".
std::string arena_headline(const planning::ArenaPlan& plan) {
  const std::string_view verdict = plan.proof == planning::ArenaProof::meets_bound
                                       ? "which is the least possible"
                                   : plan.proof == planning::ArenaProof::exhausted_search
                                       ? "which an exhaustive search proves to be the least"
                                       : "not proved to be the least";
  const std::uint64_t height = plan.height_bytes;
  return fmt::format("arena of {}{} for {}, {}", bytes_text(height),
                     height < 1024 ? "" : fmt::format(" ({} bytes)", height),
                     plural(plan.offsets.size(), "buffer"), verdict);
}

// Errors of decoding, and of the planner with ids, a pointer and a fix.
Result<PlannedArena> arena_document(std::string_view json, std::optional<std::uint64_t> capacity_bytes) {
  TIDEGATE_TRY(auto lifetimes, decode_as<documents::BufferLifetimes>(json));
  lifetimes.capacity_bytes = capacity_bytes ? capacity_bytes : lifetimes.capacity_bytes;
  TIDEGATE_CHECK(index_buffers(lifetimes));
  auto plan = planning::plan_arena(arena_problem(lifetimes), {});
  if (!plan) {
    TIDEGATE_CHECK(check_lifetimes(lifetimes)); // reports every fault
    return tl::unexpected(with_id(std::move(plan.error()), lifetimes));
  }
  return PlannedArena{.lifetimes = std::move(lifetimes), .plan = std::move(*plan)};
}

struct ArenaSettings {
  Route route;
  std::optional<std::uint64_t> capacity_bytes; // instead of the document's
};

Result<ExitCode> run_arena(ArenaSettings& settings) {
  Route& route = settings.route;
  return serve(route, [&](std::string_view json, AnswerStyle style, std::string& text) -> Result<void> {
    TIDEGATE_TRY(PlannedArena planned, arena_document(json, settings.capacity_bytes));
    if (route.format == "svg") {
      text += arena_svg(planned, arena_headline(planned.plan));
    } else {
      documents::ArenaPlanDocument document{.plan = std::move(planned.plan), .buffers = {}};
      document.buffers.reserve(document.plan.offsets.size());
      for (std::size_t i = 0; i < document.plan.offsets.size(); ++i) {
        document.buffers.push_back(
            {.id = std::move(planned.lifetimes.buffers[i].id), .offset = document.plan.offsets[i]});
      }
      append(document, style, text);
    }
    return {};
  });
}

} // namespace

std::string NamedDag::wave_text(std::uint64_t wave) const {
  return wave < names.size() && !names[wave].empty() ? in_quotes(names[wave]) : fmt::format("wave {}", wave);
}

std::string NamedDag::wave_label(std::uint64_t wave) const {
  constexpr std::size_t most = 32;
  return wave < names.size() && !names[wave].empty() ? shortened_middle(names[wave], most)
                                                     : std::to_string(wave);
}

Result<NamedDag> resolve(documents::NamedWaveDag&& document) {
  ErrorList errors;
  NamedDag named{.dag = {.resident_graph_bytes = document.resident_graph_bytes,
                         .budget_bytes = document.budget_bytes,
                         .readback_bytes = document.readback_bytes},
                 .names = {}};
  const WaveNames names = take_waves(document.waves, named, errors);
  const std::size_t count = document.waves.size();
  named.dag.dependencies.reserve(document.dependencies.size());
  for (std::size_t i = 0; i < document.dependencies.size() && !errors.full(); ++i) {
    const auto pointer = [i](std::string_view end) { return fmt::format("/dependencies/{}/{}", i, end); };
    const auto index_of = [&](const Identifier& given, std::string_view end) -> std::optional<std::uint64_t> {
      if (given.name() == nullptr) {
        return given.number();
      }
      if (const auto found = names.find(*given.name()); found != names.end()) {
        return found->second;
      }
      Error unknown = engine::unknown_name("wave", *given.name(), {names.begin(), names.end()}, pointer(end));
      unknown.code = ErrorCode::invalid_wave; // the same code as for an index past the last wave
      errors.add(std::move(unknown));
      return {};
    };
    const auto before = index_of(document.dependencies[i].before, "before");
    const auto after = index_of(document.dependencies[i].after, "after");
    for (const auto& [wave, end] : {std::pair(before, "before"), std::pair(after, "after")}) {
      if (wave && *wave >= count) {
        errors.add({.code = ErrorCode::invalid_wave,
                    .message = fmt::format("there is no wave {}", *wave),
                    .fix = count == 0 ? "add the waves, or leave the dependencies out"
                                      : fmt::format("waves are counted from 0 to {}", count - 1),
                    .pointer = pointer(end),
                    .wave_count = count,
                    .before = before,
                    .after = after});
      }
    }
    if (before && before == after && *before < count) {
      Error error = planning::worded({.code = ErrorCode::self_dependency, .wave = *before},
                                     [&named](std::uint64_t wave) { return named.wave_text(wave); });
      error.pointer = fmt::format("/dependencies/{}", i);
      errors.add(std::move(error));
    }
    named.dag.dependencies.push_back(
        {static_cast<std::uint32_t>(before.value_or(0)), static_cast<std::uint32_t>(after.value_or(0))});
  }
  TIDEGATE_CHECK(errors.result());
  return named;
}

Error to_error(Error error, const NamedDag& named) {
  error = planning::worded(std::move(error), [&named](std::uint64_t wave) { return named.wave_text(wave); });
  if (error.code != ErrorCode::cycle) {
    error.pointer = error.wave ? fmt::format("/waves/{}", *error.wave) : "/resident_graph_bytes";
    error.wave.reset(); // the pointer has it
  } else {
    const auto& all = named.dag.dependencies;
    const auto found = std::ranges::find_if(
        all, [&error](const auto& each) { return each.before == error.before && each.after == error.after; });
    error.pointer = fmt::format("/dependencies/{}", found - all.begin());
  }
  for (Error& other : error.others) {
    other = to_error(std::move(other), named);
  }
  return error;
}

NamedDag dag_of(const engine::Job& program, std::uint64_t budget_bytes) {
  NamedDag named{.dag = engine::wave_dag(program, budget_bytes), .names = {}};
  for (std::size_t i = 0; i < program.waves.size(); ++i) {
    const engine::ProgramWave& wave = program.waves[i];
    named.names.push_back(wave.name.empty() ? fmt::format("{} #{}", program.ops[wave.op].name, i)
                                            : wave.name);
  }
  named.iterations = program.iterations;
  return named;
}

Result<NamedDag> read_dag(std::string_view json, const PlanOptions& options) {
  auto document = decode_as<documents::NamedWaveDag>(json, options.parameters);
  if (!document) {
    // Reads the text a second time only if it is not a wave_dag, because those may be large.
    const auto type = recognise(json);
    if (!type || *type != &documents::DocumentOf<engine::WaveProgram>::document) {
      return tl::unexpected(std::move(document.error()));
    }
    TIDEGATE_TRY(const auto program, decode_as<engine::WaveProgram>(json, options.parameters));
    std::set<std::string> assumed;
    TIDEGATE_TRY(const auto resolved,
                 engine::resolve({program, options.folder, engine::assume_macros(assumed), options.scope}));
    TIDEGATE_CHECK(engine::keep_inputs(resolved, options.files));
    return dag_of(resolved, options.budget_bytes.value_or(resolved.budget_bytes));
  }
  if (options.budget_bytes) {
    document->budget_bytes = *options.budget_bytes;
  }
  return resolve(std::move(*document));
}

Result<PlannedDag> plan_document(std::string_view json, const PlanOptions& options) {
  TIDEGATE_TRY(auto named, read_dag(json, options));
  using Objective = planning::CompactOptions::Objective;
  const Objective objective = options.objective == PlanObjective::peak ? Objective::peak : Objective::groups;
  auto plan = options.planner == Planner::layered
                  ? planning::plan_layered(named.dag)
                  : planning::plan_compact(named.dag, {.objective = objective});
  if (!plan) {
    return tl::unexpected(to_error(plan.error(), named));
  }
  return PlannedDag{.named = std::move(named), .plan = std::move(*plan)};
}

planning::MemoryPlan memory_plan(const documents::FrontierMemoryPlan& document) {
  planning::MemoryPlan plan = document.plan;
  static_cast<planning::BarrierGroups&>(plan) = {};
  plan.group_fused_bytes.clear();
  for (const documents::BarrierGroup& group : document.barriers.groups) {
    plan.order.insert(plan.order.end(), group.waves.begin(), group.waves.end());
    plan.group_begin.push_back(static_cast<std::uint32_t>(plan.order.size()));
    plan.group_fused_bytes.push_back(group.fused_bytes);
  }
  return plan;
}

std::string plan_headline(const PlannedDag& planned, const PlanOptions& options) {
  const planning::MemoryPlan& plan = planned.plan;
  const std::string verdict =
      plan.optimal ? "proved to be the fewest" : fmt::format("at least {} needed", plan.lower_bound_groups);
  return fmt::format("{}: {} in {}, {}, {}", choice_name(options.planner), plural(plan.order.size(), "wave"),
                     plural(plan.group_count(), "group"), plural(plan.global_barriers(), "barrier"), verdict);
}

std::string budget_text(const PlannedDag& planned) {
  const planning::WaveDag& dag = planned.named.dag;
  return dag.budget_bytes - dag.resident_graph_bytes == no_limit
             ? "no budget"
             : "budget of a group " + bytes_text(dag.budget_bytes - dag.resident_graph_bytes);
}

std::string share_text(std::uint64_t bytes, std::uint64_t budget) {
  if (budget == 0) {
    return {};
  }
  // Cut, not rounded, so that only a full group shows 100%.
  const double tenths = std::floor(1000.0 * static_cast<double>(bytes) / static_cast<double>(budget));
  return fmt::format("{:.1f}%", bytes < budget ? std::min(tenths, 999.0) / 10.0 : 100.0);
}

std::string plan_table(const PlannedDag& planned, const PlanOptions& options, bool colour) {
  const auto& [named, plan] = planned;
  const std::uint64_t budget = named.dag.budget_bytes - named.dag.resident_graph_bytes;
  const std::uint64_t shared = budget == no_limit ? 0 : budget; // nothing is a share of no limit
  TableRows rows{{"group", "waves", "fused bytes", "of budget", "which"}};
  for (std::size_t i = 0; i < plan.group_count(); ++i) {
    const std::uint64_t bytes = plan.group_fused_bytes[i];
    rows.push_back({std::to_string(i), std::to_string(plan.group(i).size()), bytes_text(bytes),
                    share_text(bytes, shared), wave_list(named, plan.group(i))});
  }
  align_right(rows, {0, 1, 2, 3});
  return fmt::format("{}\n{}\n\n{}", bold(plan_headline(planned, options), colour), budget_text(planned),
                     render_table(rows));
}

std::string buffer_key(const Identifier& id) {
  return id.name() != nullptr ? "=" + *id.name() : "#" + std::to_string(id.number());
}

Result<BufferIndex> index_buffers(const documents::BufferLifetimes& lifetimes) {
  ErrorList errors;
  BufferIndex index;
  index.reserve(lifetimes.buffers.size());
  for (std::size_t i = 0; i < lifetimes.buffers.size(); ++i) {
    const auto [found, is_new] = index.try_emplace(buffer_key(lifetimes.buffers[i].id), i);
    if (!is_new) {
      errors.add({.code = ErrorCode::duplicate_name,
                  .message = fmt::format("buffers {} and {} have the same id, {}", found->second, i,
                                         describe(lifetimes.buffers[i].id)),
                  .fix = "give each its own",
                  .pointer = fmt::format("/buffers/{}/id", i)});
    }
  }
  TIDEGATE_CHECK(errors.result());
  return index;
}

Result<void> check_lifetimes(const documents::BufferLifetimes& lifetimes) {
  const planning::ArenaProblem problem = arena_problem(lifetimes);
  ErrorList errors;
  for (std::size_t i = 0; i < problem.buffers.size() && !errors.full(); ++i) {
    if (auto error = planning::unsound(problem.buffers[i], i)) {
      errors.add(with_id(*std::move(error), lifetimes));
    }
  }
  TIDEGATE_CHECK(errors.result());
  return planning::check_arena_problem(problem).map_error( // of all buffers together
      [&lifetimes](Error error) { return with_id(std::move(error), lifetimes); });
}

planning::ArenaProblem arena_problem(const documents::BufferLifetimes& lifetimes) {
  planning::ArenaProblem problem{.buffers = {}, .capacity_bytes = lifetimes.capacity_bytes};
  problem.buffers.reserve(lifetimes.buffers.size());
  for (const documents::NamedBuffer& buffer : lifetimes.buffers) {
    problem.buffers.push_back(buffer.lifetime);
  }
  return problem;
}

CommandModel plan_command() {
  const auto settings = std::make_shared<PlanSettings>();
  return answering(
      settings->route, "Wave DAG, or a wave program,",
      {.options =
           {option(
                "--planner", as_choice(words_for<Planner>()), settings->planner,
                "layered: each wave as early as possible, a full group is closed (default); compact: as few groups as "
                "possible"),
            option("--objective", as_choice(words_for<PlanObjective>()), settings->objective,
                   "groups: the fewest (default); peak: the fewest, and the largest as small as possible. "
                   "Means --planner compact"),
            option("--budget", as_bytes(), settings->plan.budget_bytes,
                   "Memory budget, in place of the document's"),
            parameter_option(settings->route.parameters), path_scope_option(settings->plan.scope)},
       .examples = {{"A picture of the plan with the fewest groups:",
                     "tidegate plan --planner compact examples/stereo_camera.json -o plan.svg"},
                    {"The plan of a wave program:",
                     "tidegate plan examples/programs/reduction/program.json --format table"}},
       .run = [settings] { return run_plan(*settings); }},
      true);
}

CommandModel arena_command() {
  const auto settings = std::make_shared<ArenaSettings>();
  return answering(
      settings->route, "Buffer lifetimes",
      {.options = {option("--capacity", as_bytes(), settings->capacity_bytes,
                          "Capacity instead of the document's")},
       .examples = {{"A picture of the arena:", "tidegate arena examples/stereo_buffers.json -o arena.svg"},
                    {"Offsets that a checker verifies:",
                     "tidegate arena examples/stereo_buffers.json | tidegate check arena --lifetimes "
                     "examples/stereo_buffers.json -"}},
       .run = [settings] { return run_arena(*settings); }},
      true);
}

} // namespace tidegate::app
