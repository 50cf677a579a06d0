// The passes of resolve(): ops and NDRanges, memory, waves. A part of the document that could not be read
// keeps its name and is marked invalid; errors that follow from it are not reported again.
#pragma once
#include "engine/job.hpp"
#include "opencl_c/translation_unit.hpp"
#include "work/compiler_macros.hpp"
#include "work/contents.hpp"
#include "work/program.hpp"
#include "work/queue.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/profile.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// Resolves the names of a program, checks it and lowers it to a job. `folder` is the program's; `answer` knows the
// macros of the device's compiler; `files` selects checks of data files; `tuning` sets the default work-group size and
// the publishing of queues; `unread` lists places of the document that could not be read: these are errors, and
// the rest is still checked; `device` will run it, if it is known. Errors: invalid_program,
// unknown_name, duplicate_name, argument_mismatch, unsupported_kernel, outside_folder, those of sources and files, each
// with its place in the program or a source. Reports all errors at once, without consequences of other errors.
Result<Job> resolve(const WaveProgram& program, const std::string& folder, const AnswerMacros& answer,
                    PathScope scope = PathScope::folder, FileCheck files = FileCheck::none,
                    const device::Tuning& tuning = {}, const UnreadLocations& unread = {},
                    const device::DeviceInfo* device = nullptr);

// Gives a job, as it was resolved and as it runs, the contents of inputs and the files of outputs of another program,
// which differs in nothing else. Errors: as resolve(), of buffers and images.
Result<void> exchange_contents(Job& written, Job& running, const WaveProgram& program, PathScope scope);

// Indices by name; a map, for programs with thousands of names.
using NameIndex = std::map<std::string, std::uint32_t, std::less<>>;

// The index of a name whose definition is invalid.
inline constexpr std::uint32_t invalid_index = std::numeric_limits<std::uint32_t>::max();

// Returns unknown_name, with the closest known name as a suggestion.
Error unknown_name(std::string_view what, std::string_view name, const NameIndex& known, std::string pointer);

// Returns the index of the name; already_reported() if it is invalid.
Result<std::uint32_t> find_name(std::string_view what, std::string_view name, const NameIndex& known,
                                const std::string& pointer);

// Arguments of resolve().
struct ResolveInput {
  const WaveProgram& program;
  const std::string& folder;
  const AnswerMacros& answer;
  const PathScope scope;
  const FileCheck files;
  const device::Tuning& tuning;
  const UnreadLocations& unread;
  const device::DeviceInfo* device;

  // Returns already_reported() if some part below `pointer` could not be read.
  [[nodiscard]] Result<void> wholly_read(std::string_view pointer) const;

  // Does the same as find_name(), for a part of the document that may have been read incompletely.
  [[nodiscard]] Result<std::uint32_t> find_in(std::string_view part, std::string_view what,
                                              std::string_view name, const NameIndex& known,
                                              const std::string& pointer) const;
};

struct ProgramOps {
  std::vector<ProgramUnit> units;
  std::vector<ProgramOp> ops;
  NameIndex op_index;
  std::map<std::string, std::optional<QueueOp>, std::less<>> queue_ops; // no value: invalid
  std::uint64_t publish_ns = 0;                                         // of all queues

  [[nodiscard]] const ProgramUnit& unit(std::uint32_t op) const { return units[ops[op].unit]; }
  [[nodiscard]] const opencl_c::Function& function(std::uint32_t op) const {
    return unit(op).unit.functions[ops[op].function];
  }
};

ProgramOps resolve_ops(const ResolveInput& input, ErrorList& errors);

struct ProgramMemory {
  std::vector<ProgramBuffer> buffers; // images are among them, with the bytes of their file form
  NameIndex buffer_index;
  NameIndex image_index;
  NameIndex hits_index; // lists of hits, also among the buffers
};

// Checks the spec at its place `pointer` in the program. Error: invalid_program for an impossible image.
Result<ImageShape> shape_of(const ImageSpec& spec, const std::string& pointer);

ProgramMemory resolve_memory(const ResolveInput& input, ErrorList& errors);

// Returns the index pairs of swapped buffers.
std::vector<std::array<std::uint32_t, 2>> resolve_swaps(const ResolveInput& input,
                                                        const ProgramMemory& memory, ErrorList& errors);

Result<std::optional<ResolvedUntil>> resolve_until(const ResolveInput& input, const ProgramMemory& memory);

// Returns the index of a buffer; `instead` is the fix if the name is that of an image.
Result<std::uint32_t> find_buffer(const ResolveInput& input, const ProgramMemory& memory,
                                  const std::string& name, const std::string& pointer,
                                  const std::string& instead);
Result<std::uint32_t> find_argument_buffer(const ResolveInput& input, const ProgramMemory& memory,
                                           const std::string& name, const std::string& pointer);
Result<std::uint32_t> find_image(const ResolveInput& input, const ProgramMemory& memory,
                                 const std::string& name, const std::string& pointer);

Result<std::uint32_t> find_hits(const ResolveInput& input, const ProgramMemory& memory,
                                const std::string& name, const std::string& pointer);

