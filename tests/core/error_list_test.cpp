// Several errors as one: the first with the others behind it.
#include <tidegate/core/error.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tidegate;

namespace {

Error error(std::string message, ErrorCode code = ErrorCode::invalid_program) {
  return {.code = code, .message = std::move(message), .fix = "mend it"};
}

} // namespace

TEST_CASE("nothing wrong is no error") {
  ErrorList errors;
  CHECK(errors.check(Result<int>(3)));
  CHECK(errors.result());
}

TEST_CASE("the first error has the others, also those of others") {
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

TEST_CASE("what follows from an error that is told elsewhere is not told again, and is no success") {
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

TEST_CASE("no more are told than a reader can use") {
  ErrorList errors;
  for (std::size_t i = 0; i < 2 * ErrorList::most; ++i) {
    errors.add(error(std::to_string(i)));
  }
  CHECK(errors.full());
  CHECK(errors.result().error().others.size() == ErrorList::most - 1);
  CHECK(errors.result().error().others.back().message == "99");
}

TEST_CASE("the exit code is that of the worst") {
  ErrorList errors;
  errors.add(error("a", ErrorCode::cycle));
  errors.add(error("b", ErrorCode::cannot_write));
  errors.add(error("c", ErrorCode::unknown_name));
  CHECK(exit_code(errors.result().error()) == ExitCode::environment);
}
