// Drafts a first program for given kernels, and a note marks each placeholder value. It runs unchanged where every access is known
// to stay within its memory; others are taken to stay within what the same extents make.
//
// Every kernel gets an NDRange with the same number of work-items in each dimension, and scalars that look
// like counts get that number. A buffer has as many elements as a kernel can reach that way:
//
//   out[i] = in[i]                          extent 1024, 1024 elements
//   out[y * width + x], or row * n + k      extent 64, 64 * 64 elements
//   out[(z * height + y) * width + x]       extent 16, 16 * 16 * 16 elements
//   ptr[row] and ptr[row + 1]               extent 1024, 1025 elements
//
// Pointers of the same name and type share one buffer, so one kernel reads what another wrote. A function
// with the signature of a queue op becomes one, with buffers found in the same way and a few items.
#pragma once
#include "work/compiler_macros.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

struct DraftRequest {
  std::vector<std::string> sources; // paths, relative to the program's folder
  std::string folder;               // of the program
  std::string options;              // compiler options of every op
};

struct Draft {
  WaveProgram program;
  bool runs = false; // no kernel accesses anything out of bounds; if false, notes say where that is not known
};

// Adds a wave for each kernel of the sources, in order, then a queue for each source with queue ops.
// Placeholder values have a `note`. Errors: unknown_name for sources with neither a kernel nor a queue op,
// kernel_source for a source with both, unsupported_kernel, and those of the sources.
Result<Draft> draft_program(const DraftRequest& request, const AnswerMacros& answer);

// A note and the place in the program (RFC 6901) that it describes.
struct DraftNote {
  std::string pointer;
  std::string text;
};
std::vector<DraftNote> notes_of(const WaveProgram& program);

} // namespace tidegate::engine
