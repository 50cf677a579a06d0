#include <tidegate/core/error_list.hpp>

#include <utility>

namespace tidegate {

void ErrorList::add(Error error) {
  std::vector<Error> others = std::move(error.others);
  error.others.clear();
  if (error.message.empty()) {
    told_elsewhere_ = true;
  } else if (!full()) {
    errors_.push_back(std::move(error));
  }
  for (Error& other : others) {
    add(std::move(other));
  }
}

Result<void> ErrorList::result() const {
  if (errors_.empty()) {
    return told_elsewhere_ ? Result<void>(tl::unexpected(told_elsewhere())) : Result<void>();
  }
  Error error = errors_.front();
  error.others.assign(errors_.begin() + 1, errors_.end());
  return tl::unexpected(std::move(error));
}

} // namespace tidegate
