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
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/opencl_c/macro.hpp>
#include <tidegate/opencl_c/macro_substitution.hpp>
#include <tidegate/opencl_c/predefined_macros.hpp>
#include <tidegate/opencl_c/token.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tidegate::opencl_c {

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
