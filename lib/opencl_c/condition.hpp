// The integer expressions of #if and #elif (C99 6.10.1).
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/opencl_c/token.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace tidegate::opencl_c {

// Whether the expression is not zero. Macros are replaced already, and so is `defined`; names that are left
// are 0. Numbers have 64 bits, with a sign unless an operand is unsigned, and wrap round. A division by zero
// in an operand that is not evaluated is none. kernel_source, at a token or else at the directive, in the
// file `path`.
Result<bool> evaluate_condition(std::span<const Token> tokens, const Token& directive, std::string_view path);

// The value of such an expression, also elsewhere than in directives.
Result<std::uint64_t> evaluate_integer(std::span<const Token> tokens, const Token& directive,
                                       std::string_view path);

// How tightly a binary operator binds: from 1 for || to 10 for *; 0 for anything else, assignments included.
int binary_rank(std::string_view name);

} // namespace tidegate::opencl_c
