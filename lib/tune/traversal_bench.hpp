// Candidates of a frontier program side by side on one device. The graph lies there once: candidates differ
// in the numbers that the device chooses by and in how many work-groups there are, and only the strategies
// have kernels of their own.
#pragma once
#include "device/monitor.hpp"
#include "device/opencl.hpp"
#include "engine/run_options.hpp"
#include "engine/traversal/setup.hpp"
#include "tune/knobs.hpp"
#include "tune/workbench.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidegate::tuning {

class TraversalBench final : public Bench {
public:
  // All references outlive it. Throws device::Refused.
  TraversalBench(const graphs::FrontierProgram& program, const std::string& folder,
                 const device::DeviceInfo& device, const engine::RunOptions& options, traversal::Fault fault,
                 engine::Monitor& monitor);

  [[nodiscard]] std::span<const Knob> knobs() const override { return frontier_program_knobs; }
  Result<std::size_t> add_first(const Settings& settings) override; // loads the graph; the result is verified
  Result<std::optional<std::size_t>> add(const Settings& settings, std::uint64_t most_ns) override;
  std::optional<double> time(std::size_t candidate, std::uint64_t most_ns) override;
  [[nodiscard]] std::string value_of(Knob knob, std::size_t candidate) const override;
  [[nodiscard]] std::vector<Option> options_of(Knob knob, std::size_t candidate,
                                               double dispatch_ns) const override;
  [[nodiscard]] const Settings& settings(std::size_t candidate) const override {
    return candidates_[candidate].settings;
  }
  [[nodiscard]] std::uint32_t workers(std::size_t candidate) const override {
    return candidates_[candidate].groups.groups;
  }
  [[nodiscard]] Settings with_workers(Settings settings, std::uint32_t workers) const override;
  Settings concluded(std::size_t candidate, const Times& times) override;
  [[nodiscard]] std::uint64_t runs() const override { return runs_; }

private:
  struct Candidate {
    Settings settings;
    engine::Strategy strategy = engine::Strategy::launch;
    engine::BuiltKernel* kernel = nullptr; // of kernels_
    traversal::FrontierGeometry geometry;
    traversal::FrontierGroups groups;
    traversal::TraversalPolicy topologies;
    traversal::ReplayPolicy policy;
    traversal::ResidentGraph resident;        // shares all parts but the setting
    std::vector<traversal::WaveRecord> waves; // of its first run
  };

  Result<Candidate> make(const Settings& settings);
  Result<engine::BuiltKernel*> kernel_of(engine::Strategy strategy,
                                         const traversal::FrontierGeometry& geometry);
  [[nodiscard]] TraversalIncumbent incumbent(std::size_t index) const;
  [[nodiscard]] bool runs_as_another(const Candidate& candidate) const;
  traversal::TraversalOutcome run(Candidate& candidate, std::uint64_t most_ns);
  // Runs it to its end, and makes every choice again.
  Result<traversal::TraversalResults> prove(Candidate& candidate, std::uint64_t most_ns);

  const graphs::FrontierProgram& program_;
  const std::string& folder_;
  const device::DeviceInfo& device_;
  traversal::TraversalOptions options_;
  engine::Monitor& monitor_;
  device::Session session_;
  graphs::Graph graph_;
  traversal::TraversalShape shape_;
  traversal::FrontierMemory memory_;
  std::map<engine::Strategy, engine::BuiltKernel> kernels_;
  std::vector<Candidate> candidates_;
  traversal::TraversalResults expected_; // of the first candidate
  std::uint64_t runs_ = 0;
};

} // namespace tidegate::tuning
