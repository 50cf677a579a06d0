// The options that a program is built with, as clBuildProgram takes them: one text.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/opencl_c/preprocessor.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tidegate::opencl_c {

struct CompilerOptions {
  std::vector<MacroDefinition> definitions;
  std::vector<std::string> undefinitions;
  std::vector<std::string> include_folders;
  std::string language_standard;   // "CL1.2" of -cl-std=CL1.2, the last one; or empty
  std::vector<std::string> others; // -cl-mad-enable and whatever else begins with -; sorted, each once
};

// Words are separated by blanks. Double quotes keep blanks in a word, a backslash takes the next character as
// it is, in quotes too. -D, -I and -U take their value in the same word or as the next one.
// kernel_options: an open quote, an option without its value, a word that is no option.
Result<CompilerOptions> parse_compiler_options(std::string_view options);

} // namespace tidegate::opencl_c
