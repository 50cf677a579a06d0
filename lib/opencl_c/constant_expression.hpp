// Integer constant expressions of #if and #elif (C99 6.10.1) and of declarations (C99 6.6), and the types of
// enumerations.
#pragma once
#include "opencl_c/lexer.hpp"
#include "opencl_c/translation_unit.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::opencl_c {

struct Decl; // tree.hpp
struct Expr;
struct Type;
struct Record;

struct IntegerType {
  std::uint32_t bits = 32;
  bool is_unsigned = false;

  friend bool operator==(const IntegerType&, const IntegerType&) = default;
};

struct Constant {
  __extension__ using Value = __int128; // that of any type, exactly
  Value value = 0;
  IntegerType type;

  // The value, if a signed 64-bit integer holds it.
  [[nodiscard]] std::optional<std::int64_t> number() const;
};

// Evaluates the condition of a directive, with macros and `defined` already replaced; remaining names are 0. The result is
// empty where compilers may differ, or refuse it: clang has 128-bit numbers in OpenCL C, where `true` is 1, others have 64
// bits. With `assumes_clang`, `true` is 1. Error: kernel_source in the file `path` for what no condition is.
Result<std::optional<bool>> evaluate_condition(std::span<const Token> tokens, const Token& directive,
                                               std::string_view path, bool assumes_clang = false);
std::optional<bool> evaluate_condition_as_clang(std::string_view condition);

// Value of an expression of a declaration in the types of C: of numbers, enumerators, sizes of arithmetic types and casts
// to integers. Empty if it is not constant or compilers may disagree, for example where a signed value overflows.
std::optional<Constant> constant_in(const TranslationUnit& unit, const Expr& expr);
std::optional<std::int64_t> value_of(const TranslationUnit& unit, const Expr& expr);

// Sets the values of a complete enumeration's enumerators, up to the first that is not known.
void evaluate_enumerators(const TranslationUnit& unit, std::span<Decl* const> enumerators);

// The enumerators of a complete enumeration; empty if the value of one is unknown.
using Enumerators = std::vector<std::pair<std::string, std::int64_t>>;
std::optional<Enumerators> enumerators_of(const TranslationUnit& unit, const Record& record);

// The type of such an enumeration: compilers take the first of uint, int, ulong and long that holds every enumerator.
IntegerType integer_type_of(const Enumerators& enumerators);

// That type by name, such as "uint"; empty for another type. Those with attributes may be smaller.
std::string integer_of(const TranslationUnit& unit, const Type& type);

} // namespace tidegate::opencl_c
