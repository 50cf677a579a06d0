// The C99 preprocessor (6.10) for OpenCL C programs, with the extensions that compilers share.
//
// Predefined are __LINE__, __FILE__ and __COUNTER__, and what the device's compiler is known to predefine
// (predefined_macros.hpp). __DATE__ and __TIME__ are not there.
#pragma once
#include "opencl_c/lexer.hpp"
#include "opencl_c/macros.hpp"
#include <tidegate/core/error.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::opencl_c {

// Of -DNAME=VALUE; the value of -DNAME is "1". A name may have parameters, as in "f(x)".
struct MacroDefinition {
  std::string name;
  std::string value;

  bool operator==(const MacroDefinition&) const = default;
};

// The text of a file. cannot_read makes #include try the next folder.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

struct PreprocessorOptions {
  std::vector<MacroDefinition> definitions;
  std::vector<std::string> undefinitions;   // after the definitions
  std::vector<std::string> include_folders; // for #include "..." after the folder of the including file
  ReadFile read;                            // empty: from the file system, up to 64 MiB
  PredefinedMacros* predefined = nullptr;   // of the device's compiler; unknown ones are added
};

// The tokens of the file with its directives carried out and its macros replaced. `files` lists each file
// that was read, as it was opened, and each name that #line gave; __FILE__ is such a name. The compiler's own
// macros are known to conditions and stay in the text, unless their value has to be known there already.
//
// A token of a macro's expansion, also of an argument, stands where the outermost macro was called. A #pragma
// (but #pragma once) and a _Pragma become one token "#pragma ..."; macros are replaced in those where
// compilers replace them, as in "#pragma unroll N". Of two definitions of a macro the later one counts.
//
// kernel_source, with the file, line and column: a directive or macro call that is wrong, a comment or
// literal without an end, #error, a file that is not found, and programs without bounds: includes more than
// 64 deep, more than 256 MiB of text and expansions. What `read` answers for the file itself is passed on.
Result<TokenStream> preprocess(const std::string& path, const PreprocessorOptions& options);

// The options that a program is built with, as clBuildProgram takes them: one text.

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
