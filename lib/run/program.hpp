// A wave program as its document gives it: ordinary OpenCL kernels, buffers, and the waves that run the one
// on the others. Plain data. Source: run.md, section 1.
#pragma once

#include <tidegate/core/identifier.hpp>
#include <tidegate/core/number.hpp>
#include <tidegate/core/value.hpp>
#include <tidegate/planning/wave_dag.hpp>
#include <tidegate/policy/launch_request.hpp>
#include <tidegate/run/element_type.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::run {

struct Iota { // element i is start + i * step
  Number start = std::uint64_t{0};
  Number step = std::uint64_t{1};
};

struct Random { // uniform in [low, high); for integers all values of the type when both are left out
  std::uint64_t seed = 0;
  std::optional<Number> low;
  std::optional<Number> high;
};

// Exactly one of them.
struct BufferInit {
  std::optional<Number> fill;
  std::optional<Iota> iota;
  std::optional<Random> random;
  std::optional<std::string> file; // .npy, or raw bytes; relative to the program
};

// Without init and output it is transient: its contents are undefined until a wave has written them.
struct BufferSpec {
  ElementType type = ElementType::f32;
  std::uint64_t count = 0; // elements
  std::optional<BufferInit> init;
  std::optional<std::string> output; // .npy, or raw bytes; relative to the program
};

struct OpSpec {
  std::string source;                // path, relative to the program
  std::optional<std::string> kernel; // left out, the name of the op
  std::string options;               // as for clBuildProgram
};

enum class Access : std::uint8_t { read, write, read_write };
inline constexpr std::array<std::string_view, 3> access_names{"read", "write", "read_write"};

// Exactly one of buffer, null, local_bytes and a value; several numbers make a vector.
struct ArgumentSpec {
  std::optional<std::string> buffer;
  std::optional<Access> access; // of a buffer; left out, what the kernel's signature says
  bool reinterpret = false;     // a buffer whose elements the kernel takes for others
  bool null = false;            // the null pointer
  std::optional<std::uint64_t> local_bytes;
  std::optional<std::vector<Number>> i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64;
  std::optional<Value> structure; // its members by name
  std::optional<Identifier> enumeration;
  std::optional<std::string> bytes; // hexadecimal, as they lie in memory
};

struct WaveSpec {
  std::optional<std::string> name;
  std::string op;
  std::vector<std::uint64_t> global_size; // work-items, 1 to 3 dimensions
  std::optional<std::vector<std::uint64_t>> local_size;
  std::optional<std::vector<std::uint64_t>> global_offset;
  std::vector<ArgumentSpec> args;
  std::optional<planning::Wave> bytes; // stated envelope, instead of the one that follows from the arguments
  std::vector<std::uint32_t> rules;    // source rules that the wave comes from, below 32
};

struct ProgramDependency {
  Identifier before; // of waves
  Identifier after;
  bool tile_local = false; // tile t of `after` touches only what tile t of `before` wrote
};

struct Until { // ends the repetition after an iteration that leaves element 0 of the buffer at this value
  std::string buffer;
  Number equals = std::uint64_t{0};
};

struct WaveProgram {
  std::vector<std::pair<std::string, BufferSpec>> buffers;
  std::vector<std::pair<std::string, OpSpec>> ops;
  std::vector<WaveSpec> waves;
  std::optional<std::vector<ProgramDependency>> dependencies; // left out, they are derived
  std::optional<std::uint32_t> repeat;          // left out: once, or with `until` as often as it takes
  std::vector<std::array<std::string, 2>> swap; // pairs that exchange their contents after every iteration
  std::optional<Until> until;
  std::uint64_t device_memory_budget_bytes = 0; // 0: as much as the device has
  policy::LaunchPolicy policy;
};

} // namespace tidegate::run
