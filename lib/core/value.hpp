// A value of a structured type as a document states it: what its parts are is for whoever knows the type.
#pragma once

#include <tidegate/core/number.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tidegate {

struct ValueMember;

struct Value {
  using List = std::vector<Value>;
  using Object = std::vector<ValueMember>; // in the document's order

  std::variant<Number, std::string, List, Object> is;
};

// Named as in std::pair, which clang does not take of an incomplete type.
struct ValueMember {
  using second_type = Value;

  std::string first;
  Value second;

  ValueMember(std::string name, Value value) : first(std::move(name)), second(std::move(value)) {}
};

} // namespace tidegate
