// The line of a source that an error stands in, as compilers show it:
//
//     2 |   out[get_global_id(0)] = foo + n;
//       |                           ^
#pragma once

#include <tidegate/core/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidegate {

// The two lines above, indented, without a newline at the end; one without a column. Of a long line what is
// around the place.
std::string describe_excerpt(std::string_view excerpt, std::uint64_t line,
                             std::optional<std::uint64_t> column);

// The error with its line of `text`, where it has one.
Error with_excerpt(Error error, std::string_view text);

// What is `bytes` into a line, counted from 1, as a column that counts characters.
std::uint64_t column_of_byte(std::string_view line, std::uint64_t bytes);

} // namespace tidegate
