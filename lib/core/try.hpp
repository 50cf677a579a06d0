// Passes that may fail, written one after the other: each hands its value on, and the first error ends the
// function.
#pragma once

#include <tl/expected.hpp>

#include <utility>

#define TIDEGATE_JOIN_(a, b) a##b
#define TIDEGATE_JOIN(a, b) TIDEGATE_JOIN_(a, b)
#define TIDEGATE_TRY_NAMED_(result, declaration, ...)                                                        \
  auto result = __VA_ARGS__;                                                                                 \
  if (!result) {                                                                                             \
    return tl::unexpected(std::move(result.error()));                                                        \
  }                                                                                                          \
  declaration = std::move(*result)

// TIDEGATE_TRY(const Plan plan, plan_waves(program)); the value of the Result is moved into the declaration.
#define TIDEGATE_TRY(declaration, ...)                                                                       \
  TIDEGATE_TRY_NAMED_(TIDEGATE_JOIN(result_, __LINE__), declaration, __VA_ARGS__)

// TIDEGATE_CHECK(check_sizes(program)); for a Result<void>.
#define TIDEGATE_CHECK(...)                                                                                  \
  do {                                                                                                       \
    if (auto checked = __VA_ARGS__; !checked) {                                                              \
      return tl::unexpected(std::move(checked.error()));                                                     \
    }                                                                                                        \
  } while (false)
