// Candidates of a wave program side by side on one device: each is compiled and built once, its first run is
// held against plain launches, and then any of them can be run again, in turn with the others.
#pragma once
#include "device/monitor.hpp"
#include "device/opencl.hpp"
#include "engine/execute.hpp"
#include "engine/proof.hpp"
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"
#include "tune/knobs.hpp"
#include "tune/report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidegate::tuning {

// What differs between programs where candidates are measured: how one is built, proved and run. The search
// (measure.hpp) knows candidates by their numbers, and nothing of what they run.

// Nanoseconds of the runs of each candidate.
using Times = std::map<std::size_t, std::vector<double>>;

class Bench {
public:
  Bench() = default;
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  virtual ~Bench() = default;

  [[nodiscard]] virtual std::span<const Knob> knobs() const = 0;

  // The program as it is, whose outputs are proved to be right; an error where it does not run, or they are
  // not.
  virtual Result<std::size_t> add_first(const Settings& settings) = 0;

  // Nothing where it would run just as another one here. An error says why it is thrown out: what refuses it,
  // how its run ended, or outputs that differ.
  virtual Result<std::optional<std::size_t>> add(const Settings& settings, std::uint64_t most_ns) = 0;

  // Nanoseconds of a dispatch; nothing where it does not come to its end in `most_ns`.
  virtual std::optional<double> time(std::size_t candidate, std::uint64_t most_ns) = 0;

  // The value that the candidate has, and those that it might have instead.
  [[nodiscard]] virtual std::string value_of(Knob knob, std::size_t candidate) const = 0;
  [[nodiscard]] virtual std::vector<Option> options_of(Knob knob, std::size_t candidate,
                                                       double dispatch_ns) const = 0;

  [[nodiscard]] virtual const Settings& settings(std::size_t candidate) const = 0;
  [[nodiscard]] virtual std::uint32_t workers(std::size_t candidate) const = 0; // work-groups that it has
  [[nodiscard]] virtual Settings with_workers(Settings settings, std::uint32_t workers) const = 0;

  // The candidate's settings with what the times of all tell beside them.
  virtual Settings concluded(std::size_t candidate, const Times& times) = 0;

  [[nodiscard]] virtual std::uint64_t runs() const = 0;
};

// Whoever interrupts measuring is told that nothing was written.
Error interrupted();

// Why a run that did not come to its end does not count.
Error ended(engine::RunStatus status);

struct Candidate {
  Settings settings;
  engine::CompiledProgram compiled;
  std::optional<engine::BuiltProgram> built; // for what was compiled, where it lies
  engine::Residency residency;
  engine::DispatchLimits limits;
};

class Workbench final : public Bench {
public:
  // Candidates run as many iterations as take plain launches `most_plain_ns`, one at least. All references
  // outlive it. Throws device::Refused.
  Workbench(const engine::WaveProgram& program, const std::string& folder, const device::DeviceInfo& device,
            const engine::RunOptions& options, engine::Monitor& monitor, std::span<const Knob> knobs,
            std::uint64_t most_plain_ns = ~std::uint64_t{0});

  [[nodiscard]] std::span<const Knob> knobs() const override { return knobs_; }
  // Of each run, once there is a first candidate.
  [[nodiscard]] std::uint32_t iterations() const { return iterations_; }
  [[nodiscard]] std::size_t outputs() const; // that are compared
  // The first candidate that was not equal to plain launches.
  [[nodiscard]] const std::optional<Different>& different() const { return different_; }
  [[nodiscard]] const engine::CompiledProgram& compiled(std::size_t candidate) const {
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
  Result<engine::CompiledProgram> compile(const Settings& settings);
  Result<bool> make(const Settings& settings); // false for one that runs as another
  void limit(engine::CompiledProgram& compiled) const;
  Result<engine::PlainRun> run_plain(Candidate& candidate);
  [[nodiscard]] Incumbent incumbent(std::size_t index, double dispatch_ns) const;
  // What was measured of a candidate, by the cost model with other factors for its parts.
  [[nodiscard]] device::CostParts estimated(std::size_t candidate, const device::CostParts& scales) const;
  // Whether a run with these settings would be launched as the candidate was.
  [[nodiscard]] bool same_way(std::size_t candidate, const Settings& settings);
  Result<void> prove(Candidate& candidate, std::uint64_t most_ns);
  engine::ArenaRun run(Candidate& candidate, std::uint64_t most_ns);

  const engine::WaveProgram& program_;
  const std::string& folder_;
  const device::DeviceInfo& device_;
  const engine::RunOptions& options_;
  engine::Monitor& monitor_;
  std::span<const Knob> knobs_;
  std::uint64_t most_plain_ns_;
  device::Session session_;
  engine::AnswerMacros answer_macros_;
  std::deque<Candidate> candidates_; // which stay where they are: what was built refers to what was compiled
  engine::HostContents first_;
  std::optional<engine::Reference> reference_; // of the first candidate's program
  std::uint32_t iterations_ = 0;               // 0: not known yet
  engine::HostContents expected_;              // outputs of plain launches
  std::optional<Different> different_;
  std::uint64_t runs_ = 0;
};

} // namespace tidegate::tuning
