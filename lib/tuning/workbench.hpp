// Candidates side by side on one device: each is compiled and built once, its first run is held against plain
// launches, and then any of them can be run again, in turn with the others.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/handles.hpp>
#include <tidegate/run/execute.hpp>
#include <tidegate/run/monitor.hpp>
#include <tidegate/run/run_options.hpp>
#include <tidegate/tuning/knobs.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace tidegate::tuning {

struct Candidate {
  Settings settings;
  compiler::CompiledProgram compiled;
  std::optional<run::BuiltProgram> built; // for what was compiled, where it lies
  run::Residency residency;
  run::DispatchLimits limits;
};

Error interrupted();

class Workbench {
public:
  // All references outlive it. Throws device::Refused.
  Workbench(const compiler::WaveProgram& program, const std::string& folder, const device::DeviceInfo& device,
            const run::RunOptions& options, run::Monitor& monitor);

  // The first candidate, whose plain launches all outputs are compared with; an error where it does not run
  // or its own outputs differ.
  Result<std::size_t> add_first(const Settings& settings);

  // Nothing where it would run just as another one here. An error says why it is thrown out: what refuses it,
  // how its run ended, or outputs that differ from those of plain launches.
  Result<std::optional<std::size_t>> add(const Settings& settings, std::uint64_t most_ns);

  // Nanoseconds of a dispatch; nothing where it does not come to its end in `most_ns`.
  std::optional<double> time(std::size_t candidate, std::uint64_t most_ns);

  // What was measured of a candidate, by the cost model with other factors for its parts.
  [[nodiscard]] device::CostParts estimated(std::size_t candidate, const device::CostParts& scales) const;

  // Whether a run with these settings would be launched as the candidate was.
  [[nodiscard]] bool same_way(std::size_t candidate, const Settings& settings);

  [[nodiscard]] const Candidate& candidate(std::size_t index) const { return candidates_[index]; }
  [[nodiscard]] Incumbent incumbent(std::size_t index, double dispatch_ns) const;
  [[nodiscard]] std::uint64_t runs() const { return runs_; }

private:
  Result<compiler::CompiledProgram> compile(const Settings& settings);
  Result<bool> make(const Settings& settings); // false for one that runs as another
  Result<void> prove(Candidate& candidate, std::uint64_t most_ns);
  run::ArenaRun run(Candidate& candidate, std::uint64_t most_ns);

  const compiler::WaveProgram& program_;
  const std::string& folder_;
  const device::DeviceInfo& device_;
  const run::RunOptions& options_;
  run::Monitor& monitor_;
  device::Session session_;
  compiler::AnswerMacros answer_macros_;
  std::deque<Candidate> candidates_; // which stay where they are: what was built refers to what was compiled
  run::HostContents first_;
  run::HostContents expected_; // outputs of plain launches
  std::uint64_t runs_ = 0;
};

} // namespace tidegate::tuning
