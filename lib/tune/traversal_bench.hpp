// Candidates of a frontier program on one device. They share one copy of the graph and differ in thresholds
// and in the number of work-groups; only the strategies need separate kernels.
#pragma once
#include "device/monitor.hpp"
#include "device/session.hpp"
#include "engine/run_options.hpp"
#include "engine/traversal/own.hpp"
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
  // Throws device::Refused.
  TraversalBench(const graphs::FrontierProgram& program, const std::string& folder,
                 const device::DeviceInfo& device, const engine::RunOptions& options,
                 engine::Monitor& monitor)
      : Bench(folder, device, options, monitor, frontier_program_knobs), program_(program) {}

  [[nodiscard]] std::string value_of(Knob knob, std::size_t configuration) const override;
  [[nodiscard]] std::vector<Option> options_of(Knob knob, std::size_t configuration,
                                               double dispatch_ns) const override;
  [[nodiscard]] const Settings& settings(std::size_t configuration) const override {
    return configurations_[configuration].settings;
  }
  [[nodiscard]] std::uint32_t workers(std::size_t configuration) const override {
    return configurations_[configuration].groups.workers;
  }
  [[nodiscard]] Settings with_workers(Settings settings, std::uint32_t workers) const override;

private:
  struct Configuration {
    Settings settings;
    engine::Strategy strategy = engine::Strategy::launch;
    engine::BuiltKernel* kernel = nullptr; // points into kernels_
    traversal::FrontierGeometry geometry;
    engine::Residency groups;
    traversal::TraversalPolicy topologies;
    traversal::ReplayPolicy policy;
    traversal::ResidentGraph resident;        // shares all parts except the setting
    std::vector<traversal::WaveRecord> waves; // waves of the first run
  };

  Result<void> make_first(const Settings& settings) override; // loads the graph and verifies the result
  Result<std::optional<std::size_t>> make_and_prove(const Settings& settings, std::uint64_t most_ns) override;
  engine::DispatchOutcome dispatch(std::size_t configuration, std::uint64_t most_ns) override;
  Result<Configuration> make(const Settings& settings);
  Result<engine::BuiltKernel*> kernel_of(engine::Strategy strategy,
                                         const traversal::FrontierGeometry& geometry);
  [[nodiscard]] TraversalIncumbent incumbent(std::size_t index) const;
  [[nodiscard]] bool runs_as_another(const Configuration& configuration) const;
  traversal::TraversalOutcome run(Configuration& configuration, std::uint64_t most_ns);
  // Runs the configuration to its end and replays its topology choices.
  Result<traversal::TraversalResults> prove(Configuration& configuration, std::uint64_t most_ns);

  // Errors: a result that is wrong.
  Result<void> verify(const Configuration& configuration);

  graphs::FrontierProgram program_; // sources by position once the graph is loaded
  std::uint32_t first_id_ = 0;      // of the graph, for errors
  graphs::Graph graph_;
  traversal::TraversalShape shape_;
  std::optional<traversal::OwnCode> own_; // of an algorithm of the program's own
  traversal::FrontierMemory memory_;
  std::map<engine::Strategy, engine::BuiltKernel> kernels_;
  std::vector<Configuration> configurations_;
  traversal::TraversalResults expected_; // results of the first configuration
};

} // namespace tidegate::tuning
