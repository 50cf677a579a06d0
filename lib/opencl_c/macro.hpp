// Macro definitions, with the operators # and ## of their bodies found once, where they are defined.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/opencl_c/token.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

} // namespace tidegate::opencl_c
