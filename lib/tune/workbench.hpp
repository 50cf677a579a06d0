// Candidates of a wave program on one device. Each is compiled and built once, its first run is compared with
// plain launches, and then configurations can be timed in any order.
#pragma once
#include "engine/execute.hpp"
#include "traversal/run.hpp"
#include "tune/report.hpp"
#include "work/run.hpp"

#include <future>

namespace tidegate::tuning {

struct Alternative {
  std::string value; // as reports show it
  Settings settings;
};

// The incumbent's value of a knob ("-" if it has none), and settings with other values, which never have more work-groups
// than can run concurrently.
struct KnobValues {
  std::string value = "-";
  std::vector<Alternative> others;
};

// Returns the policy with thresholds adjusted so that a launch with this evidence takes the route.
policy::LaunchPolicy policy_for(policy::PromotionRoute route, const policy::PromotionEvidence& evidence,
                                policy::LaunchPolicy policy);

// State of the best configuration of a frontier program so far, from which the alternatives are derived.
struct TraversalIncumbent {
  Settings settings;
  engine::Strategy strategy = engine::Strategy::launch;
  std::uint32_t workers = 1;  // work-groups
  std::uint32_t resident = 0; // limit of concurrent work-groups of a persistent launch
  policy::SwitchRule switch_rule = policy::SwitchRule::edges;
  bool rule_is_given = false;    // set by the program; the profile does not change it
  bool from_few = true;          // frontiers start small, so that one group may process them alone
  std::uint32_t alone_up_to = 0; // largest frontier of one work-group alone, in vertices
  std::uint32_t most_alone = 0;  // upper limit of alone_up_to by local memory
  bool constrained = false;      // memory is short, so the topology never changes
};

KnobValues values_of(Knob knob, const TraversalIncumbent& incumbent, const device::DeviceInfo& device,
                     bool self_test_passed);

// Builds, compares and runs the configurations of a program. The search (measure.hpp) knows them by index only.
// All references must outlive the bench.
class Bench : NotCopied {
public:
  virtual ~Bench() = default;

  [[nodiscard]] std::span<const Knob> knobs() const { return knobs_; }

  // Adds the unchanged program, as configuration 0, and compares its outputs. May throw device::Refused, as add().
  virtual Result<void> add_first(const Settings& settings) = 0;

  // Returns nullopt if the configuration would run exactly as an existing one. Errors: it did not finish, or its outputs
  // differ.
  virtual Result<std::optional<std::size_t>> add(const Settings& settings, std::uint64_t most_ns) = 0;

  // Returns the nanoseconds of a dispatch; nullopt if it does not finish in `most_ns`.
  std::optional<double> time(std::size_t configuration, std::uint64_t most_ns);

  [[nodiscard]] virtual KnobValues values_of(Knob knob, std::size_t configuration,
                                             double dispatch_ns) const = 0;
  [[nodiscard]] virtual const Settings& settings(std::size_t configuration) const = 0;
  [[nodiscard]] std::uint64_t runs() const { return runs_; }

  // The program as it is has run: a crash of the driver from now on comes from a candidate.
  static void begin_candidates() { device::work_notes().trying = device::work_notes().begins_again.load(); }

protected:
  // Throws device::Refused.
  Bench(const device::DeviceInfo& device, const engine::RunOptions& options, runtime::Monitor& monitor,
        std::span<const Knob> knobs);

  virtual runtime::DispatchOutcome dispatch(std::size_t configuration, std::uint64_t most_ns) = 0;

  // Counts a run and returns its deadline.
  runtime::Monitor::Clock::time_point begin_run(std::uint64_t most_ns);
  void begin_building(runtime::Activity activity); // or another activity that takes as long as it takes

  const device::DeviceInfo& device_;
  const engine::RunOptions& options_;
  runtime::Monitor& monitor_;
  std::shared_ptr<device::Session> opened_;
  const device::Session& session_;

private:
  std::span<const Knob> knobs_;
  std::uint64_t runs_ = 0;
};

Error interrupted(); // nothing was written
Result<void>
check_finished(runtime::RunStatus status); // why a configuration is rejected whose run did not finish

struct Configuration {
  Settings settings;
  std::shared_ptr<device::Session> session; // of a CPU its own: builds launch kernels there
  engine::CompiledProgram compiled;
  std::optional<engine::BuiltProgram> built; // refers to `compiled`
  runtime::Residency residency;
  runtime::DispatchLimits limits;
};

// Returns true if a build that nobody waits for may still run: then the process has to end by _exit.
bool abandoned_builds();

class Workbench final : public Bench {
public:
  // Candidates run as many iterations as plain launches complete in `most_plain_ns`, at least one. Throws
  // device::Refused.
  Workbench(const engine::Lowering& lowering, const device::DeviceInfo& device,
            const engine::RunOptions& options, runtime::Monitor& monitor, std::span<const Knob> knobs,
            std::uint64_t most_plain_ns = ~std::uint64_t{0});

  Result<void> add_first(const Settings& settings) override;
  Result<std::optional<std::size_t>> add(const Settings& settings, std::uint64_t most_ns) override;

