// Integer constant expressions: of #if and #elif (C99 6.10.1), and of declarations (6.6).
#pragma once
#include "opencl_c/lexer.hpp"
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace tidegate::opencl_c {

// An integer type by its width.
struct IntegerType {
  std::uint32_t bits = 32;
  bool is_unsigned = false;

  friend bool operator==(const IntegerType&, const IntegerType&) = default;
};

// A value of a type. Bits beyond the type's repeat its sign.
struct Constant {
  __extension__ using Bits = unsigned __int128;
  Bits bits = 0;
  IntegerType type;

  [[nodiscard]] bool is_negative() const { return !type.is_unsigned && bits >> 127U != 0; }
  // Where 64 bits with a sign hold it.
  [[nodiscard]] std::optional<std::int64_t> number() const;
};

// The value as the type keeps it.
Constant converted(const Constant& value, IntegerType type);

// Whether the condition of a directive is not zero. Macros are replaced already, and so is `defined`; names
// that are left are 0. Numbers have 64 bits in C99, names are 0 and shifts by negative counts go the other
// way; in the OpenCL C of clang they have 128 bits, `true` is 1 and such shifts go all the way. Where the two
// differ the answer is empty: only the device's compiler knows. A division by zero in an operand that is not
// evaluated is none. kernel_source, at a token or else at the directive, in the file `path`.
Result<std::optional<bool>> evaluate_condition(std::span<const Token> tokens, const Token& directive,
                                               std::string_view path);

// What clang makes of it.
Result<bool> evaluate_condition_as_clang(std::span<const Token> tokens, const Token& directive,
                                         std::string_view path);

// What words mean in a constant expression: at the token `at`, which moves past it.
struct ConstantWords {
  std::function<std::optional<Constant>(std::size_t& at)> value;   // an enumerator, or sizeof (TYPE)
  std::function<std::optional<IntegerType>(std::size_t& at)> cast; // (TYPE)
};

// The value of an expression of a declaration, computed in the types of C. Nothing for what is not constant,
// and where compilers need not agree, as where a signed value overflows.
std::optional<Constant> evaluate_constant(std::span<const Token> tokens, const ConstantWords& words = {});

// How tightly a binary operator binds: from 1 for || to 10 for *; 0 for anything else, assignments included.
int binary_rank(std::string_view name);

} // namespace tidegate::opencl_c
