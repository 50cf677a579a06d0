#include <tidegate/core/identifier.hpp>
#include <tidegate/core/text.hpp>

namespace tidegate {

Identifier::Identifier(const Identifier& other)
    : number_(other.number_), name_(other.name_ ? std::make_unique<std::string>(*other.name_) : nullptr) {}

Identifier& Identifier::operator=(const Identifier& other) {
  *this = Identifier(other);
  return *this;
}

bool operator==(const Identifier& a, const Identifier& b) {
  if (a.name_ != nullptr && b.name_ != nullptr) {
    return *a.name_ == *b.name_;
  }
  return a.name_ == b.name_ && a.number_ == b.number_;
}

std::string describe(const Identifier& identifier) {
  return identifier.name() != nullptr ? in_quotes(*identifier.name()) : std::to_string(identifier.number());
}

} // namespace tidegate
