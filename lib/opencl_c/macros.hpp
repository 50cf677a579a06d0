// Macro definitions, with the operators # and ## of their bodies found once, where they are defined.
#pragma once
#include "opencl_c/lexer.hpp"
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tidegate::opencl_c {

enum class MacroKind : std::uint8_t { object, function, line, file, counter };

struct BodyToken {
  Token token;
  std::optional<std::size_t> parameter; // that it names
  bool stringized = false;              // by a # before it
  bool pasted = false;                  // to what follows, by a ## behind it
  bool takes_expanded = false;          // the parameter stands for its argument with macros replaced
};

struct Macro {
  std::string name;
  MacroKind kind = MacroKind::object;
  std::vector<std::string> parameters;
  bool variadic = false; // the last parameter takes all arguments that are left
  std::vector<BodyToken> body;
  bool disabled = false; // while tokens of its expansion are being read
};

// The macro of a line "#define ...", given whole. kernel_source, in the file `path`.
Result<Macro> parse_macro(std::span<const Token> line, std::string_view path);

// The name behind #define, #undef, #ifdef or #ifndef. kernel_source when there is none.
Result<Token> macro_name(std::span<const Token> line, std::string_view path);

// What a device's compiler predefines, as far as it has been asked: only the compiler itself knows, and what
// it says depends on its options.
//
// preprocess() looks every macro that matters up here, goes on as if what is not known were not defined, and
// leaves the questions behind. Whoever can ask the compiler answers them, and preprocesses again, until there
// are none.

struct PredefinedMacros {
  // By name: all that the macro stands for, macros in it replaced too; its own name for a macro with
  // arguments and for an operator as __has_builtin; nothing for a name that is not defined.
  std::map<std::string, std::optional<std::string>, std::less<>> names;
  // Of #if, with macros that take arguments; nothing for one that the compiler refuses.
  std::map<std::string, std::optional<bool>, std::less<>> conditions;

  // What a preprocess() wanted to know and did not find.
  std::set<std::string, std::less<>> unknown_names;
  std::set<std::string, std::less<>> unknown_conditions;

  [[nodiscard]] bool is_complete() const { return unknown_names.empty() && unknown_conditions.empty(); }
};

// The macros that the OpenCL C specification names.
const std::set<std::string, std::less<>>& standard_macros();

// Whether compilers may predefine it: it is one of the standard's, or its name is reserved to them.
bool may_be_predefined(std::string_view name);

// Whether the name is an operator of the preprocessor, as __has_builtin: it may stand in conditions alone.
bool is_condition_operator(std::string_view name);

// The body of a macro with its arguments put in, and # and ## carried out (C99 6.10.3.1 to 6.10.3.3).

struct MacroItem {
  Token token;
  bool painted = false; // a macro's name that is not to be replaced any more
};

struct MacroArgument {
  std::vector<MacroItem> items;
  std::optional<std::vector<MacroItem>> expanded; // there when the body takes it so
  bool omitted = false;                           // of a variadic macro: not even an empty one
};

struct MacroExpansion {
  std::vector<MacroItem> items;
  bool space_behind = false; // left by something at the end that stands for nothing
};

// A string literal of the text.
std::string quoted(std::string_view text);

// About how much memory substitute() takes.
std::size_t bytes_of(const Macro& macro, std::span<const MacroArgument> arguments);

// What the call of `macro` at `name` stands for, every token of it placed there. The arguments are one for
// each parameter. kernel_source, in the file `path`: a ## that yields no token.
Result<MacroExpansion> substitute(const Macro& macro, std::span<const MacroArgument> arguments,
                                  const Token& name, std::string_view path);

// Replaces macros (C99 6.10.3) in a text that arrives line by line.
//
// The text is a stack: an expansion is pushed onto what is left of the text and read on from there, so that a
// call may begin in an expansion and end behind it. While an expansion is on the stack its macro is disabled,
// and its name, met there, is painted: never replaced again, wherever it goes. That is what keeps recursive
// macros finite; it yields what the hide sets of Prosser's algorithm would, at no cost per token.
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
  // The next line of the text; empty where a directive stands, or the end of a file; nothing at the end of
  // all.
  using NextLine = std::function<Result<std::optional<std::vector<Token>>>()>;

  // `files` is what Token::file indexes; it must outlive the expander, as must `predefined` unless it is
  // null.
  // __LINE__, __FILE__ and __COUNTER__ are defined from the start.
  MacroExpander(const std::vector<std::string>& files, PredefinedMacros* predefined, NextLine next_line);

  void define(Macro macro); // replaces another of its name
  void undefine(const std::string& name);
  [[nodiscard]] bool is_defined(const std::string& name);

  // What the compiler's own macro stands for, unless the program took it away; null: there is none, as far as
  // is known.
  const std::string* predefined(const std::string& name);

  // The compiler's own macros that the program has defined otherwise or taken away.
  [[nodiscard]] const std::set<std::string>& overridden() const { return overridden_; }

  // The next token of the replaced text; nothing at the end. What comes out of a macro stands where the
  // outermost macro was called. Of the compiler's own macros the text keeps those that it may leave to the
  // compiler. kernel_source: an impossible call or ##, or expansions past all bounds.
  Result<std::optional<Token>> next();

  // A directive's tokens replaced; with `evaluate_defined`, "defined NAME" and "defined(NAME)" become 1 or 0.
  Result<std::vector<Token>> expand(std::vector<Token> tokens, bool evaluate_defined);

  // Counts bytes of text against what one program may have of it. kernel_source at `place` when that is
  // spent.
  Result<void> spend(std::size_t bytes, const Token& place);

private:
  struct Context {
    std::vector<MacroItem> items;
    std::size_t at = 0;
    std::shared_ptr<Macro> macro; // that it is the expansion of
    bool space_behind = false;    // belongs in front of the token that follows
    bool last = false;            // nothing below it is read before it is taken off
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
  std::set<std::string> undefined_; // by the program, whether anything had defined them or not
  bool in_condition_ = false;
  bool has_operators_ = false; // # and ## see what an argument was replaced by
  std::vector<Context> contexts_;
  bool space_pending_ = false; // in front of the next token, left by something replaced by nothing
  std::size_t depth_ = 0;
  std::size_t bytes_left_;
  std::size_t counter_ = 0;
};

} // namespace tidegate::opencl_c
