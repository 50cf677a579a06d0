// What a preprocessed OpenCL C file declares: its functions with their signatures, and every name with the
// place that declares it. A parser of declarations only; expressions stay tokens.
#pragma once
#include "opencl_c/lexer.hpp"
#include <tidegate/core/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::opencl_c {

enum class AddressSpace : std::uint8_t { none, global, constant, local };

// What a kernel does to an image.
enum class ImageAccess : std::uint8_t { read_only, write_only, read_write };

// Tokens [begin, end) of a stream.
struct TokenRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Parameter {
  std::string name; // empty when the declaration has none
  AddressSpace space = AddressSpace::none;
  bool is_pointer = false;
  bool is_const = false; // what it points to
  bool is_enumeration = false;
  std::string
      type; // "float4", "uint", "struct point": of what it points to, typedefs and enumerations resolved
  std::optional<ImageAccess> image_access; // of an image
  TokenRange tokens;
};

struct Function {
  std::string name;
  bool is_kernel = false;
  bool is_overloadable = false;
  std::vector<Parameter> parameters;
  std::vector<TokenRange> required_sizes;                          // the expressions of reqd_work_group_size
  std::optional<std::array<std::uint64_t, 3>> required_local_size; // and their values, where they can be told
  std::size_t begin = 0;                                           // the first token
  std::size_t name_token = 0;
  TokenRange parameter_list;      // between the parentheses
  std::optional<TokenRange> body; // with its braces; a prototype has none
  std::size_t end = 0;            // behind the last token
};

enum class NameKind : std::uint8_t { variable, function, type, tag, enumerator, member };

// What one declaration, the first of several, declares.
struct Name {
  NameKind kind = NameKind::variable; // parameters are variables
  bool is_file_scope = false;
  std::size_t token = 0; // the name itself
  TokenRange specifiers; // what its declaration starts with, for all declarators; not of tags and enumerators
  TokenRange declarator; // likewise, with the value
};

inline constexpr std::size_t no_name = static_cast<std::size_t>(-1); // in place of an index into names

struct TranslationUnit {
  TokenStream source;
  std::vector<Function> functions;                     // definitions and prototypes, in order
  std::set<std::string> file_scope_names;              // functions, variables, types, tags and enumerators
  std::map<std::string, std::string> typedefs;         // of arithmetic types: "float4" for "quad"
  std::map<std::string, Parameter> qualified_typedefs; // of pointers, and of types in an address space
  std::vector<Name> names;                             // of every scope
  std::vector<std::size_t> meanings;                   // by token: which of the names it is, or no_name

  // The definition of a function, or nullptr.
  [[nodiscard]] const Function* definition(std::string_view name) const;

  // What an identifier names. nullptr: the language's own, or a member behind a dot or an arrow.
  [[nodiscard]] const Name* meaning(std::size_t token) const;
};

// kernel_source for brackets that do not match; unsupported_kernel for a variable of file scope that kernels
// could write to: it would be one in the persistent kernel and another in every other program.
Result<TranslationUnit> parse_translation_unit(TokenStream source);

// The declaration as one line of source, for messages: "global const float* in".
std::string text_of(const TranslationUnit& unit, TokenRange range);

// The same of a parameter, with what typedefs of arithmetic types stand for in their place.
std::string resolved_text(const TranslationUnit& unit, const Parameter& parameter);

// An error that stands at a token.
Error error_at(const TranslationUnit& unit, std::size_t token, ErrorCode code, std::string message,
               std::string fix);

// The index of the bracket that closes the one at `open`, or the number of tokens.
std::size_t closing(const std::vector<Token>& tokens, std::size_t open);

// The same for each bracket of a range, by its distance from the beginning: brackets may nest deeply.
std::vector<std::size_t> closing_brackets(const std::vector<Token>& tokens, TokenRange range);

// Pragmas whose effect goes on behind the text that they stand in: where sources are compiled together, it
// would reach the others.

struct PragmaScope {
  std::string
      before; // what to write in front of the source's text, and behind it, so that the effects end there
  std::string after;
  bool packs = false;        // structures of the source are laid out as a #pragma pack says
  bool enables_fp64 = false; // old compilers then take 1.0 for a double
  std::string obstacle;      // why nothing can end them; or empty
};

PragmaScope pragma_scope(const TranslationUnit& unit);

} // namespace tidegate::opencl_c
