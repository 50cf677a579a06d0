// A preprocessed OpenCL C file: its functions with their signatures, every name with the place that declares it, and the
// syntax tree (tree.hpp).
#pragma once
#include "opencl_c/lexer.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::opencl_c {

enum class AddressSpace : std::uint8_t { none, global, constant, local };

// Access qualifier of an image parameter.
enum class ImageAccess : std::uint8_t { read_only, write_only, read_write };

// Tokens [begin, end) of a stream.
struct TokenRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Tree; // tree.hpp
struct Decl;
struct Stmt;
class Facts; // facts.hpp

inline constexpr std::size_t no_token = static_cast<std::size_t>(-1);

struct Parameter {
  std::string name; // empty if the declaration has none
  AddressSpace space = AddressSpace::none;
  bool is_pointer = false;
  bool is_const = false; // the pointee is const, and no pointer to it without const is made
  std::string type; // "float4", "uint", "struct point": of the pointee, typedefs and enumerations resolved
  std::optional<ImageAccess> image_access; // images only
  TokenRange tokens;
  const Decl* decl = nullptr; // never null after parsing
};

struct Function {
  std::string name;
  std::string result; // its type, as those of parameters; empty for a pointer
  bool is_kernel = false;
  bool is_overloadable = false;
  std::vector<Parameter> parameters;
  std::optional<std::array<std::uint64_t, 3>> required_local_size; // reqd_work_group_size, if known
  std::size_t begin = 0;                                           // first token
  std::size_t name_token = 0;
  TokenRange parameter_list;        // between the parentheses
  std::optional<TokenRange> body;   // with its braces; a prototype has none
  const Stmt* statements = nullptr; // likewise
  std::size_t end = 0;              // after the last token
};

struct TranslationUnit {
  TokenStream source;
  std::vector<Function> functions;        // definitions and prototypes, in order
  std::set<std::string> file_scope_names; // functions, variables, types, tags and enumerators
  std::vector<const Decl*> names;         // of every scope, each at its first declaration
  std::vector<const Decl*> meanings;      // by token; see meaning()
  std::vector<std::size_t> counterparts;  // by token: the bracket that belongs to this one
  std::shared_ptr<const Tree> tree;
  std::shared_ptr<const Facts> facts;

  // The definition of a function, or nullptr.
  [[nodiscard]] const Function* definition(std::string_view name) const;

  // The first declaration of an identifier; nullptr for a name of the language and for a member after a dot or an
  // arrow.
  [[nodiscard]] const Decl* meaning(std::size_t token) const { return meanings[token]; }

  // The tokens of the range.
  [[nodiscard]] std::span<const Token> tokens(TokenRange range) const {
    return std::span(source.tokens).subspan(range.begin, range.end - range.begin);
  }

  // True if a token of the range has this text.
  [[nodiscard]] bool contains(TokenRange range, std::string_view text) const {
    return std::ranges::find(tokens(range), text, &Token::text) != tokens(range).end();
  }

  // True if the token has this text; false past the end.
  [[nodiscard]] bool is(std::size_t token, std::string_view text) const {
    return token < source.tokens.size() && source.tokens[token].text == text;
  }

  // The bracket that closes or opens this one; the number of tokens if it has none, or for another token.
  [[nodiscard]] std::size_t counterpart(std::size_t bracket) const {
    return bracket < counterparts.size() ? counterparts[bracket] : source.tokens.size();
  }

  // True for the name of a member: it follows a dot or an arrow.
  [[nodiscard]] bool is_member(std::size_t token) const {
    return token > 0 && (is(token - 1, ".") || is(token - 1, "->"));
  }
};

// Error: kernel_source for brackets that do not match; unsupported_kernel for a file-scope variable that
// kernels could write: the persistent kernel and every other program would each have their own copy.
Result<TranslationUnit> parse_translation_unit(TokenStream source);

// The declaration as one line of source for messages: "global const float* in".
std::string text_of(const TranslationUnit& unit, TokenRange range);

// The first word of the range that is_unsupported(), if there is one.
std::optional<std::size_t> unsupported_word(const TranslationUnit& unit, TokenRange range);

// The unit with `prefix` before each identifier that is to be renamed. Errors as parse_translation_unit().
Result<TranslationUnit> with_prefix(const TranslationUnit& unit, std::string_view prefix,
                                    const std::function<bool(std::string_view)>& is_renamed);

// The unit with a copy of a kernel at its end: with another name, these parameters after its own and this statement before
// the others. Errors as parse_translation_unit().
Result<TranslationUnit> with_copy(const TranslationUnit& unit, const Function& kernel, std::string_view name,
                                  const std::string& parameters, std::string_view statement);

// Makes an error at the position of a token.
Error error_at(const TranslationUnit& unit, std::size_t token, ErrorCode code, std::string message,
               std::string fix);

// Pragmas that would affect the sources compiled after this one.

struct PragmaScope {
  std::string after;    // text to put after the source so that the effects end with it
  std::string obstacle; // the pragma whose effect cannot be ended; empty if none
};

PragmaScope pragma_scope(const TranslationUnit& unit);

// Finds the counterparts of brackets. Returns one without, if there is one.
std::optional<std::size_t> match_brackets(TranslationUnit& unit);

// Fills in all but the counterparts, which must be known, and the facts. Errors as parse_translation_unit().
Result<void> parse_tree(TranslationUnit& unit);

// Clears is_const of parameters that become pointers through which the function could write: by a cast, or by a
// conversion of which compilers only warn; and where an expression has a form that this function does not know.
void clear_lost_const(TranslationUnit& unit);

} // namespace tidegate::opencl_c
