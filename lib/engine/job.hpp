// A job: all that the engine knows of a program. Buffers, waves and dependencies with every name found, every
// argument checked and every size computed, whatever kind of work a wave was in its document: work/ lowers each
// kind to this form. Plain data.
#pragma once
#include "core/files.hpp"
#include "core/npy.hpp"
#include "device/image_format.hpp"
#include "opencl_c/preprocessor.hpp"
#include "opencl_c/translation_unit.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/planning/wave_dag.hpp>
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::runtime {}

namespace tidegate::engine {

using namespace runtime; // monitors, memory, slices, outcomes

// Defined in kinds.hpp.
struct ActiveTiles;
struct ProgramHits;
struct ProgramQueue;

using Tiles = std::array<std::uint32_t, 3>; // in x, y and z

// Empty if begin >= end.
template <class Number>
struct HalfOpen {
  Number begin = 0;
  Number end = 0;

  [[nodiscard]] bool empty() const { return begin >= end; }
  [[nodiscard]] Number size() const { return empty() ? 0 : end - begin; }
  [[nodiscard]] HalfOpen common(const HalfOpen& other) const {
    return {std::max(begin, other.begin), std::min(end, other.end)};
  }
  // Returns the least range that holds both.
  [[nodiscard]] HalfOpen hull(const HalfOpen& other) const {
    return empty()         ? other
           : other.empty() ? *this
                           : HalfOpen{std::min(begin, other.begin), std::max(end, other.end)};
  }
  friend bool operator==(const HalfOpen&, const HalfOpen&) = default;
};

enum class Access : std::uint8_t { read, write, read_write };
inline constexpr std::array<std::string_view, 3> access_names{"read", "write", "read_write"};

// A wave runs once before the iterations, in each iteration, or once after them.
enum class Section : std::uint8_t { before, each, after };
inline constexpr std::array<std::string_view, 3> section_names{"before", "each", "after"};

// The difference of two contents whose elements are in no order.
struct UnorderedDifference {
  std::uint64_t elements = 0; // that only one of them has
  std::uint64_t first = 0;    // index of the first of them, sorted
  std::string expected, found;
};

// The user's own reference of an output.
struct ExpectedOutput {
  std::string file;
  double rtol = 0; // an element e allows e ± (atol + rtol |e|)
  double atol = 0;
  std::function<Result<std::vector<std::byte>>()> read = {};
};

// Arguments whose value changes with each iteration i: first + by * i, first * by^i, or first / by^i rounded down,
// where first is not negative and by at least 2. Integers are computed in 64 bits and truncated to the type. Floats are only added, with one rounding (fma).
// kernels/wave/progression.cl computes it, on the device and here for launches of the user's kernels.
struct Progression {
  enum class Form : std::uint8_t { add, multiply, divide };
  ElementType type = ElementType::u32;
  Form form = Form::add;
  std::uint64_t first = 0; // integers sign-extended, floats as bits
  std::uint64_t by = 0;    // likewise

  friend bool operator==(const Progression&, const Progression&) = default;
};

// A changing number in a value, at this offset in bytes: the value itself, or a member of a structure.
struct Change {
  std::uint64_t offset = 0;
  Progression progression;
  bool by_round = false; // counts rounds of a loop instead, until loops are unrolled

