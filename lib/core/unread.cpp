#include <tidegate/core/error_list.hpp>
#include <tidegate/core/unread.hpp>

#include <algorithm>
#include <utility>

namespace tidegate {
namespace {

bool is_within(std::string_view pointer, std::string_view whole) {
  return pointer.starts_with(whole) && (pointer.size() == whole.size() || pointer[whole.size()] == '/');
}

} // namespace

bool UnreadPlaces::cover(std::string_view pointer) const {
  return std::ranges::any_of(pointers_, [&](const std::string& each) { return is_within(pointer, each); });
}

bool UnreadPlaces::spare(std::string_view pointer) const {
  return std::ranges::none_of(pointers_, [&](const std::string& each) {
    return is_within(pointer, each) || is_within(each, pointer);
  });
}

Error with_rest(Error form, const Result<void>& rest, const UnreadPlaces& unread) {
  ErrorList all;
  all.add(std::move(form));
  if (!rest) {
    std::vector<Error> errors = rest.error().others;
    errors.insert(errors.begin(), rest.error());
    for (Error& error : errors) {
      error.others.clear();
      if (!error.pointer || unread.spare(*error.pointer)) {
        all.add(std::move(error));
      }
    }
  }
  return all.result().error();
}

} // namespace tidegate