// Wave names, for resolving dependencies.
struct WaveNames {
  NameIndex index;
  std::vector<bool> sound; // by wave
  bool some_is_unread = false;
};

// Waves with queues or transfers add kernels; those with queues also add buffers.
struct ResolvedWaves {
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramUnit> units;
  std::vector<ProgramOp> ops;
  std::vector<ProgramWave> waves;
  WaveNames names;
  std::uint64_t publish_ns = 0;
};

ResolvedWaves resolve_waves(const ResolveInput& input, ProgramMemory memory, ProgramOps ops,
                            ErrorList& errors);

// Returns the index of a wave of the document, by index or name. Errors: invalid_wave.
Result<std::uint32_t> wave_of(const WaveNames& names, std::size_t wave_count, const Identifier& wave,
                              const std::string& pointer);

// Returns the waves in the order in which an iteration runs them, those of a loop once for each of its turns.
// Errors: invalid_wave, invalid_program, out_of_range; then it returns the waves as they are.
std::vector<ProgramWave> unrolled(const ResolveInput& input, const WaveNames& names,
                                  const std::vector<ProgramWave>& waves, ErrorList& errors);

// If an argument changes in one wave of an op, gives all other waves of the op a constant progression.
void spread_progressions(std::vector<ProgramWave>& waves);

// Sources.

// Reads a source. `answer` supplies predefined macros, and is called only for macros that the source depends
// on. Errors: those of options, reading, scope, preprocessor and declarations; an error without a source line
// gets the op's place, `pointer`.
Result<ProgramUnit> read_unit(const OpSpec& spec, const std::string& folder, const AnswerMacros& answer,
                              PathScope scope, const std::string& pointer, SourceFrame frame = {});

// Returns the error for a function that should be a kernel.
Error no_kernel(const ProgramUnit& unit, const opencl_c::Function& function);

// Refuses a kernel with the name of a built-in function: drivers build it and then find no kernel. Error:
// kernel_source.
Result<void> check_kernel_name(const ProgramUnit& unit, const opencl_c::Function& kernel);

// Kinds of waves: a row for each in `wave_kinds` in resolve_waves.cpp, a function in the file of the kind.

// A wave of the document, and what its kind looks up and adds to.
struct WaveInput {
  const ResolveInput& input;
  ProgramMemory& memory;
  ProgramOps& ops;
  const WaveSpec& spec;
  const std::uint32_t index;
  const std::string& pointer; // its place in the document
};

// Lowers a wave that runs an op; checks only the names in a wave whose kind could not be read. Errors: invalid_program,
// unknown_name, argument_mismatch, out_of_range, unsupported_kernel.
Result<ProgramWave> kernel_wave(const WaveInput& in);

// Refuses a range, arguments or active tiles in a wave of another kind, `what`. Error: invalid_program.
Result<void> no_kernel_keys(const WaveInput& in, std::string_view what);

// Returns why no loop may hold the wave: a noun; empty if one may.
std::string_view never_in_loops(const WaveSpec& wave);

// Returns the op of a kernel under kernels/, whose file is added with all its kernels when the first wave needs one.
Result<std::uint32_t> built_in_op(ProgramOps& ops, const char* file, std::string_view kernel);

// Make arguments of such a kernel.
inline ProgramArgument buffer_argument(std::uint32_t buffer, Access access, bool overwrites = false) {
  return {.kind = ProgramArgument::Kind::buffer,
          .buffer = buffer,
          .access = access,
          .overwrites = overwrites,
          .value = {}};
}
template <class T>
ProgramArgument number_argument(T number) {
  const auto bytes = std::as_bytes(std::span(&number, 1));
  return {.kind = ProgramArgument::Kind::value, .value = {bytes.begin(), bytes.end()}};
}

// Active tiles.

// Makes a resolved wave run only the tiles whose flags are set. Errors: invalid_program for a buffer that is not a flag
// for each tile, or that the wave writes; those of find_argument_buffer().
Result<void> add_active(const WaveInput& in, ProgramWave& wave);

// Adds buffers for the count of such a wave's flags, and returns the wave that counts them before it, if it repeats.
Result<std::optional<ProgramWave>> count_active(const ResolveInput& input, ProgramMemory& memory,
                                                ProgramOps& ops, std::uint32_t index,
                                                const std::string& flags, ProgramWave& wave);

// Halos: the distance, in tiles, between dependent tiles of two waves, as stated by the program or derived from
// kernels.

// Returns a halo in tiles, in x, y and z, from one number for all dimensions or one for each. Error:
// invalid_program.
Result<std::array<std::uint32_t, 3>> stated_halo(const std::vector<Number>& halo, const NdRange& range,
                                                 const std::string& pointer);

// Derives from kernels and the numbers of waves: halos, buffers that are wholly overwritten, the rows that work-items
// touch, and buffers of integers that a kernel changes only by atomic additions, minima or maxima. Error: invalid_program
// if the program states a smaller halo, fewer rows or another operation.
Result<void> derive_footprints(Job& program);

} // namespace tidegate::engine
