// Waves of work items: queue ops, which are functions of the user's source, and the kernel that drains a
// queue of them (kernels/queue.cl), made for each wave.
#pragma once

#include <tidegate/compiler/macro_answers.hpp>
#include <tidegate/compiler/program.hpp>
#include <tidegate/compiler/publish_queue.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/device/tuning.hpp>
#include <tidegate/opencl_c/translation_unit.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::compiler {

// A queue op with its signature: `uint NAME(global const IN* in, global OUT* out, uint param)`.
struct QueueOp {
  std::string name;
  std::string function;
  OpSpec spec;
  QueueOpTraits traits;
  opencl_c::Parameter input;
  opencl_c::Parameter output;
};

// Whether a function is meant for a queue: the signature is an op's, and the body names a result of ops.
bool is_meant_for_queue(const opencl_c::TranslationUnit& unit, const opencl_c::Function& function);

// Looks at the function in its source. Errors of the source; argument_mismatch with the place for another
// signature; unknown_name.
Result<QueueOp> resolve_queue_op(const std::string& name, const OpSpec& spec, const std::string& folder,
                                 const AnswerMacros& answer, PathScope scope, const std::string& pointer);

// An op that the queue lists, by its handle: a queue op, or none.
struct QueueOpHandle {
  std::string name;
  const QueueOp* op = nullptr;
};

// What is made for a wave, with places for the names that only the program knows.
struct QueueWave {
  ProgramQueue queue;
  std::string op_name; // the first of its ops
  ProgramUnit unit;
  std::vector<ProgramBuffer> own_buffers; // tiles, params, state, and where ops requeue what is left
  std::vector<Access> own_accesses;       // of the drain to them
  std::vector<ProgramArgument> arguments; // to buffers of the program, by handle
  NdRange range;
};

inline constexpr std::array<std::string_view, 3> queue_kernels{"tidegate_queue_drain", "tidegate_queue_turn",
                                                               "tidegate_queue_check"};
inline constexpr std::size_t queue_state_index = 2; // among own_buffers

// The items, from the program or its file, published. `ops` and `buffers` are those that the queue lists, by
// handle; `tuning` says how items are dealt out. Errors: bad_queue, invalid_item, not_a_queue_op,
// argument_mismatch, invalid_program, those of files.
Result<QueueWave> resolve_queue(const QueueSpec& spec, const std::string& title, const std::string& folder,
                                std::span<const QueueOpHandle> ops, std::span<const ProgramBuffer> buffers,
                                std::uint32_t age_threshold, const device::Tuning& tuning,
                                const AnswerMacros& answer, PathScope scope, const std::string& pointer);

} // namespace tidegate::compiler
