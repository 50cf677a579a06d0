// A value of a structured type as a document states it: what its parts are is for whoever knows the type.
#pragma once

#include <tidegate/core/number.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tidegate {

struct Value {
  using List = std::vector<Value>;
  using Object = std::vector<std::pair<std::string, Value>>; // in the document's order

  std::variant<Number, std::string, List, Object> is;
};

} // namespace tidegate
