// Several errors combined: the first one with the others attached.
#include <tidegate/core/error.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tidegate;

namespace {

Error error(std::string message, ErrorCode code = ErrorCode::invalid_program) {
  return {.code = code, .message = std::move(message), .fix = "mend it"};
}

} // namespace

TEST_CASE("an empty list is a success") {
  ErrorList errors;
  CHECK(errors.check(Result<int>(3)));
  CHECK(errors.result());
}

TEST_CASE("the first error carries the others, including those of others") {
  ErrorList inner;
  inner.add(error("b"));
  inner.add(error("c"));
  ErrorList errors;
  errors.add(error("a"));
  CHECK_FALSE(errors.check(inner.result()));
  errors.add(error("d"));
  const auto result = errors.result();
  REQUIRE_FALSE(result);
  CHECK(result.error().message == "a");
  REQUIRE(result.error().others.size() == 3);
  CHECK(result.error().others[0].message == "b");
  CHECK(result.error().others[0].others.empty());
  CHECK(result.error().others[2].message == "d");
}

TEST_CASE("a consequence of an error reported elsewhere is neither reported nor a success") {
  ErrorList follower;
  follower.add(already_reported());
  REQUIRE_FALSE(follower.result());
  ErrorList errors;
  errors.check(follower.result());
  errors.add(error("a"));
  REQUIRE_FALSE(errors.result());
  CHECK(errors.result().error().message == "a");
  CHECK(errors.result().error().others.empty());
}

TEST_CASE("the number of reported errors is limited") {
  ErrorList errors;
  for (std::size_t i = 0; i < 2 * ErrorList::most; ++i) {
    errors.add(error(std::to_string(i)));
  }
  CHECK(errors.full());
  CHECK(errors.result().error().others.size() == ErrorList::most - 1);
  CHECK(errors.result().error().others.back().message == "99");
}

TEST_CASE("the exit code is that of the most severe error") {
  ErrorList errors;
  errors.add(error("a", ErrorCode::cycle));
  errors.add(error("b", ErrorCode::cannot_write));
  errors.add(error("c", ErrorCode::unknown_name));
  CHECK(exit_code(errors.result().error()) == ExitCode::environment);
}
