// Errors of a program document.
#pragma once

#include <tidegate/core/error.hpp>

#include <string>
#include <utility>

namespace tidegate::compiler {

// invalid_program at a place of the program (RFC 6901).
inline Error invalid_program(std::string message, std::string fix, std::string pointer) {
  return {.code = ErrorCode::invalid_program,
          .message = std::move(message),
          .fix = std::move(fix),
          .pointer = std::move(pointer)};
}

} // namespace tidegate::compiler
