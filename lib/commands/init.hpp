// `tidegate init`: a first program for kernels.
#pragma once

#include <tidegate/compiler/draft.hpp>
#include <tidegate/core/error.hpp>

#include <string>
#include <vector>

namespace tidegate::commands {

struct InitRequest {
  std::vector<std::string> sources; // paths
  std::string output = "-";         // path of the program, or - for standard output
  std::string options;              // for the compiler
};

struct Draft {
  std::string json;
  std::vector<compiler::DraftNote> notes; // what is made up
};

// The program that compiler::draft_program() makes; the paths in it are relative to the folder of the output,
// and no output of the program is there already.
Result<Draft> init(const InitRequest& request);

} // namespace tidegate::commands
