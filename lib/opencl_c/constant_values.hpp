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
  // `unit` must have resolved names and outlive this object.
  explicit ConstantValues(const TranslationUnit& unit);

  // Value of an expression of numbers, enumerators, sizes of arithmetic types and casts to integers; empty
  // for any other.
  [[nodiscard]] std::optional<std::int64_t> value(TokenRange expression) const;

  // Enumerators of the list in these braces; empty if the value of one is unknown.
  [[nodiscard]] std::optional<std::vector<std::pair<std::string, std::int64_t>>>
  enumerators_of(std::size_t brace) const;

  // Integer type of each enumeration, by "enum TAG" and by the names of its typedefs.
  [[nodiscard]] std::map<std::string, std::string> enumeration_types() const;

private:
  void enumerators(std::size_t brace);
  [[nodiscard]] std::optional<Constant> constant(TokenRange expression) const;
  [[nodiscard]] IntegerType type_of(std::size_t brace) const;

  const TranslationUnit& unit_;
  std::map<std::size_t, Constant> values_; // by token of the enumerator
  std::set<std::size_t> complete_;         // opening braces of the lists whose values are all known
};

} // namespace tidegate::opencl_c
