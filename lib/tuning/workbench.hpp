// Candidates of a wave program side by side on one device: each is compiled and built once, its first run is
// held against plain launches, and then any of them can be run again, in turn with the others.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/handles.hpp>
#include <tidegate/run/execute.hpp>
#include <tidegate/run/monitor.hpp>
#include <tidegate/run/proof.hpp>
#include <tidegate/run/run_options.hpp>
#include <tidegate/tuning/bench.hpp>
#include <tidegate/tuning/knobs.hpp>
#include <tidegate/tuning/tuning_report.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidegate::tuning {

struct Candidate {
  Settings settings;
  compiler::CompiledProgram compiled;
  std::optional<run::BuiltProgram> built; // for what was compiled, where it lies
  run::Residency residency;
  run::DispatchLimits limits;
};

class Workbench final : public Bench {
public:
  // Candidates run as many iterations as take plain launches `most_plain_ns`, one at least. All references
  // outlive it. Throws device::Refused.
  Workbench(const compiler::WaveProgram& program, const std::string& folder, const device::DeviceInfo& device,
            const run::RunOptions& options, run::Monitor& monitor, std::span<const Knob> knobs,
            std::uint64_t most_plain_ns = ~std::uint64_t{0});

  [[nodiscard]] std::span<const Knob> knobs() const override { return knobs_; }
  // Of each run, once there is a first candidate.
  [[nodiscard]] std::uint32_t iterations() const { return iterations_; }
  [[nodiscard]] std::size_t outputs() const; // that are compared
  // The first candidate that was not equal to plain launches.
  [[nodiscard]] const std::optional<Different>& different() const { return different_; }
  [[nodiscard]] const compiler::CompiledProgram& compiled(std::size_t candidate) const {
    return candidates_[candidate].compiled;
  }
  Result<std::size_t> add_first(const Settings& settings) override;
  Result<std::optional<std::size_t>> add(const Settings& settings, std::uint64_t most_ns) override;
  std::optional<double> time(std::size_t candidate, std::uint64_t most_ns) override;
  [[nodiscard]] std::string value_of(Knob knob, std::size_t candidate) const override;
  [[nodiscard]] std::vector<Option> options_of(Knob knob, std::size_t candidate,
                                               double dispatch_ns) const override;
  [[nodiscard]] const Settings& settings(std::size_t candidate) const override {
    return candidates_[candidate].settings;
  }
  [[nodiscard]] std::uint32_t workers(std::size_t candidate) const override {
    return candidates_[candidate].residency.workers;
  }
  [[nodiscard]] Settings with_workers(Settings settings, std::uint32_t workers) const override;
  // With the cost model's factors by all that was timed, where a run would be launched just as the candidate:
  // what is written is what was measured.
  Settings concluded(std::size_t candidate, const Times& times) override;
  [[nodiscard]] std::uint64_t runs() const override { return runs_; }

private:
  Result<compiler::CompiledProgram> compile(const Settings& settings);
  Result<bool> make(const Settings& settings); // false for one that runs as another
  void limit(compiler::CompiledProgram& compiled) const;
  Result<run::PlainRun> run_plain(Candidate& candidate);
  [[nodiscard]] Incumbent incumbent(std::size_t index, double dispatch_ns) const;
  // What was measured of a candidate, by the cost model with other factors for its parts.
  [[nodiscard]] device::CostParts estimated(std::size_t candidate, const device::CostParts& scales) const;
  // Whether a run with these settings would be launched as the candidate was.
  [[nodiscard]] bool same_way(std::size_t candidate, const Settings& settings);
  Result<void> prove(Candidate& candidate, std::uint64_t most_ns);
  run::ArenaRun run(Candidate& candidate, std::uint64_t most_ns);

  const compiler::WaveProgram& program_;
  const std::string& folder_;
  const device::DeviceInfo& device_;
  const run::RunOptions& options_;
  run::Monitor& monitor_;
  std::span<const Knob> knobs_;
  std::uint64_t most_plain_ns_;
  device::Session session_;
  compiler::AnswerMacros answer_macros_;
  std::deque<Candidate> candidates_; // which stay where they are: what was built refers to what was compiled
  run::HostContents first_;
  std::optional<run::Reference> reference_; // of the first candidate's program
  std::uint32_t iterations_ = 0;            // 0: not known yet
  run::HostContents expected_;              // outputs of plain launches
  std::optional<Different> different_;
  std::uint64_t runs_ = 0;
};

} // namespace tidegate::tuning
