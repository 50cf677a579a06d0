// A wave program with its kernels: every name found, every argument checked against the kernel's signature,
// every size counted. Plain data, made by resolve().
#pragma once
#include "opencl_c/preprocessor.hpp"
#include "opencl_c/translation_unit.hpp"
#include "work/files.hpp"
#include "work/image.hpp"
#include "work/macro_answers.hpp"
#include "work/program.hpp"
#include "work/progression.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/profile.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::engine {

// A buffer, or an image: of that the spec says what a file holds, elements row by row.
struct ProgramBuffer {
  std::string name;
  BufferSpec spec;
  std::uint64_t bytes = 0;
  bool swapped = false;
  std::optional<ImageShape> image{};
  bool in_registers = false; // of the one wave that uses it: it needs no memory
  // First contents of one that no program names: it belongs to a queue.
  std::shared_ptr<const std::vector<std::byte>> contents = {};

  // Nobody gives its first contents and nobody keeps its last.
  [[nodiscard]] bool transient() const { return !spec.init && !spec.output && !swapped && !contents; }
  // Images have memory of their own.
  [[nodiscard]] bool in_arena() const { return !image && !in_registers; }
};

// A source with the options that it is compiled with; ops that name the same share it.
// What is compiled in front of a file of the user's and behind it, where there is anything.
struct SourceFrame {
  std::string before, behind; // whole lines
};

struct ProgramUnit {
  std::string path;
  std::vector<std::string> files; // that were read: the path and what it includes
  std::string options;            // as the program gives them
  opencl_c::CompilerOptions parsed_options;
  opencl_c::TranslationUnit unit;
  bool built_in = false; // kernels/wave/transfers.cl, not the user's
  SourceFrame frame = {};
};

struct ProgramOp {
  std::string name;
  std::uint32_t unit = 0;
  std::uint32_t function = 0; // in the unit's functions
};

struct ProgramArgument {
  enum class Kind : std::uint8_t { buffer, image, sampler, null, local, value };
  Kind kind = Kind::value;
  std::uint32_t buffer = 0; // or image
  Access access = Access::read;
  bool access_stated = false; // by the program, not by the kernel's signature
  bool overwrites = false;    // known: what the buffer held before the wave is lost, and not needed
  std::string reinterpreted;  // the type that the kernel takes its elements for, where nobody meant to
  std::uint64_t local_bytes = 0;
  std::vector<std::byte> value; // as clSetKernelArg takes it: a vector of 3 has the room of 4
  std::uint32_t alignment = 0;  // of the value, bytes; 0: its size
  // How the value changes. Where one wave of an op has it, all have: the same code serves them.
  std::optional<Progression> progression = {};
  SamplerSpec sampler{};
  // Where it is known: tile t touches of the memory only what belongs to tiles at most so far from it, in x,
  // y and z.
  std::optional<std::array<std::uint32_t, 3>> halo = {};
  std::uint32_t element_bytes = 0; // that belong to a work-item, where the halo follows from the kernel
  bool assigned_first = false;     // likewise: by every work-item, before it touches any other element

  [[nodiscard]] bool is_object() const { return kind == Kind::image || kind == Kind::sampler; }
  [[nodiscard]] bool is_memory() const { return kind == Kind::buffer || kind == Kind::image; }
};

// In x, y and z; dimensions that are not there have size 1.
struct NdRange {
  std::uint32_t dimensions = 1;
  std::array<std::uint32_t, 3> global{1, 1, 1};
  std::array<std::uint32_t, 3> local{1, 1, 1};
  std::array<std::uint64_t, 3> offset{0, 0, 0};
  std::array<std::uint32_t, 3> groups{1, 1, 1};

  [[nodiscard]] std::uint32_t tiles() const { return groups[0] * groups[1] * groups[2]; }
  [[nodiscard]] std::uint32_t group_size() const { return local[0] * local[1] * local[2]; }
  // Whether the last group of a dimension has fewer work-items than the others.
  [[nodiscard]] bool ragged() const {
    return global[0] % local[0] != 0 || global[1] % local[1] != 0 || global[2] % local[2] != 0;
  }

  friend bool operator==(const NdRange&, const NdRange&) = default;
};

// What a wave of a built-in op does, as OpenCL's own commands take it.
struct Transfer {
  std::optional<std::uint32_t> from; // of a copy
  std::uint32_t to = 0;
  std::uint64_t from_offset = 0; // bytes
  std::uint64_t to_offset = 0;
  std::uint64_t bytes = 0;
  std::vector<std::byte> pattern; // of a fill: one element
};

