// Macro definitions and their expansion (C99 6.10.3). The operators # and ## of a body are found once, at the
// definition.
#pragma once
#include "opencl_c/lexer.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::opencl_c {

enum class MacroKind : std::uint8_t { object, function, line, file, counter };

struct BodyToken {
  Token token;
  std::optional<std::size_t> parameter; // index of the parameter that it names
  bool stringized = false;              // preceded by #
  bool pasted = false;                  // joined to the next token by ## after it
  bool takes_expanded = false;          // the parameter is replaced by its fully expanded argument
};

struct Macro {
  std::string name;
  MacroKind kind = MacroKind::object;
  std::vector<std::string> parameters;
  bool variadic = false; // the last parameter takes all remaining arguments
  std::vector<BodyToken> body;
  bool disabled = false; // while tokens of its expansion are being read
};

// Parses a complete line "#define ...". Error: kernel_source in the file `path`.
Result<Macro> parse_macro(std::span<const Token> line, std::string_view path);

// Returns the name after #define, #undef, #ifdef or #ifndef. Error: kernel_source without a name.
Result<Token> macro_name(std::span<const Token> line, std::string_view path);

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

// Macros named by the OpenCL C specification.
const std::set<std::string, std::less<>>& standard_macros();

// True if compilers may predefine the name: a standard macro or a reserved name.
bool may_be_predefined(std::string_view name);

// True for a preprocessor operator such as __has_builtin, which is allowed in conditions only.
bool is_condition_operator(std::string_view name);

struct MacroItem {
  Token token;
  bool painted = false; // a macro's name that is never replaced again
};

struct MacroArgument;

// Replaces macros (C99 6.10.3) in text that arrives line by line.
//
// The text is a stack: an expansion is pushed onto the rest of the text and read from there, so a call may
// begin in an expansion and end after it. While an expansion is on the stack its macro is disabled, and its
// name, if read there, is painted: it is never replaced again. That keeps recursive macros finite and yields
// the same result as the hide sets of Prosser's algorithm, at no cost per token.
//
//   #define f(x) x * g
//   #define g f            f(2)(9) becomes 2 * f(9):
//
//     read      | the stack, its top at the left, with the macros that are disabled
//     ----------+------------------------------------------------------------------
//     f ( 2 )   | [2 * g]f  [(9)]
//     2 *       | [g]f  [(9)]
//     g         | [f]g  []f  [(9)]
//     f         | []g  []f  [(9)]    this f is painted

class MacroExpander {
public:
  // Returns the next line of the text; an empty line for a directive or the end of a file; nothing at the end
  // of the text.
  using NextLine = std::function<Result<std::optional<std::vector<Token>>>()>;

  // Token::file indexes `files`, which must outlive the expander, as must `predefined` unless it is null.
  // __LINE__, __FILE__ and __COUNTER__ are defined from the start.
  MacroExpander(const std::vector<std::string>& files, PredefinedMacros* predefined, NextLine next_line);

  void define(Macro macro); // replaces any macro of that name
  void undefine(const std::string& name);
  [[nodiscard]] bool is_defined(const std::string& name);

  // Replacement of a macro that the compiler predefines, unless the program undefined it; null if none is
  // known.
  const std::string* predefined(const std::string& name);

  // Predefined macros that the program redefined or undefined.
  [[nodiscard]] const std::set<std::string>& overridden() const { return overridden_; }

  // Returns the next token of the expanded text; nothing at the end. A token from a macro has the position of
  // the outermost call. Predefined macros stay in the text if the compiler may replace them. Error:
  // kernel_source for an invalid call or ##, or for an expansion beyond the limits.
  Result<std::optional<Token>> next();

  // Expands the tokens of a directive; with `evaluate_defined`, "defined NAME" and "defined(NAME)" become 1
  // or 0.
  Result<std::vector<Token>> expand(std::vector<Token> tokens, bool evaluate_defined);

  // Charges bytes of text to the program's limit. Error: kernel_source at `place` once the limit is exceeded.
  Result<void> spend(std::size_t bytes, const Token& place);

private:
  struct Context {
    std::vector<MacroItem> items;
    std::size_t at = 0;
    std::shared_ptr<Macro> macro; // the expanded macro
    bool trailing_space = false;  // a blank due before the token that follows
    bool last = false;            // reading stops at its end
  };

  void push(std::vector<Token> tokens, bool last);
  Result<bool> enter_predefined(const Token& name);
  Result<std::optional<MacroItem>> read(bool past_directives = true);
  Result<std::optional<MacroItem>> scan();
  Result<bool> enter(const std::shared_ptr<Macro>& macro, const Token& name);
  Result<std::vector<MacroArgument>> read_arguments(const Macro& macro, const Token& name);
  Result<std::vector<MacroItem>> expand_argument(const std::vector<MacroItem>& items, const Token& name);
  Result<std::optional<Token>> read_defined(const Token& defined);
  Token special(MacroKind kind, const Token& name);
  [[nodiscard]] bool is_disabled(const Token& token) const;
  [[nodiscard]] Error error(const Token& at, std::string message, std::string fix) const;

  const std::vector<std::string>& files_;
  PredefinedMacros* predefined_;
  NextLine next_line_;
  std::unordered_map<std::string, std::shared_ptr<Macro>> macros_;
  std::set<std::string> overridden_;
  std::set<std::string> undefined_; // #undef in the program, whether or not a definition existed
  bool in_condition_ = false;
  bool has_operators_ = false; // # and ## see how an argument is replaced
  std::vector<Context> contexts_;
  bool space_pending_ = false; // a blank due before the next token, left by an empty replacement
  std::size_t depth_ = 0;
  std::size_t bytes_left_;
  std::size_t counter_ = 0;
};

} // namespace tidegate::opencl_c
