// How documents refer to things: by a whole number or by a name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tidegate {

// Two words, for documents hold millions of them and mostly numbers.
class Identifier {
public:
  Identifier() = default;
  explicit Identifier(std::uint64_t number) : number_(number) {}
  explicit Identifier(std::string_view name) : name_(std::make_unique<std::string>(name)) {}
  Identifier(const Identifier& other);
  Identifier& operator=(const Identifier& other);
  Identifier(Identifier&&) noexcept = default;
  Identifier& operator=(Identifier&&) noexcept = default;
  ~Identifier() = default;

  [[nodiscard]] std::uint64_t number() const { return number_; }        // 0 for a name
  [[nodiscard]] const std::string* name() const { return name_.get(); } // nullptr for a number

  friend bool operator==(const Identifier& a, const Identifier& b);

private:
  std::uint64_t number_ = 0;
  std::unique_ptr<std::string> name_;
};

// The number, or the name as in_quotes() shows it.
std::string describe(const Identifier& identifier);

} // namespace tidegate
