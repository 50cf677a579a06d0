// Drafts a first program for given kernels, in which a note marks each placeholder value.
//
// A kernel gets an NDRange with 64 work-items in each dimension that it asks for, 16 in three; integers that are named
// like counts get that number, others 1. Each buffer has 4 096 elements, 64 rows of 64.
//
// Pointers of the same name and type share one buffer, so one kernel reads what another wrote.
#pragma once
#include "work/compiler_macros.hpp"
#include "work/program.hpp"

namespace tidegate::engine {

struct DraftRequest {
  std::vector<std::string> sources; // paths, relative to the program's folder
  std::string folder;               // of the program
  std::string options;              // compiler options of every op
};

// Adds a wave for each kernel of the sources, in order. Placeholder values have a `note`. Errors: unknown_name for sources
// without a kernel, unsupported_kernel, and those of the sources.
Result<WaveProgram> draft_program(const DraftRequest& request, const AnswerMacros& answer);

} // namespace tidegate::engine
