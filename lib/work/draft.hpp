// A first program for kernels: one that runs as it stands, with a note wherever something is made up.
//
// The idea: every kernel goes over an NDRange with the same number of work-items in each direction, and the
// scalars that look like counts are that number. A buffer has as many elements as a kernel can reach that
// way:
//
//   out[i] = in[i]                          extent 1024, 1024 elements
//   out[y * width + x], or row * n + k      extent 64, 64 * 64 elements
//   out[(z * height + y) * width + x]       extent 16, 16 * 16 * 16 elements
//
// Pointers of the same name and type are one buffer, so that what one kernel writes another one reads. A
// function that is meant for a queue is an op of one: its buffers are found in the same way, and it runs on a
// few items.
#pragma once
#include "work/macro_answers.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>

#include <string>
#include <vector>

namespace tidegate::engine {

struct DraftRequest {
  std::vector<std::string> sources; // paths, relative to the folder of the program
  std::string folder;               // of the program
  std::string options;              // for the compiler, of every op
};

// A wave for each kernel of the sources, in their order, and behind them a queue for each source with ops of
// one. What is made up says so in its `note`. Errors: unknown_name where there is neither a kernel nor a
// queue op, kernel_source where a source has both, unsupported_kernel, and those of the sources.
Result<WaveProgram> draft_program(const DraftRequest& request, const AnswerMacros& answer);

// What has a note: its place in the program (RFC 6901), and the note.
struct DraftNote {
  std::string pointer;
  std::string text;
};
std::vector<DraftNote> notes_of(const WaveProgram& program);

} // namespace tidegate::engine