  friend bool operator==(const Change&, const Change&) = default;
};

// Reads the number at the start of these bytes, as one that never changes.
Progression constant_progression(ElementType type, std::span<const std::byte> bytes);

// Returns the number in an iteration, as clSetKernelArg takes it.
std::vector<std::byte> value_in(const Progression& progression, std::uint32_t iteration);

std::vector<std::byte> value_in(std::vector<std::byte> value, std::span<const Change> changes,
                                std::uint32_t iteration);

// Layout that kernels/wave/progression.cl reads.
inline constexpr std::size_t progression_words = 3;
std::array<std::uint64_t, progression_words> descriptor_words(const Progression& progression);

// Memory that waves read and write: a buffer, or an image, whose elements are those of its file, row by row.
struct ProgramBuffer {
  std::string name;
  std::string pointer = {}; // its place in the document; empty if no document names it
  ElementType type = ElementType::f32;
  std::uint64_t count = 0; // elements
  std::uint64_t bytes = 0;
  std::uint64_t row_bytes = 0; // along the first dimension of its shape; 0 if the program states none
  bool swapped = false;
  std::optional<ImageShape> image{};
  // Returns its contents before the first wave, or their start: the bytes after it are undefined. Empty: no
  // contents.
  std::function<Result<std::vector<std::byte>>()> first = {};
  // If it is not empty: returns these bytes of them, without the memory for all; both are multiples of the element
  // size.
  std::function<Result<std::vector<std::byte>>(std::uint64_t begin, std::uint64_t bytes)> first_part = {};
  std::string content = {}; // name of these contents: equal names, equal contents; empty if unknown
  // The file that gets its contents after the last wave, and the function that writes it.
  std::optional<std::string> output = {};
  std::function<Result<void>(std::span<const std::byte> contents)> write = {};
  std::optional<std::string> output_head = {}; // of the file, if the contents follow it as they are
  std::optional<ExpectedOutput> expected{};
  // At its start: counts, which start anew in each run and are read back however it ends.
  std::uint64_t counted_bytes = 0;
  // If its elements are in no order: compares two contents.
  std::function<UnorderedDifference(std::span<const std::byte> expected, std::span<const std::byte> found)>
      compare = {};
  std::shared_ptr<const ProgramHits> hits = {};

  [[nodiscard]] bool is_unordered() const { return compare != nullptr; }
  [[nodiscard]] bool is_result() const { return output || is_unordered(); }
  [[nodiscard]] bool is_read_back() const { return is_result() || counted_bytes != 0; }
  // Neither its first nor its last contents matter.
  [[nodiscard]] bool transient() const { return !first && !output && !swapped; }
  // Returns true if its memory is a separate object, as that of images is.
  [[nodiscard]] bool is_object() const { return image.has_value(); }
  [[nodiscard]] bool in_arena() const { return !is_object(); }
  [[nodiscard]] std::string_view kind() const { return is_object() ? "image" : "buffer"; }
};

// Text compiled before and after the user's file, if any.
struct SourceFrame {
  std::string before, after; // whole lines
};

struct ProgramUnit {
  std::string path;
  std::vector<std::string> files; // all files read: the path and its includes
  std::string options;            // as the program states them
  opencl_c::CompilerOptions parsed_options;
  opencl_c::TranslationUnit unit;
  std::string built_in =
      {}; // tidegate's source, which goes with any options and work-group size; empty: a file
  SourceFrame frame = {};
  std::string rewritten =
      {}; // text with more kernels than the file, in its place and its frame's; may be empty
};

struct ProgramOp {
  std::string name;
  std::uint32_t unit = 0;
  std::uint32_t function = 0; // index into the unit's functions
};

// Rows of a buffer that a work-item touches: with number i in the outermost dimension, i - reach to i + reach.
struct RowReach {
  std::uint64_t row_bytes = 0;
  std::uint64_t reach = 0;
  std::uint64_t beyond = 0; // bytes before and after these rows that it touches, too
  std::uint64_t wraps = 0;  // rows of a torus, whose first follow the last; 0: none
};

// A kernel changes elements of a buffer that all its work-groups share only so; then ranks can combine theirs.
enum class Combine : std::uint8_t { sum, min, max };
inline constexpr std::array<std::string_view, 3> combine_names{"sum", "min", "max"};

// Bytes from the first that a launch touches to the last; a buffer may have neither.
using Touched = HalfOpen<std::int64_t>;

struct ProgramArgument {
  enum class Kind : std::uint8_t { buffer, image, sampler, null, local, value };
  Kind kind = Kind::value;
  std::uint32_t buffer = 0; // or image
  Access access = Access::read;
  bool access_stated = false; // by the program, not by the kernel's signature
  bool overwrites = false;    // proven: the wave neither needs nor keeps the buffer's old contents
  std::string
      reinterpreted; // the other type that the kernel reads its elements as, unless stated as intended
  std::uint64_t local_bytes = 0;
  std::vector<std::byte> value; // as clSetKernelArg takes it: a vector of 3 takes the space of 4
  std::uint32_t alignment = 0;  // of the value, bytes; 0: its size
  // Numbers of the value that change with the iteration, by offset. All waves of an op have the same: they share the
  // code.
  std::vector<Change> changes = {};
  SamplerSpec sampler{};
  // If known: tile t touches only elements of tiles within this distance, in x, y and z.
  std::optional<Tiles> halo = {};
  // If the halo was derived from the kernel: bytes from one id to the next, in each dimension; 0 where an id moves nothing.
  std::array<std::uint64_t, 3> id_bytes{};
  bool assigned_first = false; // every work-item assigns its element before any other access
  bool changed_first = false;  // each work-item adds to an element, or the like, before any other access
  bool neighbours = false;     // if the halo was derived: a work-item touches elements of other ids
  std::optional<Touched> reach = {};   // if known: no other bytes are touched
  std::optional<Touched> certain = {}; // these are touched whatever memory holds
  std::string any_element = {};        // why it may touch any element, with the place; empty if that is known
  std::optional<RowReach> rows = {};   // if known
  std::optional<Combine> combine = {}; // if stated or proven

