// Proof of equal output: the same kernels as plain launches, one per wave in the program's order, with
// separate buffers. It uses neither the generated kernel nor the arena nor the plan.
#pragma once
#include "engine/arena_run.hpp"

namespace tidegate::engine {

struct Difference {
  std::string buffer;
  std::uint64_t element = 0;
  std::string expected; // result of the plain launches
  std::string found;
};

// Likely cause of differing outputs.
enum class DifferenceCause : std::uint8_t {
  race,     // plain launches do not repeat their outputs
  order,    // this run does not repeat its outputs
  rounding, // floats that differ by some units in the last place
  unknown,
  item_order, // the outputs depend on the order of a queue's items
};
inline constexpr std::array<std::string_view, 5> difference_cause_names{"race", "order", "rounding",
                                                                        "unknown", "item_order"};

struct OutputParity {
  std::uint64_t checked = 0; // buffers
  bool equal = false;
  std::optional<Difference> first_difference;
  std::uint64_t differing_elements = 0;
  std::optional<std::uint64_t>
      largest_difference_ulp;                  // units in the last place, if only finite floats differ
  std::optional<DifferenceCause> likely_cause; // if they differ
  std::optional<bool>
      items_reversed; // true: this run is equal, and plain launches with items in reverse differ
};

// An output next to the user's own reference.
struct ExpectedReport {
  std::string buffer;
  std::string file;
  double rtol = 0;
  double atol = 0;
  bool equal = false; // within the tolerances
  std::uint64_t elements = 0;
  std::uint64_t outside = 0;       // elements outside of the tolerances
  std::optional<Difference> worst; // the one that is nearest to them or farthest outside, if any differs
};

// Kinds of runs under stress, by their difference from plain launches in the program's order.
enum class StressKind : std::uint8_t {
  wave_order, // plain launches of the waves in another order that the dependencies allow
  launch,     // the strategies, with tiles in another order and late work-groups
  barrier,
  counters,
};
inline constexpr std::array<std::string_view, 4> stress_kind_names{"wave_order", "launch", "barrier",
                                                                   "counters"};

struct StressFailure {
  std::uint64_t seed = 0; // --stress 1 with this seed repeats it
  StressKind kind = StressKind::wave_order;
  std::string variation = {};         // for people
  RunStatus status = RunStatus::done; // outputs_differ, or how it ended without outputs
  std::optional<OutputParity> difference = {};
  // Two waves whose order decides, or else those that write the differing buffer.
  std::vector<std::string> waves = {};
  bool order_decides = false; // of the two waves
};

struct StressReport {
  std::uint64_t runs = 0;            // that were requested
  bool in_time = true;               // all of them, or those before the failure
  std::vector<StressKind> completed; // runs
  std::optional<StressFailure> failure;
};

// A candidate of a program's first runs, in the order in which they try them.
struct FirstCandidate {
  std::string value;
  std::optional<double> ratio; // its time divided by that of plain launches; empty if it was not timed
  bool taken = false;
  std::string thrown_out; // why it was rejected; or empty

  [[nodiscard]] bool tried() const { return ratio.has_value() || !thrown_out.empty(); }
};

// The choice of a launch plan by the first runs of a program on a device: candidates are compared with plain launches
// on the program's data, and timed, until each has been tried. Later runs reuse the result.
struct FirstRun {
  bool compared = false;        // with plain launches
  bool equal = false;           // the outputs of what runs, in every byte
  bool measured = false;        // candidates were timed
  bool kept = false;            // in the user's folder, for later runs
  bool settled = false;         // no later run tries candidates
  std::string reason;           // for people
  std::string next;             // what the next run does, for people
  std::uint64_t repeat = 0;     // of the program when candidates were timed; 0: unknown
  std::uint64_t iterations = 0; // compared iterations; 0 if nothing was compared
  std::uint64_t budget_ns = 0;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t runs = 0;
  std::optional<double> plain_ns;         // medians of a dispatch of those iterations
  std::vector<FirstCandidate> candidates; // as the first of the runs has listed them
  std::optional<OutputParity> difference; // of a candidate that differed from plain launches
};

// Compares the outputs byte for byte.
OutputParity compare_outputs(const Job& program, const HostContents& expected, const HostContents& found);

// Compares an output with the user's own reference.
ExpectedReport compare_expected(const ProgramBuffer& buffer, std::span<const std::byte> expected,
                                std::span<const std::byte> found);

// Returns the most likely cause of a difference, given whether each way repeats its outputs: a way that does
// not has a race. Repeatable floats that differ by up to some thousand units in the last place were rounded
// differently.
DifferenceCause likely_cause(const OutputParity& parity, bool plain_repeats, bool run_repeats,
                             bool publishes = false);

struct PlainRun {
  HostContents outputs;          // by buffer; empty without an output
  std::uint64_t dispatch_ns = 0; // from the first launch to the end of the last
  std::uint64_t elapsed_ns = 0;  // with filling memory and reading it back, without compilation
  bool in_time = true;
};

// Variations of plain launches.
struct PlainWay {
  std::span<const std::uint32_t> order = {}; // of the waves; empty: the program's
  QueueWay queues = QueueWay::check;
  const Arena* memory = nullptr; // in place of a block for each buffer
  // With them each wave runs alone between both; `after` returns false to end the run.
  std::function<void(std::uint32_t wave, std::uint32_t iteration)> before = {};
  std::function<bool(std::uint32_t wave, std::uint32_t iteration)> after = {};
};

// Plain launches of a program, and comparisons with their outputs.
class Reference {
public:
  // All references must outlive it. Throws device::Refused.
  Reference(const device::Session& session, const Job& program,
            const std::vector<std::vector<std::uint32_t>>& storage, const HostContents& first);

