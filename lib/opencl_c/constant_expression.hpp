// Integer constant expressions of #if and #elif (C99 6.10.1) and of declarations (C99 6.6), and the types of
// enumerations.
#pragma once
#include "opencl_c/lexer.hpp"
#include "opencl_c/translation_unit.hpp"
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::opencl_c {

struct Record; // tree.hpp

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

// Callbacks that evaluate words in a constant expression at the token `at` and advance past them.
struct ConstantWords {
  std::function<std::optional<Constant>(std::size_t& at)> value;   // an enumerator, or sizeof (TYPE)
  std::function<std::optional<IntegerType>(std::size_t& at)> cast; // (TYPE)
};

// Evaluates an expression of a declaration in the types of C. Empty if it is not constant or compilers may
// disagree, for example where a signed value overflows.
std::optional<Constant> evaluate_constant(std::span<const Token> tokens, const ConstantWords& words = {});

// Precedence of a binary operator: from 1 for || to 10 for *; 0 for anything else, assignments included.
int binary_rank(std::string_view name);

// Evaluates constant expressions in a unit's declarations.
class ConstantValues {
public:
  // `unit` must have resolved names and outlive this object.
  explicit ConstantValues(const TranslationUnit& unit);

  // Value of an expression of numbers, enumerators, sizes of arithmetic types and casts to integers; empty
  // for any other.
  [[nodiscard]] std::optional<std::int64_t> value(TokenRange expression) const;

  // Enumerators of a complete enumeration; empty if the value of one is unknown.
  [[nodiscard]] std::optional<std::vector<std::pair<std::string, std::int64_t>>>
  enumerators_of(const Record& record) const;

  // Integer type of an enumeration whose enumerators are known.
  [[nodiscard]] IntegerType type_of(const Record& record) const;

  // The integer type of an enumeration, such as "uint"; empty for another type. Those with attributes may be smaller.
  [[nodiscard]] std::string integer_of(const Type& type) const;

private:
  void enumerators(const Record& record);
  [[nodiscard]] std::optional<Constant> constant(TokenRange expression) const;

  const TranslationUnit& unit_;
  std::map<std::size_t, Constant> values_; // by token of the enumerator
  std::set<const Record*> complete_;       // enumerations whose values are all known
};

} // namespace tidegate::opencl_c