  [[nodiscard]] bool is_object() const { return kind == Kind::image || kind == Kind::sampler; }
  [[nodiscard]] bool is_memory() const { return kind == Kind::buffer || kind == Kind::image; }
  [[nodiscard]] bool is_of(std::uint32_t memory) const { return is_memory() && buffer == memory; }
  [[nodiscard]] bool writes() const { return is_memory() && access != Access::read; }
  [[nodiscard]] bool knows_rows() const { return rows && rows->row_bytes != 0; }
  // True if the halos of both count the same elements; stated ones count as any.
  [[nodiscard]] bool counts_like(const ProgramArgument& other) const {
    constexpr std::array<std::uint64_t, 3> stated{};
    return id_bytes == stated || other.id_bytes == stated || id_bytes == other.id_bytes;
  }
};

// In x, y and z; unused dimensions have size 1.
struct NdRange {
  std::uint32_t dimensions = 1;
  std::array<std::uint32_t, 3> global{1, 1, 1};
  std::array<std::uint32_t, 3> local{1, 1, 1};
  std::array<std::uint64_t, 3> offset{0, 0, 0};
  std::array<std::uint32_t, 3> groups{1, 1, 1};

  [[nodiscard]] std::uint32_t tiles() const { return groups[0] * groups[1] * groups[2]; }
  [[nodiscard]] std::uint32_t group_size() const { return local[0] * local[1] * local[2]; }
  [[nodiscard]] std::uint64_t work_items() const { return std::uint64_t{global[0]} * global[1] * global[2]; }
  // True if the last group of a dimension has fewer work-items than the others.
  [[nodiscard]] bool ragged() const {
    return global[0] % local[0] != 0 || global[1] % local[1] != 0 || global[2] % local[2] != 0;
  }

