// The passes of resolve(): memory, ops and NDRanges, waves. A part that is invalid keeps its name; errors that follow
// from it are not reported again.
#pragma once
#include "work/compiler_macros.hpp"
#include "work/contents.hpp"
#include "work/queue.hpp"

namespace tidegate::engine {

struct ResolveInput {
  const WaveProgram& program;
  const std::string& folder;  // of the program
  const AnswerMacros& answer; // knows the macros of the device's compiler
  PathScope scope = PathScope::folder;
  FileCheck files = FileCheck::none;
  device::Tuning tuning = {};                 // the default work-group size, the publishing of queues
  const device::DeviceInfo* device = nullptr; // that will run it, if it is known
};

// Resolves the names of a program, checks it and lowers it to a job. Errors: invalid_program, unknown_name, duplicate_name,
// argument_mismatch, unsupported_kernel, outside_folder, those of sources and files, each with its place in the program
// or a source. Reports all errors at once, without consequences of other errors.
Result<Job> resolve(const ResolveInput& input);

// Gives a job, as it was resolved and as it runs, the contents of inputs and the files of outputs of another program,
// which differs in nothing else. Errors: as resolve(), of buffers and images.
Result<void> exchange_contents(Job& written, Job& running, const WaveProgram& program, PathScope scope);

// Indices by name; a map, for programs with thousands of names.
using NameIndex = std::map<std::string, std::uint32_t, std::less<>>;

// The index of a name whose definition is invalid.
inline constexpr std::uint32_t invalid_index = std::numeric_limits<std::uint32_t>::max();

Error unknown_name(std::string_view what, std::string_view name, const NameIndex& known, std::string pointer);

// Returns the index of the name; already_reported() if it is invalid.
Result<std::uint32_t> find_name(std::string_view what, std::string_view name, const NameIndex& known,
                                const std::string& pointer);

// Memory.

enum class StorageKind : std::uint8_t { buffer, image, list };

struct ProgramMemory {
  struct Named {
    StorageKind kind{};
    std::uint32_t index = invalid_index;
  };

  std::vector<ProgramBuffer> buffers; // images, with the bytes of their file form, and lists are among them
  std::map<std::string, Named, std::less<>> names;
  std::vector<std::array<std::uint32_t, 2>> swaps;
  std::optional<ResolvedUntil> until;
  FileUses files;

  // Returns the index of a buffer, image or list. `instead` is the fix if the name is that of an image. Errors:
  // unknown_name; invalid_program if it is of another kind.
  [[nodiscard]] Result<std::uint32_t> find(StorageKind kind, const std::string& name,
                                           const std::string& pointer, std::string instead = {}) const;
};

// Error: invalid_program for an impossible image.
Result<ImageShape> shape_of(const ImageSpec& spec, const std::string& pointer);

ProgramMemory resolve_memory(const ResolveInput& input, ErrorList& errors);

// Ops and their sources.

struct ProgramOps {
  std::vector<ProgramUnit> units;
  std::vector<ProgramOp> ops;
  NameIndex op_index;
  std::map<std::string, std::optional<QueueOp>, std::less<>> queue_ops; // no value: invalid
  std::vector<ProgramUnit> queue_units; // their sources, before the kernels of queues have cases for the ops
  std::uint64_t publish_ns = 0;         // of all queues

