// What is wrong with things that are each looked at, whether or not another was right.
//
//   ErrorList errors;
//   for (const Item& item : items) {
//     errors.check(look_at(item));
//   }
//   return errors.result();
//
// Where one thing cannot be looked at because another is wrong, its error is told_elsewhere(): nobody reads
// twice what is to be mended once.
#pragma once

#include <tidegate/core/error.hpp>

#include <cstddef>
#include <vector>

namespace tidegate {

// Stands for what follows from an error that is told where it comes from. An error without words.
inline Error told_elsewhere() {
  return {};
}

class ErrorList {
public:
  // Errors that are told at once; a reader mends these before the next are of use.
  static constexpr std::size_t most = 100;

  // Takes the error and its others.
  void add(Error error);

  // Takes the error that is there instead of a value. True when there is the value.
  template <class T>
  bool check(const Result<T>& result) {
    if (!result) {
      add(result.error());
    }
    return result.has_value();
  }

  [[nodiscard]] bool full() const { return errors_.size() >= most; }

  // The first error with all others; told_elsewhere() where all are told elsewhere.
  [[nodiscard]] Result<void> result() const;

private:
  std::vector<Error> errors_;
  bool told_elsewhere_ = false;
};

} // namespace tidegate