  // The waves of the first iteration run one by one, and the monitor knows which: for runs that are not timed.
  void one_by_one(Monitor& monitor) { monitor_ = &monitor; }

  // Allocates, runs, reads the outputs back and frees the memory. Throws device::Refused.
  PlainRun run(std::chrono::steady_clock::time_point deadline, const PlainWay& way = {});

  // Compares with the outputs that are expected.
  [[nodiscard]] OutputParity compare(const HostContents& found) const;

  // Finds the cause of a difference: runs both ways again, because one that does not repeat is a race.
  void find_cause(OutputParity& parity, const HostContents& found, const RunContext& context,
                  const DispatchLimits& limits);

  HostContents expected; // outputs of a run in the program's order; set by the caller

private:
  const device::Session& session_;
  const Job& program_;
  const std::vector<std::vector<std::uint32_t>>& storage_;
  const HostContents& first_;
  Monitor* monitor_ = nullptr;
  PlainPrograms programs_;
};

struct Proof {
  bool in_time = true; // the plain launches finished; otherwise nothing was compared
  OutputParity parity;
  std::optional<StressReport> stress;   // if requested and the outputs are equal
  std::optional<Comparison> comparison; // likewise

  // Returns true if all that was requested was done, and no output differed.
  [[nodiscard]] bool holds() const {
    return in_time && parity.equal && (!stress || (stress->in_time && !stress->failure));
  }
};

// Runs the plain launches and compares `outputs` with theirs; then runs the program under stress, and times both ways,
// as the options say. Throws device::Refused.
Proof prove(const RunContext& run, const HostContents& first, const HostContents& outputs,
            const DispatchLimits& limits);

// Compares each run with what the reference expects, and ends with the first that differs. Throws device::Refused.
StressReport run_under_stress(const RunContext& run, const HostContents& first, Reference& reference,
                              std::chrono::steady_clock::time_point deadline);

enum class Side : std::uint8_t { before, after };
inline constexpr std::array<std::string_view, 2> side_names{"before", "after"}; // in documents

// A wave that wrote outside a buffer.
struct BoundsViolation {
  std::string wave;
  std::uint64_t iteration = 0;
  std::string buffer;
  Side side = Side::after;
  std::uint64_t distance_bytes = 0; // of the nearest changed byte; 0: the first byte past the end
  std::uint64_t changed_bytes = 0;  // of the guard
  std::uint64_t buffer_bytes = 0;
};

// Returns where it wrote: past the end of "sums" (first byte at offset 280, 4 bytes changed).
std::string place_text(const BoundsViolation& violation);

struct BoundsReport {
  std::uint64_t checked_waves = 0; // launches after which the guards were checked
  bool complete = true;            // the program finished in time, or reached a violation
  std::vector<BoundsViolation> violations;
};

// Runs the program without writing outputs. Ends at the first wave that wrote out of bounds, with all bytes
// that it changed, or at the monitor's deadline, which starts after the build. Errors: of the device, of
// building, of the program's files.
Result<BoundsReport> check_bounds(const CompiledProgram& compiled, const device::DeviceInfo& device,
                                  const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine

namespace tidegate::documents {

TIDEGATE_CHOICES(engine::StressKind, engine::stress_kind_names);
TIDEGATE_CHOICES(engine::DifferenceCause, engine::difference_cause_names);
TIDEGATE_CHOICES(engine::Side, engine::side_names);

TIDEGATE_HAS_RECORD(engine::FirstCandidate);
TIDEGATE_HAS_RECORD(engine::FirstRun);
TIDEGATE_HAS_DOCUMENT(engine::FirstRun); // as it is kept for later runs

} // namespace tidegate::documents