  friend bool operator==(const NdRange&, const NdRange&) = default;
};

// The fill or copy command of OpenCL that does what a wave's built-in kernel does.
struct TransferCommand {
  std::optional<std::uint32_t> from; // of a copy
  std::uint32_t to = 0;
  std::uint64_t from_offset = 0; // bytes
  std::uint64_t to_offset = 0;
  std::uint64_t bytes = 0;
  std::vector<std::byte> pattern; // of a fill: one element
};

// A wave that repeats until its state says that no item is left.
struct Rounds {
  std::uint32_t age_threshold = 0; // rounds, from the policy
  std::uint32_t most_stalled_rounds = 0;
  std::uint32_t capacity = 0; // requeued items that may wait at once; if ops publish, items of any kind
};

struct ProgramWave {
  std::string name;  // empty without one
  std::string title; // for sentences, if its index is not the one in the document; may be empty
  std::uint32_t op = 0;
  Section section = Section::each;
  bool users_kernel = true; // its op is a kernel as the user wrote it
  bool tests_flags = false; // its kernel returns where a tile is not active
  NdRange range;
  std::vector<ProgramArgument> arguments;
  planning::Wave bytes;
  std::uint32_t rules = 0; // bit n: source rule n
  // Waves of the document that a tile runs one after another: several have no kernel that could be launched alone.
  std::uint32_t joined_waves = 1;
  // The wave right after it in the program's order, whatever its index, whose tiles it counts.
  std::optional<std::uint32_t> prepares = {};
  bool prepared = false; // another wave counts before it which of its tiles run
  // If it runs items of a list, in any order, instead of its work-items: their number.
  std::optional<std::uint64_t> listed_items = {};
  std::optional<std::uint32_t> state = {}; // the buffer that says whether its work failed
  std::optional<Rounds> rounds = {};
  std::uint32_t own_arguments = 0; // its first arguments, which tidegate adds
  std::shared_ptr<const ProgramQueue> queue = {};
  std::shared_ptr<const ActiveTiles> active = {};
  std::optional<TransferCommand> command = {}; // used where the wave is launched alone
  std::optional<std::uint32_t> place = {};     // index in the document, if it is another one
  std::vector<std::string> early_returns =
      {}; // that some work-items of a group take, where others come to a barrier

  [[nodiscard]] bool in_rounds() const { return rounds.has_value(); }
  [[nodiscard]] std::span<const ProgramArgument> users_arguments() const {
    return std::span(arguments).subspan(own_arguments);
  }
  // Returns the number of listed items, otherwise of tiles.
  [[nodiscard]] std::uint64_t items() const { return listed_items.value_or(range.tiles()); }
};

// The op that starts the next round.
inline std::uint32_t turn_op(const ProgramWave& wave) {
  return wave.op + 2;
}

struct ResolvedDependency {
  std::uint32_t before = 0;
  std::uint32_t after = 0;
  // If known: tile t of `after` touches only what tiles of `before` within this distance of t touch, in x, y
  // and z. Zero means tile-local.
  std::optional<Tiles> halo = {};
  std::optional<std::size_t> index = {}; // in the program's list; none for derived ones
  bool contributes = true;               // false if `after` only overwrites what `before` has read

  [[nodiscard]] bool tile_local() const { return halo == Tiles{}; }
};

struct ResolvedUntil {
  std::uint32_t buffer = 0;
  std::vector<std::byte> value; // one element
};

struct Job {
  std::string folder;                 // base of the program's paths
  FileUses files;                     // that the program reads and writes
  std::vector<ProgramBuffer> buffers; // followed by images
  std::vector<ProgramUnit> units;
  std::vector<ProgramOp> ops;
  std::vector<ProgramWave> waves;
  std::vector<ResolvedDependency> dependencies;
  bool derived = false;         // the dependencies were derived
  std::uint32_t iterations = 1; // upper bound
  std::vector<std::array<std::uint32_t, 2>> swaps;
  std::optional<ResolvedUntil> until;
  std::uint64_t budget_bytes = 0; // 0: none given
  std::uint64_t publish_ns = 0;   // that grouping the items of queues and removing duplicates took
  bool fp_contract_off = false;   // sources are compiled without contracting a * b + c
  policy::LaunchPolicy policy;
  std::vector<std::string> assumed_macros; // names that the sources depend on, where no device was asked

