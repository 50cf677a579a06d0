// Resolves the names of a wave DAG to indices, and names waves in errors.
#include "app/plan.hpp"
#include "engine/schedule.hpp"

namespace tidegate::app {
namespace {

using planning::Dependency;

std::string_view name_of(const documents::NamedWave& wave) {
  return wave.name ? std::string_view(*wave.name) : std::string_view();
}

using WaveNames = std::unordered_map<std::string_view, std::uint32_t>;

// Returns the index of each named wave. Adds errors for empty and duplicate names.
WaveNames index_names(const std::vector<documents::NamedWave>& waves, ErrorList& errors) {
  const auto named = std::ranges::count_if(waves, [](const auto& wave) { return wave.name.has_value(); });
  WaveNames names;
  names.reserve(static_cast<std::size_t>(named));
  for (std::uint32_t wave = 0; wave < waves.size(); ++wave) {
    if (!waves[wave].name) {
      continue;
    }
    if (waves[wave].name->empty()) {
      errors.add({.code = ErrorCode::out_of_range,
                  .message = fmt::format("the name of wave {} is empty", wave),
                  .fix = "give it a name, or leave the key out",
                  .pointer = fmt::format("/waves/{}/name", wave)});
    } else if (const auto [earlier, inserted] = names.emplace(name_of(waves[wave]), wave); !inserted) {
      errors.add({.code = ErrorCode::duplicate_name,
                  .message = fmt::format("waves {} and {} are both called {}", earlier->second, wave,
                                         in_quotes(name_of(waves[wave]))),
                  .fix = "rename one of them",
                  .pointer = fmt::format("/waves/{}/name", wave)});
    }
  }
  return names;
}

Error unknown_wave(const std::string& name, const std::vector<documents::NamedWave>& waves,
                   std::string pointer) {
  std::vector<std::string_view> known;
  for (const documents::NamedWave& wave : waves) {
    if (wave.name) {
      known.push_back(*wave.name);
    }
  }
  const auto nearest = nearest_name(name, known);
  return {.code = ErrorCode::invalid_wave, // the same code as for an index past the last wave
          .message = fmt::format("no wave is called {}", in_quotes(name)),
          .fix = nearest         ? fmt::format("did you mean {}?", in_quotes(*nearest))
                 : known.empty() ? "no wave of this DAG has a name: give an index"
                                 : "give the name of a wave, or its index",
          .pointer = std::move(pointer),
          .nearest = nearest ? std::optional<std::string>(*nearest) : std::nullopt};
}

// Returns the index of the first dependency between these two waves.
std::optional<std::size_t> index_of(const planning::WaveDag& dag, std::uint64_t before, std::uint64_t after) {
  const auto found = std::ranges::find_if(dag.dependencies, [&](const Dependency& dependency) {
    return dependency.before == before && dependency.after == after;
  });
  if (found == dag.dependencies.end()) {
    return {};
  }
  return static_cast<std::size_t>(found - dag.dependencies.begin());
}

// Adds the error of a cycle; needed only after other errors, because then no planner runs and finds it. `left_out` has
// the indices, in the document, of dependencies that the DAG lacks.
void check_order(const NamedDag& named, std::span<const std::size_t> left_out, ErrorList& errors) {
  const auto waves = static_cast<std::uint32_t>(named.dag.waves.size());
  const auto order = planning::plan_barriers(waves, named.dag.dependencies);
  if (order) {
    return;
  }
  Error error = to_error(order.error(), named);
  if (auto index = index_of(named.dag, *error.before, *error.after)) {
    for (const std::size_t each : left_out) {
      *index += each <= *index ? 1 : 0;
    }
    error.pointer = fmt::format("/dependencies/{}", *index);
  }
  errors.add(std::move(error));
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
  const WaveNames names = index_names(document.waves, errors);
  NamedDag named;
  planning::WaveDag& dag = named.dag;
  dag.resident_graph_bytes = document.resident_graph_bytes;
  dag.budget_bytes = document.budget_bytes;
  dag.readback_bytes = document.readback_bytes;

  const auto wave_text = [&document](std::uint64_t wave) {
    const std::string_view name = name_of(document.waves[wave]);
    return name.empty() ? fmt::format("wave {}", wave) : in_quotes(name);
  };
  const auto wave_index = [&](const Identifier& wave, std::size_t dependency,
                              std::string_view key) -> Result<std::uint64_t> {
    if (wave.name() == nullptr) {
      return wave.number();
    }
    if (const auto found = names.find(*wave.name()); found != names.end()) {
      return found->second;
    }
    return tl::unexpected(
        unknown_wave(*wave.name(), document.waves, fmt::format("/dependencies/{}/{}", dependency, key)));
  };
  const std::size_t wave_count = document.waves.size();
  dag.dependencies.reserve(document.dependencies.size());
  std::vector<std::size_t> left_out;
  for (std::size_t i = 0; i < document.dependencies.size() && !errors.full(); ++i) {
    const auto before = wave_index(document.dependencies[i].before, i, "before");
    const auto after = wave_index(document.dependencies[i].after, i, "after");
    const auto check_end = [&](const Result<std::uint64_t>& end, std::string_view key) {
      if (!end || *end < wave_count) {
        return errors.check(end);
      }
      errors.add({.code = ErrorCode::invalid_wave,
                  .message = fmt::format("there is no wave {}", *end),
                  .fix = wave_count == 0 ? "add the waves, or leave the dependencies out"
                                         : fmt::format("waves are counted from 0 to {}", wave_count - 1),
                  .pointer = fmt::format("/dependencies/{}/{}", i, key),
                  .wave_count = wave_count,
                  .before = before ? std::optional(*before) : std::nullopt,
                  .after = after ? std::optional(*after) : std::nullopt});
      return false;
    };
    const bool before_known = check_end(before, "before");
    if (!check_end(after, "after") || !before_known) {
      left_out.push_back(i);
      continue;
    }
    if (*before == *after) {
      left_out.push_back(i);
      Error error = planning::worded({.code = ErrorCode::self_dependency, .wave = *before}, wave_text);
      error.pointer = fmt::format("/dependencies/{}", i);
      errors.add(std::move(error));
      continue;
    }
    dag.dependencies.push_back({static_cast<std::uint32_t>(*before), static_cast<std::uint32_t>(*after)});
  }
  document.dependencies = {}; // by far the larger part of the document

  dag.waves.reserve(document.waves.size());
  const bool any_name = !names.empty();
  if (any_name) {
    named.names.reserve(document.waves.size());
  }
  for (documents::NamedWave& wave : document.waves) {
    dag.waves.push_back(wave.bytes);
    if (any_name) {
      named.names.push_back(std::move(wave.name).value_or(std::string()));
    }
  }
  if (!errors.result()) {
    check_order(named, left_out, errors);
    return tl::unexpected(errors.result().error());
  }
  return named;
}

Error to_error(Error error, const NamedDag& named) {
  error = planning::worded(std::move(error), [&named](std::uint64_t wave) { return named.wave_text(wave); });
  if (error.code != ErrorCode::cycle) {
    error.pointer = error.wave ? fmt::format("/waves/{}", *error.wave) : "/resident_graph_bytes";
    error.wave.reset(); // the pointer has it
  } else if (const auto index = index_of(named.dag, *error.before, *error.after)) {
    error.pointer = fmt::format("/dependencies/{}", *index);
  }
  for (Error& other : error.others) {
    other = to_error(std::move(other), named);
  }
  return error;
}

} // namespace tidegate::app
