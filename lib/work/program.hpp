// A wave program as its document states it: OpenCL kernels, buffers, and the waves that run kernels on buffers. Plain
// data; documents.cpp and resolve_waves.cpp describe it.
#pragma once
#include "core/npy.hpp"
#include "device/image_format.hpp"
#include "engine/job.hpp"
#include "engine/kinds.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/planning/wave_dag.hpp>
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::engine {

struct Iota { // element i is start + i * step
  Number start = std::uint64_t{0};
  Number step = std::uint64_t{1};
};

struct Random { // uniform in [low, high); integers default to the whole range of the type
  std::uint64_t seed = 0;
  std::optional<Number> low;
  std::optional<Number> high;
};

// First contents of a buffer or image: exactly one of the first four is set.
struct BufferInit {
  std::optional<Number> fill;
  std::optional<Iota> iota;
  std::optional<Random> random;
  std::optional<std::string> file;   // .npy, .safetensors or raw bytes; relative to the program
  std::optional<std::string> tensor; // of a .safetensors file
  bool convert = false;              // elements of another type
};

// The size determines the kind: image1d_t, image2d_t, image3d_t; with layers, an array of images.
struct ImageSpec {
  ImageFormat format{};
  std::vector<std::uint64_t> size;     // width, height, depth
  std::optional<std::uint64_t> layers; // of an image1d_array_t or image2d_array_t
  bool texel_buffer = false;           // image1d_buffer_t instead of image1d_t
  std::optional<BufferInit> init;      // as for buffers; a file may also be a PNG
  std::optional<std::string> output;   // .npy, .png or raw bytes; relative to the program
  std::optional<std::string> note{};   // for people
  bool raw = false;                    // files of any other ending hold raw bytes
};

// The user's own reference of an output. An element e of it allows e ± (atol + rtol |e|); NaN equals NaN.
struct ExpectSpec {
  std::string file; // .npy or raw bytes; relative to the program
  double rtol = 0;
  double atol = 0;
  bool convert = false; // elements of another type
};

// Without init and output the buffer is transient: undefined until a wave writes it.
struct BufferSpec {
  ElementType type = ElementType::f32;
  std::uint64_t count = 0; // elements; 0: as many as `shape` or the file of `init` has
  std::optional<BufferInit> init;
  std::optional<std::string> output;                 // .npy or raw bytes; relative to the program
  std::optional<std::string> note{};                 // here and below: for people
  std::optional<std::vector<std::uint64_t>> shape{}; // of an .npy output, slowest dimension first
  std::optional<ExpectSpec> expect{};                // of the output
  bool raw = false;                                  // files of any other ending hold raw bytes
};

// A bounded list that waves append to. Without a capacity it has that of the launch policy.
struct HitsSpec {
  ElementType type = ElementType::u32;
  std::uint32_t width = 1;               // elements of a hit: of a vector, or the members of a structure
  std::optional<std::uint64_t> capacity; // hits
  std::optional<std::uint32_t> expected_hits_per_item;
  HitOverflow on_overflow = HitOverflow::error;
  bool sorted = false;               // the output is
  std::optional<std::string> output; // .npy or raw bytes; relative to the program
  std::optional<std::string> note{};
  bool raw = false; // an output of any other ending holds raw bytes
};

struct OpSpec {
  std::string source;                // path, relative to the program
  std::optional<std::string> kernel; // default: the name of the op
  std::string options;               // as for clBuildProgram
  bool queue = false;                // a function that runs one queue item, instead of a kernel
  bool pure = false;                 // queue ops: identical items need to run only once
  std::uint32_t priority = 2;        // queue ops: priority of the items, 0 first
  std::optional<std::string> note{};
};

struct IterationStep {
  Progression::Form form{};
  Number by;
};

// A value that changes with each iteration (formula: lib/engine/job.hpp).
struct IterationSpec {
  std::optional<IterationStep> step; // one of the forms is required
  bool round = false;                // counts rounds of the wave's innermost loop instead
};

struct TypedNumbers { // several make a vector
  ElementType type{};
  std::vector<Number> numbers;
};

// Exactly one of buffer, hits, image, sampler, null, local_bytes, numbers, structure, enumeration and bytes is set.
struct ArgumentSpec {
  std::optional<std::string> buffer;
  std::optional<Access> access; // of a buffer; default: from the kernel's signature
  bool reinterpret = false;     // the kernel deliberately reads the buffer's elements as another type
  std::optional<std::vector<std::uint32_t>>
      halo;                          // tile t touches only the buffer's elements of tiles t - N … t + N
  std::optional<std::uint64_t> rows; // work-item i of the outermost dimension touches only rows i - N … i + N
  std::optional<Combine> combine;    // the kernel changes the buffer's elements only so
  std::optional<std::string> hits;   // a list
  bool null = false;                 // the null pointer
  std::optional<std::string> image;
  std::optional<SamplerSpec> sampler;
  std::optional<std::uint64_t> local_bytes;
  std::optional<TypedNumbers> numbers;
  std::optional<Value> structure;         // members by name
  std::optional<Value> enumeration;       // an enumerator or a number
  std::optional<std::string> bytes;       // hexadecimal, in memory order
  std::optional<IterationSpec> iteration; // of a number
  std::optional<std::string> note;
};

// The wave runs only tiles whose flag is not 0.
struct ActiveSpec {
  std::string buffer; // of flags, one for each tile
};

struct FillSpec {
  std::string buffer;
  Number value = std::uint64_t{0};
  std::uint64_t offset = 0;           // elements
  std::optional<std::uint64_t> count; // elements; default: to the end
};

struct CopySpec {
  std::string from;
  std::string to;
  std::uint64_t from_offset = 0;      // elements of `from`
  std::uint64_t to_offset = 0;        // elements of `to`
  std::optional<std::uint64_t> count; // elements of `from`; default: to its end
};

// An item, whose op and buffers are places in the queue's lists, or names in them.
struct QueueItemSpec {
  std::optional<std::uint32_t> op_handle, input_handle, output_handle;
  std::optional<std::string> op, input, output;
  std::uint32_t param = 0;
};

// The answer to a queue without room for what its ops publish: the run fails, or the program runs again with more room.
enum class FullQueue : std::uint8_t { error, grow };
inline constexpr std::array<std::string_view, 2> full_queue_names{"error", "grow"};

struct QueueSpec {                  // exactly one of items and file
  std::vector<std::string> ops;     // of the program, by handle
  std::vector<std::string> buffers; // likewise
  std::optional<std::vector<QueueItemSpec>> items;
  std::optional<std::string> file; // .ndjson or .jsonl, otherwise 16 bytes per item; relative to the program
  // Requeued items that may wait at once; default: all. If ops publish: items that may run and wait at once.
  std::optional<std::uint32_t> capacity;
  FullQueue on_full = FullQueue::error;
  std::uint32_t most_stalled_rounds = 65536; // consecutive rounds in which no item finishes
  bool runs_ahead = false; // if ops publish: a work-group may run what it has published in the same round
};

struct WaveSpec { // of exactly one kind: `wave_kinds` in resolve_waves.cpp
  std::optional<std::string> name;
  std::optional<std::string> op;
  std::optional<FillSpec> fill;
  std::optional<CopySpec> copy;
  std::optional<QueueSpec> queue;
  Section section = Section::each;
  std::vector<std::uint64_t> global_size; // of an op: work-items, 1 to 3 dimensions
  std::optional<std::vector<std::uint64_t>> local_size;
  std::optional<std::vector<std::uint64_t>> global_offset;
  std::vector<ArgumentSpec> args;
  std::optional<ActiveSpec> active;    // of an op
  std::optional<planning::Wave> bytes; // stated byte envelope, replacing the one computed from the arguments
  std::vector<std::uint32_t> rules;    // source rules of the wave, below 32
  std::optional<std::string> note{};
};

struct ProgramDependency {
  Identifier before; // of waves
  Identifier after;
  bool tile_local = false; // tile t of `after` touches only what tile t of `before` wrote
  // Tile t of `after` touches only what tiles t - N … t + N of `before` touch; N for all dimensions, or one
  // for each.
  std::optional<std::vector<std::uint32_t>> halo = {};
};

// Waves in a row that run several times in an iteration, one after the other.
struct LoopSpec {
  Identifier first; // waves
  std::optional<Identifier> last;
  std::uint32_t repeat = 1;
};

struct Until { // ends the repetition after an iteration that leaves this value in element 0 of the buffer
  std::string buffer;
  Number equals = std::uint64_t{0};
};

struct WaveProgram {
  std::vector<std::pair<std::string, Number>> parameters; // their uses are computed when a program is decoded
  std::vector<std::pair<std::string, BufferSpec>> buffers;
  std::vector<std::pair<std::string, ImageSpec>> images;
  std::vector<std::pair<std::string, HitsSpec>> hits;
  std::vector<std::pair<std::string, OpSpec>> ops;
  std::vector<WaveSpec> waves;
  std::vector<LoopSpec> loops;
  std::optional<std::vector<ProgramDependency>> dependencies; // default: derived
  std::optional<std::uint32_t> repeat;                        // default: once, or unlimited with `until`
  std::vector<std::array<std::string, 2>> swap; // pairs that exchange their contents after every iteration
  std::optional<Until> until;
  std::uint64_t device_memory_budget_bytes = 0; // 0: all memory of the device
  policy::LaunchPolicy policy;
  std::optional<std::string> note;
};

// Makes an invalid_program at a place of the program (RFC 6901).
inline tl::unexpected<Error> invalid_program(std::string message, std::string fix, std::string pointer) {
  return failure(ErrorCode::invalid_program, std::move(message), std::move(fix), std::move(pointer));
}

// A fault of a program, if it is there: its place below a pointer, and what to say.
struct Refusal {
  bool there = false;
  std::string_view key;
  std::string message;
  std::string fix;
  ErrorCode code = ErrorCode::invalid_program;
};

// Returns the first fault that is there as an error.
inline Result<void> first_of(std::span<const Refusal> refusals, const std::string& pointer) {
  const auto found = std::ranges::find(refusals, true, &Refusal::there);
  return found == refusals.end()
             ? Result<void>()
             : failure(found->code, found->message, found->fix, fmt::format("{}{}", pointer, found->key));
}

} // namespace tidegate::engine

namespace tidegate::documents {

TIDEGATE_CHOICES(ElementType, element_type_names);
TIDEGATE_CHOICES(engine::Access, engine::access_names);
TIDEGATE_CHOICES(engine::Combine, engine::combine_names);
TIDEGATE_CHOICES(engine::FullQueue, engine::full_queue_names);
TIDEGATE_CHOICES(engine::Section, engine::section_names);
TIDEGATE_CHOICES(ImageFormat, image_format_names);
TIDEGATE_CHOICES(engine::AddressMode, engine::address_mode_names);
TIDEGATE_CHOICES(engine::FilterMode, engine::filter_mode_names);

TIDEGATE_HAS_RECORD(engine::BufferInit);
TIDEGATE_HAS_RECORD(engine::QueueItemSpec);
TIDEGATE_HAS_RECORD(engine::WaveSpec);
TIDEGATE_HAS_DOCUMENT(engine::WaveProgram);

inline constexpr std::string_view note_meaning = "for people; has no effect";

// Reads a value of a structure as an argument: {"i32": 0, "iteration": {"add": 1}}. Errors: as of decoding, with
// places below `pointer`.
Result<engine::ArgumentSpec> argument_of(const Value& value, const std::string& pointer);

} // namespace tidegate::documents
