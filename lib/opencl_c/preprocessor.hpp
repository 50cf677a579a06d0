// The C99 preprocessor (6.10) for OpenCL C programs, with common compiler extensions.
//
// Predefines __LINE__, __FILE__, __COUNTER__ and the known macros of the device's compiler, but
// not __DATE__ and __TIME__.
#pragma once
#include "opencl_c/lexer.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::opencl_c {

// Macros predefined by the device's compiler, as far as it was queried: only the compiler knows them, and
// they depend on its options.
//
// preprocess() looks up each macro that matters here, treats unknown ones as undefined and records them as
// questions. A caller with access to the compiler answers the questions and preprocesses again until none
// remain.

struct PredefinedMacros {
  // The complete replacement of each name, macros inside it replaced too; the name itself for a macro with arguments
  // and for an operator such as __has_builtin; nullopt for an undefined name.
  std::map<std::string, std::optional<std::string>, std::less<>> names;
  // The value of each condition of #if that only the compiler can evaluate; nullopt for one that it rejects.
  std::map<std::string, std::optional<bool>, std::less<>> conditions;

  // Questions of preprocess() without an answer yet.
  std::set<std::string, std::less<>> unknown_names;
  std::set<std::string, std::less<>> unknown_conditions;

  [[nodiscard]] bool is_complete() const { return unknown_names.empty() && unknown_conditions.empty(); }
};

// From -DNAME=VALUE; the value of -DNAME is "1". A name may have parameters, as in "f(x)".
struct MacroDefinition {
  std::string name;
  std::string value;

  bool operator==(const MacroDefinition&) const = default;
};

// Returns the text of a file. On cannot_read, #include tries the next folder.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

struct PreprocessorOptions {
  std::vector<MacroDefinition> definitions;
  std::vector<std::string> undefinitions;   // applied after the definitions
  std::vector<std::string> include_folders; // for #include "..." after the folder of the including file
  ReadFile read;                            // never empty
  PredefinedMacros* predefined = nullptr;   // of the device's compiler; receives the questions
};

// Carries out the directives of the file and replaces its macros. `files` lists each file as opened, and each name set by
// #line; __FILE__ is one of these names. The compiler's predefined macros stay in the text unless their value is needed here.
//
// A token from a macro, arguments included, has the position of the outermost call. Each #pragma except
// #pragma once becomes one token "#pragma ..."; macros in it are replaced where compilers do so, as in "#pragma unroll N".
// The last definition of a macro counts. A source with _Pragma is left to the compiler (TokenStream::own_macros).
//
// Error: kernel_source with file, line and column for an invalid directive or macro call, an unterminated
// comment or literal, #error, a missing file, includes nested more than 64 deep, or more than 256 MiB of text
// and expansions. Errors of `read` for the file itself pass through.
Result<TokenStream> preprocess(const std::string& path, const PreprocessorOptions& options);

struct CompilerOptions {
  std::vector<MacroDefinition> definitions;
  std::vector<std::string> undefinitions;
  std::vector<std::string> include_folders;
  std::string language_standard;   // "CL1.2" from the last -cl-std=CL1.2; empty without one
  std::vector<std::string> others; // -cl-mad-enable and any other word that begins with -; sorted and unique
};

// Parses build options as clBuildProgram takes them. Blanks separate words. Double quotes keep blanks inside
// a word; a backslash makes the next character literal, inside quotes too. The value of -D, -I and -U is in
// the same word or the next. Error: kernel_options for an open quote, an option without its value, or a word
// that is not an option.
Result<CompilerOptions> parse_compiler_options(std::string_view options);

} // namespace tidegate::opencl_c
