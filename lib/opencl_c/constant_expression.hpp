// Integer constant expressions of #if and #elif (C99 6.10.1) and of declarations (C99 6.6), and the types of
// enumerations.
#pragma once
#include "opencl_c/lexer.hpp"
#include "opencl_c/translation_unit.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::opencl_c {

struct Expr; // tree.hpp
struct Record;

struct IntegerType {
  std::uint32_t bits = 32;
  bool is_unsigned = false;

  friend bool operator==(const IntegerType&, const IntegerType&) = default;
};

// A typed value. Bits beyond the width of the type repeat its sign.
struct Constant {
  __extension__ using Bits = unsigned __int128;
  Bits bits = 0;
  IntegerType type;

  [[nodiscard]] bool is_negative() const { return !type.is_unsigned && bits >> 127U != 0; }
  // The value, if a signed 64-bit integer holds it.
  [[nodiscard]] std::optional<std::int64_t> number() const;
};

// Converts the value to the type, as an assignment does.
Constant converted(const Constant& value, IntegerType type);

// Evaluates the condition of a directive, with macros and `defined` already replaced; remaining names are 0.
// C99 has 64-bit numbers, `true` is 0, and shifts by negative counts reverse; clang's OpenCL C has 128-bit
// numbers, `true` is 1, and such shifts move all bits out. Where the two differ the result is empty: only the
// device's compiler can decide. Division by zero in an unevaluated operand is not an error. Error: kernel_source
// at a token or the directive, in the file `path`.
Result<std::optional<bool>> evaluate_condition(std::span<const Token> tokens, const Token& directive,
                                               std::string_view path);

// The result under clang's rules.
Result<bool> evaluate_condition_as_clang(std::span<const Token> tokens, const Token& directive,
                                         std::string_view path);
Result<bool> evaluate_condition_as_clang(std::string_view condition);

// Precedence of a binary operator: from 1 for || to 10 for *; 0 for anything else, assignments included.
int binary_rank(std::string_view name);

// Value of an expression of a declaration in the types of C: of numbers, enumerators, sizes of arithmetic types and casts
// to integers. Empty if it is not constant or compilers may disagree, for example where a signed value overflows.
std::optional<Constant> constant_in(const TranslationUnit& unit, const Expr& expr);
std::optional<std::int64_t> value_of(const TranslationUnit& unit, const Expr& expr);

// Adds the values of a complete enumeration's enumerators, up to the first that is not known.
void evaluate_enumerators(const TranslationUnit& unit, const Record& record,
                          std::unordered_map<std::size_t, Constant>& values);

// The enumerators of a complete enumeration; empty if the value of one is unknown.
using Enumerators = std::vector<std::pair<std::string, std::int64_t>>;
std::optional<Enumerators> enumerators_of(const TranslationUnit& unit, const Record& record);

// The type of such an enumeration: compilers take the first of uint, int, ulong and long that holds every enumerator.
IntegerType integer_type_of(const Enumerators& enumerators);

// That type by name, such as "uint"; empty for another type. Those with attributes may be smaller.
std::string integer_of(const TranslationUnit& unit, const Type& type);

} // namespace tidegate::opencl_c
