// Integer constant expressions of declarations, and the types of enumerations.
#pragma once
#include "opencl_c/constant_expression.hpp"
#include "opencl_c/translation_unit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::opencl_c {

class ConstantValues {
public:
  // Of a unit whose names are resolved, and that outlives it.
  explicit ConstantValues(const TranslationUnit& unit);

  // Of an expression of numbers, enumerators, sizes of arithmetic types and casts to integers; nothing for
  // others.
  [[nodiscard]] std::optional<std::int64_t> value(TokenRange expression) const;

  // The enumerators of the list in these braces; nothing where the value of one is not known.
  [[nodiscard]] std::optional<std::vector<std::pair<std::string, std::int64_t>>>
  enumerators_of(std::size_t brace) const;

  // By "enum TAG" and by the name of a typedef: the integer type that the compiler makes of an enumeration.
  [[nodiscard]] std::map<std::string, std::string> enumeration_types() const;

private:
  void enumerators(std::size_t brace);
  [[nodiscard]] std::optional<Constant> constant(TokenRange expression) const;
  [[nodiscard]] IntegerType type_of(std::size_t brace) const;

  const TranslationUnit& unit_;
  std::map<std::size_t, Constant> values_; // by token of the enumerator
  std::set<std::size_t> complete_;         // the braces of lists whose values are all known
};

} // namespace tidegate::opencl_c