// A wave of items, each run by one lane (kernels/wave/queue.cl). Its op is the kernel that drains it; the two
// behind that one go from round to round, and check it.
struct ProgramQueue {
  std::vector<QueueItem> items;         // as they were given
  std::string file;                     // that they come from; or empty
  std::vector<std::uint32_t> published; // by place on the device the item; empty where that is the same
  std::uint64_t published_items = 0;
  std::uint64_t deduped_items = 0;   // identical ones of pure ops
  std::vector<std::string> op_names; // by handle
  bool requeues = false;             // some op can: the wave runs in rounds
  std::uint32_t state_buffer = 0;    // kernels/wave/queue_state.h
  std::uint32_t first_buffer = 0;    // of the program's own, among the arguments
  std::uint32_t age_threshold = 0;   // rounds, the policy's
  std::uint32_t capacity = 0;        // items that may wait requeued
  std::uint32_t most_stalled_rounds = 0;
};

struct ProgramWave {
  std::string name; // empty without one
  std::string
      title; // in a sentence, where its place among the waves is not the one that was written; or empty
  std::uint32_t op = 0;
  WavePhase phase = WavePhase::each;
  std::optional<Transfer> transfer = {};
  std::shared_ptr<const ProgramQueue> queue = {};
  NdRange range;
  std::vector<ProgramArgument> arguments;
  planning::Wave bytes;
  std::uint32_t rules = 0; // bit n: source rule n
  std::vector<std::uint32_t> window =
      {}; // waves of the program as written that it stands for, where it is one
};

// The ops of a wave with a queue beside the one that drains it.
inline std::uint32_t turn_op(const ProgramWave& wave) {
  return wave.op + 1;
}
inline std::uint32_t check_op(const ProgramWave& wave) {
  return wave.op + 2;
}

struct ResolvedDependency {
  std::uint32_t before = 0;
  std::uint32_t after = 0;
  // Where it is known: tile t of `after` touches only what tiles at most so far from t of `before` touch, in
  // x, y and z; no distance at all is tile-local.
  std::optional<std::array<std::uint32_t, 3>> halo = {};
  std::optional<std::size_t> place = {}; // in the program's list; derived ones have none

  [[nodiscard]] bool tile_local() const { return halo == std::array<std::uint32_t, 3>{}; }
};

struct ResolvedUntil {
  std::uint32_t buffer = 0;
  std::vector<std::byte> value; // one element
};

struct ResolvedProgram {
  std::string folder;                 // that the program's paths are relative to
  std::vector<ProgramBuffer> buffers; // images behind them
  std::vector<ProgramUnit> units;
  std::vector<ProgramOp> ops;
  std::vector<ProgramWave> waves;
  std::vector<ResolvedDependency> dependencies;
  bool derived = false;         // the dependencies
  std::uint32_t iterations = 1; // at most
  std::vector<std::array<std::uint32_t, 2>> swaps;
  std::optional<ResolvedUntil> until;
  std::uint64_t budget_bytes = 0; // 0: none given
  bool fp_contract_off = false;   // every source is compiled without joining a * b + c to one operation
  policy::LaunchPolicy policy;

  [[nodiscard]] const opencl_c::Function& function(std::uint32_t op) const {
    return units[ops[op].unit].unit.functions[ops[op].function];
  }
  // What a wave is called in a sentence.
  [[nodiscard]] std::string wave_text(std::uint32_t wave) const;
};

// Finds what the program names and checks what it says. `folder` is that of the program; `answer` knows the
// macros of the device's compiler; `files` says whether the files of buffers and images are looked at too;
// `tuning` says what work-groups have at most where the program leaves that open, and how queues are dealt
// out; `unread` are the places of the document that could not be read: it is an error that there are any, and
// the others are those of the rest. Errors: invalid_program, unknown_name, duplicate_name, argument_mismatch,
// unsupported_kernel, outside_folder for paths out of the scope, those of the sources and files, each with
// its place in the program or in a source. All are told at once; what follows from another is not told.
Result<ResolvedProgram> resolve(const WaveProgram& program, const std::string& folder,
                                const AnswerMacros& answer, PathScope scope = PathScope::folder,
                                FileCheck files = FileCheck::none, const device::Tuning& tuning = {},
                                const UnreadPlaces& unread = {});

// The waves in the order in which the program means them: by phase, and by index in each.
std::vector<std::uint32_t> phase_order(const std::vector<ProgramWave>& waves);

// The dependencies that follow from what the waves read and write, in that order: a read waits for the last
// write before it, a write for that and for the reads since.
std::vector<ResolvedDependency> derive_dependencies(const std::vector<ProgramWave>& waves,
                                                    std::size_t buffer_count);

// The waves in an order that keeps every dependency, as early in the program's own order as they can be.
std::vector<std::uint32_t> program_order(const ResolvedProgram& program);

// The waves as the planners take them: all of a phase wait for all of the one before. The budget does not
// bind where all buffers fit into it together.
planning::WaveDag wave_dag(const ResolvedProgram& program, std::uint64_t budget_bytes);

} // namespace tidegate::engine