  [[nodiscard]] const opencl_c::Function& function(std::uint32_t op) const {
    return units[ops[op].unit].unit.functions[ops[op].function];
  }
  [[nodiscard]] const ProgramUnit& unit(std::uint32_t op) const { return units[ops[op].unit]; }
  // Returns how often a wave runs, at most.
  [[nodiscard]] std::uint64_t runs_of(const ProgramWave& wave) const {
    return wave.section == Section::each ? iterations : 1;
  }
  // Precedes every source, generated or the user's; may be empty.
  [[nodiscard]] std::string_view contraction_pragma() const {
    return fp_contract_off ? "#pragma OPENCL FP_CONTRACT OFF\n" : "";
  }
  [[nodiscard]] bool publishes() const;
  [[nodiscard]] std::string wave_text(std::uint32_t wave) const;
  // Returns its place in the document (RFC 6901).
  [[nodiscard]] std::string wave_pointer(std::uint64_t wave) const;
};

// How the arguments of a wave use a buffer or an image.
struct MemoryUse {
  std::uint32_t wave = 0; // of uses_by_buffer()
  std::uint32_t buffer = 0;
  bool reads = false;
  bool writes = false;
  bool stated = true;     // every argument states its access
  bool overwrites = true; // none needs or keeps the old contents
};

// In order of buffers.
std::vector<MemoryUse> uses_of(std::span<const ProgramArgument> arguments);

// Returns the uses of each buffer or image, in order of waves.
std::vector<std::vector<MemoryUse>> uses_by_buffer(const Job& program);

// Two waves use the same memory, and one of them writes it. Passes read the conflicts; what checks them (wait_check.cpp,
// window_violation) compares arguments itself.
struct Conflict {
  std::optional<Tiles> halo = Tiles{}; // tile t conflicts with tiles t - halo … t + halo; empty: with any
  bool by_element = true;              // a work-item conflicts only with the one that has its number

  void widen(const Conflict& other);
};

// The memory that two buffers have in common.
enum class Sharing : std::uint8_t { nothing, bytes, all };

class Conflicts {
public:
  explicit Conflicts(const Job& program); // which must outlive it

  // Returns the conflict of a wave with one that runs after it, `distance` iterations later. `sharing` compares the memory
  // of a buffer of the first with that of one of the second; without it, only a buffer itself shares.
  using SharingOf = std::function<Sharing(std::uint32_t, std::uint32_t)>;
  [[nodiscard]] std::optional<Conflict> between(std::uint32_t first, std::uint32_t second,
                                                std::uint32_t distance = 0,
                                                const SharingOf& sharing = {}) const;

private:
  const Job& program_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, const ResolvedDependency*> listed_;
};

inline std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? ~std::uint64_t{0} : sum;
}

// Returns the sum of what `of` returns of each element.
template <class Range, class Of>
std::uint64_t saturating_sum(const Range& range, const Of& of) {
  return std::accumulate(
      range.begin(), range.end(), std::uint64_t{0},
      [&](std::uint64_t sum, const auto& each) { return saturating_add(sum, std::invoke(of, each)); });
}

// Returns the bytes that a wave moves: buffers that it writes count as output, others as frontier.
planning::Wave envelope_of(std::span<const ProgramBuffer> buffers,
                           std::span<const ProgramArgument> arguments);

// Returns the waves in the program's order of execution: by section, then by index.
std::vector<std::uint32_t> section_order(const std::vector<ProgramWave>& waves);

// Derives dependencies from reads and writes in that order: a read waits for the last write before it; a
// write waits for that write and all reads since.
std::vector<ResolvedDependency> derive_dependencies(const std::vector<ProgramWave>& waves,
                                                    std::size_t buffer_count);

// Returns a topological order of the waves, as close as possible to the program's own order, or to that of
// `ranks` by wave.
std::vector<std::uint32_t> program_order(const Job& program, std::span<const std::uint64_t> ranks = {});

// Returns the DAG for the planners: a section waits for all of the previous section. The budget is dropped if
// all buffers fit into it together.
planning::WaveDag wave_dag(const Job& program, std::uint64_t budget_bytes);

// Refuses outputs that would replace inputs or each other, of the program and of the command line (`files`):
// see refuse_overwriting().
Result<void> keep_inputs(const Job& job, FileUses files);

// Returns the parameter type that takes the image: "image2d_t", "image2d_depth_t" for depth formats.
std::string_view type_name(const ImageShape& shape);

// Returns "rgba_unorm8 of 640 x 480", with layers "… in 4 layers".
std::string describe(const ImageShape& shape);

// Returns the shape of the array in a file, slowest dimension first: layers or depth, height, width, and
// channels if several.
std::vector<std::uint64_t> array_shape(const ImageShape& shape);

} // namespace tidegate::engine
