// The places that compilers of drivers name in their logs. All are clang's in some dress:
//
//   ops.cl:2:27: error: use of undeclared identifier 'foo'                 clang itself, NVIDIA's, Mesa's
//   error: ops.cl:2:27: use of undeclared identifier 'foo'                 PoCL's
//   error: ops.cl:2:27 <Spelling=ops.h:1:19>: use of undeclared …          within a macro
#pragma once
#include <tidegate/core/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidegate::device {

struct LogError {
  std::string file;
  std::uint64_t line = 0, column = 0; // counted from 1; columns count bytes
  std::string message;
};

// The first error of a log that has a place; without one, the first call of a function that is declared
// nowhere.
std::optional<LogError> first_error(std::string_view log);

// The function that NVIDIA's assembler misses: it has no places, and where the compiler's part of the work
// was cached nothing else is said.
std::optional<std::string> unresolved_function(std::string_view log);

// NVIDIA's compiler calls every file "<kernel>" and counts the lines of the whole text: such a place as the
// #line directives of the text have it.
LogError follow_line_directives(std::string_view text, LogError error);

// A build of `text` that failed with this log: opencl_failure where the disk or the memory is at fault, else
// build_failure, at its place and with a fix where the log names one, else without words.
Error build_error(std::string_view text, std::string log);

// The fix of an error in what tidegate has written itself.
inline constexpr std::string_view fix_of_own_kernels =
    "this is a bug in tidegate: please report the program with this log; --strategy launch needs fewer "
    "generated kernels";

} // namespace tidegate::device