  [[nodiscard]] const ProgramUnit& unit(std::uint32_t op) const { return units[ops[op].unit]; }
  [[nodiscard]] const opencl_c::Function& function(std::uint32_t op) const {
    return unit(op).unit.functions[ops[op].function];
  }
};

// Reads a source. `answer` is called only for macros that the source depends on. Errors: those of options, reading,
// scope, preprocessor and declarations; one without a source line gets the op's place, `pointer`.
Result<ProgramUnit> read_unit(const OpSpec& spec, const std::string& folder, const AnswerMacros& answer,
                              PathScope scope, const std::string& pointer, SourceFrame frame = {});

tl::unexpected<Error> error_at(const ProgramUnit& unit, std::size_t token, ErrorCode code,
                               std::string message, std::string fix);

tl::unexpected<Error> no_kernel(const ProgramUnit& unit, const opencl_c::Function& function);

// Refuses parameters such as pipes. Error: unsupported_kernel.
Result<void> check_parameter(const ProgramUnit& unit, const opencl_c::Parameter& parameter);

// Returns the op of a kernel under kernels/, whose file is added with all its kernels when the first wave needs one.
Result<std::uint32_t> built_in_op(ProgramOps& ops, const char* file, std::string_view kernel);

// Waves.

// Waves with queues or transfers add kernels; those with queues also add buffers.
std::vector<ProgramWave> resolve_waves(const ResolveInput& input, ProgramMemory& memory, ProgramOps& ops,
                                       NameIndex& names, ErrorList& errors);

// Returns the index of a wave of the document. Error: invalid_wave.
Result<std::uint32_t> wave_of(const NameIndex& names, std::size_t wave_count, const Identifier& wave,
                              const std::string& pointer);

// If an argument changes in one wave of an op, gives all other waves of the op a constant progression.
void spread_progressions(std::vector<ProgramWave>& waves);

// A wave of the document, and what its kind looks up and adds to.
struct WaveInput {
  const ResolveInput& input;
  ProgramMemory& memory;
  ProgramOps& ops;
  const WaveSpec& spec;
  const std::uint32_t index;
  const std::string& pointer; // its place in the document
};

// Kinds of waves: a row for each in `wave_kinds` in resolve_waves.cpp.
Result<ProgramWave> kernel_wave(const WaveInput& in);
Result<ProgramWave> fill_wave(const WaveInput& in);
Result<ProgramWave> copy_wave(const WaveInput& in);
Result<ProgramWave> queue_wave(const WaveInput& in);

// Gives a resolved wave the flags of its active tiles. Error: invalid_program for a buffer that is not a flag for each tile,
// or that the wave writes.
Result<void> add_active(const WaveInput& in, ProgramWave& wave);

// Gives such a wave the kernel that tests its flags. If it repeats, adds buffers for the count of its flags, and returns the
// wave that counts them before it.
Result<std::optional<ProgramWave>> count_active(const ResolveInput& input, ProgramMemory& memory,
                                                ProgramOps& ops, std::uint32_t index, ProgramWave& wave);

// Arguments.

inline ProgramArgument buffer_argument(std::uint32_t buffer, Access access, bool overwrites = false,
                                       bool stated = false) {
  return {.kind = ProgramArgument::Kind::buffer,
          .buffer = buffer,
          .access = access,
          .access_stated = stated,
          .overwrites = overwrites,
          .value = {}};
}
template <class T>
ProgramArgument number_argument(T number) {
  const auto bytes = std::as_bytes(std::span(&number, 1));
  return {.kind = ProgramArgument::Kind::value, .value = {bytes.begin(), bytes.end()}};
}

bool takes_object(const opencl_c::Parameter& parameter); // an image or a sampler

// Returns the type of the elements that the parameter points to if the buffer's differ by more than their sign; nothing
// for structures and void, which accept any.
std::optional<ElementType> other_element(const opencl_c::Parameter& parameter, const ProgramBuffer& buffer);

// Returns the argument that a program would state for this parameter: {"f32": …}.
std::string wanted_argument(const opencl_c::Parameter& parameter, const opencl_c::TranslationUnit& unit);

inline tl::unexpected<Error> argument_mismatch(std::string message, std::string fix, std::string pointer) {
  return failure(ErrorCode::argument_mismatch, std::move(message), std::move(fix), std::move(pointer));
}

// Resolves the progression of a number that starts with these bytes. Errors: invalid_program, out_of_range.
Result<Progression> progression_of(const IterationSpec& spec, ElementType type,
                                   std::span<const std::byte> first, const std::string& pointer);

// Returns a halo in tiles, in x, y and z, from one number for all dimensions or one for each. Error:
// invalid_program.
Result<std::array<std::uint32_t, 3>> stated_halo(const std::vector<std::uint32_t>& halo, const NdRange& range,
                                                 const std::string& pointer);

// Derives from kernels and the numbers of waves: halos, buffers that are wholly overwritten, the rows that work-items
// touch, and buffers of integers that a kernel changes only by atomic additions, minima or maxima. Error: invalid_program
// if the program states a smaller halo, fewer rows or another operation.
Result<void> derive_footprints(Job& program);

std::uint32_t pressure_bps(std::uint64_t bytes, std::uint64_t budget); // 0 without a budget

// Lists of hits: to the engine, buffers with a header, whose elements are in no order.

// Makes the list at its place `pointer` in the program, still without a capacity.
ProgramBuffer resolve_hits(const std::string& name, const HitsSpec& spec, const std::string& folder,
                           const std::string& pointer);

// Numbers from which the policy derives capacities.
struct HitSources {
  std::uint32_t items = 0;        // tiles, and items of queues, of the whole run
  bool endless = false;           // the program repeats without a bound
  std::uint64_t memory_bytes = 0; // of everything but lists
  std::uint64_t budget_bytes = 0; // 0: none given
};

// Gives the list its capacity and memory. Errors: invalid_program for an endless program without a capacity; those
// of the policy.
Result<void> size_list(ProgramBuffer& list, const HitsSpec& spec, const HitSources& sources,
                       const policy::LaunchPolicy& policy);

void size_lists(const ResolveInput& input, ProgramMemory& memory, const std::vector<ProgramWave>& waves,
                ErrorList& errors);

// Checks that a kernel or queue op can append to the list through this parameter. Error: argument_mismatch.
Result<void> check_hits_parameter(const ProgramBuffer& list, const opencl_c::Parameter& parameter,
                                  const opencl_c::TranslationUnit& unit, const std::string& pointer);

} // namespace tidegate::engine