  // add_first() calls it once plain launches have run; false: there is no time for a second run, which is compared.
  void plain_has_run(std::function<bool(const engine::PlainRun&)> then) { plain_has_run_ = std::move(then); }

  // The steps of add(), for first runs. begin() returns false if the configuration would run exactly as an existing
  // one; otherwise its build runs in another thread. built_by() waits for it, and abandons it if that time has come
  // (false). Without it finish() continues as add() does.
  Result<bool> begin(const Settings& settings);
  bool built_by(runtime::Monitor::Clock::time_point end);
  Result<std::optional<std::size_t>> finish(std::uint64_t most_ns);

  // The candidates of first runs of a program whose plain launches take `plain_ns`; 0: all that there may be.
  [[nodiscard]] std::vector<Alternative> candidates(double plain_ns) const;

  // Iterations of each run, and of the program; set by add_first.
  [[nodiscard]] std::uint32_t iterations() const { return iterations_; }
  [[nodiscard]] std::uint32_t repeat() const { return repeat_; }
  [[nodiscard]] bool proved() const { return proved_; } // the first configuration was
  [[nodiscard]] std::size_t outputs() const;            // number of compared outputs
  // A configuration whose outputs differed from plain launches, and by more than rounding if there is one.
  [[nodiscard]] const std::optional<Different>& different() const { return different_; }
  [[nodiscard]] const engine::CompiledProgram& compiled(std::size_t configuration) const {
    return configurations_[configuration]->compiled;
  }
  [[nodiscard]] KnobValues values_of(Knob knob, std::size_t configuration, double dispatch_ns) const override;
  [[nodiscard]] const Settings& settings(std::size_t configuration) const override {
    return configurations_[configuration]->settings;
  }

private:
  // Returns false if the program has got more room, and is to be made again.
  Result<bool> make_in_this_room(const Settings& settings);
  bool give_more_room(std::optional<engine::WaveProgram> larger);
  runtime::DispatchOutcome dispatch(std::size_t configuration, std::uint64_t most_ns) override;
  Result<engine::CompiledProgram> compile(const Settings& settings);
  Result<engine::PlainRun> run_plain(Configuration& configuration);
  [[nodiscard]] bool is_first_run() const { return knobs().data() == first_run_knobs.data(); }
  [[nodiscard]] bool one_group_may_pay(double dispatch_ns) const;
  Result<void> prove(Configuration& configuration, std::uint64_t most_ns);
  engine::RunContext context_of(Configuration& configuration);
  engine::ArenaRun run(Configuration& configuration, std::uint64_t most_ns);

  engine::Lowering lowering_; // of the program with the room that its lists and queues grow to in a run
  std::uint64_t most_plain_ns_;
  std::vector<std::shared_ptr<Configuration>> configurations_;
  std::shared_ptr<Configuration> building_;
  std::future<void> build_; // of it
  std::function<bool(const engine::PlainRun&)> plain_has_run_;
  bool proved_ = false;
  std::uint32_t repeat_ = 0;
  runtime::HostContents first_;
  std::optional<engine::Reference> reference_; // for the first configuration's program
  std::uint32_t iterations_ = 0;               // 0: not known yet
  std::optional<Different> different_;
};

// Ends a bench. While an abandoned build runs another thread does it: a driver that compiles holds locks that releases take.
struct EndBench {
  void operator()(Workbench* bench) const;
};

class TraversalBench final : public Bench {
public:
  // Throws device::Refused.
  TraversalBench(const graphs::FrontierProgram& program, const std::string& folder,
                 const device::DeviceInfo& device, const engine::RunOptions& options,
                 runtime::Monitor& monitor)
      : Bench(device, options, monitor, frontier_program_knobs), run_options_(options), program_(program),
        folder_(folder) {}

  Result<void> add_first(const Settings& settings) override; // loads the graph and verifies the result
  Result<std::optional<std::size_t>> add(const Settings& settings, std::uint64_t most_ns) override;
  [[nodiscard]] KnobValues values_of(Knob knob, std::size_t configuration, double dispatch_ns) const override;
  [[nodiscard]] const Settings& settings(std::size_t configuration) const override {
    return configurations_[configuration].settings;
  }

private:
  struct Configuration {
    Settings settings;
    traversal::TraversalPlan plan;
    runtime::BuiltKernel* kernel = nullptr; // points into kernels_
    runtime::Residency groups;
    traversal::ResidentGraph resident; // shares all parts except the setting
  };

  runtime::DispatchOutcome dispatch(std::size_t configuration, std::uint64_t most_ns) override;
  Result<Configuration> make(const Settings& settings);
  [[nodiscard]] bool runs_as_another(const Configuration& configuration) const;
  traversal::TraversalOutcome run(Configuration& configuration, std::uint64_t most_ns);
  Result<traversal::TraversalResults> prove(Configuration& configuration, std::uint64_t most_ns);
  Result<void> verify(const Configuration& configuration);

  const traversal::RunOptions run_options_;
  const graphs::FrontierProgram& program_;
  const std::string& folder_;
  traversal::AskedTraversal asked_;
  std::map<device::Strategy, runtime::BuiltKernel> kernels_;
  std::vector<Configuration> configurations_;
  traversal::TraversalResults expected_; // results of the first configuration
};

} // namespace tidegate::tuning
