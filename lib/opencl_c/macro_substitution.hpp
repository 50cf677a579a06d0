// The body of a macro with its arguments put in, and # and ## carried out (C99 6.10.3.1 to 6.10.3.3).
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/opencl_c/macro.hpp>
#include <tidegate/opencl_c/token.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::opencl_c {

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

} // namespace tidegate::opencl_c
